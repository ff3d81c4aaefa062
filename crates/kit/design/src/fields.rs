//! Fields of forms and query strings, and the errors that a page shows beside them.

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Multipart, Request};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use kit_http::json::JsonError;

use super::error_page::{ErrorPage, sentence};
use super::texts;

/// Bytes of a form. The longest form lists every event type that an endpoint may filter by.
pub const FORM_BYTES_MAX: usize = 512 * 1024;
/// Bytes of a form with a long text: an encoded character has up to three times its bytes.
pub const LONG_FORM_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Fields of a form or query string. The server refuses a request with more.
const FIELDS_MAX: usize = 2_048;
const FORM: &str = "application/x-www-form-urlencoded";

/// Names and values in the order of the request.
#[derive(Debug, Clone, Default)]
pub struct FormFields(Vec<(String, String)>);

impl FormFields {
    fn parse(bytes: &[u8]) -> Result<Self, ErrorPage> {
        let fields: Vec<_> = form_urlencoded::parse(bytes).take(FIELDS_MAX + 1).map(into_owned).collect();
        if fields.len() > FIELDS_MAX {
            return Err(ErrorPage::bad_request(format!("A form has at most {FIELDS_MAX} fields.")));
        }
        Ok(Self(fields))
    }

    /// The fields of a query string without its question mark.
    pub fn of_query(query: &str) -> Result<Self, ErrorPage> {
        Self::parse(query.as_bytes())
    }

    /// The trimmed value of the first field with this name; empty when no field has it.
    pub fn text(&self, name: &str) -> &str {
        let first = self.0.iter().find(|(own, _)| own == name);
        first.map_or("", |(_, value)| value.trim())
    }

    /// The trimmed value of the first field with this name; none when it is empty.
    pub fn non_empty(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// The fields whose names begin with `prefix`: the rest of the name and the value.
    pub fn starting_with<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }

    /// The values of all fields with this name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

fn into_owned((name, value): (std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)) -> (String, String) {
    (name.into_owned(), value.into_owned())
}

/// The fields of the query string.
#[derive(Debug)]
pub struct QueryFields(pub FormFields);

impl<S: Send + Sync> FromRequestParts<S> for QueryFields {
    type Rejection = ErrorPage;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorPage> {
        FormFields::parse(parts.uri.query().unwrap_or_default().as_bytes()).map(QueryFields)
    }
}

/// The fields of a form that a visitor sent, with at most this number of bytes.
#[derive(Debug)]
pub struct SubmittedForm<const BYTES_MAX: usize = FORM_BYTES_MAX>(pub FormFields);

/// A form with a text that the page refuses by itself when it is too long, so that it is not lost.
pub type LongForm = SubmittedForm<LONG_FORM_BYTES_MAX>;

impl<S: Send + Sync, const BYTES_MAX: usize> FromRequest<S> for SubmittedForm<BYTES_MAX> {
    type Rejection = ErrorPage;

    async fn from_request(request: Request, _: &S) -> Result<Self, ErrorPage> {
        let (parts, body) = request.into_parts();
        check_content_type(&parts)?;
        let bytes = kit_http::json::read_up_to(body, BYTES_MAX).await.map_err(refused)?;
        FormFields::parse(&bytes).map(SubmittedForm)
    }
}

/// The fields of a small form whose sender is not signed in, such as the sign-in form.
#[derive(Debug)]
pub struct UnauthenticatedForm(pub FormFields);

impl<S: Send + Sync> FromRequest<S> for UnauthenticatedForm {
    type Rejection = ErrorPage;

    async fn from_request(request: Request, _: &S) -> Result<Self, ErrorPage> {
        let (parts, body) = request.into_parts();
        check_content_type(&parts)?;
        let bytes = kit_http::unauthenticated_body::read(body).await.map_err(refused)?;
        FormFields::parse(&bytes).map(UnauthenticatedForm)
    }
}

/// The fields and files of a form with `enctype="multipart/form-data"`, from a visitor who is signed in.
#[derive(Debug)]
pub struct UploadForm {
    /// The fields without a file.
    pub fields: FormFields,
    /// Names of fields with the files that were chosen for them. A field without a chosen file is not in it.
    pub files: Vec<(String, Bytes)>,
}

impl UploadForm {
    /// The file that was chosen for the field.
    pub fn file(&self, name: &str) -> Option<&Bytes> {
        self.files.iter().find(|(own, _)| own == name).map(|(_, file)| file)
    }
}

impl<S: Send + Sync> FromRequest<S> for UploadForm {
    type Rejection = ErrorPage;

    async fn from_request(request: Request, state: &S) -> Result<Self, ErrorPage> {
        let (parts, body) = request.into_parts();
        let bytes = kit_http::json::read_up_to(body, FORM_BYTES_MAX).await.map_err(refused)?;
        let request = Request::from_parts(parts, Body::from(bytes));
        let malformed = |error: &dyn std::fmt::Display| ErrorPage::bad_request(sentence(&error.to_string()));
        let form = Multipart::from_request(request, state).await;
        let mut form = form.map_err(|error| malformed(&error.body_text()))?;
        let (mut fields, mut files) = (Vec::new(), Vec::new());
        while let Some(field) = form.next_field().await.map_err(|error| malformed(&error.body_text()))? {
            if fields.len() + files.len() >= FIELDS_MAX {
                return Err(ErrorPage::bad_request(format!("A form has at most {FIELDS_MAX} fields.")));
            }
            let name = field.name().unwrap_or_default().to_owned();
            let is_file = field.file_name().is_some();
            let value = field.bytes().await.map_err(|error| malformed(&error.body_text()))?;
            match is_file {
                // A browser sends an empty file for a field where none was chosen.
                true if value.is_empty() => {}
                true => files.push((name, value)),
                false => fields.push((name, String::from_utf8_lossy(&value).into_owned())),
            }
        }
        Ok(Self { fields: FormFields(fields), files })
    }
}

fn check_content_type(parts: &Parts) -> Result<(), ErrorPage> {
    let kind = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(FORM) {
        return Err(ErrorPage::bad_request(format!("The request's content type must be {FORM}.")));
    }
    Ok(())
}

fn refused(error: JsonError) -> ErrorPage {
    ErrorPage::new(error.status(), texts::of_request().form_not_accepted.as_str(), sentence(&error.to_string()))
}

/// The errors of a form by field name. An error with the empty name is about the form as a whole.
#[derive(Debug, Clone, Default)]
pub struct FieldErrors(Vec<(String, String)>);

impl IntoIterator for FieldErrors {
    type Item = (String, String);
    type IntoIter = std::vec::IntoIter<(String, String)>;

    /// Fields and texts.
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl FieldErrors {
    /// Adds an error.
    pub fn add(&mut self, field: impl Into<String>, text: impl Into<String>) {
        self.0.push((field.into(), text.into()));
    }

    /// Adds the errors that the checks of a use case found, by field, except those of fields with an error: the page could
    /// not read what was typed there, so the checks saw another value.
    pub fn add_found(&mut self, found: impl IntoIterator<Item = (String, String)>) {
        let unread: Vec<String> = self.0.iter().map(|(field, _)| field.clone()).collect();
        self.0.extend(found.into_iter().filter(|(field, _)| !unread.contains(field)));
    }

    /// Replaces all errors of a field by this one.
    pub fn replace(&mut self, field: &str, text: impl Into<String>) {
        self.0.retain(|(own, _)| own != field);
        self.add(field, text);
    }

    /// The same errors with those of the field `from` at the field `to`, which a page calls otherwise.
    pub fn renamed(mut self, from: &str, to: &str) -> Self {
        self.0.iter_mut().filter(|(field, _)| field == from).for_each(|(field, _)| to.clone_into(field));
        self
    }

    /// The form has no error.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The errors of a field in one line; empty when it has none.
    pub fn of(&self, field: &str) -> String {
        let texts = self.0.iter().filter(|(own, _)| own == field).map(|(_, text)| text.as_str());
        texts.collect::<Vec<_>>().join("; ")
    }

    /// The errors of fields that the page does not show, each with its field's name.
    pub fn remaining(&self, shown: &[&str]) -> Vec<String> {
        let others = self.0.iter().filter(|(field, _)| !shown.contains(&field.as_str()));
        others.map(|(field, text)| if field.is_empty() { text.clone() } else { format!("{field}: {text}") }).collect()
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
    fn an_error_is_shown_beside_its_field_or_above_the_form() {
        let mut errors = FieldErrors::default();
        errors.add("url", "must be an address");
        errors.add("url", "is too long");
        errors.add("", "there are too many");
        errors.add("uid", "is taken");
        assert_eq!(errors.of("url"), "must be an address; is too long");
        assert_eq!(errors.remaining(&["url"]), ["there are too many", "uid: is taken"]);
        assert_eq!(errors.renamed("uid", "own-id").of("own-id"), "is taken");
    }

    #[test]
    fn errors_of_a_use_case_join_those_of_fields_that_the_page_could_read() {
        let mut errors = FieldErrors::default();
        errors.add("rate", "is not a number");
        let found = [("rate", "must be at least 1"), ("name", "is empty"), ("name", "is too short")];
        errors.add_found(found.map(|(field, text)| (field.to_owned(), text.to_owned())));
        assert_eq!(
            (errors.of("rate").as_str(), errors.of("name").as_str()),
            ("is not a number", "is empty; is too short")
        );
    }
}
