//! The conformance suite of the platform's store port. Each story runs on SQLite and on PostgreSQL.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod access_changes;
mod access_log;
mod answers;
mod audit_positions;
mod bidder_accounts;
mod bidder_messages;
mod bidders;
mod bulk_changes;
mod catalogue_round_trips;
mod catalogue_uploads;
mod claims;
mod clerks;
mod connections;
mod customers;
mod downtimes;
mod edits;
mod endpoint_readings;
mod given;
mod holds;
mod house_domains;
mod houses;
mod images;
mod installation;
mod journal;
mod large;
mod late_bids;
mod limit_requests;
mod lists;
mod lot_offers;
mod made_links;
mod mail_nodes;
mod mails;
mod many_nodes;
mod nodes;
mod notices;
mod parties;
mod party_merges;
mod presence;
mod quarantine;
mod reference;
mod restart;
mod rules;
mod sales;
mod sandbox;
mod screens;
mod sealings;
mod settling;
mod site_grants;
mod staff_reads;
mod telephone_bookings;
mod timers;
mod together;
mod traces;
mod users;
mod visitor_messages;

/// Runs each story on each store. A further store needs another module of three lines.
macro_rules! stories {
    ($($subject:ident: $($story:ident),+ $(,)?;)+) => {
        mod sqlite {
            $($(#[tokio::test(flavor = "multi_thread")] async fn $story() {
                let directory = tempfile::tempdir().unwrap();
                let store = platform_store::sqlite::open(&directory.path().join("platform.db")).await.unwrap();
                super::$subject::$story(store).await;
            })+)+
        }
        mod postgres {
            $($(#[tokio::test(flavor = "multi_thread")] async fn $story() {
                let url = testkit::postgres::fresh_database().await.unwrap();
                let config = platform_store::postgres::PostgresConfig { url, pool_size: 16, ..Default::default() };
                super::$subject::$story(platform_store::postgres::open(&config).await.unwrap()).await;
            })+)+
        }
    };
}

stories! {
    customers:
        a_customer_is_found_and_its_name_is_unique,
        a_customer_is_renamed_to_an_unused_name,
        customers_and_auctioneers_are_listed_in_pages,
        auctioneers_are_numbered_from_one,
        a_key_is_found_by_its_hash_and_records_its_use,
        keys_are_listed_and_a_revoked_key_stays_readable,
        a_ping_reads_and_writes;
    users:
        an_email_address_belongs_to_one_user,
        a_change_of_a_user_needs_its_version_and_ends_the_sessions,
        a_user_has_a_name_or_none,
        a_person_of_an_issuer_is_linked_to_one_user,
        concurrent_removals_keep_the_last_administrator,
        a_user_who_has_signed_in_is_not_removed,
        a_code_of_a_second_factor_is_used_once,
        sessions_are_found_by_their_token_until_they_end,
        expired_sessions_are_deleted_in_batches,
        sign_in_attempts_are_counted_together_or_not_at_all,
        a_setup_code_creates_the_first_user_and_no_other,
        an_invitation_creates_its_user_once;
    made_links:
        links_end_with_the_access_of_their_creator,
        a_replaced_link_works_until_the_new_one_is_used,
        a_user_who_lost_access_creates_no_link;
    access_log:
        a_change_of_access_is_stored_with_its_entry_or_not_at_all,
        the_entries_that_name_a_record_are_found,
        access_entries_of_concurrent_writers_form_one_chain;
    clerks:
        clerks_are_assigned_to_webcasts_and_removed,
        the_webcasts_of_a_clerk_exclude_archived_ones,
        a_change_of_role_removes_concurrent_clerk_assignments,
        concurrent_assignments_do_not_exceed_the_clerk_limit,
        the_latest_report_of_a_desk_is_kept;
    screens:
        a_webcast_has_one_link_of_each_kind,
        guide_rates_are_replaced_and_limited;
    telephone_bookings:
        bookings_are_replaced_removed_and_limited;
    reference:
        an_address_is_stored_with_its_auctioneer,
        an_auctioneer_changes_with_its_address_or_not_at_all,
        an_address_is_stored_with_its_auction_or_not_at_all,
        address_ids_are_unique;
    edits:
        a_corrected_auction_and_item_are_stored_as_the_rules_decided,
        the_categories_of_a_sale_follow_its_lots,
        a_corrected_lot_number_is_refused_while_another_item_has_it,
        items_of_one_change_exchange_lot_numbers_and_places,
        a_relisting_writes_both_items_or_neither;
    answers:
        a_used_idempotency_key_changes_nothing,
        an_answer_is_stored_only_with_its_change,
        a_customer_is_stored_with_its_answer_or_not_at_all,
        an_auctioneer_is_stored_with_its_answer_or_not_at_all,
        a_queue_is_resumed_with_its_answer_or_not_at_all,
        an_api_key_is_stored_with_its_answer_or_not_at_all,
        the_first_answer_to_a_key_stays,
        expired_answers_are_deleted_in_batches;
    installation:
        restores_are_counted,
        the_database_reports_its_version_and_size,
        an_event_that_is_sent_again_after_a_restore_names_the_restore,
        the_events_of_a_lot_in_quarantine_are_found;
    rules:
        a_timed_sale_is_stored_as_the_rules_decided_after_every_command,
        a_webcast_is_stored_as_the_rules_decided_after_every_command;
    sales:
        auctions_and_items_read_back_as_they_were_committed,
        lists_are_read_in_pages_and_in_order,
        a_stale_version_refuses_the_whole_change,
        a_duplicate_lot_number_refuses_the_whole_change,
        an_occupied_position_is_a_conflict,
        an_item_may_take_another_number_and_place,
        a_refused_change_does_not_affect_others_in_its_batch,
        items_are_counted_by_status,
        sold_lots_whose_buyer_is_open_are_counted,
        a_bid_is_struck_and_reinstated,
        the_complete_state_of_a_sale_is_stored,
        bids_are_listed_by_their_number;
    bidders:
        a_registration_reads_back_and_changes_by_its_version,
        a_paddle_and_a_party_are_registered_once_in_an_auction,
        a_registration_is_written_with_its_log_or_not_at_all,
        registrations_are_listed_in_order_and_paddle_numbers_rise,
        the_committed_amount_of_a_bidder_is_computed_from_bidder_items,
        a_spending_version_is_used_once,
        bids_on_many_items_at_once_stay_within_a_limit,
        a_bid_conflicts_when_its_registration_has_changed,
        a_paddle_can_change_until_it_has_a_bidder_item;
    party_merges:
        pairs_share_a_key_and_are_not_kept_apart,
        a_key_of_many_records_gives_few_pairs,
        a_merge_is_written_as_a_whole_or_not_at_all,
        what_is_listed_for_a_person_is_that_of_all_records,
        a_merge_keeps_apart_what_was_apart_from_the_merged_record;
    parties:
        a_party_reads_back_and_changes_by_its_version,
        a_reference_is_unique_in_its_house,
        parties_are_listed_by_name_and_found_by_their_words,
        the_registrations_of_a_party_are_listed_and_found_by_paddle,
        an_erasure_is_written_as_a_whole_or_not_at_all,
        an_erased_party_is_in_no_list_and_its_kept_details_fall_due,
        the_items_of_a_consignor_are_those_of_the_house,
        parties_are_found_by_reference_and_consignors_by_name,
        several_parties_are_written_or_none,
        the_items_of_a_vendor_are_listed_by_auction;
    site_grants:
        a_code_and_a_refresh_token_work_once,
        grants_end_by_number_site_and_age,
        grants_end_with_the_sessions_of_their_account;
    bidder_accounts:
        an_account_is_opened_once_with_a_link_to_its_address,
        a_change_of_an_account_is_whole_or_not_at_all,
        sessions_of_bidders_begin_at_a_version_and_end_by_age_and_number,
        acceptances_and_watched_items_are_those_of_one_account,
        the_registration_of_a_person_is_found_under_each_of_their_records;
    bidder_messages:
        a_message_is_stored_once_with_its_cause;
    visitor_messages:
        messages_to_visitors_are_numbered_in_their_sale;
    late_bids:
        the_first_late_bids_of_a_lot_are_kept,
        late_bids_of_one_paddle_leave_room_for_others,
        struck_bids_of_a_sale_are_read_the_last_first;
    limit_requests:
        a_request_is_open_until_it_is_decided_once,
        a_granted_request_is_decided_with_the_limit_or_not_at_all;
    lot_offers:
        a_lot_has_one_open_offer_which_ends_once,
        an_accepted_offer_ends_with_the_sale_of_its_lot_or_not_at_all;
    notices:
        causes_are_read_in_order_and_end_with_their_notices,
        notices_are_those_of_one_open_account,
        who_follows_an_item_is_read_in_pages,
        browsers_are_replaced_and_pushes_claimed_once;
    house_domains:
        a_domain_is_proven_for_one_house_at_a_time,
        a_record_proves_a_domain_until_it_is_missing_for_three_days,
        another_house_gets_a_domain_only_when_the_record_of_the_first_is_gone;
    houses:
        a_house_reads_back_and_changes_by_its_version,
        only_the_present_logo_of_a_house_is_kept,
        one_house_has_an_address_of_a_saleroom,
        conditions_are_added_once_for_each_number,
        the_facts_of_a_sale_change_by_their_version;
    mails:
        a_mail_is_claimed_once_and_ends_as_it_was_recorded,
        a_mail_that_waits_for_its_next_try_is_made_due_once,
        a_decision_is_written_with_its_mail_or_not_at_all,
        the_mails_of_an_erased_person_are_deleted,
        mails_are_listed_counted_and_deleted_after_their_time,
        due_mails_of_a_house_are_held_back_one_after_the_other,
        mails_that_wait_for_a_limit_are_counted_and_made_due_at_once,
        a_reminder_begins_once_and_is_made_in_parts;
    mail_nodes:
        a_decision_reaches_the_bidder_in_the_language_of_the_house,
        a_busy_server_gets_the_mail_again_and_a_refused_mail_is_shown,
        a_mailbox_receives_at_most_its_allowance,
        a_reminder_is_previewed_and_sent_once_to_all,
        a_mail_of_a_node_that_died_is_sent_by_the_other,
        an_erasure_deletes_the_mails_of_the_person;
    downtimes:
        a_downtime_is_stored_until_a_node_clears_it;
    audit_positions:
        the_log_is_read_in_the_order_in_which_it_was_written,
        refused_changes_leave_no_gaps_in_cursors,
        writes_through_the_port_leave_no_orphan_rows;
    timers:
        items_are_due_at_their_end_earliest_first,
        nothing_is_due_before_its_time_to_the_nanosecond;
    sandbox:
        the_timer_of_real_sales_ignores_sandboxes,
        items_of_a_sandbox_are_due_by_end_and_then_by_position,
        a_clock_is_advancing_until_it_reaches_its_target;
    lists:
        auctions_are_filtered_by_all_criteria_in_order,
        items_are_filtered_by_status_and_found_by_lot_number,
        registrations_are_filtered_by_status,
        the_last_mapping_of_a_customer_is_stored;
    catalogue_round_trips:
        an_exported_catalogue_is_the_same_in_another_auction;
    catalogue_uploads:
        an_upload_is_stored_in_parts_until_it_expires,
        uploads_have_quotas_and_the_first_of_a_user_can_be_removed;
    images:
        images_are_stored_in_order_with_their_content,
        images_of_copied_lots_share_content_until_the_last_is_removed,
        a_concurrent_removal_and_copy_leave_no_image_without_content;
    staff_reads:
        auctions_are_read_newest_first,
        the_journal_of_an_auction_includes_only_its_items,
        the_corrections_of_an_auction_are_read_from_the_audit_log;
    presence:
        capped_item_counts_are_read_for_many_auctions_in_one_call;
    quarantine:
        what_waits_for_each_customer_is_counted,
        a_disconnected_customer_publishes_nothing_and_can_reconnect,
        an_event_from_quarantine_precedes_later_events_of_its_subject,
        an_overtaken_event_is_sent_only_on_explicit_request,
        a_dropped_event_stays_in_the_journal;
    holds:
        a_hold_begins_is_replaced_and_ends;
    sealings:
        sentinels_are_replaced_only_if_unchanged,
        of_concurrent_first_sentinels_one_is_stored,
        a_sealed_text_is_replaced_only_if_unchanged;
    bulk_changes:
        a_bulk_change_advances_by_steps_and_one_of_two_concurrent_steps_wins,
        staged_chunks_without_a_bulk_change_are_deleted,
        a_large_auction_goes_live_in_steps_and_waiting_items_refuse_commands,
        a_large_auction_returns_to_preview_unless_a_bid_was_accepted,
        passed_items_of_a_large_auction_become_unsold_in_steps,
        archiving_a_mistaken_auction_withdraws_its_items_in_steps,
        a_large_catalogue_is_imported_in_steps_completely_or_not_at_all,
        any_node_completes_an_interrupted_import;
    large:
        the_ends_of_a_large_auction_move_in_steps_and_each_once,
        planned_ends_of_a_large_auction_follow_its_closing_time,
        the_terms_of_a_large_sale_change_unless_a_bid_was_accepted,
        a_large_auction_is_copied_completely_or_not_at_all,
        a_copy_with_an_invalid_lot_is_refused_and_a_stuck_copy_blocks_no_other,
        any_lot_with_a_past_end_prevents_a_large_auction_from_going_live;
    journal:
        a_history_lists_every_change_of_status,
        only_a_customers_announced_events_are_replayed;
    connections:
        a_connection_reads_back_and_is_replaced,
        a_connection_is_replaced_only_as_it_was_read,
        a_contact_keeps_its_first_time_and_applies_only_to_its_connection,
        a_connection_names_the_embedded_provider_or_an_address,
        a_commit_returns_the_last_change_of_the_connection,
        nothing_enters_the_outbox_before_the_connection_is_complete,
        a_connection_may_start_from_a_cursor,
        starting_from_a_cursor_duplicates_no_waiting_row,
        a_backlog_reports_the_last_failure_until_the_connection_changes,
        rows_of_a_parked_queue_are_not_claimed;
    endpoint_readings:
        a_reading_is_claimed_once_and_due_again_at_its_time,
        a_reading_is_brought_forward_and_not_too_far,
        endpoints_and_deliveries_read_back_until_the_application_changes,
        the_oldest_reading_and_keys_without_the_right_are_counted;
    claims:
        a_commit_assigns_rows_without_an_earlier_waiting_row,
        unassigned_rows_are_claimed_oldest_first_and_once,
        only_the_earliest_row_of_a_subject_is_claimed,
        customers_with_outbox_rows_are_listed_once;
    settling:
        a_retry_delays_the_later_events_of_its_subject,
        a_released_row_is_due_without_a_counted_attempt,
        a_response_with_a_nul_is_recorded,
        a_refused_event_is_quarantined_and_the_others_continue;
    traces:
        an_outbox_row_has_the_trace_of_the_request_that_changed_the_status;
    nodes:
        rows_of_a_dead_node_are_released,
        a_node_without_a_heartbeat_is_dead;
    together:
        of_two_commits_on_one_version_one_succeeds,
        a_change_based_on_a_refused_one_is_refused,
        of_concurrent_requests_with_one_key_one_is_committed,
        a_reader_of_the_feed_misses_no_event,
        a_concurrent_connection_neither_loses_nor_repeats_events,
        concurrent_claims_share_the_rows,
        of_concurrent_commits_only_the_refused_ones_fail,
        concurrent_reads_return_each_requested_lot;
}
