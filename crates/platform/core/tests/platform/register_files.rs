//! Files of a register: imported all or none, found by identifier, reference or e-mail address, and exported.

use std::io::Cursor;

use contract::models::AddressModel;
use platform_core::bidders::PartyInput;
use platform_core::catalogue::{ColumnMapping, ImportMode};
use platform_core::port::{Money, Page, Party, PartyDetails, PartyFilter};
use platform_core::register_files::{
    RegisterImport, RegisterReport, WithoutReference, register_header, register_mapping, register_row,
};
use platform_core::{Caller, Role};

use crate::fixture::TestPlatform;

struct House {
    fixture: TestPlatform,
}

impl House {
    async fn new() -> Self {
        Self { fixture: TestPlatform::new().await }
    }

    fn wanted(&self, mode: ImportMode, mapping: Option<ColumnMapping>) -> RegisterImport {
        let (customer, without_reference) = (self.fixture.customer.uuid, WithoutReference::ByEmail);
        RegisterImport {
            customer,
            mode,
            mapping,
            without_reference,
            currency: None,
            is_bidder: true,
            is_consignor: false,
        }
    }

    async fn run(&self, wanted: &RegisterImport, file: &str) -> RegisterReport {
        let source = Cursor::new(file.as_bytes().to_vec());
        self.fixture.platform.import_register(&self.fixture.caller, wanted, source).await.unwrap()
    }

    async fn import(&self, file: &str) -> RegisterReport {
        self.run(&self.wanted(ImportMode::Import, None), file).await
    }

    async fn parties(&self) -> Vec<Party> {
        let page = Page { after: None, limit: 100 };
        self.fixture.store.parties(self.fixture.customer.uuid, &PartyFilter::default(), page).await.unwrap()
    }

    async fn export(&self) -> String {
        let (caller, house) = (&self.fixture.caller, self.fixture.customer.uuid);
        self.fixture.platform.begin_register_export(caller, house).await.unwrap();
        let page = Page { after: None, limit: 100 };
        let parties = self.fixture.platform.exported_parties(caller, house, page).await.unwrap();
        register_header() + &parties.iter().map(register_row).collect::<String>()
    }
}

/// Line and column of each error.
fn errors(report: &RegisterReport) -> Vec<(u64, &str)> {
    report.errors.iter().map(|error| (error.line, error.column.as_deref().unwrap_or_default())).collect()
}

fn counts(report: &RegisterReport) -> [u64; 4] {
    [report.new, report.changed, report.same, report.error_count]
}

const FILE: &str = "Client;Ref;E-Mail;Telephone;Street;Town;Postcode;Spending limit;Currency;Role;Shelf\n\
    Ada Lovelace;B-1;ada@example.com;020 7946;12 Cooper Street;Bath;BA1 1AA;1.250,50;EUR;Bidder and consignor;A\n\
    Zo\u{eb} Gr\u{fc}n;;zoe@example.com;;;;;;;;B\n";

#[tokio::test]
async fn a_file_becomes_records_and_updates_them_the_second_time() {
    let house = House::new().await;
    let dry = house.run(&house.wanted(ImportMode::DryRun, None), FILE).await;
    assert_eq!(
        (counts(&dry), dry.ignored_columns.as_slice()),
        ([2, 0, 0, 0], ["Shelf".to_owned()].as_slice()),
        "{dry:?}"
    );
    assert!(house.parties().await.is_empty());
    assert_eq!(counts(&house.import(FILE).await), [2, 0, 0, 0]);
    let parties = house.parties().await;
    let ada = &parties[0].details;
    assert_eq!((ada.name.as_str(), ada.is_bidder, ada.is_consignor), ("Ada Lovelace", true, true));
    assert_eq!(ada.limit, Some(Money { amount: 125_050, currency: "EUR".parse().unwrap() }));
    assert_eq!((ada.addresses[0].city.as_deref(), ada.addresses[0].postcode.as_str()), (Some("Bath"), "BA1 1AA"));
    let zoe = &parties[1].details;
    assert_eq!(
        (zoe.name.as_str(), zoe.is_bidder, zoe.is_consignor, zoe.addresses.len()),
        ("Zo\u{eb} Gr\u{fc}n", true, false, 0)
    );
    assert_eq!(counts(&house.import(FILE).await), [0, 0, 2, 0]);

    // By reference, and by e-mail address without one; an empty cell changes nothing.
    let file = "Name,Reference,Email,Phone\nAda King,B-1,,\n,,ZOE@example.com,030 1234\n";
    assert_eq!(counts(&house.import(file).await), [0, 2, 0, 0]);
    let parties = house.parties().await;
    assert_eq!((parties[0].details.name.as_str(), parties[0].version), ("Ada King", 2));
    assert_eq!(parties[0].details.email.as_deref(), Some("ada@example.com"));
    assert_eq!(parties[1].details.phone.as_deref(), Some("030 1234"));
    assert_eq!(parties[1].details.name, "Zo\u{eb} Gr\u{fc}n");
    // An amount without a currency is refused, or in the one that a person names for the file.
    let limited = "Name,Email,Limit\nZoe Green,zoe@example.com,250\n";
    assert_eq!(errors(&house.import(limited).await), [(2, "Limit")]);
    let named = RegisterImport { currency: "EUR".parse().ok(), ..house.wanted(ImportMode::DryRun, None) };
    assert_eq!(counts(&house.run(&named, limited).await), [0, 1, 0, 0]);
    // A person can choose that rows without a reference are new records.
    let new = RegisterImport {
        without_reference: WithoutReference::New,
        is_bidder: false,
        is_consignor: true,
        ..house.wanted(ImportMode::Import, None)
    };
    assert_eq!(counts(&house.run(&new, "Name,Email\nZoe Green,zoe@example.com\n").await), [1, 0, 0, 0]);
    let ambiguous = house.import("Name,Email\nZoe,zoe@example.com\n").await;
    assert_eq!(errors(&ambiguous), [(2, "Email")]);
    assert!(ambiguous.errors[0].message.starts_with("2 records have this e-mail address"), "{ambiguous:?}");
    let verified = house.fixture.platform.verify_all(&[], &|_| ()).await.unwrap();
    assert_eq!(verified.broken, []);
}

#[tokio::test]
async fn an_export_that_is_imported_again_changes_nothing() {
    let house = House::new().await;
    let address = |line: &str| {
        let raw = format!(
            "{{\"addressLine1\":{line:?},\"addressLine2\":\"Floor 2\",\"addressLine3\":\"c/o\",\"city\":\"Bath\",\
             \"postcode\":\"BA1 1AA\",\"countryCode\":\"fr\",\"longitude\":\"1.5\"}}"
        );
        AddressModel::from_json(&raw).unwrap()
    };
    let money = |amount, currency: &str| Some(Money { amount, currency: currency.parse().unwrap() });
    let details = PartyDetails {
        name: "=cmd|' /C calc'!A0".into(),
        is_bidder: true,
        is_consignor: true,
        reference: Some("'+1".into()),
        email: Some("one@example.com".into()),
        phone: Some("+44 20 7946 0018".into()),
        vat_number: Some("GB 1".into()),
        addresses: vec![address("1, \"High\" Street"), address("2 Low Street"), address("3 Mid Street")],
        deposit: money(1_234_567, "KWD"),
        limit: money(1_500, "JPY"),
        note: Some("one, two; \"quoted\"".into()),
    };
    let (caller, customer) = (&house.fixture.caller, house.fixture.customer.uuid);
    let input = PartyInput { details, document: Some("passport".into()) };
    let party = house.fixture.platform.create_party(caller, customer, &input).await.unwrap();
    house.fixture.platform.block_party(caller, party.uuid, "did not pay", None).await.unwrap();
    // Without a reference and an e-mail address, only the identifier names the record.
    let plain = PartyDetails { name: "Plain".into(), is_consignor: true, ..PartyDetails::default() };
    for _ in 0..2 {
        let input = PartyInput { details: plain.clone(), document: None };
        house.fixture.platform.create_party(caller, customer, &input).await.unwrap();
    }
    let (before, file) = (house.parties().await, house.export().await);
    assert!(file.contains("'=cmd|") && file.contains("''+1") && file.contains("'+44 20"), "{file}");
    let report = house.import(&file).await;
    assert_eq!(counts(&report), [0, 0, 3, 0], "{report:?}");
    assert_eq!(house.parties().await, before);
    let log = house.fixture.platform.access_log(caller, Page { after: None, limit: 1 }).await.unwrap();
    let event = serde_json::to_string(&log[0].content.event).unwrap();
    assert!(event.contains("registerExported") && event.contains("\"records\":3"), "{event}");

    // In another house the file makes the same records; the proof of identity and the block are not taken over.
    let other = house.fixture.platform.create_customer(caller, "Other", None).await.unwrap().fresh().unwrap();
    let foreign = RegisterImport { customer: other.uuid, ..house.wanted(ImportMode::Import, None) };
    let refused = house.run(&foreign, &file).await;
    assert_eq!(errors(&refused), [(2, "record"), (3, "record"), (4, "record")]);
    let fields = register_header();
    let fields = fields.trim().split(',').filter(|name| !["record", "proof_of_identity", "blocked"].contains(name));
    let mapping = register_mapping(fields.map(|name| (name.to_owned(), Some(name.to_owned())))).unwrap();
    let report = house.run(&RegisterImport { mapping: Some(mapping), ..foreign }, &file).await;
    assert_eq!(counts(&report), [3, 0, 0, 0], "{report:?}");
    let page = Page { after: None, limit: 9 };
    let copies = house.fixture.store.parties(other.uuid, &PartyFilter::default(), page).await.unwrap();
    let without_place = |mut party: Party| {
        party.details.addresses.iter_mut().take(1).for_each(|address| address.longitude = None);
        party.details
    };
    let of = |parties: Vec<Party>| parties.into_iter().map(without_place).collect::<Vec<_>>();
    assert!(copies.iter().all(|party| party.identity.is_none() && party.block.is_none()));
    assert_eq!(of(copies), of(before));
}

#[tokio::test]
async fn every_mistake_is_reported_and_nothing_changes() {
    let house = House::new().await;
    house.import("Name,Reference\nAda,B-1\nBo,B-2\n").await;
    let before = house.parties().await;
    let [ada, bo] = [before[0].uuid, before[1].uuid];
    let file = format!(
        "record,name,reference,email,role,address_line_1,postcode,country,limit,currency,more_addresses,note\n\
         ,New one,B-9,,,,,,,,,\n\
         ,,,new@example.com,,,,,,,,\n\
         {ada},,B-2,,,,,,,,,\n\
         {bo},,,nothing,,,,,,,,\n\
         {bo},Twice,,,,,,,,,,\n\
         x,Wrong,,,,,,,,,,\n\
         ,Cy,B-3,,auctioneer,,,,,,,\n\
         ,Di,B-4,,,1 High Street,,xx,,,,\n\
         ,Ed,B-5,,,,,,12 or 15,GBP,,\n\
         ,Flo,B-6,,,,,,12,,,\n\
         ,Gil,B-6,,,,,,12,pounds,{{}},\n\
         ,Hal,B-7,,,,,,,,,,,,\n"
    );
    let report = house.import(&file).await;
    let expected = [
        (3, "name"),
        (4, "reference"),
        (5, "email"),
        (6, ""),
        (7, "record"),
        (8, "role"),
        (9, "country"),
        (9, "postcode"),
        (10, "limit"),
        (11, "limit"),
        (12, "reference"),
        (12, "more_addresses"),
        (12, "currency"),
        (13, ""),
    ];
    assert_eq!(errors(&report), expected, "{:#?}", report.errors);
    assert_eq!(report.error_count, expected.len() as u64);
    assert_eq!(house.parties().await, before);
    assert_eq!(errors(&house.import("Shelf\nA\n").await), [(1, "")]);
    assert_eq!(errors(&house.import("").await), [(1, "")]);
    // Only those who may change the register import and export it.
    let caller = |role: Role| Caller { scopes: role.scopes(), role: Some(role), ..house.fixture.caller.clone() };
    for role in [Role::Support, Role::Clerk, Role::Viewer] {
        let wanted = house.wanted(ImportMode::DryRun, None);
        let refused = house.fixture.platform.import_register(&caller(role), &wanted, Cursor::new(b"Name\nA\n")).await;
        assert_eq!(refused.unwrap_err().code(), "forbidden");
        let refused = house.fixture.platform.begin_register_export(&caller(role), house.fixture.customer.uuid).await;
        assert_eq!(refused.unwrap_err().code(), "forbidden");
    }
}

#[tokio::test]
async fn the_columns_of_a_house_are_remembered_for_its_next_file() {
    let house = House::new().await;
    let (platform, caller, customer) = (&house.fixture.platform, &house.fixture.caller, house.fixture.customer.uuid);
    let headers = ["Client", "Ref", "Klant-ID", "Shelf"].map(str::to_owned);
    let proposed = async || platform.propose_register_mapping(caller, customer, &headers).await.unwrap();
    assert_eq!(proposed().await, [Some("name"), Some("reference"), None, None]);
    let columns = [("Client", Some("name")), ("Ref", None), ("Klant-ID", Some("reference"))];
    let columns = columns.map(|(header, field)| (header.to_owned(), field.map(str::to_owned)));
    let mapping = register_mapping(columns).unwrap();
    let file = "Client,Ref,Klant-ID,Shelf\nAda,x,B-1,A\n";
    // A dry run remembers nothing.
    house.run(&house.wanted(ImportMode::DryRun, Some(mapping.clone())), file).await;
    assert_eq!(proposed().await, [Some("name"), Some("reference"), None, None]);
    assert_eq!(counts(&house.run(&house.wanted(ImportMode::Import, Some(mapping)), file).await), [1, 0, 0, 0]);
    assert_eq!(proposed().await, [Some("name"), None, Some("reference"), None]);
    assert_eq!(house.parties().await[0].details.reference.as_deref(), Some("B-1"));
}
