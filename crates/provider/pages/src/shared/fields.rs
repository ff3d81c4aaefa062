//! Fields of forms and queries: as they come, and what is wrong with them.

use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;

use super::error_page::ErrorPage;

/// Bytes of a form. The longest names every event type that an endpoint may list.
const BYTES_MAX: usize = 512 * 1024;
/// Fields of a form or query; what is beyond them is refused.
const FIELDS_MAX: usize = 2_048;
const FORM: &str = "application/x-www-form-urlencoded";

/// Names and values in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct FormFields(Vec<(String, String)>);

impl FormFields {
    fn parse(bytes: &[u8]) -> Result<Self, ErrorPage> {
        let fields: Vec<_> = form_urlencoded::parse(bytes).take(FIELDS_MAX + 1).map(own).collect();
        if fields.len() > FIELDS_MAX {
            return Err(ErrorPage::bad_request(format!("A form has at most {FIELDS_MAX} fields.")));
        }
        Ok(Self(fields))
    }

    /// The value of the first field of this name, without blanks around it; empty when there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        let first = self.0.iter().find(|(own, _)| own == name);
        first.map_or("", |(_, value)| value.trim())
    }

    /// The same, none when it is empty.
    pub(crate) fn non_empty(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// The values of all fields of this name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

fn own((name, value): (std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)) -> (String, String) {
    (name.into_owned(), value.into_owned())
}

/// The query.
pub(crate) struct QueryFields(pub(crate) FormFields);

impl<S: Send + Sync> FromRequestParts<S> for QueryFields {
    type Rejection = ErrorPage;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorPage> {
        FormFields::parse(parts.uri.query().unwrap_or_default().as_bytes()).map(QueryFields)
    }
}

/// A form that was sent.
pub(crate) struct SubmittedForm(pub(crate) FormFields);

impl<S: Send + Sync> FromRequest<S> for SubmittedForm {
    type Rejection = ErrorPage;

    async fn from_request(request: Request, _: &S) -> Result<Self, ErrorPage> {
        let (parts, body) = request.into_parts();
        let kind = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(FORM) {
            return Err(ErrorPage::bad_request(format!("Send a form, as {FORM}.")));
        }
        let bytes: Bytes = kit_http::json::read_up_to(body, BYTES_MAX)
            .await
            .map_err(|error| ErrorPage::new(error.status(), "The form could not be read", format!("{error}.")))?;
        FormFields::parse(&bytes).map(SubmittedForm)
    }
}

/// What is wrong with a form, by field; the empty name is the form as a whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct FieldErrors(Vec<(String, String)>);

impl FieldErrors {
    /// One more.
    pub(crate) fn add(&mut self, field: impl Into<String>, text: impl Into<String>) {
        self.0.push((field.into(), text.into()));
    }

    /// What is wrong with a field, in place of what was said so far.
    pub(crate) fn replace(&mut self, field: &str, text: impl Into<String>) {
        self.0.retain(|(own, _)| own != field);
        self.add(field, text);
    }

    /// There are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is wrong with a field, in one line; empty when nothing is.
    pub(crate) fn of(&self, field: &str) -> String {
        let texts = self.0.iter().filter(|(own, _)| own == field).map(|(_, text)| text.as_str());
        texts.collect::<Vec<_>>().join("; ")
    }

    /// What is wrong and has no field on the page.
    pub(crate) fn remaining(&self, shown: &[&str]) -> Vec<String> {
        let left = self.0.iter().filter(|(field, _)| !shown.contains(&field.as_str()));
        left.map(|(field, text)| if field.is_empty() { text.clone() } else { format!("{field}: {text}") }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_by_name() {
        let fields = FormFields::parse(b"a=+1+&b=x%26y&a=2&c=%ff").unwrap();
        assert_eq!((fields.text("a"), fields.text("b"), fields.text("none")), ("1", "x&y", ""));
        assert_eq!(fields.all("a").collect::<Vec<_>>(), [" 1 ", "2"]);
        assert_eq!((fields.non_empty("none"), fields.non_empty("b")), (None, Some("x&y")));
        assert!(FormFields::parse("a=1&".repeat(FIELDS_MAX + 1).as_bytes()).is_err());
    }

    #[test]
    fn a_fault_is_beside_its_field_or_above_the_form() {
        let mut faults = FieldErrors::default();
        faults.add("url", "must be an address");
        faults.add("url", "is too long");
        faults.add("", "there are too many");
        faults.add("uid", "is taken");
        assert_eq!(faults.of("url"), "must be an address; is too long");
        assert_eq!(faults.remaining(&["url"]), ["there are too many", "uid: is taken"]);
    }
}
