//! Failures that webhook servers are known for, and that this one must not have. Those of the API are tested in
//! `provider-api`.

mod changes_apply_to_the_next_delivery;
mod committed_messages_are_delivered;
mod endpoints_fail_independently;
mod hanging_endpoints_delay_no_other;
mod idempotency_keys_survive_restarts;
mod receivers_requests_are_honoured;
mod responses_are_read_up_to_a_limit;
