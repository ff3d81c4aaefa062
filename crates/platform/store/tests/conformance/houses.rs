//! Houses, their conditions of sale, and the facts of their sales.

use contract::models::{AddressModel, CurrencyCode};
use platform_core::Colour;
use platform_core::port::{
    Conditions, Film, House, HouseMails, HouseProfile, HouseSaleroom, HouseSite, HouseWrite, Language, Logo, MailKind,
    MailText, OutageEnds, Page, RegistrationRule, SaleFacts, StoreError, Versioned,
};
use uuid::Uuid;

use super::given::{Shared, at, auction_uuid, customer_uuid, whole};

/// A house with characters that need escaping in SQL and JSON.
fn house(version: i64, logo: Option<u128>) -> House {
    let text = |text: &str| Some(text.to_owned());
    House {
        customer: customer_uuid(1),
        profile: HouseProfile {
            currency: Some("EUR".parse::<CurrencyCode>().unwrap()),
            time_zone: text("Europe/Berlin"),
            address: Some(AddressModel {
                address_line1: "Königsallee 1".into(),
                postcode: "40212".into(),
                ..AddressModel::default()
            }),
            about: text("Seit 1890: 'Kunst' \"\\%_\n\nZwei Auktionen im Jahr."),
            ..HouseProfile::default()
        },
        logo: logo.map(|uuid| Logo { uuid: Uuid::from_u128(uuid), width: 640, height: 200 }),
        mails: HouseMails {
            language: Language::German,
            sends_decisions: true,
            texts: [(
                MailKind::Reminder,
                MailText { subject: "Größe: {sale}".into(), text: "'{paddle}'\n\n\"".into() },
            )]
            .into(),
        },
        saleroom: HouseSaleroom {
            address: Some("hartley-sons".to_owned()),
            is_open: true,
            registration: RegistrationRule::ByStaff,
            asks_phone: true,
            asks_address: false,
            outage_ends: Some(OutageEnds::AfterMinutes(10)),
            colour: Colour::parse("#0d6b57"),
            languages: vec![Language::German, Language::French],
            sites: vec![HouseSite {
                origin: "https://www.example.com".into(),
                redirects: vec!["https://www.example.com/back?a='1'".into()],
            }],
        },
        actor: "user:1".into(),
        version,
        updated_at: at(version),
    }
}

async fn put(store: &Shared, state: House, logo: Option<Vec<u8>>) -> Result<(), StoreError> {
    let house = Versioned { expected_version: state.version - 1, state };
    store.put_house(HouseWrite { house, logo }).await
}

pub(super) async fn a_house_reads_back_and_changes_by_its_version(store: Shared) {
    assert_eq!(store.house(customer_uuid(1)).await.unwrap(), None);
    assert!(matches!(put(&store, house(2, None), None).await, Err(StoreError::Conflict)), "it has no first version");
    put(&store, house(1, None), None).await.unwrap();
    assert!(matches!(put(&store, house(1, None), None).await, Err(StoreError::Conflict)));
    put(&store, house(2, None), None).await.unwrap();
    assert_eq!(store.house(customer_uuid(1)).await.unwrap(), Some(house(2, None)));
    assert!(matches!(put(&store, house(2, None), None).await, Err(StoreError::Conflict)));
    assert_eq!(store.house(customer_uuid(2)).await.unwrap(), None);
}

pub(super) async fn only_the_present_logo_of_a_house_is_kept(store: Shared) {
    let content = async |uuid| store.logo_content(Uuid::from_u128(uuid)).await.unwrap();
    put(&store, house(1, Some(1)), Some(vec![1, 0, 255])).await.unwrap();
    let saleroom = HouseSaleroom::default();
    let other = House { customer: customer_uuid(2), saleroom, ..house(1, Some(9)) };
    put(&store, other, Some(vec![9])).await.unwrap();
    assert_eq!(content(1).await, Some(vec![1, 0, 255]));
    put(&store, house(2, Some(1)), None).await.unwrap();
    assert_eq!(content(1).await, Some(vec![1, 0, 255]), "a change of other fields removed the logo");
    let late = put(&store, house(2, Some(2)), Some(vec![2])).await;
    assert!(matches!(late, Err(StoreError::Conflict)));
    assert_eq!((content(1).await, content(2).await), (Some(vec![1, 0, 255]), None));
    put(&store, house(3, Some(3)), Some(vec![3])).await.unwrap();
    assert_eq!((content(1).await, content(3).await), (None, Some(vec![3])));
    put(&store, house(4, None), None).await.unwrap();
    assert_eq!((content(3).await, content(9).await), (None, Some(vec![9])));
}

pub(super) async fn one_house_has_an_address_of_a_saleroom(store: Shared) {
    let at_address = async |address: &str| store.house_at(address).await.unwrap().map(|house| house.customer);
    put(&store, house(1, None), None).await.unwrap();
    let other = |version: i64, address: Option<&str>| House {
        customer: customer_uuid(2),
        saleroom: HouseSaleroom { address: address.map(str::to_owned), ..HouseSaleroom::default() },
        ..house(version, None)
    };
    let taken = put(&store, other(1, Some("hartley-sons")), None).await;
    assert!(matches!(taken, Err(StoreError::Taken("address"))), "{taken:?}");
    put(&store, other(1, None), None).await.unwrap();
    let taken = put(&store, other(2, Some("hartley-sons")), None).await;
    assert!(matches!(taken, Err(StoreError::Taken("address"))), "{taken:?}");
    put(&store, other(2, Some("brown")), None).await.unwrap();
    assert_eq!(at_address("hartley-sons").await, Some(customer_uuid(1)));
    assert_eq!(at_address("brown").await, Some(customer_uuid(2)));
    assert_eq!(at_address("Brown").await, None);
    let listed = async |after: Option<&str>, limit| {
        let page = Page { after: after.map(str::to_owned), limit };
        let houses = store.houses_with_saleroom(page).await.unwrap();
        houses.into_iter().filter_map(|house| house.saleroom.address).collect::<Vec<_>>()
    };
    assert_eq!(listed(None, 9).await, ["brown", "hartley-sons"]);
    assert_eq!(listed(None, 1).await, ["brown"]);
    assert_eq!(listed(Some("brown"), 9).await, ["hartley-sons"]);
    assert_eq!(listed(Some("hartley-sons"), 9).await, [""; 0]);
    put(&store, House { saleroom: HouseSaleroom::default(), ..house(2, None) }, None).await.unwrap();
    put(&store, other(3, Some("hartley-sons")), None).await.unwrap();
    assert_eq!(at_address("hartley-sons").await, Some(customer_uuid(2)));
}

pub(super) async fn conditions_are_added_once_for_each_number(store: Shared) {
    let conditions = |customer: usize, number: u32, text: &str| Conditions {
        customer: customer_uuid(customer),
        number,
        text: text.into(),
        actor: "user:1".into(),
        created_at: at(i64::from(number)),
    };
    for number in 1..=3 {
        store.add_conditions(conditions(1, number, &format!("§ {number}\n'"))).await.unwrap();
    }
    store.add_conditions(conditions(2, 1, "other")).await.unwrap();
    assert!(matches!(store.add_conditions(conditions(1, 3, "late")).await, Err(StoreError::Conflict)));
    let one = async |customer, number| store.conditions(customer_uuid(customer), number).await.unwrap();
    assert_eq!(one(1, 3).await, Some(conditions(1, 3, "§ 3\n'")));
    assert_eq!((one(1, 4).await, one(2, 2).await), (None, None));
    let numbers = async |after, limit| -> Vec<u32> {
        let list = store.conditions_list(customer_uuid(1), Page { after, limit }).await.unwrap();
        list.iter().map(|one| one.number).collect()
    };
    assert_eq!(numbers(None, 2).await, [3, 2]);
    assert_eq!(numbers(Some(2), 2).await, [1]);
    assert_eq!(store.conditions_list(customer_uuid(3), whole()).await.unwrap(), []);
}

pub(super) async fn the_facts_of_a_sale_change_by_their_version(store: Shared) {
    let facts = |version: i64| SaleFacts {
        auction: auction_uuid(1),
        description: "Clocks,\n'watches'".into(),
        viewing: "Friday 10–18 h".into(),
        conditions: Some(2),
        film: (version == 2)
            .then(|| Film { address: "https://live.example.com/a.m3u8".into(), delay_seconds: Some(10) }),
        actor: "user:1".into(),
        version,
        updated_at: at(version),
    };
    let put = |version: i64| store.put_sale_facts(Versioned { expected_version: version - 1, state: facts(version) });
    assert_eq!(store.sale_facts(auction_uuid(1)).await.unwrap(), None);
    assert!(matches!(put(2).await, Err(StoreError::Conflict)), "they have no first version");
    put(1).await.unwrap();
    assert!(matches!(put(1).await, Err(StoreError::Conflict)));
    put(2).await.unwrap();
    assert_eq!(store.sale_facts(auction_uuid(1)).await.unwrap(), Some(facts(2)));
    assert_eq!(store.sale_facts(auction_uuid(2)).await.unwrap(), None);
}
