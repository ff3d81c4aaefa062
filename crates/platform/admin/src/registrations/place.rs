//! The place in the list where a form was opened. The form leads back to it, with a notice that names who was decided on.

use kit_design::fields::FormFields;
use platform_core::PlatformError;
use platform_core::port::RegistrationStatus;
use uuid::Uuid;

use crate::page_error::PageError;
use crate::sale::{Sale, labels};
use crate::session::Session;

/// The field of a form, and the parameter of an address, that carries the place as the query of the list.
pub(super) const FIELD: &str = "list";

/// A page of the list: its filter, and the registration that it begins after.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) status: Option<RegistrationStatus>,
    pub(super) paddle: Option<String>,
    pub(super) after: Option<Uuid>,
}

/// A change of registrations that the list reports.
#[derive(Debug, Clone, Copy)]
pub(super) enum Done {
    Registered,
    Edited,
    Decided(RegistrationStatus),
    LimitRaised,
    LimitDeclined,
}

impl Place {
    /// The place that the query of the list names.
    pub(super) fn of_query(query: &FormFields) -> Self {
        Self {
            status: RegistrationStatus::ALL.into_iter().find(|status| status.as_str() == query.text("status")),
            paddle: query.non_empty("paddle").map(str::to_owned),
            after: Uuid::try_parse(query.text("after")).ok(),
        }
    }

    /// The place that a form or the address of its page carries; the whole list if it carries none.
    pub(super) fn of_form(form: &FormFields) -> Self {
        FormFields::of_query(form.text(FIELD)).map(|query| Self::of_query(&query)).unwrap_or_default()
    }

    /// The query of the list.
    pub(super) fn query(&self) -> String {
        self.serialized().finish()
    }

    /// The parameter of the address of a form.
    pub(super) fn parameter(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).append_pair(FIELD, &self.query()).finish()
    }

    /// The path of the list after these registrations were changed.
    pub(super) fn path(&self, sale: &Sale, done: Done, changed: &[Uuid]) -> String {
        let mut query = self.serialized();
        query.append_pair("done", done.name());
        match changed {
            [one] => query.append_pair("who", &one.to_string()),
            many => query.append_pair("count", &many.len().to_string()),
        };
        sale.path(&format!("/registrations?{}", query.finish()))
    }

    fn serialized(&self) -> form_urlencoded::Serializer<'static, String> {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if let Some(status) = self.status {
            query.append_pair("status", status.as_str());
        }
        if let Some(paddle) = &self.paddle {
            query.append_pair("paddle", paddle);
        }
        if let Some(after) = self.after {
            query.append_pair("after", &after.to_string());
        }
        query
    }
}

impl Done {
    const ALL: [Self; 8] = [
        Self::Registered,
        Self::Edited,
        Self::Decided(RegistrationStatus::Approved),
        Self::Decided(RegistrationStatus::Refused),
        Self::Decided(RegistrationStatus::Suspended),
        Self::Decided(RegistrationStatus::Pending),
        Self::LimitRaised,
        Self::LimitDeclined,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Edited => "edited",
            Self::Decided(status) => status.as_str(),
            Self::LimitRaised => "limit-raised",
            Self::LimitDeclined => "limit-declined",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Edited => "changed",
            Self::Decided(RegistrationStatus::Approved) => "approved",
            Self::Decided(RegistrationStatus::Refused) => "declined",
            Self::Decided(RegistrationStatus::Suspended) => "suspended",
            Self::Decided(RegistrationStatus::Pending) => "set to wait for a decision",
            Self::LimitRaised => "given another limit",
            Self::LimitDeclined => "told that the limit stays",
        }
    }
}

/// The notice about the change that the query names; none when it names none.
pub(super) async fn notice(session: &Session, sale: &Sale, query: &FormFields) -> Result<Option<String>, PageError> {
    let Some(done) = Done::ALL.into_iter().find(|done| done.name() == query.text("done")) else { return Ok(None) };
    let words = done.words();
    let missed = match query.text("missed").parse().unwrap_or(0) {
        0 => String::new(),
        missed => format!(
            " {} not {words}: decided on since you opened the page, or not possible now.",
            labels::count(missed, "registration was", "registrations were")
        ),
    };
    match query.text("count").parse() {
        Ok(0) if missed.is_empty() => return Ok(Some("No registration was selected.".to_owned())),
        Ok(0) => return Ok(Some(missed.trim_start().to_owned())),
        Ok(count) => {
            let count = labels::count(count, "registration was", "registrations were");
            return Ok(Some(format!("{count} {words}.{missed}")));
        }
        Err(_) => {}
    }
    let Ok(uuid) = Uuid::try_parse(query.text("who")) else { return Ok(None) };
    match session.platform().registration(&session.caller, (sale.auction.uuid, uuid)).await {
        Ok(found) => {
            let name = found.name.map(|name| format!(", {name},")).unwrap_or_default();
            Ok(Some(format!("Paddle {}{name} was {words}.{missed}", found.paddle)))
        }
        Err(PlatformError::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_leads_back_to_the_page_of_the_list_from_which_it_was_opened() {
        let after = Uuid::from_u128(7);
        let place =
            Place { status: Some(RegistrationStatus::Pending), paddle: Some("A&B 1".to_owned()), after: Some(after) };
        let form = FormFields::of_query(&place.parameter()).unwrap();
        assert_eq!(Place::of_form(&form), place);
        assert_eq!(form.text(FIELD), place.query());
        let other = FormFields::of_query("list=https%3A%2F%2Felsewhere.example").unwrap();
        assert_eq!(Place::of_form(&other), Place::default());
    }
}
