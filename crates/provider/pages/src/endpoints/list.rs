//! The list of endpoints with their figures of the last 24 hours. Its search is part of the page's address.

use std::sync::Arc;

use askama::Template;
use askama::filters::HtmlSafe;
use jiff::Timestamp;
use kit_design::charts::{Sparkline, Step};
use kit_design::fields::FormFields;
use kit_design::form_field::FormField;
use kit_design::relative_time::RelativeTime;
use provider_core::model::counts::CountSpan;
use provider_core::model::{Endpoint, Id};
use provider_core::port::{EndpointPage, EndpointState, FoundEndpoint};
use provider_core::{EndpointHealth, EndpointSearch};

use crate::messages::Place;
use crate::page_error::PageError;
use crate::portal::labels::{DeliveryFigures, StatusBadge, number};

/// Endpoints on one page.
const LIMIT: usize = 50;
/// Names that a row shows without a click.
const NAMES_SHOWN_MAX: usize = 3;
/// The states by which a list is filtered, with the words of their links.
const STATES: [(EndpointState, &str); 3] =
    [(EndpointState::Failing, "Failing"), (EndpointState::Disabled, "Disabled"), (EndpointState::Enabled, "Enabled")];

/// A list of endpoints on a page of its site.
pub(crate) struct ListPlace<'a> {
    pub(crate) place: Place<'a>,
    /// The application whose endpoints are listed; all of the account when none.
    pub(crate) application: Option<&'a Id>,
    /// Path of the page below the site's base.
    pub(crate) path: String,
    /// Fragment of the list on the page, such as `#endpoints`; empty when the page has nothing else.
    pub(crate) anchor: &'static str,
}

/// The list with its search, as a part of a page.
#[derive(Template)]
#[template(path = "endpoints/list.html")]
pub(crate) struct EndpointList {
    base: Arc<str>,
    path: String,
    anchor: &'static str,
    /// The rows name their applications.
    is_of_account: bool,
    field: FormField,
    search: String,
    state: &'static str,
    states: Vec<StateLink>,
    rows: Vec<Row>,
    /// Places of the first and the last row, and the number of endpoints that match.
    first: String,
    last: String,
    total: String,
    previous: Option<String>,
    next: Option<String>,
}

impl HtmlSafe for EndpointList {}

impl EndpointList {
    /// There are no endpoints, whatever is searched for.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.search.is_empty() && self.state.is_empty()
    }
}

/// A link that filters the list by state.
struct StateLink {
    words: &'static str,
    count: String,
    query: String,
    is_current: bool,
}

struct Row {
    id: String,
    /// Where the endpoint's deliveries are listed.
    path: String,
    url: String,
    description: String,
    /// Id and name.
    application: (String, String),
    status: StatusBadge,
    /// Since when it fails or is disabled.
    since: Option<RelativeTime>,
    /// Event types that it receives; none when it receives all.
    types: Option<Names>,
    /// Channels that it subscribes to; none when it has no channels.
    channels: Option<Names>,
    day: DeliveryFigures,
    waiting: String,
    spark: Sparkline,
}

/// Names in a row. Those after the first few are folded away.
#[derive(Template)]
#[template(path = "endpoints/names.html")]
struct Names {
    shown: Vec<String>,
    folded: Vec<String>,
}

impl HtmlSafe for Names {}

impl Names {
    fn new(names: &[String]) -> Self {
        // One name takes no more room than the words that fold it away.
        let shown = if names.len() <= NAMES_SHOWN_MAX + 1 { names.len() } else { NAMES_SHOWN_MAX };
        Self { shown: names[..shown].to_vec(), folded: names[shown..].to_vec() }
    }

    fn is_one(&self) -> bool {
        self.shown.len() == 1 && self.folded.is_empty()
    }
}

impl Row {
    fn new(place: &Place<'_>, found: FoundEndpoint, health: &EndpointHealth) -> Self {
        let FoundEndpoint { endpoint, application_name } = found;
        let path = match place.application {
            Some(_) => format!("/endpoints/{}", endpoint.id),
            None => messages_path(&endpoint),
        };
        Self {
            path,
            status: StatusBadge::of(&endpoint),
            since: since(&endpoint).map(|at| RelativeTime::lasting(at, place.now)),
            types: endpoint.filter_types.as_deref().map(Names::new),
            channels: endpoint.channels.as_deref().map(Names::new),
            id: endpoint.id.to_string(),
            url: endpoint.url,
            description: endpoint.description,
            application: (endpoint.application.to_string(), application_name),
            day: health.total().into(),
            waiting: number(health.waiting.deliveries()),
            spark: sparkline(health),
        }
    }
}

/// The list that this query asks for: `q` is a text, `state` the name of a state, `page` the number of a page. With
/// `endpoint`, it is the page with this endpoint.
pub(crate) async fn list(of: ListPlace<'_>, query: &FormFields) -> Result<EndpointList, PageError> {
    let ListPlace { place, application, path, anchor } = of;
    let state = EndpointState::ALL.into_iter().find(|state| state.name() == query.text("state"));
    let search = EndpointSearch {
        text: query.text("q").trim().to_owned(),
        state,
        page: query.text("page").parse().unwrap_or(1),
        with: query.non_empty("endpoint").map(Id::from),
        limit: LIMIT,
    };
    let found = place.provider.search_endpoints(place.caller, application.map(|id| &**id), &search).await?;
    let EndpointPage { rows, skipped, totals } = found;
    let endpoints: Vec<Endpoint> = rows.iter().map(|row| row.endpoint.clone()).collect();
    let health = place.provider.endpoint_health(&endpoints, CountSpan::DAY).await?;
    let text = search.text;
    let all = totals.iter().sum();
    let total = state.map_or(all, |state| totals[state as usize]);
    let last = skipped + rows.len() as u64;
    let page = skipped / LIMIT as u64 + 1;
    let name = state.map_or("", EndpointState::name);
    let link = |words, of: Option<EndpointState>, count| StateLink {
        words,
        count: number(count),
        query: query_of(&text, of.map_or("", EndpointState::name), 1),
        is_current: state == of,
    };
    let of_state = STATES.iter().map(|(of, words)| link(words, Some(*of), totals[*of as usize]));
    let (label, hint) = match application {
        Some(_) => ("Endpoint", "Address, description or id"),
        None => ("Endpoint or application", "Address, description, id or name"),
    };
    Ok(EndpointList {
        field: FormField::search("q", label, text.clone()).attribute("placeholder", hint),
        is_of_account: application.is_none(),
        states: std::iter::once(link("All", None, all)).chain(of_state).collect(),
        first: number(skipped + 1),
        last: number(last),
        total: number(total),
        previous: (skipped > 0).then(|| query_of(&text, name, page - 1)),
        next: (last < total).then(|| query_of(&text, name, page + 1)),
        rows: rows.into_iter().zip(&health).map(|(row, health)| Row::new(&place, row, health)).collect(),
        base: place.base,
        path,
        anchor,
        search: text,
        state: name,
    })
}

/// The query of a page of the list.
fn query_of(text: &str, state: &str, page: u64) -> String {
    let page = if page > 1 { page.to_string() } else { String::new() };
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in [("q", text), ("state", state), ("page", &page)] {
        if !value.is_empty() {
            query.append_pair(name, value);
        }
    }
    query.finish()
}

/// The dashboard's list of the messages to an endpoint, or of those that it did not receive while it fails.
fn messages_path(endpoint: &Endpoint) -> String {
    let state = if endpoint.failing_since.is_some() { "&state=undelivered" } else { "" };
    format!("/messages?application={}&endpoint={}{state}", endpoint.application, endpoint.id)
}

/// Since when the endpoint is disabled, or fails.
pub(crate) fn since(endpoint: &Endpoint) -> Option<Timestamp> {
    if endpoint.disabled { endpoint.disabled_at } else { endpoint.failing_since }
}

fn sparkline(health: &EndpointHealth) -> Sparkline {
    let steps = health.steps.iter().map(|step| Step {
        label: String::new(),
        good: step.attempts.success,
        bad: step.attempts.fail,
        href: String::new(),
    });
    let day = DeliveryFigures::from(health.total());
    let text = format!("Attempts of the last 24 hours: {} succeeded, {} failed", day.succeeded, day.failed);
    Sparkline::new(text, &steps.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_after_the_first_three_are_folded_unless_it_is_one() {
        for (count, shown, folded) in [(1, 1, 0), (4, 4, 0), (5, 3, 2), (12, 3, 9)] {
            let names = Names::new(&vec!["a.b".to_owned(); count]);
            assert_eq!((names.shown.len(), names.folded.len()), (shown, folded), "{count}");
        }
    }

    #[test]
    fn the_query_of_a_page_has_what_differs_from_the_first_one() {
        assert_eq!(query_of("", "", 1), "");
        assert_eq!(query_of("a b&c", "failing", 2), "q=a+b%26c&state=failing&page=2");
    }
}
