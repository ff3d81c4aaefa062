//! What bidders of a sale share with consignors and with each other.

use contract::models::AddressModel;
use platform_core::bidders::{NewRegistration, PartyInput};
use platform_core::port::{ContactKind, PartyDetails, RegistrationRule, RegistrationStatus};
use uuid::Uuid;

use crate::saleroom_accounts::House;

fn lives(line: &str, postcode: &str) -> Vec<AddressModel> {
    vec![AddressModel { address_line1: line.into(), postcode: postcode.into(), ..AddressModel::default() }]
}

impl House {
    async fn person(&self, details: PartyDetails) -> Uuid {
        let input = PartyInput { details, document: None };
        let (caller, house) = (&self.fixture.caller, self.saleroom.house.customer);
        self.fixture.platform.create_party(caller, house, &input).await.unwrap().uuid
    }

    async fn bidder(&self, party: Uuid) -> Uuid {
        let new = NewRegistration {
            paddle: None,
            party: Some(party),
            name: None,
            email: None,
            limit: None,
            note: None,
            status: RegistrationStatus::Approved,
        };
        let auction = self.items[0].auction;
        let made = self.fixture.platform.register_bidder(&self.fixture.caller, auction, &new, None).await.unwrap();
        made.fresh().unwrap().uuid
    }
}

#[tokio::test]
async fn bidders_who_share_an_address_with_a_consignor_are_listed_first() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let named = |name: &str| PartyDetails { name: name.into(), ..PartyDetails::default() };
    let seller = PartyDetails { is_consignor: true, addresses: lives("1 High Street", "OX1 1AA"), ..named("Cora") };
    let husband = PartyDetails { is_bidder: true, addresses: lives("1, High street", "ox1 1aa"), ..named("Hugo") };
    let phone = |name: &str| PartyDetails { is_bidder: true, phone: Some("+44 20 7946 0958".into()), ..named(name) };
    house.person(seller).await;
    let hugo = house.bidder(house.person(husband).await).await;
    let ida = house.bidder(house.person(phone("Ida")).await).await;
    house.bidder(house.person(phone("Jon")).await).await;
    // A namesake who does not bid in this sale shares nothing that counts.
    house.person(phone("Kim")).await;
    house.bidder(house.person(PartyDetails { is_bidder: true, ..named("Lea") }).await).await;

    let auction = house.items[0].auction;
    let found = house.fixture.platform.shared_contacts(&house.fixture.caller, auction).await.unwrap();
    let people: Vec<(ContactKind, Vec<&str>)> = found
        .shared
        .iter()
        .map(|shared| (shared.kind, shared.people.iter().map(|person| person.party.details.name.as_str()).collect()))
        .collect();
    let wanted = [(ContactKind::Address, vec!["Hugo", "Cora"]), (ContactKind::Phone, vec!["Ida", "Jon"])];
    assert_eq!(people, wanted);
    assert!(found.is_complete && found.shared[0].has_consignor() && !found.shared[1].has_consignor());

    let view = async |registration| {
        house.fixture.platform.registration_view(&house.fixture.caller, (auction, registration)).await.unwrap()
    };
    assert_eq!(view(hugo).await.shared, found.shared[..1]);
    assert_eq!(view(ida).await.shared, found.shared[1..]);
    let (ann, own) = house.registered("ann@example.com").await;
    let seen = view(own.uuid).await;
    assert_eq!(seen.account.map(|account| account.id), Some(ann.account.id));
    assert!(seen.shared.is_empty() && seen.accepted.is_none());
}
