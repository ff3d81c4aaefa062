//! One story, both stores: what the provider's port promises, tested on SQLite and PostgreSQL.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod accept;
mod access;
mod activity;
mod alert_nodes;
mod alerts;
mod any_history;
mod attempts;
mod changes;
mod config;
mod counts;
mod deliveries;
mod endpoint_search;
mod endpoint_tasks;
mod given;
mod growth;
mod health;
mod history;
mod holds;
mod limits;
mod operational;
mod operations;
mod ordering;
mod overview;
mod pages;
mod portal_settings;
mod puts;
mod removed_users;
mod resend;
mod restart;
mod retention;
mod sealings;
mod search;
mod supervision;
mod task_results;
mod tasks;
mod users;
mod waiting;

/// A test of each store for each story.
macro_rules! stories {
    ($($subject:ident: $($story:ident),+ $(,)?;)+) => {
        mod sqlite {
            $($(#[tokio::test(flavor = "multi_thread")] async fn $story() {
                let directory = tempfile::tempdir().unwrap();
                let store = provider_store::sqlite::open(&directory.path().join("provider.db")).await.unwrap();
                super::$subject::$story(store).await;
            })+)+
        }
        mod postgres {
            $($(#[tokio::test(flavor = "multi_thread")] async fn $story() {
                super::$subject::$story(super::given::postgres().await).await;
            })+)+
        }
    };
}

stories! {
    overview:
        applications_have_figures_and_are_found_by_a_part_of_their_name,
        an_accounts_failing_and_subscribed_endpoints_are_found;
    endpoint_search:
        failing_endpoints_are_listed_first_and_every_page_is_reached,
        an_endpoint_is_found_by_its_address_description_id_uid_and_application,
        several_endpoints_are_counted_as_each_one_is;
    counts:
        each_attempt_and_each_end_of_a_delivery_counts_once,
        a_skipped_head_counts_as_skipped,
        messages_count_by_application_with_the_bytes_of_their_payloads,
        the_hours_of_old_days_are_merged_and_very_old_days_deleted;
    any_history: counts_equal_the_records_after_any_history;
    task_results:
        each_end_counts_once_for_the_task_that_sent_the_message,
        a_later_task_takes_over_the_messages_that_wait_for_a_retry,
        messages_in_order_count_for_their_task_when_the_head_is_skipped,
        a_recovery_finds_what_is_due_already_without_counting_it_as_its_own;
    search:
        messages_of_an_account_are_found_across_its_applications,
        messages_are_found_by_their_failures_and_by_what_waits;
    health: a_message_has_the_progress_of_all_endpoints;
    config:
        api_keys_belong_to_an_account_and_are_found_by_their_hash,
        an_answer_is_kept_with_its_write_and_once,
        old_answers_are_forgotten_a_few_at_a_time,
        an_application_is_found_by_id_or_uid_within_its_account,
        an_application_that_changes_keeps_its_creation_and_gets_a_version,
        event_types_are_listed_by_name_and_put_over_each_other,
        an_endpoint_change_raises_the_applications_version,
        a_ping_reads_and_writes;
    limits:
        an_application_gets_no_more_endpoints_than_it_may_have_however_many_are_made_at_once,
        an_account_gets_no_more_running_tasks_than_it_may_have;
    access:
        an_accounts_settings_are_replaced_and_its_creation_is_not,
        a_keys_last_use_only_moves_on,
        a_token_is_found_by_its_hash_as_long_as_its_application_is_there,
        the_oldest_tokens_of_an_application_go_for_new_ones,
        tokens_end_all_together_or_by_session_and_never_later,
        tokens_over_their_time_are_forgotten_a_few_at_a_time,
        tokens_of_a_user_end_with_the_user_and_with_a_lower_role,
        tokens_are_listed_with_their_last_use_and_revoked_one_by_one,
        event_types_are_counted_up_to_a_number;
    activity:
        an_entry_is_kept_with_its_change_and_found_by_its_words,
        entries_of_one_account_are_nobody_elses_and_old_ones_are_deleted;
    removed_users:
        a_removed_user_is_added_again_only_by_an_invitation,
        the_users_whom_an_account_removed_last_are_kept;
    users:
        a_user_joins_once_with_an_invitation,
        a_link_for_a_new_password_changes_the_user,
        a_person_of_an_issuer_is_linked_to_one_user,
        an_account_keeps_an_admin,
        two_admins_can_not_remove_each_other,
        a_session_is_found_until_it_ends,
        only_the_newest_sessions_stay,
        codes_work_once,
        attempts_run_out_and_refill,
        an_account_has_no_more_users_than_it_may,
        links_end_with_the_role_admin_of_their_maker,
        a_session_is_found_by_its_id,
        what_expired_is_deleted_a_few_at_a_time;
    portal_settings:
        settings_of_the_portal_are_replaced_and_the_logo_stays,
        a_code_of_the_portal_is_exchanged_once;
    waiting:
        waiting_deliveries_are_counted_by_endpoint,
        an_endpoint_is_found_by_its_id_alone;
    accept:
        an_accepted_message_reads_back_as_it_was_sent,
        a_payload_is_kept_with_its_media_type,
        an_event_id_is_unique_in_its_application,
        an_idempotency_key_accepts_one_message,
        the_first_reason_is_the_key_then_the_snapshot_then_the_event_id,
        a_message_refused_leaves_no_delivery_behind,
        of_a_large_batch_each_message_has_a_result_of_its_own,
        an_old_snapshot_is_stale_after_any_change,
        of_many_calls_with_the_same_keys_one_is_taken,
        messages_are_routed_by_the_endpoints_of_their_moment,
        a_deleted_application_is_not_there_for_anybody;
    deliveries:
        a_row_with_an_owner_is_for_nobody_else,
        rows_of_each_kind_are_given_out_by_themselves,
        no_more_payloads_are_given_out_than_there_is_room_for,
        two_nodes_that_claim_at_once_share_the_rows,
        rows_of_a_dead_node_are_released_and_due,
        a_failed_attempt_waits_for_the_next,
        a_released_row_is_due_at_once_with_the_attempts_it_had,
        dropped_rows_are_gone_without_an_attempt,
        a_deleted_endpoint_takes_what_waits_for_it,
        endpoints_with_due_rows_come_once_and_the_longest_due_first,
        an_endpoint_with_many_rows_hides_no_other;
    attempts:
        attempts_are_listed_newest_first_by_message_and_by_endpoint,
        many_attempts_are_recorded_at_once_but_those_that_were,
        a_manual_attempt_takes_the_place_of_the_scheduled_retry,
        an_endpoint_fails_since_its_first_failure_after_a_success,
        an_endpoint_that_is_disabled_changes_the_routes_once;
    changes:
        what_changed_meanwhile_is_not_replaced,
        a_replacement_with_a_key_happens_once,
        of_changes_at_the_same_time_none_is_lost,
        event_types_are_put_together_or_not_at_all,
        applications_are_left_out_by_their_endpoints,
        attempts_and_what_waits_are_counted_within_their_ids;
    puts:
        concurrent_puts_create_once_and_update_after;
    holds:
        a_hold_begins_is_replaced_and_ends;
    sealings:
        sentinels_are_replaced_as_they_were_seen,
        an_endpoints_secrets_are_replaced_where_they_are_what_was_seen;
    operations:
        what_a_node_that_leaves_had_is_due_at_once,
        the_whole_backlog_is_counted_with_its_oldest_message,
        due_deliveries_without_an_owner_are_counted, the_provider_database_reports_its_version_and_size,
        living_nodes_are_those_heard_of_lately;
    ordering:
        messages_of_one_key_are_given_out_one_after_the_other,
        a_head_that_fails_or_dies_with_its_node_stays_the_head,
        a_blocked_key_shows_its_head_and_can_be_skipped,
        a_key_is_seen_whatever_its_first_message_waits_for_and_can_be_skipped,
        a_skipped_message_has_an_attempt_and_a_retried_head_keeps_its_attempts,
        blocked_keys_are_summed_up_with_all_that_waits_for_them,
        keys_and_endpoints_do_not_wait_for_each_other,
        what_a_task_sends_again_joins_the_line_of_its_key,
        a_task_keeps_no_order_where_none_is_asked_for_and_begins_no_line_twice,
        a_head_that_is_dropped_or_forgotten_lets_the_next_go,
        a_message_accepted_while_the_head_finishes_becomes_due;
    endpoint_tasks:
        an_endpoints_tasks_are_listed_without_those_of_others,
        a_running_task_of_the_endpoint_is_stopped_and_takes_no_further_step;
    tasks:
        a_task_is_kept_with_its_answer_and_listed_by_status_and_kind,
        a_running_task_is_one_workers_until_its_lease_is_over,
        a_step_happens_once_and_makes_rows_only_for_what_does_not_wait,
        a_step_to_an_endpoint_that_takes_nothing_happens_not_at_all,
        what_is_sent_again_is_not_due_ahead_of_the_time_it_is_wanted_at,
        of_two_workers_at_one_position_one_makes_the_step,
        of_two_tasks_that_want_a_message_sent_one_sends_it,
        failures_say_once_what_is_to_be_recovered,
        messages_are_seen_from_an_endpoint,
        tasks_that_ended_are_forgotten_a_few_at_a_time;
    supervision:
        the_longest_due_come_first_and_without_what_was_asked_for_by_hand,
        endpoints_and_tasks_are_counted_by_how_they_are,
        rows_are_counted_by_what_they_wait_for,
        what_waits_for_its_next_attempt_is_made_due_with_the_attempts_it_had,
        a_task_that_recovers_makes_due_what_waits_for_its_next_attempt,
        messages_that_a_task_sends_again_are_distinguished_from_new_ones,
        clearing_a_pause_changes_the_endpoint,
        waiting_messages_are_listed_newest_first_but_for_heads_under_way,
        what_is_given_up_ends_with_an_attempt_that_says_so,
        a_head_that_is_given_up_lets_the_next_go,
        failures_are_counted_once_their_retries_have_ended,
        unknown_event_types_are_counted_by_key_until_they_are_registered,
        a_pause_is_kept_until_it_is_over_or_the_endpoint_is_changed,
        a_uid_is_found_whoever_has_it;
    operational:
        no_event_is_written_without_an_operational_application,
        changes_of_an_endpoint_are_reported_in_order,
        deleting_an_application_reports_each_deleted_endpoint,
        attempts_that_notify_are_reported_once,
        events_are_settled_by_number_and_numbers_are_used_once;
    alerts:
        each_transition_notifies_its_owners_once,
        one_outage_is_one_mail,
        an_invitation_is_mailed_and_shown,
        a_mail_waits_for_a_busy_server_and_the_nodes_own_faults_are_no_alert,
        codes_to_addresses_are_limited,
        a_code_that_is_not_sent_does_not_count,
        a_name_that_the_sender_chose_is_short_and_without_links_in_a_mail,
        contacts_of_an_application_receive_its_alerts_and_no_others,
        without_a_mail_server_only_events_are_sent;
    pages:
        configuration_is_listed_in_slices,
        attempts_at_an_endpoint_are_listed_in_slices;
    history:
        messages_are_found_by_what_they_are_and_when_they_were_made,
        a_scan_stops_when_it_has_looked_at_enough,
        a_page_of_large_payloads_is_short,
        attempts_are_found_by_how_they_ended_and_what_they_delivered,
        attempted_messages_say_how_they_stand,
        destinations_are_all_endpoints_tried_or_waiting;
    resend:
        a_resend_is_one_manual_attempt_in_place_of_the_scheduled_one,
        a_resend_of_what_is_done_or_was_never_wanted_is_a_new_row,
        a_resend_during_an_attempt_comes_after_it,
        what_is_accepted_to_be_tried_by_hand_is_one_manual_attempt_before_all_others,
        a_manual_row_is_not_finished_by_a_late_scheduled_attempt,
        a_resend_is_answered_once_for_a_key_and_needs_message_and_endpoint;
    retention:
        an_expunged_payload_and_response_are_gone,
        payloads_of_a_span_are_expunged_a_few_at_a_time,
        what_waits_of_expunged_messages_is_due_and_others_are_read_again,
        payloads_go_at_their_time_a_few_at_a_time,
        what_waits_of_payloads_that_went_is_due,
        messages_and_attempts_go_after_their_time_with_what_waits_of_them;
}
