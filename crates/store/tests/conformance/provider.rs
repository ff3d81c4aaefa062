//! The provider's port: each story is told of every store.

mod accept;
mod attempts;
mod config;
mod deliveries;
mod given;
mod operational;
mod pages;
mod restart;
mod tasks;

/// A test of each store for each story.
macro_rules! stories {
    ($($subject:ident: $($story:ident),+ $(,)?;)+) => {
        mod memory {
            $($(#[tokio::test(flavor = "multi_thread")] async fn $story() { super::$subject::$story(store::memory::provider()).await; })+)+
        }
        mod sqlite {
            $($(#[tokio::test(flavor = "multi_thread")] async fn $story() {
                let directory = tempfile::tempdir().unwrap();
                let store = store::sqlite::open_provider(&directory.path().join("provider.db")).await.unwrap();
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
    config:
        api_keys_belong_to_an_account_and_are_found_by_their_hash,
        an_answer_is_kept_with_its_write_and_once,
        old_answers_are_forgotten_a_few_at_a_time,
        an_application_is_found_by_id_or_uid_within_its_account,
        an_application_that_changes_keeps_its_creation_and_gets_a_version,
        event_types_are_listed_by_name_and_put_over_each_other,
        an_endpoint_change_raises_the_applications_version,
        a_ping_reads_and_writes;
    accept:
        an_accepted_message_reads_back_as_it_was_sent,
        an_event_id_is_unique_in_its_application,
        an_idempotency_key_accepts_one_message,
        the_first_reason_is_the_key_then_the_snapshot_then_the_event_id,
        a_message_refused_leaves_no_delivery_behind,
        an_old_snapshot_is_stale_after_any_change,
        of_many_calls_with_the_same_keys_one_is_taken,
        messages_are_routed_by_the_endpoints_of_their_moment,
        a_deleted_application_is_not_there_for_anybody;
    deliveries:
        a_row_with_an_owner_is_for_nobody_else,
        two_nodes_that_claim_at_once_share_the_rows,
        what_a_dead_node_had_is_nobodys_and_due,
        a_failed_attempt_waits_for_the_next,
        a_released_row_is_due_at_once_with_the_attempts_it_had,
        dropped_rows_are_gone_without_an_attempt,
        a_deleted_endpoint_takes_what_waits_for_it,
        endpoints_with_due_rows_come_once_and_the_longest_due_first,
        an_endpoint_with_many_rows_hides_no_other;
    attempts:
        attempts_are_listed_newest_first_by_message_and_by_endpoint,
        a_manual_attempt_takes_the_place_of_the_scheduled_retry,
        an_endpoint_fails_since_its_first_failure_after_a_success,
        an_endpoint_that_is_disabled_changes_the_routes_once;
    tasks:
        a_task_is_kept_with_its_answer_and_listed_by_status_and_kind,
        a_running_task_is_one_workers_until_its_lease_is_over,
        a_step_happens_once_and_makes_rows_only_for_what_does_not_wait,
        a_step_to_an_endpoint_that_takes_nothing_happens_not_at_all,
        of_two_workers_at_one_position_one_makes_the_step,
        failures_say_once_what_is_to_be_recovered,
        messages_are_seen_from_an_endpoint,
        tasks_that_ended_are_forgotten_a_few_at_a_time;
    operational:
        what_nobody_listens_to_is_not_written,
        an_endpoints_changes_are_told_in_order,
        attempts_that_give_notice_are_told_once,
        events_are_settled_by_number_and_numbers_are_used_once;
    pages:
        configuration_is_listed_in_slices,
        messages_and_attempts_are_listed_in_slices;
}
