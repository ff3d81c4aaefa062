//! Fields of a form that belong together, below a heading: the same HTML on every page of both wings.

use std::borrow::Cow;

use askama::Template;
use askama::filters::HtmlSafe;

use super::form_field::FormField;

/// A part of a long form. Its fields stand beside each other where there is room. Write it with `{{ group }}` in a template.
#[derive(Debug, Clone, Template)]
#[template(path = "field_group.html")]
pub struct FieldGroup {
    id: &'static str,
    heading: &'static str,
    hint: Cow<'static, str>,
    fields: Vec<FormField>,
}

impl HtmlSafe for FieldGroup {}

impl FieldGroup {
    /// A group whose heading has this id, for links to it.
    pub fn new(id: &'static str, heading: &'static str, fields: impl IntoIterator<Item = FormField>) -> Self {
        Self { id, heading, hint: Cow::Borrowed(""), fields: fields.into_iter().collect() }
    }

    /// The same with a sentence below the heading.
    pub fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// The fields, for the summary of their errors.
    pub fn fields(&self) -> &[FormField] {
        &self.fields
    }

    /// Whether a field has an error.
    pub fn has_fault(&self) -> bool {
        self.fields.iter().any(|field| !field.fault_text().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_named_by_its_heading() {
        let group = FieldGroup::new("money", "Money", [FormField::text("reserve", "Reserve", "")]).hint("In pounds.");
        let html = group.to_string();
        assert!(html.contains("role=\"group\" aria-labelledby=\"money\""), "{html}");
        assert!(html.contains("<h2 id=\"money\">Money</h2>") && html.contains("In pounds."), "{html}");
        assert!(html.contains("name=\"reserve\"") && !group.has_fault(), "{html}");
        let wrong = FormField::text("reserve", "Reserve", "x").fault("is not an amount");
        assert!(FieldGroup::new("money", "Money", [wrong]).has_fault());
    }
}
