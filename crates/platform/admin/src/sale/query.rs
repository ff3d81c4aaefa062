//! Query strings of list pages: the filters stay while a reader pages, sorts or edits.

use kit_design::fields::FormFields;

/// The query string of these fields with their values, each followed by `&`, without some of them.
pub(crate) fn query_without(query: &FormFields, fields: &[&str], left_out: &[&str]) -> String {
    let mut out = String::new();
    for name in fields.iter().filter(|name| !left_out.contains(name)) {
        for value in query.all(name).map(str::trim).filter(|value| !value.is_empty()) {
            let value: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
            out.push_str(&format!("{name}={value}&"));
        }
    }
    out
}
