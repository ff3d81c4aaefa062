//! The input for a new or changed auctioneer, and the checks that both share.

use contract::models::{CountryCode, CurrencyCode, UrlAttachmentApiModel};

use crate::customers::NAME_CHARS_MAX;
use crate::customers::addresses::{self, AddressInput};
use crate::error::Problem;
use crate::port::{Auctioneer, AuctioneerProfile};
use crate::steps::input::check_text;

/// Attachments of an auctioneer.
pub const ATTACHMENTS_MAX: usize = 50;
/// Characters of an attachment's label.
pub const LABEL_CHARS_MAX: usize = 200;

/// An auctioneer as it is entered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuctioneerInput {
    /// Name, unique for the customer; 1 to 200 characters.
    pub name: String,
    /// Its address.
    pub address: Option<AddressInput>,
    /// The country in which it is at home.
    pub country: Option<CountryCode>,
    /// The currency that its sales are usually in.
    pub currency: Option<CurrencyCode>,
    /// Its logo.
    pub logo: Option<UrlAttachmentApiModel>,
    /// Images, documents and videos about it; at most 50.
    pub attachments: Vec<UrlAttachmentApiModel>,
}

impl From<&str> for AuctioneerInput {
    /// With nothing but a name.
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

/// What is to be another way about an auctioneer. Of what may be absent, the inner `None` takes it away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuctioneerPatch {
    /// Another name.
    pub name: Option<String>,
    /// Another address; one given with the id of the address that is there takes its place.
    pub address: Option<Option<AddressInput>>,
    /// Another country.
    pub country: Option<Option<CountryCode>>,
    /// Another currency.
    pub currency: Option<Option<CurrencyCode>>,
    /// Another logo.
    pub logo: Option<Option<UrlAttachmentApiModel>>,
    /// Other attachments, all of them.
    pub attachments: Option<Vec<UrlAttachmentApiModel>>,
}

impl AuctioneerPatch {
    /// The auctioneer with everything but its address changed.
    pub(crate) fn apply(&self, auctioneer: &mut Auctioneer) {
        let Self { name, address: _, country, currency, logo, attachments } = self;
        set(&mut auctioneer.name, name.as_ref());
        set(&mut auctioneer.profile.country, country.as_ref());
        set(&mut auctioneer.profile.currency, currency.as_ref());
        set(&mut auctioneer.profile.logo, logo.as_ref());
        set(&mut auctioneer.profile.attachments, attachments.as_ref());
    }
}

fn set<T: Clone>(field: &mut T, value: Option<&T>) {
    if let Some(value) = value {
        field.clone_from(value);
    }
}

impl AuctioneerInput {
    /// All problems of the values by themselves.
    pub fn problems(&self) -> Vec<Problem> {
        problems(&self.name, self.logo.as_ref(), &self.attachments, self.address.as_ref())
    }
}

impl AuctioneerPatch {
    /// All problems of the auctioneer with the changed values.
    pub fn problems(&self, auctioneer: &Auctioneer) -> Vec<Problem> {
        let mut changed = auctioneer.clone();
        self.apply(&mut changed);
        let AuctioneerProfile { logo, attachments, .. } = &changed.profile;
        problems(&changed.name, logo.as_ref(), attachments, self.address.as_ref().and_then(Option::as_ref))
    }
}

fn problems(
    name: &str,
    logo: Option<&UrlAttachmentApiModel>,
    attachments: &[UrlAttachmentApiModel],
    address: Option<&AddressInput>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Err(message) = check_text(name, NAME_CHARS_MAX) {
        problems.push(Problem::new("/name", message));
    }
    if attachments.len() > ATTACHMENTS_MAX {
        let message = format!("are {}, at most {ATTACHMENTS_MAX} are possible", attachments.len());
        problems.push(Problem::new("/attachments", message));
    }
    let label = |attachment: &UrlAttachmentApiModel| check_text(attachment.label.as_deref()?, LABEL_CHARS_MAX).err();
    if let Some(message) = logo.and_then(label) {
        problems.push(Problem::new("/logo/label", message));
    }
    for (index, attachment) in attachments.iter().take(ATTACHMENTS_MAX).enumerate() {
        if let Some(message) = label(attachment) {
            problems.push(Problem::new(format!("/attachments/{index}/label"), message));
        }
    }
    problems.extend(address.into_iter().flat_map(addresses::problems));
    problems
}
