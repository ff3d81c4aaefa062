//! Late and withdrawn bids of a sale: what arrived after the end of a lot, and what no longer counts.

use askama::Template;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use platform_core::bidders::{LATE_BIDS_OF_PADDLE_MAX, LateAndWithdrawn};
use platform_rules::StrikeReason;
use uuid::Uuid;

use crate::page_error::PageError;
use crate::sale::labels;
use crate::sale::{Head, Sale, Tab};
use crate::session::{PathIds, Session};

#[derive(Template)]
#[template(path = "registrations/late_bids.html")]
struct LateBidsPage {
    frame: Frame,
    head: Head,
    of_bidder_max: usize,
    late: Vec<LateRow>,
    withdrawn: Vec<WithdrawnRow>,
}

/// A bid that arrived after the end of its lot.
struct LateRow {
    item: Uuid,
    lot_number: String,
    paddle: String,
    /// The query that finds the registration.
    query: String,
    amount: String,
    late: String,
    at: String,
}

/// A bid that no longer counts.
struct WithdrawnRow {
    item: Uuid,
    lot_number: String,
    paddle: String,
    amount: String,
    at: String,
    why: &'static str,
    reason: String,
    by: String,
    struck_at: String,
}

/// `GET /auctions/{auction}/late-bids`
pub(super) async fn page(
    session: Session,
    PathIds([auction]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let LateAndWithdrawn { late, withdrawn } =
        session.platform().late_and_withdrawn_bids(&session.caller, auction).await?;
    let names = session.names(withdrawn.iter().map(|(_, bid)| bid.actor.as_str())).await?;
    let late = late.into_iter().map(|(lot_number, bid)| LateRow {
        item: bid.item,
        lot_number,
        query: form_urlencoded::Serializer::new(String::new()).append_pair("paddle", &bid.paddle).finish(),
        paddle: bid.paddle,
        amount: sale.currency.show(bid.amount),
        late: seconds(bid.late_ms),
        at: sale.zone.short(bid.received_at),
    });
    let withdrawn = withdrawn.into_iter().map(|(lot_number, bid)| WithdrawnRow {
        item: bid.item,
        lot_number,
        amount: sale.currency.show(bid.amount),
        at: sale.zone.short(bid.at),
        why: match bid.strike {
            StrikeReason::Cancelled => "Cancelled",
            StrikeReason::Undone => "Undone",
            StrikeReason::Retracted => "Retracted by the bidder",
            StrikeReason::Lowered => "Asking price lowered",
        },
        reason: bid.reason.unwrap_or_default(),
        by: labels::actor(&session, &names, &bid.actor),
        struck_at: sale.zone.short(bid.struck_at),
        paddle: if bid.paddle.is_empty() { "room".to_owned() } else { bid.paddle },
    });
    render_page(&LateBidsPage {
        frame: sale.frame(&session, "Late and withdrawn bids", &query),
        head: sale.head(&session, Tab::Registrations),
        of_bidder_max: LATE_BIDS_OF_PADDLE_MAX,
        late: late.collect(),
        withdrawn: withdrawn.collect(),
    })
}

/// `0.4 s`, rounded up: no late bid arrived 0.0 s late. From two minutes on, `3 min 35 s`.
fn seconds(ms: i64) -> String {
    let tenths = ((ms + 99) / 100).max(1);
    if tenths >= 1_200 {
        return format!("{} min {} s", tenths / 600, tenths % 600 / 10);
    }
    format!("{}.{} s", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_late_a_bid_was_is_rounded_up() {
        for (ms, shown) in [(0, "0.1 s"), (400, "0.4 s"), (401, "0.5 s"), (61_000, "61.0 s"), (215_000, "3 min 35 s")] {
            assert_eq!(seconds(ms), shown);
        }
    }
}
