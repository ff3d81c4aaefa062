//! Collects all faults in the values of a request, so that the caller sees all of them at once.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use crate::error::{FieldError, ProviderError, ProviderResult};
use crate::uid::{CHANNEL_CHARS_MAX, NAME_CHARS_MAX, check_name, check_uid};

/// Characters that break a line but are not control characters.
const LINE_BREAKS: [char; 2] = ['\u{2028}', '\u{2029}'];
const METADATA_ENTRIES_MAX: usize = 256;
/// Maximum size in bytes of a description, and of all of `metadata`.
const TEXT_BYTES_MAX: usize = 65_536;
/// Maximum number of event types of an endpoint.
pub(crate) const FILTER_TYPES_MAX: usize = 1_024;

/// Removes repeated names. Channels are a set, so a caller may repeat a channel.
pub(crate) fn dedup(names: Option<&mut Vec<String>>) {
    if let Some(names) = names {
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
    }
}

/// The faults found so far.
#[derive(Default)]
pub(crate) struct FieldErrors(Vec<FieldError>);

impl FieldErrors {
    pub(crate) fn fault(&mut self, field: &'static str, msg: impl Into<String>) {
        self.0.push(FieldError::in_body([Cow::Borrowed(field)], msg));
    }

    pub(crate) fn fault_at(&mut self, field: &'static str, entry: impl Into<String>, msg: impl Into<String>) {
        self.0.push(FieldError::in_body([Cow::Borrowed(field), Cow::Owned(entry.into())], msg));
    }

    /// Checks a name for people: not empty or only blanks, not longer than `chars_max`, and without line breaks.
    pub(crate) fn required_text(&mut self, field: &'static str, text: &str, chars_max: usize) {
        if text.trim().is_empty() {
            self.fault(field, "must not be empty");
        } else if text.chars().any(|char| char.is_control() || LINE_BREAKS.contains(&char)) {
            self.fault(field, "must not hold a line break or another control character");
        }
        if text.chars().count() > chars_max {
            self.fault(field, format!("must have at most {chars_max} characters"));
        }
    }

    /// Checks a text with several lines.
    pub(crate) fn text(&mut self, field: &'static str, text: &str) {
        if text.chars().any(|char| char.is_control() && !['\n', '\r', '\t'].contains(&char)) {
            self.fault(field, "must not hold a control character");
        }
        if text.len() > TEXT_BYTES_MAX {
            self.fault(field, format!("must have at most {TEXT_BYTES_MAX} bytes"));
        }
    }

    pub(crate) fn uid(&mut self, field: &'static str, uid: Option<&str>, id_prefix: &'static str) {
        if let Some(Err(error)) = uid.map(|uid| check_uid(uid, id_prefix)) {
            self.fault(field, error.to_string());
        }
    }

    pub(crate) fn name(&mut self, field: &'static str, name: &str) {
        if let Err(error) = check_name(name, NAME_CHARS_MAX) {
            self.fault(field, error.to_string());
        }
    }

    /// Checks 1 to `count_max` names without repetition.
    pub(crate) fn names(&mut self, field: &'static str, names: Option<&[String]>, count_max: usize, chars_max: usize) {
        let Some(names) = names else { return };
        if names.is_empty() || names.len() > count_max {
            self.fault(field, format!("must have 1 to {count_max} entries, or be left out"));
            return;
        }
        let mut seen = HashSet::new();
        for (index, name) in names.iter().enumerate() {
            if let Err(error) = check_name(name, chars_max) {
                self.fault_at(field, index.to_string(), error.to_string());
            }
            if !seen.insert(name.as_str()) {
                self.fault_at(field, index.to_string(), "is given twice");
            }
        }
    }

    pub(crate) fn channels(&mut self, channels: Option<&[String]>, count_max: usize) {
        self.names("channels", channels, count_max, CHANNEL_CHARS_MAX);
    }

    pub(crate) fn throttle_rate(&mut self, rate: Option<u16>) {
        if rate == Some(0) {
            self.fault("throttleRate", "must be at least 1, or be left out");
        }
    }

    pub(crate) fn metadata(&mut self, metadata: &BTreeMap<String, String>) {
        if metadata.len() > METADATA_ENTRIES_MAX {
            self.fault("metadata", format!("must have at most {METADATA_ENTRIES_MAX} entries"));
        }
        if metadata.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>() > TEXT_BYTES_MAX {
            self.fault("metadata", format!("must have at most {TEXT_BYTES_MAX} bytes in all"));
        }
        if metadata.iter().any(|(key, value)| key.contains('\0') || value.contains('\0')) {
            self.fault("metadata", "must not hold a NUL character");
        }
    }

    pub(crate) fn add(&mut self, faults: Vec<FieldError>) {
        self.0.extend(faults);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// 422 with all faults, if there are any.
    pub(crate) fn finish(self) -> ProviderResult<()> {
        if self.0.is_empty() { Ok(()) } else { Err(ProviderError::Validation(self.0)) }
    }
}
