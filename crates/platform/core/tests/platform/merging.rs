//! Merging the catalogue file of a house, repeatedly.

use std::time::Duration;

use contract::AuctionStatus;
use platform_core::amounts::DecimalMark;
use platform_core::bidders::PartyInput;
use platform_core::bidding::bids::NewBid;
use platform_core::catalogue::{
    CatalogueMerge, ColumnMapping, ImportMode, MendedCells, MergeOutcome, MergeReport, NewConsignors,
};
use platform_core::port::{Page, PartyDetails, PartyFilter};
use platform_core::sales::auctions::NewAuction;
use platform_core::{Caller, Scope};
use platform_rules::Item;
use uuid::Uuid;

use crate::fixture::TestPlatform;

/// A file as a spreadsheet on Windows writes it: Windows-1252, semicolons, decimal commas.
fn house_file(estimate: &str) -> Vec<u8> {
    let rows = b"Lot #;Lead;Full Description;LowEst;HighEst;Reserve Price;Consignor;Shelf;Estimate\r\n\
        1;Caf\xe9 chair;Oak;\xa325,00;50,00;;Smith;A3;\r\n\
        12A;\"A clock; working\";;;;1.250,00;Jones;B1;";
    [rows, estimate.as_bytes(), b"\r\n"].concat()
}

struct House {
    fixture: TestPlatform,
    auction: Uuid,
}

impl House {
    async fn new() -> Self {
        let fixture = TestPlatform::new().await;
        let draft = NewAuction { status: AuctionStatus::Draft, ..fixture.timed(Duration::from_secs(60), Vec::new()) };
        let auction = fixture.create(&draft).await.auction.uuid;
        Self { fixture, auction }
    }

    async fn merge(&self, mode: ImportMode, mapping: Option<ColumnMapping>, file: &[u8]) -> MergeReport {
        let merge = CatalogueMerge {
            auction: self.auction,
            mode,
            mapping,
            decimal_mark: None,
            mended: MendedCells::default(),
            is_sheet: false,
            new_consignors: NewConsignors::Refused,
        };
        self.merge_with(&merge, file).await
    }

    async fn merge_with(&self, merge: &CatalogueMerge, file: &[u8]) -> MergeReport {
        let source = std::io::Cursor::new(file.to_vec());
        self.fixture.platform.merge_catalogue(&self.fixture.caller, merge, source).await.unwrap()
    }

    /// A consignor in the register of the house.
    async fn consignor(&self, name: &str, reference: Option<&str>) -> Uuid {
        let (name, reference) = (name.to_owned(), reference.map(str::to_owned));
        let details = PartyDetails { name, reference, is_consignor: true, ..PartyDetails::default() };
        let (caller, house) = (&self.fixture.caller, self.fixture.customer.uuid);
        let input = PartyInput { details, document: None };
        self.fixture.platform.create_party(caller, house, &input).await.unwrap().uuid
    }

    async fn items(&self) -> Vec<Item> {
        self.fixture.store.items(self.auction, Page { after: None, limit: 1_000 }).await.unwrap()
    }
}

/// Line number (the header is line 1) and message of each error.
fn errors(report: &MergeReport) -> Vec<(u64, &str)> {
    report.errors.iter().map(|error| (error.line, error.column.as_deref().unwrap_or_default())).collect()
}

#[tokio::test]
async fn a_house_file_is_merged_and_merging_it_again_changes_nothing() {
    let house = House::new().await;
    let [smith, jones] = [house.consignor("Smith", None).await, house.consignor("Jones", None).await];
    // The reserve is above the high estimate.
    let dry = house.merge(ImportMode::DryRun, None, &house_file("100-150")).await;
    assert_eq!((dry.rows, dry.new, dry.changed, dry.same), (2, 1, 0, 0));
    assert_eq!(errors(&dry), [(3, "Reserve Price")]);
    let file = house_file("1000-1500");
    let report = house.merge(ImportMode::Import, None, &file).await;
    assert_eq!((report.new, report.error_count), (2, 0), "{:?}", report.errors);
    assert_eq!(report.ignored_columns, ["Shelf"]);
    let items = house.items().await;
    assert_eq!([items[0].vendor, items[1].vendor], [Some(smith), Some(jones)]);
    assert_eq!((items[0].low_estimate, items[0].high_estimate, items[0].reserve), (Some(2_500), Some(5_000), None));
    assert_eq!((items[1].lot_number.as_str(), items[1].title.as_str()), ("12A", "A clock; working"));
    assert_eq!(items[1].reserve.map(|reserve| reserve.reveal()), Some(125_000));
    let second_report = house.merge(ImportMode::Import, None, &file).await;
    assert_eq!((second_report.new, second_report.changed, second_report.same, second_report.error_count), (0, 0, 2, 0));
    assert_eq!(house.items().await[0].version, items[0].version);
}

#[tokio::test]
async fn windows_1252_is_recognised_and_an_absent_column_or_empty_cell_changes_nothing() {
    let house = House::new().await;
    house.merge(ImportMode::Import, None, b"Lot;Title;Description\n1;Caf\xe9 chair;Oak\n2;A clock;\n").await;
    assert_eq!(house.items().await[0].title, "Café chair");
    let report =
        house.merge(ImportMode::Import, None, b"Lot\tTitle\tStart Bid\n1\t\t10\n2\tA wall clock\t\n3\tNew\t\n").await;
    assert_eq!((report.new, report.changed, report.same, report.error_count), (1, 2, 0, 0), "{:?}", report.errors);
    let outcomes: Vec<_> = report.outcomes.iter().map(|row| (row.outcome, row.fields.clone())).collect();
    assert_eq!(outcomes[0], (MergeOutcome::Changed, vec!["openingBid"]));
    assert_eq!(outcomes[1], (MergeOutcome::Changed, vec!["title"]));
    let items = house.items().await;
    assert_eq!(
        (items[0].title.as_str(), items[0].description.as_str(), items[0].opening_bid),
        ("Café chair", "Oak", 1_000)
    );
    assert_eq!((items[1].title.as_str(), items[2].position), ("A wall clock", 2));
}

#[tokio::test]
async fn an_ambiguous_amount_is_refused_until_the_mapping_names_the_decimal_mark() {
    let fixture = TestPlatform::new().await;
    let dinars = NewAuction {
        status: AuctionStatus::Draft,
        currency: "KWD".to_owned(),
        ..fixture.timed(Duration::from_secs(60), Vec::new())
    };
    let auction = fixture.create(&dinars).await.auction.uuid;
    let house = House { fixture, auction };
    let file = b"Lot;Title;Low Est\n1;A chair;1.500\n2;A clock;1,500\n3;A jug;12\n";
    let read = async |decimal_mark, is_sheet, file: &[u8]| {
        let merge = CatalogueMerge {
            auction: house.auction,
            mode: ImportMode::Import,
            mapping: None,
            decimal_mark,
            mended: MendedCells::default(),
            is_sheet,
            new_consignors: NewConsignors::Refused,
        };
        let source = std::io::Cursor::new(file.to_vec());
        house.fixture.platform.merge_catalogue(&house.fixture.caller, &merge, source).await.unwrap()
    };
    let refused = read(None, false, file).await;
    assert_eq!(errors(&refused), [(2, "Low Est"), (3, "Low Est")]);
    assert!(refused.errors[0].message.ends_with("Or choose the decimal mark of the file."), "{:?}", refused.errors);
    let estimates = async || house.items().await.iter().map(|item| item.low_estimate.unwrap()).collect::<Vec<_>>();
    assert_eq!(read(Some(DecimalMark::Point), false, file).await.errors, []);
    assert_eq!(estimates().await, [1_500, 1_500_000, 12_000]);
    assert_eq!(read(Some(DecimalMark::Comma), false, file).await.errors, []);
    assert_eq!(estimates().await, [1_500_000, 1_500, 12_000]);
    let other_mark = read(Some(DecimalMark::Point), false, b"Lot;Title;Low Est\n3;A jug;12,5\n").await;
    assert_eq!(errors(&other_mark), [(2, "Low Est")]);
    // A number cell of a workbook has no thousands separator; only a text cell can be ambiguous.
    let sheet = b"Lot,Title,Low Est\n1,A chair,2.125\n2,A clock,\"2.125\"\n";
    assert_eq!(errors(&read(None, true, sheet).await), [(3, "Low Est")]);
    assert_eq!(read(Some(DecimalMark::Comma), true, sheet).await.errors, []);
    assert_eq!(estimates().await, [2_125, 2_125_000, 12_000]);
    // In a currency with three decimals, the other amounts of the lot show the likelier reading.
    let unlike = read(Some(DecimalMark::Comma), false, b"Lot;Title;Low Est;High Est\n3;A jug;1.500;1,800\n").await;
    let doubtful: Vec<_> = unlike.doubtful.iter().map(|cell| (cell.at.column, cell.text.as_str())).collect();
    assert_eq!(doubtful, [(2, "1.500"), (3, "1,800")]);
    let alike = read(Some(DecimalMark::Comma), false, b"Lot;Title;Low Est;High Est\n3;A jug;1,500;1,800\n").await;
    assert_eq!(alike.doubtful, []);
}

#[tokio::test]
async fn each_error_names_its_cell_and_nothing_changes() {
    let house = House::new().await;
    let live = NewAuction {
        items: vec![platform_core::sales::new_item::NewItem::new("1", "A chair")],
        ..house.fixture.timed(Duration::from_secs(3_600), Vec::new())
    };
    let created = house.fixture.create(&live).await;
    let house = House { auction: created.auction.uuid, ..house };
    let bid = NewBid { bidder: "7".to_owned(), amount: 100 };
    let (platform, caller) = (&house.fixture.platform, &house.fixture.caller);
    platform.place_bid(caller, created.items[0].uuid, &bid, None, None).await.unwrap();
    let file = b"Lot,Lead,Reserve,Est. Min\n1,A chair,POA,\n1,Twice,,\n2,,5,\n3,Fine,,abc\n";
    let report = house.merge(ImportMode::Import, None, file).await;
    assert_eq!(errors(&report), [(2, "Reserve"), (3, "Lot"), (4, "Lead"), (5, "Est. Min")]);
    let locked = house.merge(ImportMode::Import, None, b"Lot,Lead,Reserve\n1,A fine chair,5.00\n").await;
    assert_eq!(errors(&locked), [(2, "Reserve")]);
    assert!(locked.errors[0].message.contains("bids"), "{}", locked.errors[0].message);
    assert_eq!(house.items().await[0].title, "A chair");
}

#[tokio::test]
async fn one_report_contains_all_errors_of_a_file() {
    let house = House::new().await;
    house.merge(ImportMode::Import, None, b"Lot,Title,Low Est,High Est\n1,A chair,100,200\n").await;
    // The file has two title columns, and in new and existing rows cells that can't be read or that break a rule.
    let file = b"Lot,Title,Name,Low Est,High Est,Reserve,End Time,Image\n\
        1,,A chair,abc,,900,tomorrow,\n2,A jug,,POA,50,500,,not an address\n2,A pot,,30,20,,,\n,,,1,2,x,,\n5,A,,1,,,,,9\n";
    let field = |field: &str| Some(field.to_owned());
    let headers = [
        ("Lot", "lot_number"),
        ("Title", "title"),
        ("Name", "title"),
        ("Low Est", "low_estimate"),
        ("High Est", "high_estimate"),
        ("Reserve", "reserve"),
        ("End Time", "end_time"),
        ("Image", "image_url"),
    ];
    let mapping = ColumnMapping::new(headers.map(|(header, name)| (header.to_owned(), field(name)))).unwrap();
    let report = house.merge(ImportMode::DryRun, Some(mapping), file).await;
    assert_eq!((report.rows, report.new, report.changed), (5, 0, 0));
    assert_eq!(
        errors(&report),
        [
            (1, ""),
            (2, "Low Est"),
            (2, "End Time"),
            (2, "Reserve"),
            (3, "Low Est"),
            (3, "Image"),
            (3, "Reserve"),
            (4, "Lot"),
            (4, "High Est"),
            (5, "Reserve"),
            (5, "Lot"),
            (5, "Title"),
            (6, ""),
        ]
    );
    assert_eq!(report.errors[0].message, "two columns are mapped to title: map one of them");
    let unmapped = house.merge(ImportMode::DryRun, None, b"Objet,Title,Low Est\n1,A chair,POA\n2,,3\n").await;
    assert_eq!(errors(&unmapped), [(1, ""), (2, "Low Est"), (3, "Title")]);
}

#[tokio::test]
async fn a_mapping_is_remembered_for_the_customer() {
    let house = House::new().await;
    let file = "Objet,Titre,Notes\n1,Une chaise,privé\n".as_bytes();
    let unmapped = house.merge(ImportMode::DryRun, None, file).await;
    assert_eq!(unmapped.error_count, 1);
    let field = |field: &str| Some(field.to_owned());
    let mapping = ColumnMapping::new([
        ("Objet".to_owned(), field("lot_number")),
        ("Titre".to_owned(), field("title")),
        ("Notes".to_owned(), None),
    ]);
    let report = house.merge(ImportMode::Import, Some(mapping.unwrap()), file).await;
    assert_eq!((report.new, report.ignored_columns), (1, vec!["Notes".to_owned()]));
    let headers = ["OBJET", "Titre", "Notes", "Reserve"].map(str::to_owned);
    let (platform, caller) = (&house.fixture.platform, &house.fixture.caller);
    let proposed = platform.propose_mapping(caller, house.auction, &headers).await.unwrap();
    let fields: Vec<_> = proposed.into_iter().map(|(_, field)| field).collect();
    assert_eq!(fields, [Some("lot_number"), Some("title"), None, Some("reserve")]);
}

#[tokio::test]
async fn a_currency_column_is_checked_even_if_the_mapping_omits_it() {
    let House { fixture, auction } = House::new().await;
    let columns = [("Lot", Some("lot_number")), ("Title", Some("title")), ("Devise", None)];
    let mapping = || ColumnMapping::new(columns.map(|(header, field)| (header.to_owned(), field.map(str::to_owned))));
    let read = async |mapping: Option<ColumnMapping>, currency: &str| {
        let merge = CatalogueMerge {
            auction,
            mode: ImportMode::Import,
            mapping,
            decimal_mark: None,
            mended: MendedCells::default(),
            is_sheet: false,
            new_consignors: NewConsignors::Refused,
        };
        let file = format!("Lot;Title;Devise\n1;A chair;{currency}\n").into_bytes();
        fixture.platform.merge_catalogue(&fixture.caller, &merge, std::io::Cursor::new(file)).await
    };
    for mapping in [Some(mapping().unwrap()), None] {
        let refused = read(mapping, "EUR").await.unwrap_err();
        assert_eq!(refused.code(), "other_currency");
    }
    for own in ["GBP", "gbp", "£", ""] {
        assert_eq!(read(Some(mapping().unwrap()), own).await.unwrap().error_count, 0, "{own}");
    }
    // The merge has stored the mapping.
    assert_eq!(read(None, "EUR").await.unwrap_err().code(), "other_currency");
}

#[tokio::test]
async fn unknown_consignors_are_errors_until_a_person_wants_them_added() {
    let house = House::new().await;
    let bell = house.consignor("Anna Bell", Some("C-7")).await;
    house.consignor("Zoë Grün", None).await;
    house.consignor("Zoe Grun", Some("C-9")).await;
    let file = "Lot,Title,Consignor reference\n1,A chair,c-7\n2,A clock,Carl May\n3,A jug,CARL MAY\n4,A pot,zoe grün\n5,A cup,\n";
    let wanted = |mode, new_consignors| CatalogueMerge {
        auction: house.auction,
        mode,
        mapping: None,
        decimal_mark: None,
        mended: MendedCells::default(),
        is_sheet: false,
        new_consignors,
    };
    let refused = house.merge_with(&wanted(ImportMode::Import, NewConsignors::Refused), file.as_bytes()).await;
    let column = "Consignor reference";
    assert_eq!(errors(&refused), [(3, column), (4, column), (5, column)]);
    assert!(refused.errors[0].message.contains("no consignor has the name or reference “Carl May”"), "{refused:?}");
    assert!(refused.errors[2].message.contains("write the reference (C-9)"), "{refused:?}");
    assert_eq!(refused.unknown_consignors, ["CARL MAY", "Carl May"]);
    let file = file.replace("zoe grün", "C-9");
    // A dry run adds no record, and the import adds one record for both spellings.
    for mode in [ImportMode::DryRun, ImportMode::Import] {
        let count = house.fixture.store.count_parties(house.fixture.customer.uuid, &PartyFilter::default()).await;
        assert_eq!((count.unwrap(), house.items().await.len()), (3, 0));
        let report = house.merge_with(&wanted(mode, NewConsignors::ByName), file.as_bytes()).await;
        assert_eq!((report.new, report.error_count), (5, 0), "{:?}", report.errors);
        let labels: Vec<&str> = report.consignors.values().map(String::as_str).collect();
        assert!(labels.contains(&"Anna Bell (C-7)") && labels.len() == 3, "{labels:?}");
    }
    let vendors: Vec<Option<Uuid>> = house.items().await.into_iter().map(|item| item.vendor).collect();
    let added = vendors[1].unwrap();
    assert_eq!((vendors[0], vendors[2], vendors[4]), (Some(bell), Some(added), None));
    let party = house.fixture.store.party(added).await.unwrap().unwrap();
    assert_eq!((party.details.name.to_lowercase().as_str(), party.details.is_consignor), ("carl may", true));
    assert!(!party.details.is_bidder && party.customer == house.fixture.customer.uuid);
    let again = house.merge_with(&wanted(ImportMode::Import, NewConsignors::Refused), file.as_bytes()).await;
    assert_eq!((again.same, again.error_count), (5, 0), "{:?}", again.errors);
    // By reference, each text is a record of its own.
    let file = b"Lot,Title,Consignor\n6,A chair,K-1\n7,A clock,K-2\n";
    house.merge_with(&wanted(ImportMode::Import, NewConsignors::ByReference), file).await;
    let found = house.fixture.store.party_by_reference(house.fixture.customer.uuid, "K-2").await.unwrap().unwrap();
    assert_eq!(house.items().await[6].vendor, Some(found.uuid));
    // A UUID stays what it is, also without a record.
    let own = Uuid::from_u128(7);
    let file = format!("Lot,Title,vendor\n8,A chair,{own}\n");
    house.merge_with(&wanted(ImportMode::Import, NewConsignors::Refused), file.as_bytes()).await;
    assert_eq!(house.items().await[7].vendor, Some(own));
    // A key that may not read the register leaves such a column out, as before it was known.
    let scopes = [Scope::AuctionsRead, Scope::AuctionsWrite].into_iter().collect();
    let key = Caller { scopes, ..house.fixture.caller.clone() };
    let file = std::io::Cursor::new(b"Lot,Title,Consignor\n9,A chair,C-7\n".to_vec());
    let wanted = wanted(ImportMode::Import, NewConsignors::Refused);
    let report = house.fixture.platform.merge_catalogue(&key, &wanted, file).await.unwrap();
    assert_eq!((report.new, report.ignored_columns), (1, vec!["Consignor".to_owned()]));
    let named = CatalogueMerge {
        mapping: Some(
            ColumnMapping::new(
                [("Lot", "lot_number"), ("Consignor", "vendor")]
                    .map(|(header, field)| (header.to_owned(), Some(field.to_owned()))),
            )
            .unwrap(),
        ),
        ..wanted
    };
    let file = std::io::Cursor::new(b"Lot,Consignor\n9,C-7\n".to_vec());
    let report = house.fixture.platform.merge_catalogue(&key, &named, file).await.unwrap();
    assert!(report.errors[0].message.contains("needs the scope parties:read"), "{report:?}");
}
