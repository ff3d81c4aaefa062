//! What bidders read about a sale, on its overview.

use askama::Template;
use askama::filters::HtmlSafe;
use platform_core::Scope;
use platform_core::port::Film;

use super::facts_form;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::session::Session;
use platform_words::address_fields::one_line;

/// The panel.
#[derive(Template)]
#[template(path = "auctions/for_bidders.html")]
pub(super) struct ForBidders {
    /// Path of the form; none for a user who may only read.
    edit: Option<String>,
    facts: Vec<(&'static str, String)>,
    /// Address and number of the conditions.
    conditions: Option<(String, u32)>,
}

impl HtmlSafe for ForBidders {}

/// The address with the delay, and why the saleroom does not show it.
fn film_words(film: &Film, problem: Option<String>) -> String {
    let delay = film.delay_seconds.map(|seconds| format!(", about {seconds} s late")).unwrap_or_default();
    let problem = problem.map(|problem| format!("\nThe saleroom does not show it: it {problem}.")).unwrap_or_default();
    format!("{}{delay}{problem}", film.address)
}

impl ForBidders {
    /// None for a user who may only read, while nothing is entered.
    pub(super) async fn of_sale(session: &Session, sale: &Sale) -> Result<Option<Self>, PageError> {
        let facts = session.platform().sale_facts(&session.caller, sale.auction.uuid).await?;
        let venue = facts_form::venue(session, &sale.auction).await?.as_ref().map(one_line).unwrap_or_default();
        let base = &session.admin.site().base;
        let conditions = facts
            .conditions
            .map(|number| (format!("{base}/customers/{}/conditions/{number}", sale.auction.customer), number));
        let film = match &facts.film {
            Some(film) => film_words(film, session.platform().film_problem(sale.auction.kind, film).await?),
            None => String::new(),
        };
        let facts = [("Venue", venue), ("Viewing", facts.viewing), ("Description", facts.description), ("Film", film)];
        let facts: Vec<_> = facts.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        let edit = sale.may_change(session, Scope::AuctionsWrite).then(|| format!("{base}{}", sale.path("/edit")));
        let is_shown = edit.is_some() || conditions.is_some() || !facts.is_empty();
        Ok(is_shown.then_some(Self { edit, facts, conditions }))
    }
}
