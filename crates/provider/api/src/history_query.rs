//! The queries of history lists: messages, attempts and deliveries, with their time range and filters.

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

/// Every filter that a history list can have.
const FILTERS: [&str; 8] =
    ["channel", "tag", "event_types", "before", "after", "status", "status_code_class", "endpoint_id"];
/// Event types that a filter may list.
const EVENT_TYPES_MAX: usize = 100;

/// The query of a history list. 422 for a filter that the list does not have, because ignoring it would return entries
/// that the caller meant to leave out. Other unknown parameters are ignored.
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
        let unsupported: Vec<&str> = FILTERS.into_iter().filter(|filter| !Q::SUPPORTED.contains(filter)).collect();
        if let Some(name) = names.map(without_brackets).find(|name| unsupported.contains(name)) {
            return Err(ApiError::at(["query", name], "is not a filter of this list; leave it out"));
        }
        let uri = format!("/?{}", merge_event_types(query)).parse();
        let uri = uri.map_err(|_| invalid("is not a valid query string".into()))?;
        let Query(query) = Query::try_from_uri(&uri).map_err(|error| invalid(error.body_text()))?;
        Ok(Self(query))
    }
}

/// The name of a parameter without the brackets of a list.
fn without_brackets(name: &str) -> &str {
    name.find("[").or_else(|| name.find("%5B")).or_else(|| name.find("%5b")).map_or(name, |end| &name[..end])
}

/// The query with all its event types in one parameter, separated by commas. Clients send one such parameter, or repeat
/// it for each event type, with or without brackets.
fn merge_event_types(query: &str) -> String {
    let is_event_types = |pair: &&str| without_brackets(pair.split('=').next().unwrap_or_default()) == "event_types";
    let mut pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !is_event_types(pair)).collect();
    let types = query.split('&').filter(is_event_types).map(|pair| pair.split_once('=').map_or("", |(_, value)| value));
    let types: Vec<&str> = types.collect();
    let merged = format!("event_types={}", types.join(","));
    if !types.is_empty() {
        pairs.push(&merged);
    }
    pairs.join("&")
}

/// The page, time range and message filter of a history list. All fields are text, because `serde` reads the values of
/// a flattened struct as text.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct HistoryParams {
    /// Entries on a page: 0 to 250. The default is 50.
    #[param(value_type = Option<u16>, minimum = 0, maximum = 250)]
    limit: Option<String>,
    /// `iterator` or `prevIterator` of another page. A page may have few entries or none and still not be the last one:
    /// go on until `done` is true.
    #[param(min_length = 1)]
    iterator: Option<String>,
    /// Only messages of this channel, or attempts to deliver them.
    #[param(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$")]
    channel: Option<String>,
    /// Only messages with this tag, or attempts to deliver them.
    #[param(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$")]
    tag: Option<String>,
    /// Only messages of these event types, or attempts to deliver them.
    #[param(value_type = Option<Vec<Name>>, max_items = 100)]
    event_types: Option<String>,
    /// Only entries created before this time, RFC 3339 or `2026-11-25 15:00:06.92 UTC`. Without `after`, the list reaches 90 days back from it.
    #[param(format = DateTime)]
    before: Option<String>,
    /// Only entries created after this time, in the same forms. Without `before`, the list covers the 90 days after it: follow
    /// `prevIterator` for later entries.
    #[param(format = DateTime)]
    after: Option<String>,
}

/// The filter by outcome of a list of attempts.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct OutcomeParams {
    /// Only attempts with this status: 0 success, 2 fail, 4 canceled, which is returned as 0 without
    /// `expanded_statuses`.
    #[param(value_type = Option<u8>, minimum = 0, maximum = 4)]
    status: Option<String>,
    /// Only attempts with a status code of this class: 0 (no response), 100, 200, 300, 400 or 500.
    #[param(value_type = Option<u16>, minimum = 0, maximum = 500, multiple_of = 100)]
    status_code_class: Option<String>,
}

/// The query of an application's messages.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MessagesQuery {
    #[serde(flatten)]
    #[param(ignore)]
    pub(crate) history: HistoryParams,
    /// `false` leaves out payloads.
    pub(crate) with_content: Option<bool>,
}

/// The query of the attempts at an endpoint.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AttemptsAtEndpointQuery {
    #[serde(flatten)]
    #[param(ignore)]
    pub(crate) history: HistoryParams,
    #[serde(flatten)]
    #[param(ignore)]
    outcome: OutcomeParams,
    /// `false` leaves out response bodies.
    pub(crate) with_content: Option<bool>,
    /// `true` includes the messages, without their payloads.
    pub(crate) with_msg: Option<bool>,
    /// `true` returns status 4 (canceled); otherwise a cancelled attempt counts as 0 (success).
    pub(crate) expanded_statuses: Option<bool>,
}

/// The query of the attempts to deliver a message.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AttemptsOfMessageQuery {
    #[serde(flatten)]
    #[param(ignore)]
    pub(crate) history: HistoryParams,
    #[serde(flatten)]
    #[param(ignore)]
    outcome: OutcomeParams,
    /// Only attempts at this endpoint; id or uid.
    #[param(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    pub(crate) endpoint_id: Option<String>,
    /// `false` leaves out response bodies.
    pub(crate) with_content: Option<bool>,
    /// `true` returns status 4 (canceled); otherwise a cancelled attempt counts as 0 (success).
    pub(crate) expanded_statuses: Option<bool>,
}

/// The query of the messages with an attempt at an endpoint.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AttemptedMessagesQuery {
    #[serde(flatten)]
    #[param(ignore)]
    pub(crate) history: HistoryParams,
    /// Only messages with this delivery status: 0 success (an attempt succeeded), 2 fail (none succeeded and no retry
    /// is scheduled), 3 sending (a retry is scheduled).
    #[param(value_type = Option<u8>, minimum = 0, maximum = 4)]
    status: Option<String>,
    /// `false` leaves out payloads.
    pub(crate) with_content: Option<bool>,
    /// `true` returns status 4 (canceled); otherwise a cancelled attempt counts as 0 (success).
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

impl HistoryParams {
    /// The requested part of the list. `prefix` is the prefix of the ids that order it.
    pub(crate) fn request(&self, prefix: &'static str) -> Result<HistoryRequest, ApiError> {
        let (limit, iterator) = (self.limit.as_deref(), self.iterator.as_deref());
        let (before, after) = (self.before.as_deref(), self.after.as_deref());
        Ok(HistoryRequest::parse(HistoryQuery { limit, iterator, before, after }, prefix)?)
    }

    /// The filter by message.
    pub(crate) fn messages(&self) -> Result<MessageFilter, ApiError> {
        let check = |name: &str, value: &str, chars_max| {
            check_name(value, chars_max).map_err(|error| ApiError::at(["query", name], error.to_string()))
        };
        for (name, value) in [("channel", &self.channel), ("tag", &self.tag)] {
            value.as_deref().map_or(Ok(()), |value| check(name, value, CHANNEL_CHARS_MAX))?;
        }
        let types = self.event_types.as_deref().map(|types| types.split(',').map(str::to_owned).collect::<Vec<_>>());
        for name in types.iter().flatten() {
            check("event_types", name, NAME_CHARS_MAX)?;
        }
        if types.as_ref().is_some_and(|types| types.len() > EVENT_TYPES_MAX) {
            return Err(ApiError::at(["query", "event_types"], format!("must be at most {EVENT_TYPES_MAX}")));
        }
        Ok(MessageFilter { channel: self.channel.clone(), tag: self.tag.clone(), event_types: types })
    }
}

impl OutcomeParams {
    fn filter(&self, message: MessageFilter) -> Result<AttemptFilter, ApiError> {
        let code_class = match self.status_code_class.as_deref() {
            None => None,
            Some("0") => Some(0),
            Some("100") => Some(100),
            Some("200") => Some(200),
            Some("300") => Some(300),
            Some("400") => Some(400),
            Some("500") => Some(500),
            Some(_) => {
                return Err(ApiError::at(["query", "status_code_class"], "must be 0, 100, 200, 300, 400 or 500"));
            }
        };
        Ok(AttemptFilter { status: status(self.status.as_deref())?, code_class, endpoint: None, message })
    }
}

impl AttemptedMessagesQuery {
    pub(crate) fn status(&self) -> Result<Option<AttemptStatus>, ApiError> {
        status(self.status.as_deref())
    }
}

impl AttemptsAtEndpointQuery {
    pub(crate) fn filter(&self) -> Result<AttemptFilter, ApiError> {
        self.outcome.filter(self.history.messages()?)
    }
}

impl AttemptsOfMessageQuery {
    pub(crate) fn filter(&self) -> Result<AttemptFilter, ApiError> {
        self.outcome.filter(self.history.messages()?)
    }
}

/// Whether the response contains payloads or response bodies; it does, unless the caller sends `with_content=false`.
pub(crate) fn content(with_content: Option<bool>) -> PayloadRead {
    if with_content == Some(false) { PayloadRead::Skip } else { PayloadRead::Include }
}

fn status(status: Option<&str>) -> Result<Option<AttemptStatus>, ApiError> {
    match status {
        None => Ok(None),
        Some("0") => Ok(Some(AttemptStatus::Success)),
        Some("1") => Ok(Some(AttemptStatus::Pending)),
        Some("2") => Ok(Some(AttemptStatus::Fail)),
        Some("3") => Ok(Some(AttemptStatus::Sending)),
        Some("4") => Ok(Some(AttemptStatus::Cancelled)),
        Some(_) => Err(ApiError::at(["query", "status"], "must be 0 to 4")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_types_are_read_from_one_parameter_or_from_several() {
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

    #[test]
    fn flattened_parameters_are_read_beside_flags() {
        let uri = "/?limit=3&with_content=false&status=2&with_msg=true&unknown=x".parse().unwrap();
        let Query(query) = Query::<AttemptsAtEndpointQuery>::try_from_uri(&uri).unwrap();
        assert_eq!((query.with_content, query.with_msg, query.expanded_statuses), (Some(false), Some(true), None));
        assert_eq!((query.history.limit.as_deref(), query.outcome.status.as_deref()), (Some("3"), Some("2")));
    }
}
