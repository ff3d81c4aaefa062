//! The event types that a form offers, by group.

use std::collections::{BTreeMap, BTreeSet};

use kit_design::code_block::CodeBlock;
use provider_core::model::EventType;
use provider_core::page::{CursorKey, LIMIT_MAX, PageQuery, PageRequest};
use provider_core::{Archived, Caller, Provider, ProviderError};

use super::session::Session;

/// Pages of event types that a form reads, 250 event types each. An account may have more: the form then also shows those
/// that the endpoint already has, and the API accepts the others.
const PAGES_MAX: usize = 4;

/// Event types whose names are the same up to the first dot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// The common part of the names; empty for names without a dot.
    pub(super) name: String,
    pub(super) choices: Vec<Choice>,
}

/// An event type that a form offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) is_deprecated: bool,
    pub(super) is_chosen: bool,
}

/// The account's event types that this visitor may see, and whether the list is complete.
pub(super) async fn all(session: &Session) -> Result<(Vec<EventType>, bool), ProviderError> {
    all_of(session.provider(), &session.caller).await
}

/// The account's event types that this caller may see, and whether the list is complete.
pub(crate) async fn all_of(provider: &Provider, caller: &Caller) -> Result<(Vec<EventType>, bool), ProviderError> {
    let (limit, mut after, mut found) = (LIMIT_MAX.to_string(), None::<String>, Vec::new());
    for _ in 0..PAGES_MAX {
        let query = PageQuery { limit: Some(&limit), iterator: after.as_deref(), order: None };
        let page = PageRequest::parse(query, CursorKey::Name)?;
        let page_of_types = provider.list_event_types(caller, &page, Archived::Hidden).await?;
        found.extend(page_of_types.data);
        if page_of_types.done {
            return Ok((found, true));
        }
        after = page_of_types.iterator;
    }
    Ok((found, false))
}

/// The example of an event type, as a form shows it; none for an event type without one.
pub(crate) async fn example_text(
    provider: &Provider,
    caller: &Caller,
    event_type: &str,
) -> Result<Option<String>, ProviderError> {
    match provider.event_example(caller, event_type).await {
        Ok(example) => Ok(Some(CodeBlock::json(&String::from_utf8_lossy(&example)).text)),
        Err(ProviderError::BadRequest { .. } | ProviderError::NotFound | ProviderError::Validation(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The event types by group, with the `chosen` ones selected. Chosen names that the catalogue does not have come last.
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
        let chosen = ["user.created", "deleted.type"].map(str::to_owned).into();
        let groups = groups(&all, &chosen);
        let shown: Vec<_> = groups.iter().map(|group| (group.name.as_str(), group.choices.len())).collect();
        assert_eq!(shown, [("", 1), ("invoice", 2), ("user", 1), ("not in the catalogue", 1)]);
        let chosen = groups.iter().flat_map(|group| &group.choices).filter(|choice| choice.is_chosen);
        assert_eq!(chosen.map(|choice| choice.name.as_str()).collect::<Vec<_>>(), ["user.created", "deleted.type"]);
    }
}
