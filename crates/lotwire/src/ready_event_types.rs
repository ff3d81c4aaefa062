//! The platform's event types as the provider's dashboard offers them. The provider does not know the platform, so the
//! binary hands them over as data.

use contract::event::EventType;
use contract::event_type;
use provider_pages::dashboard::{ReadyEventType, ReadyEventTypes};
use serde_json::json;

/// Both event types of the platform, with an example of each.
pub(crate) fn ready_event_types() -> ReadyEventTypes {
    let ready = EventType::ALL.iter().map(|event_type| {
        let definition = event_type::definition(*event_type);
        let mut schemas = json!(definition.schemas);
        schemas[event_type::SCHEMA_VERSION]["examples"] = json!([event_type::example(*event_type)]);
        ReadyEventType { name: definition.name, description: definition.description, schemas }
    });
    ReadyEventTypes { sender: "the auction platform".to_owned(), event_types: ready.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ready_event_type_has_an_example_with_real_values() {
        let ready = ready_event_types().event_types;
        let names: Vec<&str> = ready.iter().map(|event_type| event_type.name.as_str()).collect();
        assert_eq!(names, ["ITEM_STATUS_CHANGE", "AUCTION_STATUS_CHANGE"]);
        assert_eq!(ready[0].schemas["1"]["examples"][0]["status"], "SOLD");
        for event_type in ready {
            let checked = provider_core::CheckedSchemas::check(event_type.schemas).unwrap();
            assert!(checked.example.is_some());
        }
    }
}
