//! Property tests: the invariants hold after any sequence of commands on one item, legal or not.

mod book;
mod invariants;
mod sale;
mod steps;

use contract::ItemStatus;
use proptest::prelude::*;

use self::sale::Sale;
use self::steps::{facts, step};
use crate::sample::at;
use crate::{AuctionChange, ItemChange, ItemCommand, Rejection};

/// The change after a round trip through the JSON of the log.
fn through_log_json<C: serde::Serialize + serde::de::DeserializeOwned>(change: &C) -> C {
    serde_json::from_str(&serde_json::to_string(change).unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_sequence_of_commands_keeps_the_invariants(
        facts in facts(),
        steps in prop::collection::vec(step(), 0..80),
    ) {
        let mut sale = Sale::new(facts);
        for step in steps {
            let before = (sale.auction.clone(), sale.item.clone(), sale.log.clone());
            if sale.take(step).is_err() {
                prop_assert_eq!(&before, &(sale.auction.clone(), sale.item.clone(), sale.log.clone()));
            }
            sale.check_state();
        }
    }

    #[test]
    fn replaying_the_changes_gives_the_same_state(facts in facts(), steps in prop::collection::vec(step(), 0..80)) {
        let mut sale = Sale::new(facts);
        let (mut auction, mut item, mut log) = sale.beginning.clone();
        for step in steps {
            let _refused = sale.take(step);
        }
        for change in &sale.item_changes {
            let change: ItemChange = through_log_json(change);
            item.apply(&change);
            log.apply(&change);
        }
        for change in &sale.auction_changes {
            auction.apply(&through_log_json::<AuctionChange>(change));
        }
        prop_assert_eq!(item, sale.item);
        prop_assert_eq!(auction, sale.auction);
        prop_assert_eq!(log, sale.log);
    }

    #[test]
    fn legal_statuses_are_the_ones_that_are_not_rejected(
        facts in facts(),
        steps in prop::collection::vec(step(), 0..30),
    ) {
        let mut sale = Sale::new(facts);
        for step in steps {
            let _refused = sale.take(step);
            let legal = sale.item.legal_next(&sale.auction, at(sale.now_seconds));
            for &to in ItemStatus::ALL {
                let command = ItemCommand::ChangeStatus { to, reason: Some("query".to_owned()) };
                match crate::item::decide(&sale.auction, &sale.item, command, at(sale.now_seconds)) {
                    Ok(_) => prop_assert!(legal.contains(&to)),
                    // The list does not reveal absentee bids.
                    Err(Rejection::OfferRequired) => prop_assert!(to == ItemStatus::Sold && legal.contains(&to)),
                    Err(Rejection::ItemHasBids) if !sale.item.has_shown_bids() => prop_assert!(legal.contains(&to)),
                    Err(_) => prop_assert!(!legal.contains(&to)),
                }
            }
        }
    }
}
