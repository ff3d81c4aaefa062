//! What bidders read about a sale, in the forms of an auction: venue, viewing times, description, and conditions.

use contract::models::AddressModel;
use kit_design::field_group::FieldGroup;
use kit_design::fields::{FieldErrors, FormFields};
use kit_design::form_field::{Choice, FormField};
use platform_core::customers::addresses::AddressInput;
use platform_core::port::{Conditions, Page, SaleFacts};
use platform_core::sales::facts::{SALE_DESCRIPTION_CHARS_MAX, SaleFactsInput, VIEWING_CHARS_MAX};
use platform_core::sales::film::FILM_ADDRESS_CHARS_MAX;
use platform_core::{PlatformError, Problem};
use platform_rules::{Auction, AuctionKind};
use uuid::Uuid;

use crate::page_error::PageError;
use crate::sale::refusal;
use crate::session::Session;
use platform_words::address_fields::TypedAddress;

/// Versions of conditions that a form offers.
const VERSIONS_MAX: usize = 50;
/// The choice of a new auction that means the latest version of its house.
const LATEST: &str = "latest";

/// The fields as the person typed them.
#[derive(Default)]
pub(super) struct EnteredFacts {
    address: TypedAddress,
    viewing: String,
    description: String,
    conditions: String,
    film: String,
    film_delay: String,
}

impl EnteredFacts {
    /// The values of a new auction before anything is typed.
    pub(super) fn empty() -> Self {
        Self { conditions: LATEST.to_owned(), ..Self::default() }
    }

    pub(super) fn of(facts: &SaleFacts, venue: Option<&AddressModel>) -> Self {
        Self {
            address: TypedAddress::of(venue),
            viewing: facts.viewing.clone(),
            description: facts.description.clone(),
            conditions: facts.conditions.map(|number| number.to_string()).unwrap_or_default(),
            film: facts.film.as_ref().map(|film| film.address.clone()).unwrap_or_default(),
            film_delay: facts
                .film
                .as_ref()
                .and_then(|film| film.delay_seconds)
                .map(|seconds| seconds.to_string())
                .unwrap_or_default(),
        }
    }

    pub(super) fn read(form: &FormFields) -> Self {
        Self {
            address: TypedAddress::read(form),
            viewing: crate::customers::lines(form.text("viewing")),
            description: crate::customers::lines(form.text("description")),
            conditions: form.text("conditions").to_owned(),
            film: form.text("film").trim().to_owned(),
            film_delay: form.text("filmDelay").trim().to_owned(),
        }
    }

    /// The texts and the venue; `versions` are the conditions of the house, none for a new auction. A server without listed origins
    /// of films has fields for one only while the sale has one.
    pub(super) fn groups(
        &self,
        session: &Session,
        versions: Option<&[Conditions]>,
        errors: &FieldErrors,
    ) -> [FieldGroup; 2] {
        let mut choices = vec![Choice::of("", "None", &self.conditions)];
        let conditions = match versions {
            None => {
                choices.push(Choice::of(LATEST, "Latest version", &self.conditions));
                FormField::select("conditions", "Conditions of sale", choices)
                    .hint("Without conditions of the house, the sale has none.")
            }
            Some(versions) => {
                let version = |version: &Conditions| {
                    Choice::of(version.number.to_string(), format!("Version {}", version.number), &self.conditions)
                };
                choices.extend(versions.iter().map(version));
                FormField::select("conditions", "Conditions of sale", choices)
                    .hint("Fixed once the sale is live: bids are made under them.")
            }
        };
        let description = FormField::area("description", "Description", self.description.as_str())
            .chars_max(SALE_DESCRIPTION_CHARS_MAX)
            .optional()
            .hint("A text about the lots. The catalogue begins with it.");
        let viewing = FormField::area("viewing", "Viewing times", self.viewing.as_str())
            .chars_max(VIEWING_CHARS_MAX)
            .optional()
            .hint("Such as: Friday, 12 June, 10:00 to 18:00.");
        let film = FormField::text("film", "Address of the film", self.film.as_str())
            .kind("url", "off")
            .chars_max(FILM_ADDRESS_CHARS_MAX)
            .whole_row()
            .optional()
            .hint("Of a webcast, while it is live: an https address of a site that the operator has listed. A .mp4, .webm or .m3u8 is played; any other page is embedded.");
        let delay = FormField::text("filmDelay", "Delay of the picture in seconds", self.film_delay.as_str())
            .attribute("inputmode", "numeric")
            .chars_max(3)
            .short()
            .optional()
            .hint("Such as 10. The page says how late the picture is.");
        let has_film = session.platform().may_show_films() || !self.film.is_empty();
        let film = [film, delay].into_iter().filter(|_| has_film);
        let texts = [description, viewing, conditions].into_iter().chain(film).map(|field| field.with(errors));
        let address = self.address.fields(|name| errors.of(name));
        [FieldGroup::new("for-bidders", "For bidders", texts), FieldGroup::new("venue", "Venue", address)]
    }

    /// The facts of a sale of this house.
    pub(super) async fn input(&self, session: &Session, house: Uuid) -> Result<SaleFactsInput, PlatformError> {
        let conditions = match self.conditions.as_str() {
            LATEST => {
                let page = Page { after: None, limit: 1 };
                let latest = session.platform().conditions_list(&session.caller, house, page).await?.pop();
                latest.map(|latest| latest.number)
            }
            number => number.parse().ok(),
        };
        Ok(SaleFactsInput { conditions, ..self.texts() })
    }

    /// The facts without the conditions.
    fn texts(&self) -> SaleFactsInput {
        SaleFactsInput {
            description: self.description.clone(),
            viewing: self.viewing.clone(),
            conditions: None,
            film: self.film.clone(),
            film_delay: self.film_delay.parse().ok(),
        }
    }

    /// Adds the problems of the texts.
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        refusal::add_problems(errors, self.texts().problems());
        if !self.film_delay.is_empty() && self.film_delay.parse::<u32>().is_err() {
            errors.replace("filmDelay", "Write whole seconds, such as 10.");
        }
    }

    /// Adds why the film of a new auction of this kind would not be shown.
    pub(super) async fn check_film(
        &self,
        session: &Session,
        kind: AuctionKind,
        errors: &mut FieldErrors,
    ) -> Result<(), PlatformError> {
        if let Ok(Some(film)) = self.texts().film()
            && let Some(problem) = session.platform().film_problem(kind, &film).await?
        {
            refusal::add_problems(errors, vec![Problem::new("/film", problem)]);
        }
        Ok(())
    }

    /// The venue of a new auction.
    pub(super) fn venue(&self, errors: &mut FieldErrors) -> Option<AddressInput> {
        self.address.model(None, errors).map(|address| AddressInput::Full(Box::new(address)))
    }

    /// The change of the venue; none for the same venue.
    pub(super) fn venue_change(
        &self,
        before: Option<&AddressModel>,
        errors: &mut FieldErrors,
    ) -> Option<Option<AddressInput>> {
        let after = self.address.model(before, errors);
        (after.as_ref() != before).then(|| after.map(|address| AddressInput::Full(Box::new(address))))
    }
}

/// The address where a sale is held.
pub(crate) async fn venue(session: &Session, auction: &Auction) -> Result<Option<AddressModel>, PlatformError> {
    let Some(id) = auction.address_id else { return Ok(None) };
    match session.platform().address_by_id(&session.caller, id).await {
        Err(PlatformError::NotFound(_)) => Ok(None),
        address => Ok(Some(address?.model)),
    }
}

/// The conditions that the form of an auction offers: the latest versions, and the one that it has.
pub(super) async fn versions(
    session: &Session,
    auction: &Auction,
    facts: &SaleFacts,
) -> Result<Vec<Conditions>, PageError> {
    let (platform, caller) = (session.platform(), &session.caller);
    let page = Page { after: None, limit: VERSIONS_MAX };
    let mut versions = platform.conditions_list(caller, auction.customer, page).await?;
    if let Some(number) = facts.conditions.filter(|number| !versions.iter().any(|version| version.number == *number)) {
        versions.push(platform.conditions(caller, auction.customer, number).await?);
    }
    Ok(versions)
}
