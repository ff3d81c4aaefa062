//! Known faults of the open-source Svix server, whose API this one is compatible with, and the tests that this API does
//! not have them. Each file tests one. The tests of `provider-core` cover the faults that are not part of the API.

mod invalid_input_keeps_the_connection;
mod portal_without_postgres;
mod refused_call_frees_its_idempotency_key;
mod rotation_returns_the_new_secret;
