//! Known failures of webhook servers that this provider must not have. `provider-api` tests those of the API.

mod changes_apply_to_the_next_delivery;
mod committed_messages_are_delivered;
mod endpoints_fail_independently;
mod hanging_endpoints_delay_no_other;
mod idempotency_keys_survive_restarts;
mod receivers_requests_are_honoured;
mod responses_are_read_up_to_a_limit;
