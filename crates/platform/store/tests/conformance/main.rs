//! One story, both stores: what the platform's port promises, tested on SQLite and PostgreSQL.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod access_changes;
mod access_log;
mod answers;
mod audit_positions;
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
mod given;
mod images;
mod journal;
mod large;
mod lists;
mod made_links;
mod many_nodes;
mod nodes;
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
mod staff_reads;
mod telephone_bookings;
mod timers;
mod together;
mod users;

/// A test of each store for each story. Another store is another module of three lines.
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
        a_customer_is_found_and_its_name_is_its_own,
        a_customer_gets_another_name_that_no_other_has,
        customers_and_auctioneers_are_listed_in_slices,
        auctioneers_are_numbered_from_one,
        a_key_is_found_by_its_hash_and_remembers_its_use,
        keys_are_listed_and_a_revoked_one_stays_to_be_read,
        a_ping_reads_and_writes;
    users:
        an_email_address_is_one_users,
        a_user_changes_by_their_version_and_their_sessions_end_with_it,
        the_last_administrator_stays_however_many_go_at_once,
        who_has_signed_in_is_not_removed,
        a_code_of_a_second_factor_is_used_once,
        sessions_are_found_by_their_token_until_they_end,
        sessions_that_are_over_are_forgotten_a_few_at_a_time,
        attempts_are_taken_together_or_not_at_all,
        a_setup_code_creates_the_first_user_and_no_other,
        an_invitation_creates_its_user_once;
    made_links:
        links_end_with_the_access_of_their_maker,
        a_replaced_link_opens_its_screen_until_the_new_one_does,
        a_user_who_lost_access_makes_no_link;
    access_log:
        a_change_of_access_and_its_entry_are_one,
        entries_of_many_writers_are_one_chain;
    clerks:
        clerks_are_assigned_to_webcasts_and_taken_off,
        an_archived_webcast_is_not_among_those_of_a_clerk,
        who_gets_another_role_is_nobodys_clerk_whoever_assigns_them_at_once,
        a_webcast_has_no_more_clerks_than_it_may_however_many_come_at_once;
    screens:
        a_webcast_has_one_link_of_each_kind,
        rates_are_replaced_and_no_more_than_allowed;
    telephone_bookings:
        bookings_are_replaced_removed_and_no_more_than_allowed;
    reference:
        an_address_is_kept_with_the_auctioneer_that_has_it,
        an_auctioneer_changes_with_its_address_or_not_at_all,
        an_address_is_kept_with_the_auction_that_has_it_or_not_at_all,
        address_ids_are_drawn_once;
    edits:
        a_corrected_auction_and_item_read_back_as_the_rules_left_them,
        a_corrected_lot_number_is_refused_while_another_item_has_it,
        items_of_one_change_exchange_lot_numbers_and_places,
        an_unsold_item_and_the_one_that_offers_it_again_are_written_together_or_not_at_all;
    answers:
        a_key_that_was_used_makes_nothing_true,
        an_answer_is_kept_only_with_its_change,
        a_customer_and_its_answer_are_one,
        an_auctioneer_and_its_answer_are_one,
        a_queue_is_resumed_with_its_answer_or_not_at_all,
        an_api_key_and_its_answer_are_one,
        the_first_answer_to_a_key_stays,
        old_answers_are_forgotten_a_few_at_a_time;
    rules:
        a_timed_sale_reads_back_as_the_rules_left_it_after_every_command,
        a_webcast_reads_back_as_the_rules_left_it_after_every_command;
    sales:
        auctions_and_items_read_back_as_they_were_committed,
        lists_come_in_slices_and_in_their_order,
        another_version_refuses_the_whole_change,
        a_lot_number_is_one_items_and_refuses_the_whole_change,
        a_position_that_was_filled_meanwhile_is_a_conflict,
        an_item_may_take_another_number_and_place,
        a_refused_change_takes_no_other_with_it,
        items_are_counted_by_status,
        sold_lots_whose_buyer_is_open_are_counted,
        a_bid_is_struck_and_counts_again,
        the_whole_state_of_a_sale_is_kept,
        bids_are_listed_by_their_number;
    bidders:
        a_registration_reads_back_and_changes_by_its_version,
        a_paddle_and_a_party_are_registered_once_in_an_auction,
        a_registration_is_written_with_its_log_or_not_at_all,
        registrations_are_listed_in_their_order_and_numbers_go_up,
        what_a_bidder_has_bound_is_found_by_their_stakes,
        a_turn_is_taken_once,
        bids_on_many_items_at_once_stay_within_a_limit,
        a_bid_rests_on_the_registration_that_it_was_decided_on,
        a_paddle_is_given_up_until_it_has_a_stake;
    downtimes:
        a_downtime_is_kept_until_it_is_over_on_whichever_node;
    audit_positions:
        the_log_is_read_in_the_order_in_which_it_was_written,
        cursors_have_no_holes_whatever_is_refused,
        writes_through_the_port_leave_no_orphan_rows;
    timers:
        items_are_due_by_their_end_and_the_earliest_comes_first,
        nothing_is_due_before_its_time_to_the_nanosecond;
    sandbox:
        the_timer_of_real_sales_never_sees_a_sandbox,
        items_of_a_sandbox_are_due_by_their_end_and_then_their_place,
        a_clock_is_advancing_until_it_is_at_its_target;
    lists:
        auctions_are_narrowed_by_all_that_is_said_and_keep_their_order,
        items_are_narrowed_by_status_and_found_by_their_lot_number,
        registrations_are_narrowed_by_where_they_stand,
        the_last_mapping_of_a_customer_is_remembered;
    catalogue_round_trips:
        an_exported_catalogue_is_the_same_in_another_auction;
    catalogue_uploads:
        an_upload_is_kept_in_parts_until_it_expires,
        uploads_have_quotas_and_the_first_of_a_user_makes_room;
    images:
        images_are_kept_in_their_order_with_their_content,
        the_images_of_copied_lots_share_a_content_until_the_last_one_is_removed,
        a_removal_and_copies_at_the_same_time_leave_no_image_without_content;
    staff_reads:
        auctions_are_read_from_the_newest_on,
        the_journal_of_an_auction_has_its_items_and_no_other;
    presence:
        capped_item_counts_are_read_for_many_auctions_in_one_call;
    quarantine:
        a_connection_that_ended_publishes_nothing_and_may_begin_again,
        an_event_that_is_sent_again_goes_before_the_later_ones_of_its_subject,
        an_event_that_a_later_one_has_overtaken_is_sent_only_on_purpose,
        what_is_dropped_is_gone_and_its_journal_stays;
    sealings:
        sentinels_are_replaced_as_they_were_seen,
        of_many_first_sentinels_one_stays,
        a_sealed_text_is_replaced_where_it_is_what_was_seen;
    bulk_changes:
        a_bulk_change_advances_by_steps_and_one_of_two_concurrent_steps_wins,
        staged_chunks_without_a_bulk_change_are_deleted,
        a_large_auction_goes_live_step_by_step_and_what_has_to_wait_is_told_so,
        a_large_auction_is_preview_again_unless_a_bid_had_come,
        what_was_passed_is_unsold_step_by_step,
        a_mistaken_auction_withdraws_its_items_step_by_step,
        a_catalogue_enters_in_pieces_and_whole_or_not_at_all,
        an_import_that_was_begun_is_brought_to_its_end_by_any_node;
    large:
        the_ends_of_a_large_auction_move_piece_by_piece_and_each_once,
        planned_ends_of_a_large_auction_follow_its_closing_time,
        a_large_sale_gets_other_terms_unless_a_bid_had_come,
        a_large_auction_is_copied_whole_or_not_at_all,
        a_copy_that_a_lot_rules_out_is_refused_and_one_that_is_stuck_holds_up_no_other,
        a_lot_whose_end_is_over_keeps_a_large_auction_from_going_live_wherever_it_is;
    journal:
        a_history_has_every_change_of_a_status,
        only_a_customers_announced_events_are_replayed;
    connections:
        a_connection_reads_back_and_is_replaced,
        a_contact_keeps_its_beginning_and_counts_only_for_the_connection_that_it_is_of,
        a_connection_names_the_embedded_provider_or_an_address,
        a_commit_tells_when_the_connection_was_last_changed,
        nothing_enters_the_outbox_before_the_connection_is_complete,
        a_connection_may_start_from_a_cursor,
        starting_from_a_cursor_doubles_nothing_that_waits,
        a_backlog_tells_the_last_failure_until_the_connection_is_changed,
        a_parked_queue_keeps_its_events_and_gives_none_away;
    claims:
        a_commit_hands_over_what_nothing_holds_back,
        rows_of_nobody_are_claimed_oldest_first_and_once,
        only_the_earliest_row_of_a_subject_is_given_out,
        customers_with_work_come_once;
    settling:
        a_retry_waits_for_its_time_and_its_subject_with_it,
        a_released_row_is_due_again_untried,
        an_answer_with_a_nul_holds_nothing_up,
        what_a_provider_refuses_is_put_aside_and_the_rest_flows;
    nodes:
        rows_of_a_dead_node_are_released,
        a_node_that_was_never_heard_of_is_dead;
    together:
        of_two_commits_of_a_version_one_wins,
        a_change_based_on_a_refused_one_is_refused,
        of_many_requests_with_one_key_one_is_done,
        a_reader_of_the_tail_misses_nothing,
        an_event_is_before_the_connection_or_after_it,
        two_nodes_that_claim_at_once_share_the_rows,
        of_many_commits_at_once_the_refused_ones_fail_alone,
        lots_that_are_read_at_once_are_each_their_own;
}
