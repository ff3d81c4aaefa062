//! Known faults of the open-source server that this one is compatible with (provider.md), as far as they are faults of its
//! API, and that ours has none of them: a file for each. The others are in the tests of `provider`.

mod fault_10_a_rotation_without_its_key;
mod fault_2_idempotency_in_a_cache;
mod fault_8_no_portal_and_no_small_server;
mod fault_9_a_connection_broken_by_input;
