//! The likely duplicates of a register, and the decision that two records are not about one person.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page};
use platform_core::PlatformError;
use platform_core::Scope::PartiesWrite;
use platform_core::bidders::{LikelyPair, LikelyPairs, RecordPair};
use uuid::Uuid;

use super::Houses;
use super::likely::LikelyRow;
use crate::notice;
use crate::page_error::PageError;
use crate::sale::labels;
use crate::session::{Section, Session};

#[derive(Template)]
#[template(path = "people/duplicates.html")]
struct DuplicatesPage {
    frame: Frame,
    /// To choose from; none when the user sees one house only.
    houses: Option<FormField>,
    house: String,
    rows: Vec<PairRow>,
    /// `31 pairs`, or `More than 50 pairs`; empty on later pages.
    total: String,
    is_first: bool,
    /// The pair after which the page begins: its older and its newer record.
    after: Option<[Uuid; 2]>,
    /// Query of the next page.
    next: Option<String>,
    may_write: bool,
}

struct PairRow {
    older: LikelyRow,
    newer: LikelyRow,
}

pub(super) async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let houses = Houses::load(&session, &query).await?;
    let uuid = |name| Uuid::try_parse(query.text(name)).ok();
    let after = uuid("older").zip(uuid("newer")).map(|(older, newer)| [older, newer]);
    let found = match houses.chosen {
        Some(house) => session.platform().likely_pairs(&session.caller, house, after).await?,
        None => LikelyPairs { pairs: Vec::new(), next: None },
    };
    let house = houses.chosen.map(|uuid| uuid.to_string()).unwrap_or_default();
    let choices =
        houses.all.iter().map(|customer| Choice::of(customer.uuid.to_string(), customer.name.clone(), &house));
    render_page(&DuplicatesPage {
        frame: session.frame("Likely duplicates", Section::People).with_notice(notice::from_query(&query)),
        houses: (houses.all.len() > 1).then(|| FormField::select("house", "House", choices.collect())),
        house,
        rows: found.pairs.iter().map(row).collect(),
        total: match (after, found.next) {
            (Some(_), _) => String::new(),
            (None, Some(_)) => format!("More than {} pairs", found.pairs.len()),
            (None, None) => labels::count(found.pairs.len() as u64, "pair", "pairs"),
        },
        is_first: after.is_none(),
        after,
        next: found.next.map(|[older, newer]| format!("older={older}&newer={newer}")),
        may_write: session.may(PartiesWrite),
    })
}

fn row(LikelyPair { older, newer, reasons }: &LikelyPair) -> PairRow {
    PairRow { older: LikelyRow::new(older, reasons), newer: LikelyRow::new(newer, reasons) }
}

/// Remembers that two records are not about one person, and leads back to the page that asked.
pub(super) async fn keep_apart(session: Session, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let uuid = |name| Uuid::try_parse(form.text(name)).map_err(|_| PlatformError::NotFound("party"));
    let pair = RecordPair { kept: uuid("one")?, merged: uuid("other")?, versions: None };
    session.platform().keep_parties_apart(&session.caller, pair).await?;
    let path = match form.non_empty("house") {
        Some(house) => {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.append_pair("house", house);
            for name in ["older", "newer"] {
                if let Some(place) = form.non_empty(name) {
                    query.append_pair(name, place);
                }
            }
            format!("/people/duplicates?{}", query.append_pair("done", "parties-apart").finish())
        }
        None => format!("/people/{}?done=parties-apart", pair.kept),
    };
    Ok(session.admin.redirect(&path).into_response())
}
