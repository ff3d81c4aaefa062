//! How a house writes to its bidders: language, own texts, and what they look like.

use contract::AuctionStatus;
use jiff::ToSpan as _;
use platform_rules::SaleMode;
use uuid::Uuid;

use super::dates;
use super::template::{MailValues, RenderedMail};
use super::{HouseMails, Language, MailKind};
use crate::error::{PlatformResult, Problem};
use crate::port::{AuctionFilter, AuctionOwner, House, Page};
use crate::steps::decide::expect_version;
use crate::steps::input::require_usable;
use crate::{Caller, Platform, Scope};

/// The bidder of a sample.
const SAMPLE_BIDDER: &str = "Ann Hartley";
const SAMPLE_PADDLE: &str = "12";

/// A mail as a bidder of a sample would receive it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleMail {
    /// What it is about.
    pub kind: MailKind,
    /// The mail.
    pub mail: RenderedMail,
}

impl HouseMails {
    /// All problems of the texts.
    pub fn problems(&self) -> Vec<Problem> {
        let problems = |(kind, text): (&MailKind, &super::MailText)| text.problems(&format!("/{}", kind.name()));
        self.texts.iter().flat_map(problems).collect()
    }
}

impl Platform {
    /// Replaces how a house writes to its bidders. Mails that wait keep their text.
    ///
    /// Errors: `not_found` (customer), `precondition_failed`, `invalid`, `busy`.
    pub async fn change_house_mails(
        &self,
        caller: &Caller,
        customer: Uuid,
        mails: HouseMails,
        expected_version: Option<i64>,
    ) -> PlatformResult<House> {
        caller.require(Scope::CustomersWrite)?;
        require_usable(mails.problems(), None)?;
        let before = self.house(caller, customer).await?;
        expect_version(expected_version, before.version)?;
        let mails = mails.without_defaults();
        self.write_house(caller, House { mails, ..before }, None).await
    }

    /// The mails of a house with these texts to a bidder of a sample, about its first open sale if it has
    /// one.
    ///
    /// Errors: `not_found` (customer).
    pub async fn sample_mails(
        &self,
        caller: &Caller,
        customer: Uuid,
        mails: &HouseMails,
    ) -> PlatformResult<Vec<SampleMail>> {
        caller.require(Scope::CustomersRead)?;
        let customer = self.visible_customer(caller, customer).await?.uuid;
        let letterhead = self.letterhead(customer).await?;
        let open = AuctionFilter {
            of: AuctionOwner::Customer(customer),
            statuses: vec![AuctionStatus::Preview, AuctionStatus::Live],
            kind: None,
            sale_mode: Some(SaleMode::Real),
        };
        let open = self.store().filtered_auctions(&open, Page { after: None, limit: 1 }).await?;
        let of_sale = match open.first() {
            Some(auction) => letterhead.values(auction, mails.language, self.now()),
            None => self.sample_values(&letterhead, mails.language),
        };
        let values =
            MailValues { bidder: Some(SAMPLE_BIDDER.to_owned()), paddle: Some(SAMPLE_PADDLE.to_owned()), ..of_sale };
        let sample = |kind| SampleMail { kind, mail: mails.text(kind).render(&values) };
        Ok(MailKind::OF_HOUSE.map(sample).into())
    }

    fn sample_values(&self, letterhead: &super::Letterhead, language: Language) -> MailValues {
        let zone = letterhead.house.as_ref().and_then(|house| house.profile.time_zone.clone());
        let zone = zone.unwrap_or_else(|| "UTC".to_owned());
        let show = |hours: i64| Some(dates::show(language, self.now().checked_add(hours.hours()).ok()?, &zone));
        MailValues {
            sale: Some("Art & Silver".to_owned()),
            starts: show(7 * 24),
            ends: show(14 * 24),
            house: Some(letterhead.name.clone()),
            contact: letterhead.contact(),
            ..MailValues::default()
        }
    }
}
