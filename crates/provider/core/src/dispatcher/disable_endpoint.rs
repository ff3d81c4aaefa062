//! Disables an endpoint that responds 410 Gone, or whose attempts have all failed for the configured time
//! (`disable_after`).

use jiff::{SignedDuration, Timestamp};

use super::Shared;
use super::lane::Lane;
use super::outcome::Outcome;
use crate::dispatcher::target::Target;
use crate::model::AttemptStatus;
use crate::port::{EndpointEffect, Order, Page, StoreResult};

/// Number of latest attempts that are checked before an endpoint is disabled for failing too long.
const RECENT_ATTEMPTS_MAX: usize = 250;

/// The change of the endpoint that an attempt causes. A 410 response disables it.
pub(super) async fn endpoint_effect(
    shared: &Shared,
    lane: &Lane,
    outcome: &Outcome,
    target: &Target,
) -> EndpointEffect {
    if outcome.status == AttemptStatus::Success {
        return if target.failing_since.is_some() { EndpointEffect::Working } else { EndpointEffect::None };
    }
    let disable_after = SignedDuration::try_from(shared.context.config.disable_after).unwrap_or(SignedDuration::MAX);
    match target.failing_since {
        _ if outcome.gone => EndpointEffect::Disable,
        Some(since) if shared.context.clock.now().duration_since(since) >= disable_after => {
            match succeeded_since(shared, lane, since).await {
                Ok(true) => EndpointEffect::Working,
                Ok(false) => EndpointEffect::Disable,
                Err(error) => {
                    tracing::warn!(endpoint_id = %lane.endpoint, %error, "the recent attempts of a failing endpoint can't be read; it stays enabled");
                    EndpointEffect::None
                }
            }
        }
        Some(_) => EndpointEffect::None,
        None => EndpointEffect::Failing,
    }
}

/// Whether one of the last [`RECENT_ATTEMPTS_MAX`] attempts succeeded after `since`. A success that began before a
/// failure was recorded, on this node or another, did not clear `failing_since`; the endpoint must not be disabled in
/// that case.
async fn succeeded_since(shared: &Shared, lane: &Lane, since: Timestamp) -> StoreResult<bool> {
    let page = Page { from: None, order: Order::Descending, limit: RECENT_ATTEMPTS_MAX };
    let attempts = shared.context.store.attempts_at_endpoint(&lane.application, &lane.endpoint, page).await?;
    Ok(attempts.iter().any(|attempt| attempt.status == AttemptStatus::Success && attempt.at >= since))
}
