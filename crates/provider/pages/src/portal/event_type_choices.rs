//! The event types that an endpoint can be given, by group.

use std::collections::{BTreeMap, BTreeSet};

use provider_core::model::EventType;
use provider_core::page::{CursorKey, LIMIT_MAX, PageQuery, PageRequest};
use provider_core::{Archived, ProviderError};

use super::session::Session;

/// Pages of event types that a form shows; an account may have far more, of which an endpoint may be given those that it has
/// already, and others over the API.
const PAGES_MAX: usize = 4;

/// A group of event types: those whose names begin the same, up to the first dot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// Empty for names without a dot.
    pub(super) name: String,
    pub(super) choices: Vec<Choice>,
}

/// An event type to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) is_deprecated: bool,
    pub(super) is_chosen: bool,
}

/// The account's event types as this visitor sees them, and whether these are all.
pub(super) async fn all(session: &Session) -> Result<(Vec<EventType>, bool), ProviderError> {
    let (limit, mut after, mut found) = (LIMIT_MAX.to_string(), None::<String>, Vec::new());
    for _ in 0..PAGES_MAX {
        let query = PageQuery { limit: Some(&limit), iterator: after.as_deref(), order: None };
        let page = PageRequest::parse(query, CursorKey::Name)?;
        let slice = session.provider().list_event_types(&session.caller, &page, Archived::Hidden).await?;
        found.extend(slice.data);
        if slice.done {
            return Ok((found, true));
        }
        after = slice.iterator;
    }
    Ok((found, false))
}

/// Groups of these event types, with those chosen that are among `chosen`; what is chosen and is not there comes last.
pub(super) fn groups(event_types: &[EventType], chosen: &BTreeSet<String>) -> Vec<Group> {
    let mut groups: BTreeMap<&str, Vec<Choice>> = BTreeMap::new();
    for event_type in event_types {
        let group = event_type.name.split_once('.').map_or("", |(group, _)| group);
        groups.entry(group).or_default().push(Choice {
            name: event_type.name.clone(),
            description: event_type.description.clone(),
            is_deprecated: event_type.deprecated,
            is_chosen: chosen.contains(&event_type.name),
        });
    }
    let mut groups: Vec<Group> =
        groups.into_iter().map(|(name, choices)| Group { name: name.to_owned(), choices }).collect();
    let known: BTreeSet<&str> = event_types.iter().map(|event_type| event_type.name.as_str()).collect();
    let others = chosen.iter().filter(|name| !known.contains(name.as_str()));
    let choices: Vec<Choice> = others
        .map(|name| Choice { name: name.clone(), description: String::new(), is_deprecated: false, is_chosen: true })
        .collect();
    if !choices.is_empty() {
        groups.push(Group { name: "not in the catalogue".to_owned(), choices });
    }
    groups
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn event_type(name: &str) -> EventType {
        EventType {
            account: "org_1".into(),
            name: name.to_owned(),
            description: "d".to_owned(),
            archived: false,
            deprecated: false,
            schemas: None,
            feature_flags: BTreeSet::new(),
            group_name: None,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn event_types_are_grouped_up_to_their_first_dot() {
        let all = ["invoice.paid", "PING", "invoice.payment.failed", "user.created"].map(event_type);
        let chosen = ["user.created", "gone.by"].map(str::to_owned).into();
        let groups = groups(&all, &chosen);
        let shown: Vec<_> = groups.iter().map(|group| (group.name.as_str(), group.choices.len())).collect();
        assert_eq!(shown, [("", 1), ("invoice", 2), ("user", 1), ("not in the catalogue", 1)]);
        let chosen = groups.iter().flat_map(|group| &group.choices).filter(|choice| choice.is_chosen);
        assert_eq!(chosen.map(|choice| choice.name.as_str()).collect::<Vec<_>>(), ["user.created", "gone.by"]);
    }
}
