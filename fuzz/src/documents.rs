//! Targets for documents that customers and operators supply.

use serde_json::Value;

/// Reads a catalogue file. Every row becomes an item or an error, and an error names a line of the file.
pub fn catalogue(data: &[u8]) {
    let (items, report) = platform_core::fuzzing::read_catalogue(data);
    let lines = data.iter().filter(|byte| matches!(**byte, b'\n' | b'\r')).count() as u64 + 1;
    for error in &report.errors {
        assert!((1..=lines).contains(&error.line), "line {} of {lines}", error.line);
        assert!(!error.message.is_empty());
    }
    assert!(report.errors.len() as u64 <= report.error_count);
    assert!(items <= report.rows, "{items} items of {} rows", report.rows);
    assert!(report.error_count > 0 || items == report.rows, "a row became neither an item nor an error");
}

/// Imports the webhooks of an OpenAPI document as event types, or refuses them.
pub fn event_type_import(data: &[u8]) {
    let Ok(document) = serde_json::from_slice::<Value>(data) else { return };
    let _ = provider_core::fuzzing::event_types(&document);
}

/// Checks a payload (all lines after the first) against schemas (the first line), and makes an example of them.
pub fn payload_check(data: &[u8]) {
    let mut parts = data.splitn(2, |byte| *byte == b'\n');
    let schemas = parts.next().and_then(|text| serde_json::from_slice::<Value>(text).ok());
    let payload = parts.next().and_then(|text| serde_json::from_slice::<Value>(text).ok());
    let (Some(schemas), Some(payload)) = (schemas, payload) else { return };
    provider_core::fuzzing::check_payload(schemas, &payload);
}

/// Reads a configuration file and a variable's value. Each is accepted, or refused with a reason.
pub fn configuration(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(config) = toml::from_str::<crate::config::Config>(text) {
        let _ = config.mistakes();
        let table = crate::config::table_of(&config);
        let again = toml::from_str::<crate::config::Config>(&table.to_string());
        assert_eq!(again.as_ref(), Ok(&config), "a printed configuration reads back as itself");
    }
    if let Some((name, value)) = text.split_once('=') {
        let variable = (name.to_owned(), value.to_owned());
        if let Err(error) = crate::config::load(None, [variable], crate::config::Overrides::default()) {
            assert!(!error.to_string().is_empty());
        }
    }
}
