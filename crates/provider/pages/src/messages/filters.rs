//! The filters of a list of messages. They are part of the page's address.

use std::iter;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use kit_design::fields::FormFields;
use kit_design::form_field::{Choice, FormField};
use provider_core::model::{Endpoint, Id};
use provider_core::page::{LIMIT_MAX, PageRequest};
use provider_core::port::MessageFilter;
use provider_core::uid::{NAME_CHARS_MAX, check_name};
use provider_core::{
    FailedWith, HistoryQuery, HistoryRequest, MessageSearch, MessageState, ProviderError, TEXT_SPAN_MAX, ids,
};

use super::Place;
use crate::page_error::PageError;
use crate::portal::event_type_choices;

/// Characters of a searched text or id.
const TEXT_CHARS_MAX: usize = 256;
/// Fields of the form, with their names on the page.
const FIELDS: &[(&str, &str)] = &[
    ("id", "Message or event id"),
    ("eventType", "Event type"),
    ("application", "Application"),
    ("endpoint", "Endpoint"),
    ("state", "State"),
    ("code", "Response"),
    ("cause", "Cause"),
    ("from", "From"),
    ("to", "To"),
    ("q", "Contains"),
];
const STATES: &[(&str, &str)] = &[
    ("delivered", "Delivered"),
    ("undelivered", "Failed or retrying"),
    ("failed", "Failed"),
    ("retrying", "Retrying"),
    ("waiting", "Waiting"),
    ("skipped", "Skipped"),
    ("not-sent", "No endpoint"),
];
const CODES: &[(&str, &str)] =
    &[("3xx", "Redirect (3xx)"), ("4xx", "Refused (4xx)"), ("5xx", "Failed (5xx)"), ("0", "No response")];

/// A filter in use, with the query of the list without it.
pub(super) struct Chip {
    pub(super) words: String,
    pub(super) query: String,
}

/// The filters of a request.
pub(super) struct Filters {
    pub(super) search: MessageSearch,
    /// The application whose messages are searched, by id.
    pub(super) application: Option<Id>,
    /// The time span of the list.
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    /// Fields of the form: those for which most visitors come, and the others.
    pub(super) first_fields: Vec<FormField>,
    pub(super) more_fields: Vec<FormField>,
    pub(super) chips: Vec<Chip>,
    /// The query of the list without a position, each field followed by `&`.
    pub(super) query: String,
    /// A filter is no valid one, so nothing is searched.
    pub(super) is_faulty: bool,
    /// The span in which payloads are searched, in words.
    pub(super) text_span: Option<(Timestamp, Timestamp)>,
}

/// The fields as they were typed, and their errors.
struct Typed<'a> {
    query: &'a FormFields,
    faults: Vec<(&'static str, String)>,
}

impl Typed<'_> {
    fn text(&self, name: &str) -> &str {
        let text = self.query.text(name).trim();
        &text[..text.char_indices().nth(TEXT_CHARS_MAX).map_or(text.len(), |(at, _)| at)]
    }

    fn non_empty(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    fn fault(&mut self, name: &'static str, fault: impl Into<String>) {
        self.faults.push((name, fault.into()));
    }

    fn fault_of(&self, name: &str) -> &str {
        self.faults.iter().find(|(own, _)| *own == name).map_or("", |(_, fault)| fault)
    }

    /// A time in UTC as a form sends it.
    fn time(&mut self, name: &str) -> Option<Timestamp> {
        let text = self.non_empty(name)?;
        let time = text.parse::<DateTime>().and_then(|time| Ok(time.to_zoned(TimeZone::UTC)?.timestamp()));
        match time {
            Ok(time) => Some(time),
            Err(_) => {
                self.fault("from", "must be a date and time such as 2026-01-31T12:00");
                None
            }
        }
    }
}

impl Filters {
    /// The filters of this query.
    pub(super) async fn read(place: &Place<'_>, query: &FormFields) -> Result<Self, PageError> {
        let mut typed = Typed { query, faults: Vec::new() };
        let event_type = typed.non_empty("eventType").map(str::to_owned);
        if let Some(Err(error)) = event_type.as_deref().map(|name| check_name(name, NAME_CHARS_MAX)) {
            typed.fault("eventType", error.to_string());
        }
        let application = application(place, &mut typed).await?;
        let failed_with = failed_with(&mut typed);
        let text = typed.non_empty("q").map(str::to_owned);
        let (from, to) = (typed.time("from"), typed.time("to"));
        let (from, to) = span(place, &mut typed, (from, to), text.is_some());
        let endpoints = endpoints(place, application.as_ref(), typed.non_empty("endpoint")).await?;
        let wanted = typed.text("state");
        let search = MessageSearch {
            named: typed.non_empty("id").map(str::to_owned),
            messages: MessageFilter { event_types: event_type.map(|name| vec![name]), ..MessageFilter::default() },
            endpoint: typed.non_empty("endpoint").map(Id::from),
            states: match wanted {
                "undelivered" => vec![MessageState::Failed, MessageState::Retrying],
                wanted => MessageState::ALL.into_iter().filter(|state| state.name() == wanted).collect(),
            },
            failed_with,
            text,
        };
        let (first_fields, more_fields) = fields(place, &typed, application.as_ref(), &endpoints).await?;
        let chips = FIELDS.iter().filter_map(|(name, words)| {
            let value = typed.non_empty(name)?;
            let shown = words_of(name, value);
            let address = endpoints.iter().find(|endpoint| *name == "endpoint" && *endpoint.id == *value);
            let value = address.map(|endpoint| endpoint.url.as_str()).or(shown).unwrap_or(value);
            Some(Chip { words: format!("{words}: {value}"), query: query_without(query, name) })
        });
        let text_span = from.zip(to).filter(|_| search.text.is_some());
        Ok(Self {
            chips: chips.collect(),
            is_faulty: !typed.faults.is_empty(),
            query: query_without(query, ""),
            search,
            application,
            from,
            to,
            first_fields,
            more_fields,
            text_span,
        })
    }

    /// The request for a page of the list.
    pub(super) fn request(&self, limit: usize, iterator: Option<&str>) -> Result<HistoryRequest, ProviderError> {
        let limit = limit.to_string();
        let (from, to) = (self.from.map(|at| at.to_string()), self.to.map(|at| at.to_string()));
        let query = HistoryQuery { limit: Some(&limit), iterator, before: to.as_deref(), after: from.as_deref() };
        HistoryRequest::parse(query, ids::MESSAGE)
    }
}

/// Words for a value of a list of choices.
fn words_of(field: &str, value: &str) -> Option<&'static str> {
    let find =
        |choices: &[(&str, &'static str)]| choices.iter().find(|(name, _)| *name == value).map(|(_, words)| *words);
    match field {
        "state" => find(STATES),
        "code" => find(CODES),
        "cause" => FailedWith::causes().find(|(name, _)| *name == value).map(|(_, words)| words),
        _ => None,
    }
}

/// The query of these fields without one of them.
fn query_without(query: &FormFields, left_out: &str) -> String {
    let mut out = String::new();
    for (name, _) in FIELDS.iter().filter(|(name, _)| *name != left_out) {
        if let Some(value) = query.non_empty(name) {
            let value: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
            out.push_str(&format!("{name}={value}&"));
        }
    }
    out
}

/// The portal's application, or the one that the dashboard's filter names by id or uid.
async fn application(place: &Place<'_>, typed: &mut Typed<'_>) -> Result<Option<Id>, PageError> {
    if let Some(application) = place.application {
        return Ok(Some(application.id.clone()));
    }
    let Some(name) = typed.non_empty("application") else { return Ok(None) };
    match place.provider.application(place.caller, name).await {
        Ok(application) => Ok(Some(application.id)),
        Err(ProviderError::NotFound) => {
            typed.fault("application", "no application of this account has this id or uid");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn failed_with(typed: &mut Typed<'_>) -> Option<FailedWith> {
    let code = typed.non_empty("code").map(|code| (FailedWith::parse_code(code), "code"));
    let cause = typed.non_empty("cause").map(|cause| (FailedWith::parse_cause(cause), "cause"));
    match (code, cause) {
        (Some((Some(_), _)), Some((Some(_), _))) => {
            typed.fault("code", "choose a response or a cause, not both");
            None
        }
        (Some((None, _)), _) => {
            typed.fault("code", "must be a status code such as 503, or 3xx, 4xx, 5xx, or 0 for no response");
            None
        }
        (_, Some((None, _))) => {
            typed.fault("cause", "must be one of the causes in the list");
            None
        }
        (Some((found, _)), None) | (None, Some((found, _))) => found,
        (None, None) => None,
    }
}

/// The time span of the list. A text is searched for in a day at most: in the last one, unless the visitor chose another.
fn span(
    place: &Place<'_>,
    typed: &mut Typed<'_>,
    (from, to): (Option<Timestamp>, Option<Timestamp>),
    has_text: bool,
) -> (Option<Timestamp>, Option<Timestamp>) {
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        typed.fault("from", "must be before the end of the time span");
        return (Some(from), Some(to));
    }
    let soon = place.now + SignedDuration::from_hours(1);
    if !has_text {
        // Without an end, a list with a beginning would go forwards in time.
        return (from, to.or_else(|| from.map(|_| soon)));
    }
    let earlier = |to: Timestamp| to.checked_sub(TEXT_SPAN_MAX).unwrap_or(to);
    let later = |from: Timestamp| from.checked_add(TEXT_SPAN_MAX).unwrap_or(from);
    let (from, to) = match (from, to) {
        (None, to) => (earlier(to.unwrap_or(place.now)), to.unwrap_or(place.now)),
        (Some(from), None) => (from, later(from).min(place.now.max(from))),
        (Some(from), Some(to)) => (from, to),
    };
    if to.duration_since(from) > TEXT_SPAN_MAX {
        typed.fault("from", "must be at most a day before the end: payloads are searched within a day");
    }
    (Some(from), Some(to))
}

/// The endpoints that the form offers, with the chosen one.
async fn endpoints(
    place: &Place<'_>,
    application: Option<&Id>,
    chosen: Option<&str>,
) -> Result<Vec<Endpoint>, PageError> {
    let Some(application) = application else { return Ok(Vec::new()) };
    let everything = PageRequest::first(LIMIT_MAX);
    let mut endpoints = place.provider.list_endpoints(place.caller, application, &everything).await?.data;
    if let Some(chosen) = chosen.filter(|chosen| endpoints.iter().all(|endpoint| *endpoint.id != **chosen)) {
        match place.provider.endpoint(place.caller, application, chosen).await {
            Ok(endpoint) => endpoints.insert(0, endpoint),
            Err(ProviderError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(endpoints)
}

async fn fields(
    place: &Place<'_>,
    typed: &Typed<'_>,
    application: Option<&Id>,
    endpoints: &[Endpoint],
) -> Result<(Vec<FormField>, Vec<FormField>), PageError> {
    let (event_types, _) = event_type_choices::all_of(place.provider, place.caller).await?;
    let all = || iter::once(Choice::new("", "All", false));
    let line = |name: &'static str, label: &'static str| {
        let field = FormField::text(name, label, typed.text(name)).attribute("spellcheck", "false");
        field.chars_max(TEXT_CHARS_MAX).fault(typed.fault_of(name))
    };
    let select =
        |name: &'static str, label: &'static str, known: &mut dyn Iterator<Item = (&'static str, &'static str)>| {
            let choices = known.map(|(value, words)| Choice::of(value, words, typed.text(name)));
            FormField::select(name, label, all().chain(choices).collect()).fault(typed.fault_of(name))
        };
    let time = |name, label| FormField::text(name, label, typed.text(name)).kind("datetime-local", "off");
    let types = event_types.into_iter().map(|event_type| event_type.name);
    let endpoint = match application {
        Some(_) => {
            let chosen = typed.text("endpoint");
            let known = endpoints.iter().map(|endpoint| Choice::of(&*endpoint.id, endpoint.url.clone(), chosen));
            let is_known = chosen.is_empty() || endpoints.iter().any(|endpoint| *endpoint.id == *chosen);
            let unknown = (!is_known).then(|| Choice::of(chosen, chosen.to_owned(), chosen));
            FormField::select("endpoint", "Endpoint", all().chain(unknown).chain(known).collect())
        }
        None => line("endpoint", "Endpoint id"),
    };
    let mut first = vec![line("id", "Message or event id")];
    if place.application.is_none() {
        first.push(line("application", "Application id or uid"));
    }
    first.extend([
        select("state", "State", &mut STATES.iter().copied()),
        line("eventType", "Event type").id("event-type").suggesting(types),
    ]);
    let more = vec![
        endpoint,
        select("cause", "Cause", &mut FailedWith::causes()),
        line("code", "Response")
            .attribute("placeholder", "503, 4xx, 0 for none")
            .suggesting(CODES.iter().map(|(value, _)| *value)),
        // The errors of the times are about both fields.
        time("from", "From, UTC").id("time").fault(typed.fault_of("from")),
        time("to", "To, UTC"),
        line("q", "Text in payload or id"),
    ];
    Ok((first, more))
}
