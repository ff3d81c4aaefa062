//! The papers of a sale that the user may print, each with its choices.

use askama::Template;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page};

use super::lots;
use super::paper::{PaperKind, sees_reserves};
use crate::page_error::PageError;
use crate::sale::labels;
use crate::sale::{Head, Sale, Tab};
use crate::session::{PathIds, Session};

#[derive(Template)]
#[template(path = "print/index.html")]
struct IndexPage {
    frame: Frame,
    head: Head,
    papers: Vec<Entry>,
}

/// A paper with what can be chosen of it.
struct Entry {
    name: &'static str,
    path: &'static str,
    about: &'static str,
    fields: Vec<FormField>,
}

/// `GET /auctions/{auction}/print`
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, uuid).await?;
    let has_reserves = sees_reserves(&session, &sale).await?;
    let mut papers = Vec::new();
    for kind in PaperKind::ALL {
        if kind.is_for(&session, &sale).await? {
            let fields = fields(kind, &sale);
            papers.push(Entry { name: kind.name(), path: kind.path(), about: about(kind, has_reserves), fields });
        }
    }
    render_page(&IndexPage {
        frame: sale.frame(&session, "Print", &query),
        head: sale.head(&session, Tab::Print),
        papers,
    })
}

fn about(kind: PaperKind, has_reserves: bool) -> &'static str {
    match kind {
        PaperKind::Catalogue => "Lots with description and estimate, for bidders.",
        PaperKind::ClerkingSheets if has_reserves => {
            "Lots with estimate, reserve and opening bid, and room for price and paddle. Confidential."
        }
        PaperKind::ClerkingSheets => "Lots with estimate and opening bid, and room for price and paddle.",
        PaperKind::PaddleList => "Paddles with bidders and limits. Confidential.",
        PaperKind::CommissionBook => "Maxima of absentees on the lots to come, or the telephone bids. Confidential.",
        PaperKind::Results => "What was sold to which paddle, or prices for the public.",
    }
}

fn fields(kind: PaperKind, sale: &Sale) -> Vec<FormField> {
    let select = |name: &'static str, label: &'static str, choices: &[(&'static str, &'static str)]| {
        let choices = choices.iter().map(|(value, words)| Choice::of(*value, *words, "")).collect();
        FormField::select(name, label, choices).id(format!("{}-{name}", kind.path()))
    };
    let mut fields = match kind {
        PaperKind::Catalogue => vec![
            select("size", "Paper size", &[("a4", "A4"), ("a5", "A5")]),
            select("pictures", "Pictures", &[("yes", "With pictures"), ("no", "Without pictures")]),
        ],
        PaperKind::ClerkingSheets => Vec::new(),
        PaperKind::PaddleList => vec![
            select("which", "Registrations", &[("approved", "Approved"), ("all", "All, with their status")]),
            select("order", "Order", &[("paddle", "By paddle"), ("name", "By name")]),
        ],
        PaperKind::CommissionBook => {
            vec![select("show", "Contents", &[("bids", "Commission bids"), ("telephone", "Telephone bids")])]
        }
        PaperKind::Results => vec![select(
            "show",
            "Contents",
            &[("lots", "Lots with buyers"), ("prices", "Prices, without buyers"), ("buyers", "Totals by buyer")],
        )],
    };
    if matches!(kind, PaperKind::Catalogue | PaperKind::ClerkingSheets | PaperKind::Results) {
        let parts = lots::parts(sale.counts.total);
        if parts > 1 {
            let part = |part: u64| {
                let first = (part - 1) * lots::LOTS_MAX + 1;
                let last = (part * lots::LOTS_MAX).min(sale.counts.total);
                let words = format!("{} to {}", labels::number(first), labels::number(last));
                Choice::of(part.to_string(), words, "1")
            };
            let field = FormField::select("part", "Part, in running order", (1..=parts).map(part).collect());
            fields.push(field.id(format!("{}-part", kind.path())));
        }
        let lots = FormField::text("lots", "Lots", "").id(format!("{}-lots", kind.path())).optional();
        fields.push(lots.attribute("placeholder", "1-20, 25, 30A").attribute("spellcheck", "false"));
    }
    fields
}
