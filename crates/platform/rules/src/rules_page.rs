//! Runs every table of `docs/run-sales/rules.md` against the rules, so that the page stays true.

mod given;
mod scenario;
mod then;

use contract::{AuctionStatus, ItemStatus};

use self::scenario::Scenario;
use crate::ring::next_to_send;
use crate::transitions::{AUCTION_TRANSITIONS, ITEM_TRANSITIONS};
use crate::{Auction, AuctionKind, Charges, Item, RingStatus};

const PAGE: &str = include_str!("../../../../docs/run-sales/rules.md");

const EXAMPLES: &str = "| Given | What happens | Then |";
const RESULTS: &str = "| Hammer | Premium | Tax on hammer | Tax on premium | Buyer's premium | Tax | Total |";
const NEXT: &str = "| Place | Wait | Wait again | Next |";
const ITEMS: &str = "| From | To | By | When | Announced |";
const AUCTIONS: &str = "| From | To | Cause | When |";

struct Table<'a> {
    line: usize,
    header: &'a str,
    rows: Vec<(usize, &'a str)>,
}

/// The tables of the page, with their line numbers.
fn tables() -> Vec<Table<'static>> {
    let mut tables: Vec<Table<'static>> = Vec::new();
    let mut is_inside = false;
    for (line, text) in (1..).zip(PAGE.lines()) {
        match (text.starts_with('|'), is_inside) {
            (true, false) => tables.push(Table { line, header: text, rows: Vec::new() }),
            (true, true) if text.starts_with("|---") => {}
            (true, true) => tables.last_mut().unwrap().rows.push((line, text)),
            (false, _) => {}
        }
        is_inside = text.starts_with('|');
    }
    tables
}

fn rows_under(header: &str) -> Vec<(usize, &'static str)> {
    tables().into_iter().filter(|table| table.header == header).flat_map(|table| table.rows).collect()
}

fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split('|').map(str::trim).collect()
}

#[test]
fn every_table_of_the_page_is_checked() {
    for table in tables() {
        let known = [EXAMPLES, RESULTS, NEXT, ITEMS, AUCTIONS].contains(&table.header);
        assert!(known, "docs/run-sales/rules.md:{} has a table that nothing checks: {}", table.line, table.header);
        assert!(!table.rows.is_empty(), "docs/run-sales/rules.md:{} has an empty table", table.line);
    }
    assert!(rows_under(EXAMPLES).len() > 90, "examples are missing");
}

#[test]
fn every_example_of_the_page_holds() {
    let mut wrong = Vec::new();
    for (line, row) in rows_under(EXAMPLES) {
        let outcome = match cells(row)[..] {
            [given, happens, then] => Scenario::run(given, happens).and_then(|scenario| scenario.check(then)),
            _ => Err("a row has three cells".to_owned()),
        };
        if let Err(problem) = outcome {
            wrong.push(format!("docs/run-sales/rules.md:{line}: {problem}\n    {row}"));
        }
    }
    assert!(wrong.is_empty(), "{} examples are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_wrong_example_is_reported() {
    let check = |then| Scenario::run("opening 100, increment 10", "a bids 500; b bids 300").unwrap().check(then);
    assert_eq!(check("a leads at 310, next bid 320"), Ok(()));
    for wrong in ["a leads at 300", "b leads at 310", "next bid 310", "refused: bid_too_low", "gibberish", ""] {
        assert!(check(wrong).is_err(), "{wrong}");
    }
    let run = |happens| Scenario::run("opening 100", happens).map(|_| ());
    assert!(run("a bids 100; b bids 1; c bids 500").is_err(), "only the last step may be refused");
    assert!(run("a dances").is_err());
}

#[test]
fn every_amount_of_the_page_is_what_a_buyer_pays() {
    let rows = rows_under(RESULTS);
    assert!(rows.len() >= 5);
    for (line, row) in rows {
        let numbers: Vec<i64> = cells(row).iter().map(|cell| cell.replace(',', "").parse().unwrap()).collect();
        let [hammer, premium_rate, hammer_tax_rate, premium_tax_rate, premium, tax, total] = numbers[..] else {
            panic!("docs/run-sales/rules.md:{line} has seven cells");
        };
        let rate = |rate: i64| u32::try_from(rate).unwrap();
        let charges = Charges {
            premium_basis_points: rate(premium_rate),
            hammer_tax_basis_points: rate(hammer_tax_rate),
            premium_tax_basis_points: rate(premium_tax_rate),
        };
        let result = charges.on(hammer);
        assert_eq!((result.premium, result.tax, result.total), (premium, tax, total), "docs/run-sales/rules.md:{line}");
    }
}

#[test]
fn the_next_items_of_the_page_are_sent_next() {
    let rows = rows_under(NEXT);
    assert!(rows.len() >= 4);
    for (line, row) in rows {
        let [sent, wait, again, next] = cells(row)[..] else { panic!("docs/run-sales/rules.md:{line} has four cells") };
        let position = |word: &str| word.parse::<i64>().ok();
        let webcast = crate::sample::auction(AuctionKind::Webcast, AuctionStatus::Live);
        let auction = Auction { ring_position: position(sent), ..webcast };
        let items = |words: &str, ring: RingStatus| -> Vec<Item> {
            let lot = |position| Item { position, ring, ..crate::sample::item(&auction, ItemStatus::Live) };
            words.split_whitespace().filter_map(position).map(lot).collect()
        };
        let items = [items(wait, RingStatus::Waiting), items(again, RingStatus::WaitingAgain)].concat();
        let found = next_to_send(&auction, &items).map(|item| item.position);
        assert_eq!(found, position(next), "docs/run-sales/rules.md:{line}");
    }
}

#[test]
fn the_transitions_on_the_page_are_those_of_the_rules() {
    let on_page = |header: &str| rows_under(header).into_iter().map(|(_, row)| row.to_owned()).collect::<Vec<_>>();
    let items: Vec<String> = ITEM_TRANSITIONS.iter().map(ToString::to_string).collect();
    let auctions: Vec<String> = AUCTION_TRANSITIONS.iter().map(ToString::to_string).collect();
    assert_eq!(on_page(ITEMS), items);
    assert_eq!(on_page(AUCTIONS), auctions);
}
