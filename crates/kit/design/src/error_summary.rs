//! The errors of a form above its fields: all of them at once, each with a link to its field.

use std::borrow::Cow;

use askama::Template;
use askama::filters::HtmlSafe;

use super::error_page::sentence;
use super::field_group::FieldGroup;
use super::fields::FieldErrors;
use super::form_field::FormField;

/// All errors of a form. Write it with `{{ errors }}` in a template, below the heading of the page; without errors it
/// writes nothing. The browser moves the focus to it.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "error_summary.html")]
pub struct ErrorSummary {
    /// Ids, labels and errors of fields, in the order of the page.
    fields: Vec<(String, String, String)>,
    /// Errors that belong to no field of the page.
    others: Vec<String>,
    /// What did not happen; empty for a form that saves.
    heading: Cow<'static, str>,
}

impl HtmlSafe for ErrorSummary {}

impl ErrorSummary {
    /// The errors of a form whose fields have these names and labels. The id of a field is its name.
    pub fn new<'a>(errors: &FieldErrors, fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let fields: Vec<(&str, &str)> = fields.into_iter().collect();
        let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
        let others = errors.remaining(&names).iter().map(|text| sentence(text)).collect();
        let wrong = fields.into_iter().map(|(name, label)| (name.to_owned(), label.to_owned(), errors.of(name)));
        Self { fields: wrong.filter(|(_, _, text)| !text.is_empty()).collect(), others, heading: Cow::Borrowed("") }
    }

    /// The errors of a form with these fields, each with its error beside it.
    pub fn of_fields<'a>(errors: &FieldErrors, fields: impl IntoIterator<Item = &'a FormField>) -> Self {
        let wrong: Vec<_> = fields.into_iter().filter(|field| !field.fault_text().is_empty()).collect();
        let names: Vec<&str> = wrong.iter().map(|field| field.name()).collect();
        let others = errors.remaining(&names).iter().map(|text| sentence(text)).collect();
        let line = |field: &FormField| {
            (field.control_id().to_owned(), field.label().to_owned(), field.fault_text().to_owned())
        };
        Self { fields: wrong.into_iter().map(line).collect(), others, heading: Cow::Borrowed("") }
    }

    /// The errors of a form with these groups of fields.
    pub fn of_groups<'a>(errors: &FieldErrors, groups: impl IntoIterator<Item = &'a FieldGroup>) -> Self {
        Self::of_fields(errors, groups.into_iter().flat_map(FieldGroup::fields))
    }

    /// The errors that stand beside these fields, and no others.
    pub fn beside<'a>(fields: impl IntoIterator<Item = &'a FormField>) -> Self {
        Self::of_fields(&FieldErrors::default(), fields)
    }

    /// The same above a form that does not save, such as “Nothing was sent”.
    pub fn heading(self, heading: impl Into<Cow<'static, str>>) -> Self {
        Self { heading: heading.into(), ..self }
    }

    /// The form has no error.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.others.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_errors_are_listed_in_the_order_of_the_page_with_links_to_their_fields() {
        let mut errors = FieldErrors::default();
        errors.add("rate", "must be a number");
        errors.add("", "the sale has ended");
        errors.add("name", "must not be <empty>");
        let html = ErrorSummary::new(&errors, [("name", "Name"), ("rate", "Rate"), ("note", "Note")]).to_string();
        let name = "<li><a href=\"#name\">Name: must not be &#60;empty&#62;</a></li>";
        let rate = "<li><a href=\"#rate\">Rate: must be a number</a></li>";
        assert!(html.contains(&format!("{name}{rate}")), "{html}");
        assert!(html.contains("<li>The sale has ended.</li>") && !html.contains("Note"), "{html}");
        assert!(html.contains("role=\"alert\""), "{html}");
    }

    #[test]
    fn a_form_without_errors_has_no_summary() {
        assert_eq!(ErrorSummary::new(&FieldErrors::default(), [("name", "Name")]).to_string().trim(), "");
    }

    #[test]
    fn of_two_forms_on_a_page_only_the_refused_one_is_named() {
        let mut errors = FieldErrors::default();
        errors.add("range", "no lot has this number");
        errors.add("version", "is old");
        let first = FormField::text("range", "Lots", "");
        let second = FormField::text("range", "Lots", "").id("shift-range").with(&errors);
        let html = ErrorSummary::of_fields(&errors, [&first, &second]).to_string();
        assert!(html.contains("<li><a href=\"#shift-range\">Lots: no lot has this number</a></li>"), "{html}");
        assert!(!html.contains("#range") && html.contains("<li>Version: is old.</li>"), "{html}");
    }
}
