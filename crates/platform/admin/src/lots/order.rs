//! Changes the running order of lots, and their lot numbers, with the result shown before it is applied, and undo.

use askama::Template;
use axum::response::{Html, IntoResponse as _, Response};
use http::{HeaderMap, StatusCode};
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page, render_page_as};
use platform_core::port::Page;
use platform_core::sales::items::arrange::{Arranged, Placement};
use platform_rules::Item;
use uuid::Uuid;

use super::order_plan::{Plan, Shown};
use super::{bulk, cell, order_plan};
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels;
use crate::sale::refusal;
use crate::sale::writable;
use crate::session::{PathIds, Section, Session};

/// Moves the selected lots.
pub(super) const MOVE: &str = "MOVE";
/// Gives the selected lots new numbers.
pub(super) const RENUMBER: &str = "RENUMBER";

#[derive(Template)]
#[template(path = "lots/order.html")]
struct OrderPage {
    frame: Frame,
    title: String,
    path: String,
    action: &'static str,
    heading: String,
    is_move: bool,
    /// Selected lots, as the form sends them again.
    lots: Vec<Uuid>,
    unknown: String,
    fields: Vec<FormField>,
    errors: ErrorSummary,
    plan: Option<Shown>,
}

#[derive(Template)]
#[template(path = "lots/order_done.html")]
struct DonePage {
    frame: Frame,
    title: String,
    path: String,
    changed: String,
    is_undo: bool,
    undo: Vec<String>,
    /// The lots that moved, for another action.
    lots: Vec<Uuid>,
}

/// What the script shows after a lot was dragged.
#[derive(Template)]
#[template(path = "lots/order_notice.html")]
struct Notice {
    base: String,
    path: String,
    text: String,
    /// UUID of each lot that changed, with its version before and after.
    changes: String,
    undo: Vec<String>,
    is_undo: bool,
}

/// The actions of this page as choices of the grid's form.
pub(super) fn actions() -> [Choice; 2] {
    [Choice::of(MOVE, "Move to another place", ""), Choice::of(RENUMBER, "Renumber", "")]
}

/// The form, with the result once it was asked for.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    show(&session, &sale, &form).await
}

/// Renders the form of the action that the form names.
pub(super) async fn show(session: &Session, sale: &Sale, form: &FormFields) -> Result<Response, PageError> {
    let is_move = form.text("action") == MOVE;
    let (mut items, unknown) = bulk::chosen(session, sale, form).await?;
    if items.is_empty() && !is_move && unknown.is_empty() {
        items = order_plan::whole_sale(session, sale).await?;
    }
    if items.is_empty() {
        return Err(ErrorPage::bad_request("No lot is selected. Go back, select lots or write their numbers.").into());
    }
    items.sort_unstable_by_key(|item| item.position);
    let mut errors = FieldErrors::default();
    let mut plan = None;
    if form.text("do") == "show" {
        plan = plan_of(session, sale, form, &items, &mut errors).await?;
    }
    let count = labels::count(items.len() as u64, "lot", "lots");
    let fields = if is_move { move_fields(form) } else { number_fields(form, &items) };
    let fields: Vec<FormField> = fields.into_iter().map(|field| field.with(&errors)).collect();
    let status = if errors.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let verb = if is_move { "Move" } else { "Renumber" };
    let page = OrderPage {
        frame: session.frame(format!("{verb} lots · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path("/lots"),
        action: if is_move { MOVE } else { RENUMBER },
        heading: format!("{verb} {count}"),
        is_move,
        lots: items.iter().map(|item| item.uuid).collect(),
        unknown: unknown.join(", "),
        errors: ErrorSummary::of_fields(&errors, &fields),
        fields,
        plan: plan.map(|plan| plan.shown(sale)),
    };
    render_page_as(status, &page)
}

fn move_fields(form: &FormFields) -> Vec<FormField> {
    let before = FormField::text("before", "Move before lot", form.text("before"));
    vec![before.optional().hint("Empty: to the end of the running order.")]
}

fn number_fields(form: &FormFields, items: &[Item]) -> Vec<FormField> {
    let first = items.first().map(|item| item.lot_number.clone());
    let first = first.filter(|number| number.parse::<u32>().is_ok()).unwrap_or_else(|| "1".to_owned());
    let typed = |name: &str, default: String| form.non_empty(name).map_or(default, str::to_owned);
    vec![
        FormField::text("start", "First lot number", typed("start", first)),
        FormField::text("step", "Step", typed("step", "1".into())).hint("10 leaves numbers free between the lots."),
    ]
}

async fn plan_of(
    session: &Session,
    sale: &Sale,
    form: &FormFields,
    items: &[Item],
    errors: &mut FieldErrors,
) -> Result<Option<Plan>, PageError> {
    if form.text("action") != MOVE {
        let Some(numbers) = order_plan::numbers(form, items.len(), errors) else { return Ok(None) };
        return Ok(Some(Plan::renumber(session, sale, items, numbers).await?));
    }
    let before = match form.non_empty("before") {
        None => None,
        Some(number) => match order_plan::lot(session, sale, number).await? {
            Some(item) => Some(item.uuid),
            None => {
                errors.add("before", format!("No lot has the number {number}."));
                return Ok(None);
            }
        },
    };
    let moved: Vec<Uuid> = items.iter().map(|item| item.uuid).collect();
    match session.platform().plan_move(&session.caller, sale.auction.uuid, &moved, before).await {
        Ok(placed) => Ok(Some(Plan::of(sale, placed))),
        Err(error) => {
            refusal::add_to(errors, error)?;
            Ok(None)
        }
    }
}

/// Applies the shown result, or undoes it.
pub(super) async fn apply(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    headers: HeaderMap,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let placements: Vec<Placement> = form.all("lot").filter_map(order_plan::parse).collect();
    if placements.is_empty() {
        return Err(ErrorPage::bad_request("No lot is selected.").into());
    }
    let is_undo = form.text("action") == "undo";
    let arranged = session.platform().arrange_items(&session.caller, uuid, &placements).await;
    if headers.contains_key(cell::FRAGMENT) {
        let text = if is_undo { "The move was undone." } else { "The lots were moved." };
        return notice(&session, &sale, arranged, text, is_undo);
    }
    let arranged = match arranged {
        Ok(arranged) => arranged,
        Err(error) => return Err(refused(error)?.into()),
    };
    let page = DonePage {
        frame: session.frame(format!("Lots arranged · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path("/lots"),
        changed: labels::count(arranged.len() as u64, "lot has", "lots have"),
        is_undo,
        undo: undo(&arranged),
        lots: arranged.iter().map(|lot| lot.after.uuid).collect(),
    };
    render_page(&page)
}

/// Moves one lot beside another at once. The script calls it when a row is dropped, and shows the
/// notice that it returns.
pub(super) async fn drop_row(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let lot = |name: &str| {
        Uuid::try_parse(form.text(name)).map_err(|_| ErrorPage::bad_request("The form does not name two lots."))
    };
    let (moved, beside) = (lot("lot")?, lot("beside")?);
    let platform = session.platform();
    let before = if form.text("side") == "after" {
        let (other, _) = platform.item(&session.caller, beside).await?;
        let page = Page { after: Some(other.position), limit: 1 };
        platform.items(&session.caller, uuid, page).await?.pop().map(|next| next.uuid)
    } else {
        Some(beside)
    };
    let is_there = moved == beside || before == Some(moved);
    let planned =
        if is_there { Ok(Vec::new()) } else { platform.plan_move(&session.caller, uuid, &[moved], before).await };
    let arranged = match planned {
        Ok(placed) if placed.is_empty() => Ok(Vec::new()),
        Ok(placed) => {
            let placements: Vec<Placement> = placed.into_iter().map(|(_, placement)| placement).collect();
            platform.arrange_items(&session.caller, uuid, &placements).await
        }
        Err(error) => Err(error),
    };
    notice(&session, &sale, arranged, "The lot was moved.", false)
}

/// The fragment that says what was done, with its undo, or why nothing was.
fn notice(
    session: &Session,
    sale: &Sale,
    arranged: Result<Vec<Arranged>, platform_core::PlatformError>,
    text: &str,
    is_undo: bool,
) -> Result<Response, PageError> {
    let base = session.admin.site().base.to_string();
    let (status, notice) = match arranged {
        Ok(arranged) => {
            let (text, changes) = (text.to_owned(), changes(&arranged));
            (StatusCode::OK, Notice { base, path: sale.path("/lots"), text, changes, undo: undo(&arranged), is_undo })
        }
        Err(error) => {
            let text = format!("Nothing was moved. {}", refusal::text(error)?);
            let (changes, undo) = (String::new(), Vec::new());
            let none = Notice { base, path: sale.path("/lots"), text, changes, undo, is_undo };
            (StatusCode::UNPROCESSABLE_ENTITY, none)
        }
    };
    let html = notice.render().map_err(|_| PageError::from(ErrorPage::internal()))?;
    Ok((status, Html(html)).into_response())
}

fn refused(error: platform_core::PlatformError) -> Result<ErrorPage, PageError> {
    let text = sentence(&refusal::text(error)?);
    Ok(ErrorPage::new(StatusCode::CONFLICT, "No lot was changed", text))
}

fn changes(arranged: &[Arranged]) -> String {
    let change = |Arranged { before, after }: &Arranged| format!("{}.{}.{}", after.uuid, before.version, after.version);
    arranged.iter().map(change).collect::<Vec<_>>().join(" ")
}

/// The placements that restore the lots, as a form sends them.
fn undo(arranged: &[Arranged]) -> Vec<String> {
    let restored = arranged.iter().map(|Arranged { before, after }| Placement {
        item: after.uuid,
        version: Some(after.version),
        position: before.position,
        lot_number: before.lot_number.clone(),
    });
    restored.map(|placement| order_plan::value(&placement)).collect()
}
