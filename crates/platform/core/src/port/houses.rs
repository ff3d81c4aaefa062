//! What a house says of itself, its conditions of sale, and what bidders read about each of its sales.

use std::time::Duration;

use async_trait::async_trait;
use contract::models::{AddressModel, CurrencyCode};
use jiff::Timestamp;
use kit_colour::Colour;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{HouseMails, Language, Page, StoreResult, Versioned};

/// What a house says of itself. A house is a customer of the platform; its name is the customer's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct House {
    /// The customer.
    pub customer: Uuid,
    /// What staff entered.
    pub profile: HouseProfile,
    /// Its logo.
    pub logo: Option<Logo>,
    /// How it writes to its bidders.
    #[serde(default)]
    pub mails: HouseMails,
    /// Its pages for bidders.
    #[serde(default)]
    pub saleroom: HouseSaleroom,
    /// Who changed it last, as the journal names callers; empty before the first change.
    pub actor: String,
    /// Number of its last change; 0 before the first.
    pub version: i64,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

/// What staff enter about a house.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HouseProfile {
    /// The currency in which its new sales begin.
    pub currency: Option<CurrencyCode>,
    /// The IANA time zone in which its new sales begin.
    pub time_zone: Option<String>,
    /// Its postal address, without a primary key: it is not reference data.
    pub address: Option<AddressModel>,
    /// E-mail address for bidders; at most 254 characters.
    pub email: Option<String>,
    /// Telephone number for bidders; 1 to 60 characters.
    pub phone: Option<String>,
    /// Its web site, with `https://` or `http://`; at most 200 characters.
    pub website: Option<String>,
    /// What it says about itself; 1 to 4,000 characters.
    pub about: Option<String>,
    /// How buyers pay; 1 to 4,000 characters.
    pub payment: Option<String>,
    /// How and until when buyers collect what they bought; 1 to 4,000 characters.
    pub collection: Option<String>,
}

/// The pages of a house for bidders.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HouseSaleroom {
    /// The first part of their path, which no other house has: 2 to 40 lower-case letters, digits and hyphens. None before the
    /// saleroom is opened first.
    pub address: Option<String>,
    /// Everyone can read them.
    pub is_open: bool,
    /// Who may register for its sales there.
    pub registration: RegistrationRule,
    /// A bidder who signs up there enters a telephone number.
    pub asks_phone: bool,
    /// A bidder who signs up there enters a postal address.
    pub asks_address: bool,
    /// What happens to its lots whose end passes in an outage. None: the setting of the platform. An open saleroom has it.
    pub outage_ends: Option<OutageEnds>,
    /// Colour of links and buttons; the saleroom's own when none.
    pub colour: Option<Colour>,
    /// Languages of its pages; empty for all.
    pub languages: Vec<Language>,
    /// Web sites of the house whose pages read its sales, and act for bidders who allow it.
    pub sites: Vec<HouseSite>,
}

impl HouseSaleroom {
    /// Whether its pages have this language.
    pub fn offers(&self, language: Language) -> bool {
        self.languages.is_empty() || self.languages.contains(&language)
    }
}

/// A web site on which a house shows its sales.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HouseSite {
    /// Scheme, host and port, as a browser names them, such as `https://www.example.com`.
    pub origin: String,
    /// The addresses at the origin to which a bidder comes back after allowing access. None: the site only reads sales.
    pub redirects: Vec<String>,
}

/// What happens to a lot of a timed auction whose end passes while no node runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutageEnds {
    /// It ends with the bids that it has.
    AtTheirTime,
    /// It ends this number of minutes after the first node runs again; 1 to 1,440.
    AfterMinutes(u32),
}

impl OutageEnds {
    /// How long after the outage a lot ends; zero for one that ends at once.
    pub fn grace(self) -> Duration {
        match self {
            Self::AtTheirTime => Duration::ZERO,
            Self::AfterMinutes(minutes) => Duration::from_secs(u64::from(minutes) * 60),
        }
    }
}

/// What happens when a person with an account at a house registers for a sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegistrationRule {
    /// There are no accounts: the house takes bids by other ways.
    #[default]
    Closed,
    /// Staff decide on each registration.
    ByStaff,
    /// The registration is approved at once.
    AtOnce,
}

impl RegistrationRule {
    /// All rules.
    pub const ALL: [Self; 3] = [Self::Closed, Self::ByStaff, Self::AtOnce];

    /// Stable name in forms.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::ByStaff => "by_staff",
            Self::AtOnce => "at_once",
        }
    }
}

/// The logo of a house: an image that was decoded and encoded again as JPEG.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Logo {
    /// UUID of this content, which never changes.
    pub uuid: Uuid,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

/// A version of a house's conditions of sale. It never changes: another text is another version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditions {
    /// The customer.
    pub customer: Uuid,
    /// Its number, from 1 in each house.
    pub number: u32,
    /// Lines of text.
    pub text: String,
    /// Who added it, as the journal names callers.
    pub actor: String,
    /// When it was added.
    pub created_at: Timestamp,
}

/// The live picture of a webcast.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Film {
    /// An https address, as browsers write it.
    pub address: String,
    /// How late the picture is.
    pub delay_seconds: Option<u32>,
}

/// What bidders read about a sale, beside what the auction itself has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SaleFacts {
    /// The auction.
    pub auction: Uuid,
    /// What is sold; lines of text, may be empty.
    pub description: String,
    /// When and how the lots can be viewed; lines of text, may be empty.
    pub viewing: String,
    /// The version of the house's conditions under which the sale is held.
    pub conditions: Option<u32>,
    /// The film of a webcast.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub film: Option<Film>,
    /// Who changed them last, as the journal names callers; empty before the first change.
    pub actor: String,
    /// Number of the last change; 0 before the first.
    pub version: i64,
    /// When they were changed last.
    pub updated_at: Timestamp,
}

/// A house to be written.
#[derive(Debug, Clone)]
pub struct HouseWrite {
    /// Its next state, with the version that was loaded.
    pub house: Versioned<House>,
    /// The content of a new logo. A content that the state does not name any more is deleted.
    pub logo: Option<Vec<u8>>,
}

/// Houses, their conditions, and the facts of their sales.
#[async_trait]
pub trait HouseStore: Send + Sync {
    /// A house; none before its first change.
    async fn house(&self, customer: Uuid) -> StoreResult<Option<House>>;
    /// The house whose saleroom has this address, open or not.
    async fn house_at(&self, address: &str) -> StoreResult<Option<House>>;
    /// Houses whose saleroom has an address after that of the page, by address; open or not.
    async fn houses_with_saleroom(&self, page: Page<String>) -> StoreResult<Vec<House>>;
    /// Writes a house. `Conflict` when the version changed; `Taken` when another house has the address of its saleroom.
    async fn put_house(&self, entry: HouseWrite) -> StoreResult<()>;
    /// The content of a logo.
    async fn logo_content(&self, uuid: Uuid) -> StoreResult<Option<Vec<u8>>>;
    /// Adds a version of conditions. `Conflict` when the house has this number already.
    async fn add_conditions(&self, conditions: Conditions) -> StoreResult<()>;
    /// A version of a house's conditions.
    async fn conditions(&self, customer: Uuid, number: u32) -> StoreResult<Option<Conditions>>;
    /// Versions of a house's conditions, the latest first: those with lower numbers than the page's.
    async fn conditions_list(&self, customer: Uuid, page: Page<u32>) -> StoreResult<Vec<Conditions>>;
    /// The facts of a sale; none before their first change.
    async fn sale_facts(&self, auction: Uuid) -> StoreResult<Option<SaleFacts>>;
    /// Writes the facts of a sale. `Conflict` when the version changed.
    async fn put_sale_facts(&self, facts: Versioned<SaleFacts>) -> StoreResult<()>;
}
