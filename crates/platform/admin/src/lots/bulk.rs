//! Bulk actions on lots: a page that says what each lot becomes, before anything changes.

use askama::Template;
use axum::response::Response;
use contract::ItemStatus;
use kit_design::error_page::ErrorPage;
use kit_design::fields::{FormFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page};
use platform_rules::Item;
use platform_rules::transitions::{ITEM_TRANSITIONS, ItemActor};
use uuid::Uuid;

use super::{formula, order, range};
use crate::form_page::reason_field;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels::{self, Badge};
use crate::sale::notified;
use crate::sale::writable;
use crate::session::{PathIds, Section, Session};

/// A status that an administrator gives to lots, with the words of the action.
const ACTIONS: &[(ItemStatus, &str, &str)] = &[
    (ItemStatus::Preview, "Move to preview", "moves to preview"),
    (ItemStatus::Live, "Put on sale", "goes on sale"),
    (ItemStatus::Suspended, "Suspend", "is suspended: it takes no bids"),
    (ItemStatus::Draft, "Return to draft", "returns to draft"),
    (ItemStatus::Withdrawn, "Withdraw", "is withdrawn: its bids lapse"),
];
/// Lots that the page names at most.
const NAMED_MAX: usize = 200;

#[derive(Template)]
#[template(path = "lots/bulk.html")]
struct BulkPage {
    frame: Frame,
    title: String,
    path: String,
    action: &'static str,
    to: &'static str,
    effect: &'static str,
    count: String,
    lots: Vec<Lot>,
    refused: Vec<Lot>,
    /// What the refused lots need before; empty when nothing helps.
    before: &'static str,
    unknown: String,
    reason: Option<FormField>,
    notified: String,
    is_danger: bool,
}

struct Lot {
    /// UUID, version and status, as the form sends them.
    value: String,
    lot_number: String,
    title: String,
    badge: Badge,
}

/// The bulk actions as choices.
pub(super) fn actions(chosen: &str) -> Vec<Choice> {
    let of_status = ACTIONS.iter().map(|(to, words, _)| Choice::of(to.name(), *words, chosen));
    of_status.chain(order::actions()).chain([formula::action()]).collect()
}

/// The action with this status.
pub(super) fn action(name: &str) -> Result<&'static (ItemStatus, &'static str, &'static str), ErrorPage> {
    let found = ACTIONS.iter().find(|(to, ..)| to.name() == name);
    found.ok_or_else(|| ErrorPage::bad_request("The form names no action."))
}

/// The confirmation of a bulk action.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    if [order::MOVE, order::RENUMBER].contains(&form.text("action")) {
        return order::show(&session, &sale, &form).await;
    }
    if form.text("action") == formula::ACTION {
        return formula::show(&session, &sale, &form).await;
    }
    let (to, action, effect) = action(form.text("action"))?;
    let (items, unknown) = chosen(&session, &sale, &form).await?;
    if items.is_empty() {
        return Err(ErrorPage::bad_request("No lot is selected. Go back, select lots or write their numbers.").into());
    }
    let is_possible = |item: &Item| item.legal_next(&sale.auction, sale.now).contains(to);
    let (possible, refused): (Vec<&Item>, Vec<&Item>) = items.iter().partition(|item| is_possible(item));
    let needs_reason = possible.iter().any(|item| needs_reason(item.status, *to));
    let announced = possible.iter().filter(|item| item.announced).count() as u64;
    let what = labels::count(
        announced,
        "event about a lot that was announced before",
        "events about lots that were announced before",
    );
    let page = BulkPage {
        frame: session.frame(format!("{action} · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path("/lots"),
        action,
        to: to.name(),
        effect,
        count: labels::count(possible.len() as u64, "lot", "lots"),
        lots: possible.into_iter().map(lot).collect(),
        before: match to {
            ItemStatus::Live if refused.iter().any(|item| item.status == ItemStatus::Draft) => {
                "A draft moves to preview before it goes on sale: choose “Move to preview” for these lots first."
            }
            _ => "",
        },
        refused: refused.into_iter().take(NAMED_MAX).map(lot).collect(),
        unknown: unknown.join(", "),
        reason: needs_reason.then(|| reason_field("").required()),
        notified: if announced == 0 {
            "No event is sent: none of these lots was announced before.".to_owned()
        } else {
            notified::words(&session, &sale, &what).await?
        },
        is_danger: *to == ItemStatus::Withdrawn,
    };
    render_page(&page)
}

/// True when an administrator needs a reason for this change of a lot.
pub(super) fn needs_reason(from: ItemStatus, to: ItemStatus) -> bool {
    let by = |actor| matches!(actor, ItemActor::Administrator | ItemActor::Correction);
    let mut rows = ITEM_TRANSITIONS.iter().filter(|row| row.from == Some(from) && row.to == to && by(row.by));
    rows.any(|row| row.guards.contains(&platform_rules::transitions::ItemGuard::Reason))
}

/// The lots that the form selects, and the numbers that no lot has.
pub(super) async fn chosen(
    session: &Session,
    sale: &Sale,
    form: &FormFields,
) -> Result<(Vec<Item>, Vec<String>), PageError> {
    let numbers = range::parse(form.text("range")).map_err(ErrorPage::bad_request)?;
    let (mut items, unknown) = range::find(session, sale.auction.uuid, &numbers).await?;
    for uuid in form.all("lot").filter_map(|lot| Uuid::try_parse(lot).ok()).take(range::LOTS_MAX) {
        let (item, auction) = session.platform().item(&session.caller, uuid).await?;
        if auction.uuid == sale.auction.uuid && !items.iter().any(|own| own.uuid == uuid) {
            items.push(item);
        }
    }
    items.truncate(range::LOTS_MAX);
    Ok((items, unknown))
}

fn lot(item: &Item) -> Lot {
    Lot {
        value: format!("{}.{}.{}", item.uuid, item.version, item.status.name()),
        lot_number: item.lot_number.clone(),
        title: item.title.clone(),
        badge: item.status.into(),
    }
}
