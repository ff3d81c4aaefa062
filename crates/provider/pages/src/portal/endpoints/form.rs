//! The form that endpoints are made and changed with: what was typed, what is wrong with it, and what it comes to.

use std::collections::BTreeSet;

use askama::Template;
use askama::filters::HtmlSafe;
use http::StatusCode;
use provider_core::model::Endpoint;
use provider_core::{DeliveryOrder, EndpointInput, EndpointPatch, FieldError, PatchField, ProviderError};

use crate::portal::event_type_choices::{self, Group};
use crate::portal::session::Session;
use crate::shared::error_page::{ErrorPage, sentence};
use crate::shared::fields::{FieldErrors, FormFields};

/// Fields that show what is wrong with them.
const FIELDS_WITH_ERRORS: &[&str] = &["url", "description", "eventTypes", "channels", "throttleRate", "ordering"];

/// Stands for a rate that can't be read. The provider refuses it, and whatever else is wrong with the form at the same time.
const NO_RATE: Option<u16> = Some(0);

/// What was typed.
#[derive(Debug, Clone, Default)]
pub(super) struct EndpointForm {
    url: String,
    description: String,
    /// Only the chosen event types, not all.
    takes_some: bool,
    types: BTreeSet<String>,
    channels: String,
    throttle_rate: String,
    in_order: bool,
}

/// The form's fields as a part of a page.
#[derive(Template)]
#[template(path = "portal/endpoints/form.html")]
pub(super) struct FormPart {
    typed: EndpointForm,
    faults: FieldErrors,
    others: Vec<String>,
    groups: Vec<Group>,
    is_whole_catalogue: bool,
}

impl HtmlSafe for FormPart {}

impl FormPart {
    pub(super) async fn new(session: &Session, typed: EndpointForm, faults: FieldErrors) -> Result<Self, ErrorPage> {
        let (event_types, is_whole_catalogue) = event_type_choices::all(session).await?;
        let groups = event_type_choices::groups(&event_types, &typed.types);
        Ok(Self { others: faults.remaining(FIELDS_WITH_ERRORS), typed, faults, groups, is_whole_catalogue })
    }
}

impl EndpointForm {
    pub(super) fn read(form: &FormFields) -> Self {
        Self {
            url: form.text("url").to_owned(),
            // A browser sends line breaks as two characters.
            description: form.text("description").replace("\r\n", "\n"),
            takes_some: form.text("types") == "some",
            types: form.all("eventTypes").map(str::to_owned).collect(),
            channels: form.text("channels").to_owned(),
            throttle_rate: form.text("throttleRate").to_owned(),
            in_order: form.text("ordering") == DeliveryOrder::PerKey.name(),
        }
    }

    /// What would have to be typed to have an endpoint as it is.
    pub(super) fn of(endpoint: &Endpoint) -> Self {
        Self {
            url: endpoint.url.clone(),
            description: endpoint.description.clone(),
            takes_some: endpoint.filter_types.is_some(),
            types: endpoint.filter_types.iter().flatten().cloned().collect(),
            channels: endpoint.channels.as_deref().unwrap_or_default().join(", "),
            throttle_rate: endpoint.throttle_rate.map(|rate| rate.to_string()).unwrap_or_default(),
            in_order: endpoint.ordering == DeliveryOrder::PerKey,
        }
    }

    /// A new endpoint.
    pub(super) fn input(&self) -> EndpointInput {
        EndpointInput {
            url: self.url.clone(),
            description: self.description.clone(),
            filter_types: self.filter_types(),
            channels: self.channels(),
            throttle_rate: self.throttle_rate(),
            ordering: Some(self.ordering()),
            ..EndpointInput::default()
        }
    }

    /// A change of an endpoint: what is as it was is left alone, so that an address or event type which could not be
    /// entered any more does not keep the rest from being changed.
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
            ..EndpointPatch::default()
        }
    }

    /// What the provider says against the form, with words of our own where it can't know what was typed.
    pub(super) fn faults(&self, error: ProviderError) -> Result<(StatusCode, FieldErrors), ErrorPage> {
        let (status, mut faults) = faults(error)?;
        if self.takes_some && self.types.is_empty() {
            faults.replace("eventTypes", "choose at least one, or receive all of them");
        }
        if self.throttle_rate() == NO_RATE {
            faults.replace("throttleRate", format!("must be a whole number from 1 to {}, or be empty", u16::MAX));
        }
        Ok((status, faults))
    }

    /// None chosen is a list without entries, which the provider refuses.
    fn filter_types(&self) -> Option<Vec<String>> {
        self.takes_some.then(|| self.types.iter().cloned().collect())
    }

    fn channels(&self) -> Option<Vec<String>> {
        let words = self.channels.split([',', ' ', '\n']).map(str::trim).filter(|word| !word.is_empty());
        Some(words.map(str::to_owned).collect()).filter(|channels: &Vec<String>| !channels.is_empty())
    }

    /// What is no number is [`NO_RATE`].
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

/// What the provider says against a form, by field, with the status to answer with; an error that is not about the form as it is.
pub(super) fn faults(error: ProviderError) -> Result<(StatusCode, FieldErrors), ErrorPage> {
    let mut faults = FieldErrors::default();
    match error {
        ProviderError::Validation(invalid) => {
            for FieldError { loc, msg, .. } in invalid {
                let mut place = loc.into_iter().skip(1);
                let field = place.next().unwrap_or_default();
                // A name says which of many it is about; a place in a list does not, to somebody who typed no list.
                let entry = place.next().filter(|entry| entry.parse::<usize>().is_err());
                faults.add(field, entry.map_or(msg.clone(), |entry| format!("{entry}: {msg}")));
            }
            Ok((StatusCode::UNPROCESSABLE_ENTITY, faults))
        }
        ProviderError::Conflict { detail, .. } => {
            faults.add("", sentence(&detail));
            Ok((StatusCode::CONFLICT, faults))
        }
        ProviderError::BadRequest { detail, .. } => {
            faults.add("", sentence(&detail));
            Ok((StatusCode::BAD_REQUEST, faults))
        }
        error => Err(error.into()),
    }
}
