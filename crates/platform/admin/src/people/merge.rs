//! Merges two records of a person: side by side, with a choice for each field that differs, and what the merge causes.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page, render_page_as};
use platform_core::PlatformError;
use platform_core::bidders::{CONSIGNED_COUNTED_MAX, MergeChoices, MergePlan, PartyKind, RecordPair};
use platform_core::port::{Page as ListPage, Party};
use uuid::Uuid;

use super::likely::LikelyRow;
use super::merge_fields::{FieldRow, chosen, rows};
use crate::page_error::PageError;
use crate::sale::{labels, refusal};
use crate::session::{PathIds, Section, Session};

/// Records that a search lists.
const FOUND_MAX: usize = 20;

#[derive(Template)]
#[template(path = "people/merge_search.html")]
struct SearchPage {
    frame: Frame,
    uuid: Uuid,
    name: String,
    text: String,
    rows: Vec<LikelyRow>,
}

#[derive(Template)]
#[template(path = "people/merge.html")]
struct MergePage {
    frame: Frame,
    faults: Vec<String>,
    kept: Uuid,
    merged: Uuid,
    kept_label: String,
    merged_label: String,
    /// Versions of both that the page shows.
    versions: (i64, i64),
    rows: Vec<FieldRow>,
    has_choice: bool,
    /// A row has a value of both records together.
    has_both: bool,
    causes: Vec<String>,
    refusal: String,
}

/// Both records side by side; without the other record, a search for it.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let Ok(other) = Uuid::try_parse(query.text("with")) else {
        return search(&session, uuid, query.text("text").trim()).await;
    };
    let plan = plan(&session, uuid, other).await?;
    if let Some(record) = [&plan.kept, &plan.merged].into_iter().find_map(|party| party.merged.as_ref()) {
        return Ok(session.admin.redirect(&format!("/people/{}", record.into)).into_response());
    }
    let usual = MergeChoices::usual(&plan.kept, &plan.merged);
    show(&session, &plan, &usual, (Vec::new(), StatusCode::OK)).await
}

/// Merges the records, or shows the page again with what stands against it.
pub(super) async fn merge(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let other = Uuid::try_parse(form.text("with")).map_err(|_| PlatformError::NotFound("party"))?;
    let before = plan(&session, uuid, other).await?;
    let choices = chosen(&form, MergeChoices::usual(&before.kept, &before.merged));
    let pair = RecordPair { kept: uuid, merged: other, versions: Some(versions(&form)) };
    let error = match session.platform().merge_parties(&session.caller, pair, &choices).await {
        Ok(_) => {
            let standing = session.platform().standing_lots(&session.caller, uuid).await?;
            let has_own = standing.iter().any(|standing| standing.is_own);
            let done = if has_own { "parties-merged-own-lots" } else { "parties-merged" };
            return Ok(session.admin.redirect(&format!("/people/{uuid}?done={done}")).into_response());
        }
        Err(error) => error,
    };
    let status = match &error {
        PlatformError::PreconditionFailed { .. } | PlatformError::Rejected(_) => StatusCode::CONFLICT,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let fault = match error {
        PlatformError::PreconditionFailed { .. } => {
            "Someone else changed a record since you opened this page. Compare the records again.".to_owned()
        }
        error => refusal::text(error)?,
    };
    show(&session, &plan(&session, uuid, other).await?, &choices, (vec![fault], status)).await
}

async fn plan(session: &Session, kept: Uuid, merged: Uuid) -> Result<MergePlan, PageError> {
    Ok(session.platform().merge_plan(&session.caller, RecordPair { kept, merged, versions: None }).await?)
}

/// The versions that the form was made for. A form without them merges nothing.
fn versions(form: &FormFields) -> (i64, i64) {
    let version = |name| form.text(name).parse().unwrap_or_default();
    (version("version"), version("other"))
}

async fn search(session: &Session, uuid: Uuid, text: &str) -> Result<Response, PageError> {
    let (platform, caller) = (session.platform(), &session.caller);
    let party = platform.party(caller, uuid).await?;
    if party.merged.is_some() || party.erasure.is_some() {
        return Ok(session.admin.redirect(&format!("/people/{}", party.record())).into_response());
    }
    let found: Vec<LikelyRow> = if text.is_empty() {
        platform.likely_duplicates(caller, uuid).await?.iter().map(LikelyRow::of).collect()
    } else {
        let page = ListPage { after: None, limit: FOUND_MAX + 1 };
        let found = platform.find_parties(caller, party.customer, (PartyKind::All, text), page).await?.parties;
        let others = found.iter().filter(|other| other.uuid != uuid).take(FOUND_MAX);
        others.map(|other| LikelyRow::new(other, &party.details.match_reasons(&other.details))).collect()
    };
    render_page(&SearchPage {
        frame: session.frame(format!("Merge {} with another record", party.details.name), Section::People),
        uuid,
        name: party.details.name,
        text: text.to_owned(),
        rows: found,
    })
}

async fn show(
    session: &Session,
    plan: &MergePlan,
    choices: &MergeChoices,
    (faults, status): (Vec<String>, StatusCode),
) -> Result<Response, PageError> {
    let MergePlan { kept, merged, .. } = plan;
    let seen_by = [kept, merged].into_iter().filter_map(|party| party.identity.as_ref());
    let names = session.names(seen_by.map(|identity| identity.seen_by.as_str())).await?;
    let by = |actor: &str| labels::actor(session, &names, actor);
    let rows = rows((kept, merged), choices, by);
    let page = MergePage {
        frame: session.frame("Merge two records", Section::People),
        faults,
        kept: kept.uuid,
        merged: merged.uuid,
        kept_label: kept.label(),
        merged_label: merged.label(),
        versions: (kept.version, merged.version),
        has_choice: rows.iter().any(|row| row.is_choice),
        has_both: rows.iter().any(|row| row.both.is_some()),
        rows,
        causes: causes(plan),
        refusal: plan
            .refusal
            .as_ref()
            .map_or(String::new(), |refusal| kit_design::error_page::sentence(&format!("Not possible now: {refusal}"))),
    };
    render_page_as(status, &page)
}

/// What the merge causes, in sentences.
fn causes(plan: &MergePlan) -> Vec<String> {
    let MergePlan { kept, merged, registrations, purchases, consigned_lots, shared_sales, suspended, account, .. } =
        plan;
    let (own, other) = (&kept.details.name, merged.label());
    let count = |count: &usize, one: &str, many: &str| labels::count(*count as u64, one, many);
    let more = if *consigned_lots == CONSIGNED_COUNTED_MAX { " or more" } else { "" };
    let consigned = format!("{}{more}", count(consigned_lots, "consigned lot", "consigned lots"));
    let mut causes = vec![format!(
        "{}, {} and {} of {other} belong to the record that stays. Paddles, bids and lots do not change.",
        count(registrations, "registration", "registrations"),
        count(purchases, "purchase", "purchases"),
        consigned,
    )];
    let is_blocked = |party: &Party| party.block.is_some();
    if is_blocked(kept) || is_blocked(merged) {
        let who = match (is_blocked(kept), is_blocked(merged)) {
            (true, true) => "Both records are".to_owned(),
            (true, false) => format!("{own} is"),
            _ => format!("{other} is"),
        };
        let suspended = count(suspended, "registration is", "registrations are");
        causes.push(format!("{who} blocked, so the person stays blocked: {suspended} suspended or declined."));
    }
    for shared in shared_sales {
        let title = shared.auction.shown_title();
        causes.push(format!(
            "Both are registered in “{title}” (paddles {}): both paddles remain, each with its own limit. Suspend one if only one \
             may bid.",
            shared.paddles.join(", ")
        ));
    }
    if let Some(email) = account {
        causes.push(format!(
            "The bidder who signs in to the saleroom as {email} then sees and continues the bids of both records. Check that it is \
             the same person: anyone can type a name and a telephone number."
        ));
    }
    causes.extend([
        "No paddle of the person can bid on a lot that either record consigns.".to_owned(),
        "Registrations keep their name and limit. The usual limit counts for new ones.".to_owned(),
        "Both references, and the name of either record, keep naming the person in files.".to_owned(),
        "An erasure of the person erases both records. The house and the person are not notified.".to_owned(),
    ]);
    causes
}
