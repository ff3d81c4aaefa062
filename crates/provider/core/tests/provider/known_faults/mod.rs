//! Known faults of the open-source server that this one is compatible with (provider.md), and that ours has none of them: a
//! file for each. Those of its API (2, 8, 9 and 10) are in the tests of `provider-api`.

mod fault_1_lost_between_commit_and_queue;
mod fault_2_idempotency_in_a_cache;
mod fault_3_a_response_read_whole;
mod fault_4_changes_used_late;
mod fault_5_one_task_for_all_endpoints;
mod fault_6_one_pool_for_all;
mod fault_7_what_receivers_ask_for;
