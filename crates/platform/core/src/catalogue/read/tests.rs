//! Tests of reading catalogues with and without mistakes.

use platform_rules::AuctionKind;

use super::*;

/// Drafts of a timed auction.
fn wanted() -> RowTarget {
    let setting = ItemContext { kind: AuctionKind::Timed, starts_at: None };
    RowTarget { status: ItemStatus::Draft, setting, currency: CurrencyFormat::of("GBP") }
}

fn read_text(text: &str) -> (Vec<(u64, NewItem)>, ImportReport) {
    read(text.as_bytes(), &CatalogueLimits::default(), wanted())
}

/// Errors as `line column: message`.
fn errors(text: &str) -> Vec<String> {
    let line_of = |error: RowError| format!("{} {}: {}", error.line, error.column.unwrap_or_default(), error.message);
    read_text(text).1.errors.into_iter().map(line_of).collect()
}

fn one_error(text: &str, expected: &str) {
    let found = errors(text);
    assert!(found.len() == 1 && found[0].contains(expected), "{text:?}\n  expected {expected:?}\n  found {found:?}");
}

#[test]
fn a_row_becomes_an_item() {
    let text = "\u{feff}reserve,lot_number,title,artist,date,medium,dimensions,credit,image_url,low_estimate,high_estimate,opening_bid\r\n\
                900,12A,\"Vision, \"\"The\"\"\",William Blake,1825,Line,200 x 151 mm,Given 1919,http://example.com/4.jpg,900,1350.50,450.0\r\n";
    let (items, report) = read_text(text);
    assert_eq!((report.rows, report.error_count), (1, 0), "{:?}", report.errors);
    let expected = NewItem {
        description: "William Blake\n1825\nLine\n200 x 151 mm\nGiven 1919".into(),
        image_url: Some("http://example.com/4.jpg".into()),
        low_estimate: Some(90_000),
        high_estimate: Some(135_050),
        opening_bid: 45_000,
        reserve: Some(90_000),
        ..NewItem::new("12A", "Vision, \"The\"")
    };
    assert_eq!(items, [(2, expected)]);
}

#[test]
fn only_number_and_title_are_needed() {
    let (items, report) = read_text("lot_number,title\n1,A\n2,B");
    assert_eq!(report.error_count, 0);
    assert_eq!(items, [(2, NewItem::new("1", "A")), (3, NewItem::new("2", "B"))]);
}

#[test]
fn an_invalid_header_is_reported_with_what_to_do() {
    for (header, expected) in [
        ("lot_number,title,price", "1 price: there is no such column"),
        ("lot_number", "1 title: the column title is missing"),
        ("lot_number,title,title", "1 title: the column title occurs twice"),
        ("lot_number;title", "separated by commas"),
        ("lot_number,title,", "a column has no name"),
        ("Lot_Number,title", "1 Lot_Number: there is no such column"),
    ] {
        let found = errors(&format!("{header}\n1,A\n"));
        assert!(found.iter().any(|error| error.contains(expected)), "{header}: {found:?}");
    }
    one_error("", "the file is empty");
    one_error("lot_number,title\n", "no row after the header");
}

#[test]
fn amounts_are_in_major_units_with_a_point() {
    for (amount, expected) in [
        ("12.505", "“12.505” is not an amount as exports write it. Write digits, and a point before the decimals"),
        ("\"1,250\"", "“1,250” is not an amount as exports write it"),
        ("£5", "is not an amount as exports write it"),
        ("1e3", "is not an amount as exports write it"),
        ("-5", "“-5” is not an amount as exports write it"),
        ("9999999999999999", "is too much"),
        ("99999999999999999999999", "is too much"),
    ] {
        let text = format!("lot_number,title,low_estimate\n1,A,{amount}\n");
        one_error(&text, expected);
        assert!(errors(&text)[0].starts_with("2 low_estimate: "));
    }
}

#[test]
fn a_file_in_another_currency_is_recognised_by_its_first_row_that_has_one() {
    let file = "lot_number,title,currency,reserve\n1,A,GBP,5\n2,B,,5\n3,C,CHF,5\n4,D,EUR,x\n";
    let (_, report) = read_text(file);
    assert_eq!((report.other_currency, report.rows), (Some((4, "CHF".to_owned())), 3));
}

#[test]
fn amounts_that_contradict_each_other_are_reported() {
    let header = "lot_number,title,low_estimate,high_estimate,opening_bid,reserve\n";
    one_error(&format!("{header}1,A,200,100,,\n"), "2 high_estimate: is below the low estimate");
    one_error(&format!("{header}1,A,,,100,50\n"), "2 reserve: is below the opening bid");
    one_error(&format!("{header}1,A,10,20,,50\n"), "2 reserve: is above the high estimate");
}

#[test]
fn a_lot_number_occurs_once() {
    one_error("lot_number,title\n1,A\n2,B\n1,C\n", "4 lot_number: the lot number 1 is on line 2 already");
    one_error("lot_number,title\n,A\n", "2 lot_number: is empty");
    one_error("lot_number,title\n1,\n", "2 title: is empty");
}

#[test]
fn every_mistake_is_reported_with_its_line() {
    let text = "lot_number,title,low_estimate,reserve\n\
                1,\"two\nlines\",1.555,x\n\
                2,B\n\
                \n\
                3,C,,\n\
                4,\"D\"d,,\n";
    let found = errors(text);
    assert_eq!(found.len(), 5, "{found:#?}");
    assert!(found[0].starts_with("2 title: holds a line break"), "{}", found[0]);
    assert!(found[1].starts_with("3 low_estimate: "), "{}", found[1]);
    assert!(found[2].starts_with("3 reserve: "), "{}", found[2]);
    assert!(found[3].starts_with("4 : the row has 2 fields and the header 4"), "{}", found[3]);
    assert!(found[4].starts_with("7 title: there is text after the closing quote"), "{}", found[4]);
}

#[test]
fn invalid_utf8_is_reported_with_its_position() {
    let mut bytes = b"lot_number,title\n1,Caf\xe9\n2,B\n".to_vec();
    let (_, report) = read(bytes.as_slice(), &CatalogueLimits::default(), wanted());
    assert_eq!(report.errors.len(), 1, "{:?}", report.errors);
    let error = &report.errors[0];
    assert_eq!((error.line, error.column.as_deref()), (2, Some("title")));
    assert!(error.message.contains("not UTF-8 at byte 4"), "{}", error.message);
    bytes.clear();
}

#[test]
fn an_unclosed_quote_is_reported_where_it_opens() {
    one_error("lot_number,title\n1,A\n2,\"B\n3,C\n", "3 title: the quote that opens this field is never closed");
    let long = "x".repeat(90_000);
    one_error(&format!("lot_number,title\n1,\"{long}\"\n"), "2 title: is longer than 81920 bytes");
}

#[test]
fn the_first_1_000_errors_are_listed_and_all_are_counted() {
    let rows: String = (0..1_500).map(|row| format!("{row},\n")).collect();
    let (items, report) = read_text(&format!("lot_number,title\n{rows}"));
    assert!(items.is_empty());
    assert_eq!((report.rows, report.errors.len(), report.error_count), (1_500, 1_000, 1_500));
}

#[test]
fn rows_beyond_the_limit_are_rejected() {
    let limits = CatalogueLimits { rows_max: 2, ..CatalogueLimits::default() };
    let (_, report) = read(b"lot_number,title\n1,A\n2,B\n3,C\n".as_slice(), &limits, wanted());
    assert_eq!(report.errors.len(), 1);
    assert_eq!(report.errors[0].line, 4);
}

#[test]
fn a_missing_field_is_reported_with_the_line_of_its_row() {
    let found = errors("title,lot_number\nA,1\n\"B\"x\n");
    assert!(!found.is_empty() && found.iter().all(|error| error.starts_with("3 ")), "{found:?}");
}

#[test]
fn a_file_in_utf_16_gets_one_error_that_says_so() {
    let text = "lot_number\ttitle\r\n1\tA\r\n";
    let little: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    for bytes in [&little[..], &big[..], &little[2..], &big[2..]] {
        let (items, report) = read(bytes, &CatalogueLimits::default(), wanted());
        assert_eq!((items.len(), report.error_count, report.errors[0].line), (0, 1, 1), "{:?}", report.errors);
        assert!(report.errors[0].message.contains("save it as CSV in UTF-8"), "{}", report.errors[0].message);
    }
}

#[test]
fn rows_of_commas_only_are_skipped_and_their_lines_count() {
    let (items, report) = read_text("lot_number,title\n1,A\n,\n , \t\n\"\",\n2,B\n,,,\n");
    assert_eq!((items.len(), report.rows), (2, 2), "{:?}", report.errors);
    assert_eq!(items[1].0, 6);
    assert_eq!(report.errors, []);
    one_error("lot_number,title\n1,A\n,\n2\n", "4 : the row has 1 fields and the header 2");
}

#[test]
fn fields_of_timed_auctions_are_rejected_in_a_webcast() {
    let wanted = RowTarget { setting: ItemContext { kind: AuctionKind::Webcast, starts_at: None }, ..wanted() };
    let file = "lot_number,title,buy_now,end_time\n1,A,,\n2,B,500,2027-03-01T18:00:00.000Z\n";
    let (_, report) = read(file.as_bytes(), &CatalogueLimits::default(), wanted);
    let found: Vec<_> = report.errors.iter().map(|error| (error.line, error.column.as_deref().unwrap())).collect();
    assert_eq!(found, [(3, "buy_now"), (3, "end_time")]);
}
