//! The form for adding and changing an endpoint: its values, their errors, and the input or patch that they make.

use std::collections::BTreeSet;

use askama::Template;
use askama::filters::HtmlSafe;
use http::StatusCode;
use provider_core::model::Endpoint;
use provider_core::{DeliveryOrder, EndpointInput, EndpointPatch, FieldError, PatchField, ProviderError};

use super::url_verdict::UrlVerdict;
use crate::page_error::PageError;
use crate::portal::event_type_choices::{self, Group};
use crate::portal::session::Session;
use kit_design::error_page::sentence;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields};
use kit_design::form_field::{Choice, FormField};

/// Stands for a rate that is not a number. The provider refuses it together with the form's other errors.
const NO_RATE: Option<u16> = Some(0);
/// The value of the choice that sends the header `traceparent`.
const SENT: &str = "traceparent";

/// The values that the visitor entered.
#[derive(Debug, Clone, Default)]
pub(super) struct EndpointForm {
    url: String,
    description: String,
    /// The endpoint receives the chosen event types only.
    takes_some: bool,
    types: BTreeSet<String>,
    channels: String,
    throttle_rate: String,
    in_order: bool,
    sends_trace_parent: bool,
}

/// The fields of the form, as part of a page.
#[derive(Template)]
#[template(path = "portal/endpoints/form.html")]
pub(super) struct FormPart {
    errors: ErrorSummary,
    url: FormField,
    description: FormField,
    takes_some: bool,
    types_fault: String,
    groups: Vec<Group>,
    is_whole_catalogue: bool,
    /// The fields that most endpoints do not need.
    more: [FormField; 4],
    /// These fields are shown.
    shows_more: bool,
    /// Path of the action that checks the typed address.
    check_path: String,
}

impl HtmlSafe for FormPart {}

impl FormPart {
    /// The fields of the form at this path, below the site's base.
    pub(super) async fn new(
        session: &Session,
        path: &str,
        typed: EndpointForm,
        errors: FieldErrors,
    ) -> Result<Self, PageError> {
        let (event_types, is_whole_catalogue) = event_type_choices::all(session).await?;
        let groups = event_type_choices::groups(&event_types, &typed.types);
        let check_path = format!("{}{path}/check-url", session.portal.site().base);
        let limit = session.provider().config().request_limit();
        let url = FormField::text("url", "Address", &typed.url)
            .kind("url", "url")
            .attribute("inputmode", "url")
            .attribute("placeholder", "https://example.com/webhooks")
            .hint(format!("Messages are sent here as POST requests. Respond with a 2xx status within {limit}."))
            .required()
            .checked_at(&check_path, String::new());
        let description = FormField::area("description", "Description", &typed.description).optional().lines(2);
        let channels =
            FormField::text("channels", "Channels", &typed.channels).optional().attribute("spellcheck", "false").hint(
                "At most 10 names, separated by commas. The endpoint then receives only messages with one of these \
                 channels.",
            );
        let rate = "Throttle rate: messages per second, at most";
        let rate = FormField::text("throttleRate", rate, &typed.throttle_rate).optional().short();
        let order = typed.ordering();
        let choice = |own: DeliveryOrder, label, hint| Choice::new(own.name(), label, own == order).hint(hint);
        let ordering = vec![
            choice(
                DeliveryOrder::Any,
                "Any order",
                "A failed message is retried later, while other messages are sent.",
            ),
            choice(
                DeliveryOrder::PerKey,
                "In order for each key",
                "Messages with the same ordering key wait until the first of them is delivered.",
            ),
        ];
        let ordering = FormField::radios("ordering", "Ordering", ordering);
        let sent = typed.sends_trace_parent;
        let trace = vec![
            Choice::new("none", "No trace header", !sent).hint("Messages carry only the headers of webhooks."),
            Choice::new(SENT, "Header traceparent", sent)
                .hint("With OpenTelemetry, traces of your receiver continue those of the sender."),
        ];
        let trace = FormField::radios("traceparent", "Tracing", trace);
        let [url, description] = [url, description].map(|field| field.with(&errors));
        let more = [channels, rate, ordering, trace].map(|field| field.with(&errors));
        let labels = [("url", url.label()), ("description", description.label()), ("eventTypes", "Event types")];
        let labels = labels.into_iter().chain(more.iter().map(|field| (field.name(), field.label())));
        Ok(Self {
            errors: ErrorSummary::new(&errors, labels),
            shows_more: !typed.channels.is_empty()
                || !typed.throttle_rate.is_empty()
                || typed.in_order
                || typed.sends_trace_parent
                || !errors.is_empty(),
            types_fault: errors.of("eventTypes"),
            takes_some: typed.takes_some,
            url,
            description,
            more,
            check_path,
            groups,
            is_whole_catalogue,
        })
    }

    /// The same with what a look at the typed address found.
    pub(super) fn with_verdict(self, verdict: &UrlVerdict) -> Self {
        Self { url: self.url.checked_at(&self.check_path, verdict.to_string()), ..self }
    }
}

impl EndpointForm {
    pub(super) fn read(form: &FormFields) -> Self {
        Self {
            // The button beside a redirect's target takes that.
            url: form.non_empty("use").unwrap_or(form.text("url")).to_owned(),
            // A browser sends a line break as CR LF.
            description: form.text("description").replace("\r\n", "\n"),
            takes_some: form.text("types") == "some",
            types: form.all("eventTypes").map(str::to_owned).collect(),
            channels: form.text("channels").to_owned(),
            throttle_rate: form.text("throttleRate").to_owned(),
            in_order: form.text("ordering") == DeliveryOrder::PerKey.name(),
            sends_trace_parent: form.text("traceparent") == SENT,
        }
    }

    /// The typed address.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The values that describe an existing endpoint.
    pub(super) fn of(endpoint: &Endpoint) -> Self {
        Self {
            url: endpoint.url.clone(),
            description: endpoint.description.clone(),
            takes_some: endpoint.filter_types.is_some(),
            types: endpoint.filter_types.iter().flatten().cloned().collect(),
            channels: endpoint.channels.as_deref().unwrap_or_default().join(", "),
            throttle_rate: endpoint.throttle_rate.map(|rate| rate.to_string()).unwrap_or_default(),
            in_order: endpoint.ordering == DeliveryOrder::PerKey,
            sends_trace_parent: endpoint.sends_trace_parent,
        }
    }

    /// The input for a new endpoint.
    pub(super) fn input(&self) -> EndpointInput {
        EndpointInput {
            url: self.url.clone(),
            description: self.description.clone(),
            filter_types: self.filter_types(),
            channels: self.channels(),
            throttle_rate: self.throttle_rate(),
            ordering: Some(self.ordering()),
            sends_trace_parent: Some(self.sends_trace_parent),
            ..EndpointInput::default()
        }
    }

    /// The patch of an existing endpoint. Unchanged fields are left out, so a stored address or event type that would no
    /// longer be valid does not block other changes.
    pub(super) fn patch(&self, before: &Endpoint) -> EndpointPatch {
        let filter_types = self.filter_types();
        EndpointPatch {
            url: changed(self.url.clone(), &before.url),
            description: changed(self.description.clone(), &before.description),
            filter_types: match (&filter_types, &before.filter_types) {
                (Some(new), Some(old)) if new.iter().collect::<BTreeSet<_>>() == old.iter().collect() => {
                    PatchField::Keep
                }
                _ => changed(filter_types, &before.filter_types),
            },
            channels: changed(self.channels(), &before.channels),
            throttle_rate: changed(self.throttle_rate(), &before.throttle_rate),
            ordering: changed(self.ordering(), &before.ordering),
            sends_trace_parent: changed(self.sends_trace_parent, &before.sends_trace_parent),
            ..EndpointPatch::default()
        }
    }

    /// The provider's errors by field. The form replaces a text where the provider can't know the entered value.
    pub(super) fn errors(&self, error: ProviderError) -> Result<(StatusCode, FieldErrors), PageError> {
        let (status, mut errors) = errors(error)?;
        if self.takes_some && self.types.is_empty() {
            errors.replace("eventTypes", "choose at least one, or receive all of them");
        }
        if self.throttle_rate() == NO_RATE {
            errors.replace("throttleRate", format!("must be a whole number from 1 to {}, or be empty", u16::MAX));
        }
        Ok((status, errors))
    }

    /// An empty list when the visitor chose no event type; the provider refuses it.
    fn filter_types(&self) -> Option<Vec<String>> {
        self.takes_some.then(|| self.types.iter().cloned().collect())
    }

    fn channels(&self) -> Option<Vec<String>> {
        let names = self.channels.split([',', ' ', '\n']).map(str::trim).filter(|name| !name.is_empty());
        Some(names.map(str::to_owned).collect()).filter(|channels: &Vec<String>| !channels.is_empty())
    }

    /// [`NO_RATE`] for a text that is not a number.
    fn throttle_rate(&self) -> Option<u16> {
        match self.throttle_rate.as_str() {
            "" => None,
            text => text.parse().map_or(NO_RATE, Some),
        }
    }

    fn ordering(&self) -> DeliveryOrder {
        if self.in_order { DeliveryOrder::PerKey } else { DeliveryOrder::Any }
    }
}

fn changed<T: PartialEq>(new: T, old: &T) -> PatchField<T> {
    if new == *old { PatchField::Keep } else { PatchField::Set(new) }
}

/// The provider's errors by field, with the response's status; any other error as it is.
pub(super) fn errors(error: ProviderError) -> Result<(StatusCode, FieldErrors), PageError> {
    let mut errors = FieldErrors::default();
    match error {
        ProviderError::Validation(invalid) => {
            for FieldError { loc, msg, .. } in invalid {
                let mut path = loc.into_iter().skip(1);
                let field = path.next().unwrap_or_default();
                // A name identifies the entry; an index means nothing to a visitor, who entered no list.
                let entry = path.next().filter(|entry| entry.parse::<usize>().is_err());
                errors.add(field, entry.map_or(msg.clone(), |entry| format!("{entry}: {msg}")));
            }
            Ok((StatusCode::UNPROCESSABLE_ENTITY, errors))
        }
        ProviderError::Conflict { detail, .. } => {
            errors.add("", sentence(&detail));
            Ok((StatusCode::CONFLICT, errors))
        }
        ProviderError::BadRequest { detail, .. } => {
            errors.add("", sentence(&detail));
            Ok((StatusCode::BAD_REQUEST, errors))
        }
        error => Err(error.into()),
    }
}
