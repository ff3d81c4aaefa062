//! Houses: what a customer says of itself to bidders, and its conditions of sale.

use bytes::Bytes;
use uuid::Uuid;

use super::house_input::{CONDITIONS_CHARS_MAX, LOGO_BYTES_MAX};
use crate::error::{PlatformError, PlatformResult};
use crate::port::{
    Conditions, House, HouseMails, HouseProfile, HouseSaleroom, HouseWrite, ImageVariant, Logo, Page, StoreError,
    Versioned,
};
use crate::steps::decide::expect_version;
use crate::steps::input::{check_lines, require_usable};
use crate::{Caller, Platform, Scope};

/// Versions of conditions that a house may have.
const CONDITIONS_MAX: u32 = 500;
/// The variant of the uploaded image that is kept as the logo, and its widest width in pixels.
const LOGO_VARIANT: (ImageVariant, u32) = (ImageVariant::Large, 1_280);

impl Platform {
    /// What a house says of itself; version 0 before its first change.
    ///
    /// Errors: `not_found` (customer).
    pub async fn house(&self, caller: &Caller, customer: Uuid) -> PlatformResult<House> {
        caller.require_one_of(&[Scope::CustomersRead, Scope::AuctionsRead])?;
        let customer = self.visible_customer(caller, customer).await?;
        let empty = || House {
            customer: customer.uuid,
            profile: HouseProfile::default(),
            logo: None,
            mails: HouseMails::default(),
            saleroom: HouseSaleroom::default(),
            actor: String::new(),
            version: 0,
            updated_at: customer.created_at,
        };
        Ok(self.store().house(customer.uuid).await?.unwrap_or_else(empty))
    }

    /// Replaces what a house says of itself.
    ///
    /// Errors: `not_found` (customer), `precondition_failed`, `invalid`, `busy`.
    pub async fn change_house(
        &self,
        caller: &Caller,
        customer: Uuid,
        profile: HouseProfile,
        expected_version: Option<i64>,
    ) -> PlatformResult<House> {
        require_usable(profile.problems(), None)?;
        let before = self.house(caller, customer).await?;
        expect_version(expected_version, before.version)?;
        self.write_house(caller, House { profile, ..before }, None).await
    }

    /// Replaces the logo of a house by an image of a file, or removes it.
    ///
    /// Errors: `not_found` (customer), `invalid` (not a JPEG, PNG or WebP image within the limits), `disk_full`, `busy`.
    pub async fn change_logo(&self, caller: &Caller, customer: Uuid, file: Option<Bytes>) -> PlatformResult<House> {
        caller.require(Scope::CustomersWrite)?;
        let before = self.house(caller, customer).await?;
        let Some(file) = file else { return self.write_house(caller, House { logo: None, ..before }, None).await };
        if file.len() > LOGO_BYTES_MAX {
            let message = format!("has {} KiB: at most {} KiB are possible", file.len() >> 10, LOGO_BYTES_MAX >> 10);
            return Err(PlatformError::invalid("/logo", message));
        }
        self.config().disk_reserve.check()?;
        let limits = self.image_limits();
        let _waiting = limits.waiting.try_acquire().map_err(|_| PlatformError::Busy)?;
        let decoded = limits.decode(file).await?.map_err(|problem| PlatformError::invalid("/logo", problem))?;
        let (variant, width_max) = LOGO_VARIANT;
        let content = decoded.contents.into_iter().find(|content| content.variant == variant);
        let content = content.ok_or_else(|| PlatformError::Internal("an image lacks a variant".to_owned()))?;
        let width = decoded.width.min(width_max);
        let height = u64::from(decoded.height) * u64::from(width) / u64::from(decoded.width.max(1));
        let height = u32::try_from(height).unwrap_or(u32::MAX).max(1);
        let logo = Logo { uuid: self.ids().uuid_v7(), width, height };
        self.write_house(caller, House { logo: Some(logo), ..before }, Some(content.bytes)).await
    }

    /// The logo of a house with its content; none without one.
    ///
    /// Errors: `not_found` (customer).
    pub async fn logo(&self, caller: &Caller, customer: Uuid) -> PlatformResult<Option<(Logo, Vec<u8>)>> {
        let Some(logo) = self.house(caller, customer).await?.logo else { return Ok(None) };
        let content = self.store().logo_content(logo.uuid).await?;
        Ok(content.map(|content| (logo, content)))
    }

    /// Adds a version of the conditions of sale.
    ///
    /// Errors: `not_found` (customer), `invalid` (empty, too long, or the same text as the latest version), `busy`.
    pub async fn add_conditions(&self, caller: &Caller, customer: Uuid, text: &str) -> PlatformResult<Conditions> {
        caller.require(Scope::CustomersWrite)?;
        self.visible_customer(caller, customer).await?;
        let invalid = |message| PlatformError::invalid("/text", message);
        check_lines(text, CONDITIONS_CHARS_MAX).map_err(invalid)?;
        let latest = self.store().conditions_list(customer, Page { after: None, limit: 1 }).await?.pop();
        if let Some(latest) = latest.as_ref().filter(|latest| latest.text == text) {
            return Err(invalid(format!("is the same as version {}: change it first", latest.number)));
        }
        let number = latest.map_or(0, |latest| latest.number) + 1;
        if number > CONDITIONS_MAX {
            return Err(invalid(format!("would be version {number}: a house has at most {CONDITIONS_MAX}")));
        }
        let (actor, created_at) = (caller.actor.clone(), self.now());
        let conditions = Conditions { customer, number, text: text.to_owned(), actor, created_at };
        match self.store().add_conditions(conditions.clone()).await {
            Ok(()) => Ok(conditions),
            Err(StoreError::Conflict) => Err(PlatformError::Busy),
            Err(error) => Err(error.into()),
        }
    }

    /// A version of the conditions of sale.
    ///
    /// Errors: `not_found`.
    pub async fn conditions(&self, caller: &Caller, customer: Uuid, number: u32) -> PlatformResult<Conditions> {
        caller.require_one_of(&[Scope::CustomersRead, Scope::AuctionsRead])?;
        self.visible_customer(caller, customer).await?;
        self.store().conditions(customer, number).await?.ok_or(PlatformError::NotFound("conditions"))
    }

    /// Versions of the conditions of sale, the latest first: those with lower numbers than the page's.
    ///
    /// Errors: `not_found` (customer).
    pub async fn conditions_list(
        &self,
        caller: &Caller,
        customer: Uuid,
        page: Page<u32>,
    ) -> PlatformResult<Vec<Conditions>> {
        caller.require_one_of(&[Scope::CustomersRead, Scope::AuctionsRead])?;
        self.visible_customer(caller, customer).await?;
        Ok(self.store().conditions_list(customer, page).await?)
    }

    /// Writes the next state of a house that was loaded.
    pub(crate) async fn write_house(
        &self,
        caller: &Caller,
        before: House,
        logo: Option<Vec<u8>>,
    ) -> PlatformResult<House> {
        caller.require(Scope::CustomersWrite)?;
        let (expected_version, actor) = (before.version, caller.actor.clone());
        let state = House { actor, version: expected_version + 1, updated_at: self.now(), ..before };
        let house = Versioned { expected_version, state: state.clone() };
        match self.store().put_house(HouseWrite { house, logo }).await {
            Ok(()) => Ok(state),
            Err(StoreError::Conflict) => Err(PlatformError::Busy),
            Err(error) => Err(error.into()),
        }
    }
}
