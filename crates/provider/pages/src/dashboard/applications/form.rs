//! The form for creating and changing an application: its values, their errors, and the input that they make.

use askama::Template;
use askama::filters::HtmlSafe;
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields};
use kit_design::form_field::FormField;
use provider_core::model::Application;
use provider_core::uid::NAME_CHARS_MAX;
use provider_core::{ApplicationInput, ApplicationPatch, PatchField, ProviderError};

use crate::dashboard::form_errors::form_errors;
use crate::page_error::PageError;

/// Stands for a rate that is not a number. The provider refuses it together with the form's other errors.
const NO_RATE: Option<u16> = Some(0);

/// The values that the visitor entered.
#[derive(Debug, Clone, Default)]
pub(super) struct ApplicationForm {
    name: String,
    uid: String,
    throttle_rate: String,
}

/// The fields of the form, as part of a page.
#[derive(Template)]
#[template(source = "{{ summary }}{% for field in fields %}{{ field }}{% endfor %}", ext = "html")]
pub(super) struct FormPart {
    summary: ErrorSummary,
    fields: [FormField; 3],
}

impl HtmlSafe for FormPart {}

impl ApplicationForm {
    pub(super) fn read(form: &FormFields) -> Self {
        Self {
            name: form.text("name").to_owned(),
            uid: form.text("uid").to_owned(),
            throttle_rate: form.text("throttleRate").to_owned(),
        }
    }

    /// The values that describe an existing application.
    pub(super) fn of(application: &Application) -> Self {
        Self {
            name: application.name.clone(),
            uid: application.uid.clone().unwrap_or_default(),
            throttle_rate: application.throttle_rate.map(|rate| rate.to_string()).unwrap_or_default(),
        }
    }

    pub(super) fn input(&self) -> ApplicationInput {
        ApplicationInput {
            name: self.name.clone(),
            uid: self.uid(),
            throttle_rate: self.throttle_rate(),
            ..ApplicationInput::default()
        }
    }

    /// The patch of an existing application. Its metadata stays.
    pub(super) fn patch(&self) -> ApplicationPatch {
        ApplicationPatch {
            name: PatchField::Set(self.name.clone()),
            uid: PatchField::Set(self.uid()),
            throttle_rate: PatchField::Set(self.throttle_rate()),
            ..ApplicationPatch::default()
        }
    }

    /// The provider's errors by field, with the response's status.
    pub(super) fn errors(&self, error: ProviderError) -> Result<(StatusCode, FieldErrors), PageError> {
        let is_taken = matches!(error, ProviderError::Conflict { .. });
        let (status, mut errors) = form_errors(error)?;
        if is_taken {
            errors = FieldErrors::default();
            errors.add("uid", "another application of the account has this uid");
        }
        if self.throttle_rate() == NO_RATE {
            errors.replace("throttleRate", format!("must be a whole number from 1 to {}, or be empty", u16::MAX));
        }
        Ok((status, errors))
    }

    pub(super) fn part(&self, errors: &FieldErrors) -> FormPart {
        let fields = [
            FormField::text("name", "Name", &self.name)
                .chars_max(NAME_CHARS_MAX)
                .required()
                .hint("The customer or system that receives the events, such as Hartley Auctions."),
            FormField::text("uid", "Your own identifier (uid)", &self.uid)
                .optional()
                .hint("Letters, digits, \"-\", \"_\" and \".\". API calls accept it in place of the app_ identifier.")
                .code(),
            FormField::text(
                "throttleRate",
                "Rate limit: messages per second to all endpoints together",
                &self.throttle_rate,
            )
            .optional()
            .short(),
        ]
        .map(|field| field.with(errors));
        FormPart { summary: ErrorSummary::of_fields(errors, &fields), fields }
    }

    fn uid(&self) -> Option<String> {
        Some(self.uid.clone()).filter(|uid| !uid.is_empty())
    }

    /// [`NO_RATE`] for a text that is not a number.
    fn throttle_rate(&self) -> Option<u16> {
        match self.throttle_rate.as_str() {
            "" => None,
            text => text.parse().map_or(NO_RATE, Some),
        }
    }
}
