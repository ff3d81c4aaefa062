//! Totals of an auction and of each buyer. They read all lots, so the page of a large auction loads them after itself.

use askama::Template;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use platform_core::Scope;
use platform_core::sales::results::{AuctionResults, BuyerResult};

use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels;
use crate::session::{PathIds, Section, Session};

/// Buyers that the page lists at most; the CSV file has all.
const BUYERS_MAX: usize = 500;
/// Characters of a figure such as `£416,000.00`.
const LONG_FIGURE_CHARS: usize = 11;

/// The totals as a fragment.
#[derive(Template)]
#[template(path = "results/totals.html")]
pub(super) struct Totals {
    /// Name, figure, and a note below it.
    figures: Vec<(&'static str, String, Option<String>)>,
    buyers: Vec<Buyer>,
    is_cut: bool,
    is_final: bool,
    may_correct: bool,
    path: String,
}

impl askama::filters::HtmlSafe for Totals {}

struct Buyer {
    /// The paddle, encoded for a query string.
    query: String,
    paddle: String,
    lots: String,
    hammer: String,
    premium: String,
    tax: String,
    total: String,
}

#[derive(Template)]
#[template(path = "results/totals_page.html")]
struct TotalsPage {
    frame: Frame,
    sale_title: String,
    path: String,
    totals: Totals,
}

impl Totals {
    /// A figure is so long that six of them need smaller letters to stand side by side.
    fn has_long_figures(&self) -> bool {
        self.figures.iter().any(|(_, figure, _)| figure.chars().count() >= LONG_FIGURE_CHARS)
    }

    pub(super) async fn load(session: &Session, sale: &Sale) -> Result<Self, PageError> {
        let results = session.platform().results(&session.caller, sale.auction.uuid).await?;
        let AuctionResults { is_final, items, sold, unsold, open_buyers, total, buyers, .. } = results;
        let money = |minor| sale.currency.exact(minor);
        let share = labels::percent(sold, items);
        let open = (open_buyers > 0).then(|| format!("{} open", labels::count(open_buyers, "buyer", "buyers")));
        let figures = vec![
            ("Sold", format!("{} of {} ({share})", labels::number(sold), labels::number(items)), open),
            ("Unsold or passed", labels::number(unsold), None),
            ("Hammer", money(total.hammer), None),
            ("Buyer's premium", money(total.premium), None),
            ("Tax", money(total.tax), None),
            ("Total", money(total.total), None),
        ];
        let buyer = |buyer: &BuyerResult| Buyer {
            query: form_urlencoded::byte_serialize(buyer.bidder.as_bytes()).collect(),
            paddle: buyer.bidder.clone(),
            lots: labels::number(buyer.items),
            hammer: money(buyer.total.hammer),
            premium: money(buyer.total.premium),
            tax: money(buyer.total.tax),
            total: money(buyer.total.total),
        };
        let is_cut = buyers.len() > BUYERS_MAX;
        Ok(Self {
            figures,
            buyers: buyers.iter().take(BUYERS_MAX).map(buyer).collect(),
            is_cut,
            is_final,
            may_correct: !is_final && session.may(Scope::AuctionsWrite),
            path: format!("{}{}", session.frame("", Section::Auctions).base, sale.path("/results")),
        })
    }
}

/// The totals: as a page, or as the fragment that the page of the results loads.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, uuid).await?;
    let totals = Totals::load(&session, &sale).await?;
    if !query.text("fragment").is_empty() {
        return render_page(&totals);
    }
    let frame = session.frame(format!("Totals · {}", sale.title()), Section::Auctions);
    render_page(&TotalsPage { frame, sale_title: sale.title(), path: sale.path("/results"), totals })
}
