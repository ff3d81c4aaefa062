//! Phrases for the state of a customer's publishing queue, which `lotwire customer show` and `lotwire doctor` print.

use kit_runtime::clock::rfc3339_ms;
use platform_core::customers::connections::ConsumerState;
use platform_core::port::ProviderAddress;

use super::pluralise;

/// `the embedded provider (ADDRESS)` or the address of another provider.
pub(super) fn provider(state: &ConsumerState) -> String {
    match &state.provider {
        ProviderAddress::Embedded => format!("the embedded provider ({})", state.provider_url),
        ProviderAddress::Url(url) => url.clone(),
    }
}

/// `3 events wait, the oldest since TIME`.
pub(super) fn waiting(state: &ConsumerState) -> String {
    let events = pluralise(state.backlog.pending, "event waits", "events wait");
    let oldest = state.backlog.oldest_at.map(|at| format!(", the oldest since {}", rfc3339_ms(at)));
    format!("{events}{}", oldest.unwrap_or_default())
}

/// Why the queue is parked; none if it is not.
pub(super) fn parked(state: &ConsumerState) -> Option<String> {
    let parked = state.parked.as_ref()?;
    Some(format!("the queue is parked since {}: {}", rfc3339_ms(parked.at), parked.reason))
}

/// The last error of the oldest event that waits; none if no attempt has failed.
pub(super) fn last_error(state: &ConsumerState) -> Option<String> {
    let failing = state.backlog.failing.as_ref()?;
    Some(format!("the last error, at {}, was: {}", rfc3339_ms(failing.at), failing.error))
}

/// How many events are in quarantine; none if it is empty.
pub(super) fn quarantined(state: &ConsumerState) -> Option<String> {
    let events = pluralise(state.backlog.quarantined, "event is in quarantine", "events are in quarantine");
    let list = format!("`lotwire customer quarantine list {}` shows the provider's errors", state.customer);
    (state.backlog.quarantined > 0).then(|| format!("{events}; {list}"))
}

/// What to do about a parked or failing queue.
pub(super) fn remedy(state: &ConsumerState) -> String {
    format!(
        "Correct the cause at {}, or the connection with `lotwire customer connect`. Then run `lotwire customer \
         resume {}`",
        provider(state),
        state.customer
    )
}
