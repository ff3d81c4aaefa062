//! Reading the queries of lists of what happened.

use axum::extract::{FromRequestParts, Query};
use http::request::Parts;
use provider_core::model::AttemptStatus;
use provider_core::port::{AttemptFilter, MessageFilter, PayloadRead};
use provider_core::uid::{CHANNEL_CHARS_MAX, NAME_CHARS_MAX, check_name};
use provider_core::{HistoryQuery, HistoryRequest, Provider};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::errors::ApiError;
use crate::schema_types::Name;

/// Every filter that a list of what happened may have.
const FILTERS: [&str; 8] =
    ["channel", "tag", "event_types", "before", "after", "status", "status_code_class", "endpoint_id"];
/// Event types in a filter at most.
const EVENT_TYPES_MAX: usize = 100;

/// The query of such a list. 422 for a filter that it does not have: a list that passes over one would say that something
/// happened which did not. Other parameters that are not known are passed over.
pub(crate) struct FilterParams<Q>(pub(crate) Q);

/// Which of [`FILTERS`] a list has.
pub(crate) trait Filters: DeserializeOwned {
    const SUPPORTED: &'static [&'static str];
}

impl<Q: Filters> FromRequestParts<Provider> for FilterParams<Q> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Provider) -> Result<Self, ApiError> {
        let invalid = |text: String| ApiError::at(["query"], text);
        let query = parts.uri.query().unwrap_or_default();
        let names = query.split('&').filter_map(|pair| pair.split('=').next());
        let unknown = FILTERS.iter().filter(|filter| !Q::SUPPORTED.contains(filter));
        let unknown: Vec<&str> = unknown.copied().collect();
        if let Some(name) = names.map(without_brackets).find(|name| unknown.contains(name)) {
            return Err(ApiError::at(["query", name], "this list can't be filtered by this"));
        }
        let uri = format!("/?{}", merge_event_types(query)).parse().map_err(|_| invalid("can't be read".into()))?;
        let Query(query) = Query::try_from_uri(&uri).map_err(|error| invalid(error.body_text()))?;
        Ok(Self(query))
    }
}

/// The name of a parameter without the brackets of a list.
fn without_brackets(name: &str) -> &str {
    name.find("[").or_else(|| name.find("%5B")).or_else(|| name.find("%5b")).map_or(name, |end| &name[..end])
}

/// Event types come once with commas, or again and again, with or without brackets: as one parameter with commas.
fn merge_event_types(query: &str) -> String {
    let of_types = |pair: &&str| without_brackets(pair.split('=').next().unwrap_or_default()) == "event_types";
    let mut pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !of_types(pair)).collect();
    let types = query.split('&').filter(of_types).map(|pair| pair.split_once('=').map_or("", |(_, value)| value));
    let types: Vec<&str> = types.collect();
    let types = format!("event_types={}", types.join(","));
    if query.split('&').any(|pair| of_types(&pair)) {
        pairs.push(&types);
    }
    pairs.join("&")
}

/// Messages of an application.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MessagesQuery {
    /// At most this many, 0 to 250; 50 without.
    #[param(value_type = Option<u16>, minimum = 0, maximum = 250)]
    limit: Option<String>,
    /// `iterator` or `prevIterator` of a page before. A page that is not `done` may have few rows, or none: follow it.
    #[param(min_length = 1)]
    iterator: Option<String>,
    /// Sent to this channel.
    #[param(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$")]
    channel: Option<String>,
    /// With this tag.
    #[param(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$")]
    tag: Option<String>,
    /// Of one of these event types.
    #[param(value_type = Option<Vec<Name>>, max_items = 100)]
    event_types: Option<String>,
    /// Made before this time; from 90 days before it on, unless `after` says otherwise.
    #[param(format = DateTime)]
    before: Option<String>,
    /// Made after this time. Alone, the list begins there, 90 days long: follow `prevIterator`.
    #[param(format = DateTime)]
    after: Option<String>,
    /// `false` leaves payloads out.
    with_content: Option<bool>,
}

/// Attempts at an endpoint.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AttemptsAtEndpointQuery {
    /// At most this many, 0 to 250; 50 without.
    #[param(value_type = Option<u16>, minimum = 0, maximum = 250)]
    limit: Option<String>,
    /// `iterator` or `prevIterator` of a page before. A page that is not `done` may have few rows, or none: follow it.
    #[param(min_length = 1)]
    iterator: Option<String>,
    /// Ended so: 0 success, 2 fail, 4 given up by hand, which is shown as 0 unless `expanded_statuses` is asked for.
    #[param(value_type = Option<u8>, minimum = 0, maximum = 4)]
    status: Option<String>,
    /// With such a status code: 0 (none), 100, 200, 300, 400, 500.
    #[param(value_type = Option<u16>, minimum = 0, maximum = 500, multiple_of = 100)]
    status_code_class: Option<String>,
    /// To deliver messages to this channel.
    #[param(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$")]
    channel: Option<String>,
    /// To deliver messages with this tag.
    #[param(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$")]
    tag: Option<String>,
    /// To deliver messages of one of these event types.
    #[param(value_type = Option<Vec<Name>>, max_items = 100)]
    event_types: Option<String>,
    /// Made before this time; from 90 days before it on, unless `after` says otherwise.
    #[param(format = DateTime)]
    before: Option<String>,
    /// Made after this time. Alone, the list begins there, 90 days long: follow `prevIterator`.
    #[param(format = DateTime)]
    after: Option<String>,
    /// `false` leaves responses out.
    pub(crate) with_content: Option<bool>,
    /// `true` adds the messages, without their payloads.
    pub(crate) with_msg: Option<bool>,
    /// `true` tells cancelled from succeeded.
    pub(crate) expanded_statuses: Option<bool>,
}

/// Attempts of a message.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AttemptsOfMessageQuery {
    /// At most this many, 0 to 250; 50 without.
    #[param(value_type = Option<u16>, minimum = 0, maximum = 250)]
    limit: Option<String>,
    /// `iterator` or `prevIterator` of a page before. A page that is not `done` may have few rows, or none: follow it.
    #[param(min_length = 1)]
    iterator: Option<String>,
    /// Ended so: 0 success, 2 fail, 4 given up by hand, which is shown as 0 unless `expanded_statuses` is asked for.
    #[param(value_type = Option<u8>, minimum = 0, maximum = 4)]
    status: Option<String>,
    /// With such a status code: 0 (none), 100, 200, 300, 400, 500.
    #[param(value_type = Option<u16>, minimum = 0, maximum = 500, multiple_of = 100)]
    status_code_class: Option<String>,
    /// Made at this endpoint; id or uid.
    #[param(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    pub(crate) endpoint_id: Option<String>,
    /// If the message was sent to this channel.
    #[param(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$")]
    channel: Option<String>,
    /// If the message has this tag.
    #[param(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$")]
    tag: Option<String>,
    /// If the message is of one of these event types.
    #[param(value_type = Option<Vec<Name>>, max_items = 100)]
    event_types: Option<String>,
    /// Made before this time; from 90 days before it on, unless `after` says otherwise.
    #[param(format = DateTime)]
    before: Option<String>,
    /// Made after this time. Alone, the list begins there, 90 days long: follow `prevIterator`.
    #[param(format = DateTime)]
    after: Option<String>,
    /// `false` leaves responses out.
    pub(crate) with_content: Option<bool>,
    /// `true` tells cancelled from succeeded.
    pub(crate) expanded_statuses: Option<bool>,
}

/// Messages that were tried at an endpoint.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AttemptedMessagesQuery {
    /// At most this many, 0 to 250; 50 without.
    #[param(value_type = Option<u16>, minimum = 0, maximum = 250)]
    limit: Option<String>,
    /// `iterator` or `prevIterator` of a page before. A page that is not `done` may have few rows, or none: follow it.
    #[param(min_length = 1)]
    iterator: Option<String>,
    /// Standing so: 0 success (an attempt succeeded), 2 fail (none did, and no more are to come), 3 sending (more are to
    /// come).
    #[param(value_type = Option<u8>, minimum = 0, maximum = 4)]
    status: Option<String>,
    /// Sent to this channel.
    #[param(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$")]
    channel: Option<String>,
    /// With this tag.
    #[param(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$")]
    tag: Option<String>,
    /// Of one of these event types.
    #[param(value_type = Option<Vec<Name>>, max_items = 100)]
    event_types: Option<String>,
    /// Made before this time; from 90 days before it on, unless `after` says otherwise.
    #[param(format = DateTime)]
    before: Option<String>,
    /// Made after this time. Alone, the list begins there, 90 days long: follow `prevIterator`.
    #[param(format = DateTime)]
    after: Option<String>,
    /// `false` leaves payloads out.
    with_content: Option<bool>,
    /// `true` tells cancelled from succeeded.
    pub(crate) expanded_statuses: Option<bool>,
}

impl Filters for MessagesQuery {
    const SUPPORTED: &'static [&'static str] = &["channel", "tag", "event_types", "before", "after"];
}

impl Filters for AttemptsAtEndpointQuery {
    const SUPPORTED: &'static [&'static str] =
        &["channel", "tag", "event_types", "before", "after", "status", "status_code_class"];
}

impl Filters for AttemptsOfMessageQuery {
    const SUPPORTED: &'static [&'static str] = &FILTERS;
}

impl Filters for AttemptedMessagesQuery {
    const SUPPORTED: &'static [&'static str] = &["channel", "tag", "event_types", "before", "after", "status"];
}

/// What the queries have in common.
macro_rules! history_of {
    ($($query:ty),+) => {$(
        impl $query {
            /// Which part of the list. `prefix` is that of the ids that it goes by.
            pub(crate) fn history_request(&self, prefix: &'static str) -> Result<HistoryRequest, ApiError> {
                let (limit, iterator) = (self.limit.as_deref(), self.iterator.as_deref());
                let (before, after) = (self.before.as_deref(), self.after.as_deref());
                Ok(HistoryRequest::parse(HistoryQuery { limit, iterator, before, after }, prefix)?)
            }

            /// Which messages.
            pub(crate) fn messages(&self) -> Result<MessageFilter, ApiError> {
                message_filter(&self.channel, &self.tag, &self.event_types)
            }
        }
    )+};
}

history_of!(MessagesQuery, AttemptsAtEndpointQuery, AttemptsOfMessageQuery, AttemptedMessagesQuery);

impl MessagesQuery {
    pub(crate) fn content(&self) -> PayloadRead {
        content(self.with_content)
    }
}

impl AttemptedMessagesQuery {
    pub(crate) fn content(&self) -> PayloadRead {
        content(self.with_content)
    }

    pub(crate) fn status(&self) -> Result<Option<AttemptStatus>, ApiError> {
        status(&self.status)
    }
}

impl AttemptsAtEndpointQuery {
    pub(crate) fn filter(&self) -> Result<AttemptFilter, ApiError> {
        attempt_filter(&self.status, &self.status_code_class, self.messages()?)
    }
}

impl AttemptsOfMessageQuery {
    pub(crate) fn filter(&self) -> Result<AttemptFilter, ApiError> {
        attempt_filter(&self.status, &self.status_code_class, self.messages()?)
    }
}

/// Content is shown unless it is not wanted.
pub(crate) fn content(with_content: Option<bool>) -> PayloadRead {
    if with_content == Some(false) { PayloadRead::Skip } else { PayloadRead::Include }
}

fn attempt_filter(
    of_status: &Option<String>,
    class: &Option<String>,
    message: MessageFilter,
) -> Result<AttemptFilter, ApiError> {
    let code_class = match class.as_deref() {
        None => None,
        Some("0") => Some(0),
        Some("100") => Some(100),
        Some("200") => Some(200),
        Some("300") => Some(300),
        Some("400") => Some(400),
        Some("500") => Some(500),
        Some(_) => return Err(ApiError::at(["query", "status_code_class"], "must be 0, 100, 200, 300, 400 or 500")),
    };
    Ok(AttemptFilter { status: status(of_status)?, code_class, endpoint: None, message })
}

fn status(status: &Option<String>) -> Result<Option<AttemptStatus>, ApiError> {
    match status.as_deref() {
        None => Ok(None),
        Some("0") => Ok(Some(AttemptStatus::Success)),
        Some("1") => Ok(Some(AttemptStatus::Pending)),
        Some("2") => Ok(Some(AttemptStatus::Fail)),
        Some("3") => Ok(Some(AttemptStatus::Sending)),
        Some("4") => Ok(Some(AttemptStatus::Cancelled)),
        Some(_) => Err(ApiError::at(["query", "status"], "must be 0 to 4")),
    }
}

fn message_filter(
    channel: &Option<String>,
    tag: &Option<String>,
    event_types: &Option<String>,
) -> Result<MessageFilter, ApiError> {
    let check = |name: &str, value: &str, chars_max| {
        check_name(value, chars_max).map_err(|error| ApiError::at(["query", name], error.to_string()))
    };
    for (name, value) in [("channel", channel), ("tag", tag)] {
        value.as_deref().map_or(Ok(()), |value| check(name, value, CHANNEL_CHARS_MAX))?;
    }
    let types = event_types.as_deref().map(|types| types.split(',').map(str::to_owned).collect::<Vec<_>>());
    for name in types.iter().flatten() {
        check("event_types", name, NAME_CHARS_MAX)?;
    }
    if types.as_ref().is_some_and(|types| types.len() > EVENT_TYPES_MAX) {
        let detail = format!("must be at most {EVENT_TYPES_MAX}");
        return Err(ApiError::at(["query", "event_types"], detail));
    }
    Ok(MessageFilter { channel: channel.clone(), tag: tag.clone(), event_types: types })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_types_come_with_commas_or_again_and_again() {
        for (query, expected) in [
            ("event_types=a,b", "event_types=a,b"),
            ("event_types=a%2Cb", "event_types=a%2Cb"),
            ("event_types=a&limit=3&event_types=b", "limit=3&event_types=a,b"),
            ("event_types[]=a&event_types%5B1%5D=b", "event_types=a,b"),
            ("event_types_x=a&limit=3", "event_types_x=a&limit=3"),
            ("event_types", "event_types="),
            ("", ""),
        ] {
            assert_eq!(merge_event_types(query), expected, "{query}");
        }
    }
}
