//! Applies a bulk action, and offers to undo it.

use askama::Template;
use axum::response::Response;
use contract::ItemStatus;
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::fields::SubmittedForm;
use kit_design::frame::{Frame, render_page};
use platform_core::sales::items::edit_many::{ItemEditEntry, ItemEditOutcome};
use platform_rules::item::ItemEdit;
use platform_rules::{Auction, Item};
use uuid::Uuid;

use super::bulk;
use crate::page_error::PageError;
use crate::sale::labels;
use crate::sale::writable;
use crate::session::{PathIds, Section, Session};

const UNDO_REASON: &str = "A bulk action was undone";

#[derive(Template)]
#[template(path = "lots/bulk_done.html")]
pub(super) struct DonePage {
    pub(super) frame: Frame,
    pub(super) title: String,
    pub(super) path: String,
    /// Path of the form that undoes it, below that of the lots.
    pub(super) form: &'static str,
    pub(super) action: &'static str,
    pub(super) changed: String,
    /// Lot number and reason.
    pub(super) refused: Vec<(String, String)>,
    /// Lots that can return to what they were before, as the form sends them.
    pub(super) undo: Vec<String>,
    pub(super) undo_count: String,
}

/// A lot of the form: UUID, the version that the person saw, and its status then.
struct Named {
    item: Uuid,
    version: i64,
    before: ItemStatus,
    /// The status to give; of an undo, each lot has its own.
    to: ItemStatus,
}

/// Changes the lots that can change, and lists the others with the reason.
pub(super) async fn apply(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let is_undo = form.text("action") == "undo";
    let action = if is_undo { None } else { Some(bulk::action(form.text("action"))?) };
    let named: Vec<Named> = form.all("lot").filter_map(|lot| parse(lot, action.map(|action| action.0))).collect();
    if named.is_empty() {
        return Err(ErrorPage::bad_request("No lot is selected.").into());
    }
    let reason = form.non_empty("reason").map(str::to_owned).or(is_undo.then(|| UNDO_REASON.to_owned()));
    let entry = |named: &Named| {
        let needs_reason = bulk::needs_reason(named.before, named.to);
        Ok(ItemEditEntry {
            item: named.item,
            version: Some(named.version),
            edit: ItemEdit::default(),
            status: Some((named.to, reason.clone().filter(|_| needs_reason || !is_undo))),
        })
    };
    let entries: Vec<_> = named.iter().map(entry).collect();
    let report = session.platform().change_items(&session.caller, uuid, &entries, None, None).await?.fresh()?;
    let (mut changed, mut refused, mut undo) = (0_u64, Vec::new(), Vec::new());
    for (named, (_, outcome)) in named.iter().zip(report.items) {
        match outcome {
            Ok(ItemEditOutcome::Changed(item)) => {
                changed += 1;
                undo.extend(undo_value(&report.auction, &item, named.before, sale.now).filter(|_| !is_undo));
            }
            Ok(ItemEditOutcome::Unchanged(_)) => {}
            Err(error) => {
                let lot = session.platform().item(&session.caller, named.item).await;
                let lot = lot.map_or_else(|_| named.item.to_string(), |(item, _)| item.lot_number);
                refused.push((lot, sentence(&error.to_string())));
            }
        }
    }
    let page = DonePage {
        frame: session.frame(format!("Lots changed · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path("/lots"),
        form: "bulk/apply",
        action: action.map_or("Undo", |action| action.1),
        changed: labels::count(changed, "lot was changed", "lots were changed"),
        refused,
        undo_count: labels::count(undo.len() as u64, "lot", "lots"),
        undo,
    };
    render_page(&page)
}

fn parse(text: &str, to: Option<ItemStatus>) -> Option<Named> {
    let mut parts = text.split('.');
    let item = Uuid::try_parse(parts.next()?).ok()?;
    let version = parts.next()?.parse().ok()?;
    let status = |name: &str| ItemStatus::ALL.iter().copied().find(|status| status.name() == name);
    let before = status(parts.next()?)?;
    // An undo names the status to return to as well.
    let to = to.or_else(|| status(parts.next()?))?;
    Some(Named { item, version, before, to })
}

/// What the form of an undo sends about a lot; none when the rules do not allow the way back.
fn undo_value(auction: &Auction, item: &Item, before: ItemStatus, now: jiff::Timestamp) -> Option<String> {
    let can_return = item.legal_next(auction, now).contains(&before);
    can_return.then(|| format!("{}.{}.{}.{}", item.uuid, item.version, item.status.name(), before.name()))
}
