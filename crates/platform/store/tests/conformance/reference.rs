//! Addresses, and the further fields of auctioneers.

use std::collections::HashSet;

use contract::models::{AddressModel, UrlAttachmentApiModel};
use platform_core::port::{
    Address, Auctioneer, AuctioneerChange, AuctioneerProfile, Change, NewAuctioneer, StoreError, Versioned,
};

use super::customers::auctioneer;
use super::given::{Shared, auction, commit, customer_uuid, next_auction};

/// An address with every field, and with characters that need escaping in SQL and JSON.
fn address(id: i64, city: &str) -> Address {
    let model = AddressModel {
        id: Some(id),
        address_line1: "Schloßstraße 1 \"Hof\"".into(),
        address_line2: String::new(),
        address_line3: Some("Tür ' 3".into()),
        address_line4: Some("\\".into()),
        county: Some("Bayern".into()),
        city: Some(city.into()),
        postcode: "80331".into(),
        longitude: Some("11.5755".parse().unwrap()),
        latitude: Some("-48.13740".parse().unwrap()),
        country_code: "de".parse().unwrap(),
    };
    Address { id, customer: customer_uuid(1), model }
}

fn attachment(url: &str) -> UrlAttachmentApiModel {
    UrlAttachmentApiModel { url: url.parse().unwrap(), label: Some("Ansicht".into()) }
}

fn profile(address_id: i64) -> AuctioneerProfile {
    AuctioneerProfile {
        address_id: Some(address_id),
        country: Some("GB".parse().unwrap()),
        currency: Some("JPY".parse().unwrap()),
        logo: Some(attachment("https://example.com/logo.svg")),
        attachments: vec![attachment("https://youtu.be/dQw4w9WgXcQ"), attachment("https://example.com/terms.pdf")],
    }
}

/// An auctioneer with every field, and its address.
async fn furnished(store: &Shared) -> (Auctioneer, Address) {
    let address = address(store.next_address_id().await.unwrap(), "München");
    let new = NewAuctioneer { profile: profile(address.id), address: Some(address.clone()), ..auctioneer(1, 1) };
    (store.create_auctioneer(new).await.unwrap(), address)
}

fn changed(mut auctioneer: Auctioneer, change: impl FnOnce(&mut Auctioneer)) -> Versioned<Auctioneer> {
    let expected_version = auctioneer.version;
    auctioneer.version += 1;
    change(&mut auctioneer);
    Versioned { expected_version, state: auctioneer }
}

pub(super) async fn an_address_is_stored_with_its_auctioneer(store: Shared) {
    let (kept, address) = furnished(&store).await;
    assert_eq!((kept.profile.clone(), kept.version), (profile(address.id), 1));
    assert_eq!(store.auctioneer(kept.uuid).await.unwrap(), Some(kept.clone()));
    assert_eq!(store.auctioneer_by_id(kept.id).await.unwrap(), Some(kept));
    assert_eq!(store.address(address.id).await.unwrap(), Some(address));

    // If the name is taken, the address is not stored either.
    let second = self::address(store.next_address_id().await.unwrap(), "Ulm");
    let new = NewAuctioneer { name: "Saal 1".into(), address: Some(second.clone()), ..auctioneer(2, 1) };
    assert!(matches!(store.create_auctioneer(new).await, Err(StoreError::Taken("name"))));
    assert_eq!(store.address(second.id).await.unwrap(), None);
}

pub(super) async fn an_auctioneer_changes_with_its_address_or_not_at_all(store: Shared) {
    let (first, address) = furnished(&store).await;
    let moved = self::address(address.id, "Nürnberg");
    let step = changed(first.clone(), |auctioneer| {
        auctioneer.name = "Saal 9".into();
        auctioneer.profile.logo = None;
    });
    let change = AuctioneerChange { auctioneer: step.clone(), address: Some(moved.clone()) };
    store.change_auctioneer(change.clone()).await.unwrap();
    assert_eq!(store.auctioneer(first.uuid).await.unwrap(), Some(step.state.clone()));
    assert_eq!(store.address(address.id).await.unwrap(), Some(moved.clone()));

    // A stale version, a taken name and an unknown auctioneer are refused, and nothing is written.
    store.create_auctioneer(auctioneer(2, 1)).await.unwrap();
    let stale = AuctioneerChange { auctioneer: step.clone(), address: Some(address.clone()) };
    assert!(matches!(store.change_auctioneer(stale).await, Err(StoreError::Conflict)));
    let namesake = changed(step.state.clone(), |auctioneer| auctioneer.name = "Saal 2".into());
    let namesake = AuctioneerChange { auctioneer: namesake, address: Some(address.clone()) };
    assert!(matches!(store.change_auctioneer(namesake).await, Err(StoreError::Taken("name"))));
    let unknown = changed(step.state.clone(), |unknown| unknown.uuid = super::given::auctioneer_uuid(9));
    let unknown = AuctioneerChange { auctioneer: unknown, address: Some(address.clone()) };
    assert!(matches!(store.change_auctioneer(unknown).await, Err(StoreError::Conflict)));
    assert_eq!(store.auctioneer(first.uuid).await.unwrap(), Some(step.state));
    assert_eq!(store.address(address.id).await.unwrap(), Some(moved));
}

pub(super) async fn an_address_is_stored_with_its_auction_or_not_at_all(store: Shared) {
    let place = address(store.next_address_id().await.unwrap(), "Fürth");
    let mut sale = auction(1);
    sale.address_id = Some(place.id);
    let change = Change { auction: Some(next_auction(sale)), address: Some(place.clone()), ..Change::default() };
    commit(&store, change.clone()).await.unwrap();
    assert_eq!(store.auction(auction(1).uuid).await.unwrap().unwrap().address_id, Some(place.id));
    assert_eq!(store.address(place.id).await.unwrap(), Some(place));

    let other = address(store.next_address_id().await.unwrap(), "Hof");
    let again = Change { address: Some(other.clone()), ..change };
    assert!(matches!(commit(&store, again).await, Err(StoreError::Conflict)));
    assert_eq!(store.address(other.id).await.unwrap(), None);
}

pub(super) async fn address_ids_are_unique(store: Shared) {
    let draws = (0..20).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.next_address_id().await.unwrap() })
    });
    let mut drawn = HashSet::new();
    for draw in draws.collect::<Vec<_>>() {
        let id = draw.await.unwrap();
        assert!(id >= 1 && drawn.insert(id), "{id}");
    }
}
