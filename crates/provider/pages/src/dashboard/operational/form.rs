//! The form of an operational endpoint.

use std::collections::BTreeSet;

use askama::Template;
use askama::filters::HtmlSafe;
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields};
use kit_design::form_field::FormField;
use provider_core::model::Endpoint;
use provider_core::operational::events::EVENT_TYPES;
use provider_core::{EndpointInput, ProviderError};

use crate::dashboard::form_errors::form_errors;
use crate::page_error::PageError;

/// The values that the visitor entered.
#[derive(Debug, Clone, Default)]
pub(super) struct OperationalForm {
    url: String,
    description: String,
    takes_some: bool,
    types: BTreeSet<String>,
    is_disabled: bool,
}

/// The fields of the form, as part of a page.
#[derive(Template)]
#[template(path = "dashboard/operational/form.html")]
pub(super) struct FormPart {
    errors: ErrorSummary,
    fields: [FormField; 2],
    types_fault: String,
    typed: OperationalForm,
    /// Name, description and whether it is chosen.
    choices: Vec<(&'static str, &'static str, bool)>,
}

impl HtmlSafe for FormPart {}

impl OperationalForm {
    pub(super) fn read(form: &FormFields) -> Self {
        Self {
            url: form.text("url").to_owned(),
            description: form.text("description").replace("\r\n", "\n"),
            takes_some: form.text("types") == "some",
            types: form.all("eventTypes").map(str::to_owned).collect(),
            is_disabled: form.text("disabled") == "yes",
        }
    }

    pub(super) fn of(endpoint: &Endpoint) -> Self {
        Self {
            url: endpoint.url.clone(),
            description: endpoint.description.clone(),
            takes_some: endpoint.filter_types.is_some(),
            types: endpoint.filter_types.iter().flatten().cloned().collect(),
            is_disabled: endpoint.disabled,
        }
    }

    /// The input for a new endpoint, or one that replaces `before`: what the form does not show stays.
    pub(super) fn input(&self, before: Option<&Endpoint>) -> EndpointInput {
        EndpointInput {
            url: self.url.clone(),
            uid: before.and_then(|before| before.uid.clone()),
            description: self.description.clone(),
            disabled: self.is_disabled,
            filter_types: self.takes_some.then(|| self.types.iter().cloned().collect()),
            channels: before.and_then(|before| before.channels.clone()),
            throttle_rate: before.and_then(|before| before.throttle_rate),
            metadata: before.map(|before| before.metadata.clone()).unwrap_or_default(),
            ..EndpointInput::default()
        }
    }

    /// The provider's errors by field, with the response's status.
    pub(super) fn errors(&self, error: ProviderError) -> Result<(StatusCode, FieldErrors), PageError> {
        let (status, mut faults) = form_errors(error)?;
        if self.takes_some && self.types.is_empty() {
            faults.replace("eventTypes", "choose at least one, or receive all of them");
        }
        Ok((status, faults))
    }

    /// The fields. A receiver has `limit` to answer.
    pub(super) fn part(&self, faults: &FieldErrors, limit: &str) -> FormPart {
        let fields = [
            FormField::text("url", "Address", &self.url)
                .hint(format!("Events are sent here as POST requests. Respond with a 2xx status within {limit}."))
                .code(),
            FormField::area("description", "Description", &self.description).optional().lines(2),
        ]
        .map(|field| field.with(faults));
        let labels = fields.iter().map(|field| (field.name(), field.label()));
        FormPart {
            errors: ErrorSummary::new(faults, labels.chain([("eventTypes", "Events")])),
            fields,
            types_fault: faults.of("eventTypes"),
            choices: EVENT_TYPES.map(|(name, description)| (name, description, self.types.contains(name))).to_vec(),
            typed: self.clone(),
        }
    }
}
