//! Customers and auctioneers as choices and names.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use kit_design::form_field::Choice;
use platform_core::port::{Auctioneer, Customer, Page};
use platform_core::{PlatformError, Scope};
use platform_rules::Auction;
use uuid::Uuid;

use crate::page_error::PageError;
use crate::session::Session;

/// Customers and auctioneers that a form offers at most.
const CHOICES_MAX: usize = 500;

/// The auctioneers of one customer, as a form offers them.
pub(crate) struct OwnerGroup {
    pub(crate) customer: String,
    pub(crate) auctioneers: Vec<Choice>,
}

/// Names of the auctioneers of these auctions.
pub(crate) async fn auctioneer_names(
    session: &Session,
    auctions: &[Auction],
) -> Result<HashMap<Uuid, String>, PageError> {
    let mut names = HashMap::new();
    for auction in auctions {
        if let Entry::Vacant(vacant) = names.entry(auction.auctioneer) {
            let auctioneer = session.platform().auctioneer(&session.caller, auction.auctioneer).await?;
            vacant.insert(auctioneer.name);
        }
    }
    Ok(names)
}

/// The customers that the user sees; empty for a user who sees none.
pub(crate) async fn customer_choices(session: &Session, chosen: &str) -> Result<Vec<Choice>, PageError> {
    let customers = customers(session).await?;
    Ok(customers.iter().map(|customer| Choice::of(customer.uuid, customer.name.clone(), chosen)).collect())
}

/// The auctioneers that the user sees, by customer.
pub(crate) async fn owner_choices(session: &Session, chosen: &str) -> Result<Vec<OwnerGroup>, PageError> {
    let page = Page { after: None, limit: CHOICES_MAX };
    let auctioneers: Vec<Auctioneer> = session.platform().auctioneers(&session.caller, None, page).await?;
    let customers = customers(session).await?;
    let of = |customer: &Customer| OwnerGroup {
        customer: customer.name.clone(),
        auctioneers: auctioneers
            .iter()
            .filter(|auctioneer| auctioneer.customer == customer.uuid)
            .map(|auctioneer| Choice::of(auctioneer.uuid, auctioneer.name.clone(), chosen))
            .collect(),
    };
    Ok(customers.iter().map(of).filter(|group| !group.auctioneers.is_empty()).collect())
}

/// The currency and time zone in which new sales of a house begin.
#[derive(Debug, Default)]
pub(super) struct HouseDefaults {
    pub(super) currency: Option<String>,
    pub(super) time_zone: Option<String>,
}

impl HouseDefaults {
    /// Those of the house of this auctioneer. The auctioneer's usual currency stands in for that of the house.
    pub(super) async fn of(session: &Session, auctioneer: &Auctioneer) -> Result<Self, PlatformError> {
        let profile = session.platform().house(&session.caller, auctioneer.customer).await?.profile;
        let currency = profile.currency.or(auctioneer.profile.currency);
        Ok(Self { currency: currency.map(|currency| currency.as_str().to_owned()), time_zone: profile.time_zone })
    }
}

async fn customers(session: &Session) -> Result<Vec<Customer>, PageError> {
    if !session.may(Scope::CustomersRead) {
        return Ok(Vec::new());
    }
    Ok(session.platform().customers(&session.caller, Page { after: None, limit: CHOICES_MAX }).await?)
}
