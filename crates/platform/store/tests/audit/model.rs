//! Random commands through the platform on each store, compared with the model. The replayed log must give the same state.

use std::sync::Arc;

use contract::ItemStatus;
use kit_runtime::random::{Random, SeededRandom};
use platform_core::bidding::bids::NewBid;
use platform_core::error::PlatformError;
use platform_core::port::Store;
use platform_core::ring::{ClerkCommand, Confirmed};
use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::verification::check_records;
use platform_rules::AuctionKind;
use uuid::Uuid;

use crate::sale::{Command, Model};
use crate::test_sale::{INCREMENT, OPEN, OPENING, TestSale};

const COMMANDS: usize = 120;

#[tokio::test]
async fn the_log_of_a_sqlite_store_replays_to_the_state_of_the_model() {
    for seed in 0..20 {
        drive(platform_store::sqlite::open_temporary().unwrap(), seed).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_of_a_postgres_store_replays_to_the_state_of_the_model() {
    for seed in 0..2 {
        let url = testkit::postgres::fresh_database().await.unwrap();
        let config = platform_store::postgres::PostgresConfig { url, pool_size: 4, ..Default::default() };
        drive(platform_store::postgres::open(&config).await.unwrap(), seed).await;
    }
}

async fn drive(store: Arc<dyn Store>, seed: u64) {
    let sale = TestSale::new(store, seed).await;
    for kind in AuctionKind::ALL {
        let created = sale.auction(kind, 1).await;
        let item = created.items[0].uuid;
        let random = SeededRandom::new(seed);
        let mut model = Model::new(kind);
        let mut accepted = 0;
        for step in 0..COMMANDS {
            let command = command(kind, &random, &model, step);
            let taken = run(&sale, item, &command).await;
            let expected = model.take(&command);
            accepted += usize::from(expected);
            let (now, _) = sale.item(item).await;
            let seen = (taken, now.status, now.price(), now.standing.map(|standing| standing.bidder));
            let wanted = (expected, model.status, model.price, model.leader.clone());
            assert_eq!(seen, wanted, "seed {seed}, {kind:?}, command {step}: {command:?}");
        }
        assert!(accepted > 15, "only {accepted} commands were accepted");
        the_record_shows_the_sale_and_no_maximum(&sale, item).await;
    }
    assert_eq!(sale.broken().await, Vec::<String>::new(), "seed {seed}");
    let verified = sale.platform.verify_all(&[], &|_| ()).await.unwrap();
    assert_eq!((verified.auctions, verified.items), (2, 2));
    assert!(verified.entries > 60, "{}", verified.entries);
}

async fn the_record_shows_the_sale_and_no_maximum(sale: &TestSale, item: Uuid) {
    let record = sale.platform.record(&sale.caller, item, 0).await.unwrap();
    let checked = check_records(std::slice::from_ref(&record)).unwrap();
    let (now, _) = sale.item(item).await;
    assert_eq!((checked.head, checked.summary.price), (now.log, now.price()));
    for entry in &record.entries {
        let content: serde_json::Value = serde_json::from_str(&entry.content).unwrap();
        for pointer in ["/change/record/maximum", "/change/standing/maximum"] {
            assert!(content.pointer(pointer).is_none_or(|value| value.is_string()), "{}", entry.content);
        }
    }
    for place in 0..record.entries.len() {
        let mut edited = record.clone();
        edited.entries[place].content = edited.entries[place].content.replacen("item", "itam", 1);
        let found = check_records(&[edited]).unwrap_err();
        assert!(found.starts_with(&format!("entry {}:", place + 1)), "{found}");
    }
    let mut shortened = record;
    shortened.entries.pop();
    assert!(check_records(&[shortened]).is_err());
}

fn command(kind: AuctionKind, random: &SeededRandom, model: &Model, step: usize) -> Command {
    let below = |end: u32| (random.unit_f64() * f64::from(end)) as u32;
    let paddle = format!("paddle-{}", below(4));
    let amount = model.price.unwrap_or(OPENING) + (i64::from(below(14)) - 3) * INCREMENT;
    let comes_back = model.status == ItemStatus::Suspended && below(3) > 0;
    let status = if comes_back { ItemStatus::Live } else { ItemStatus::Suspended };
    match (kind, below(20)) {
        (AuctionKind::Timed, 0..15) => Command::Bid { paddle, amount },
        (AuctionKind::Timed, 19) if step > 90 => Command::End,
        (AuctionKind::Timed, _) => Command::Status { to: status },
        (AuctionKind::Webcast, 0..5) => Command::Send,
        (AuctionKind::Webcast, 5..12) => Command::RoomBid { paddle, amount },
        (AuctionKind::Webcast, 12) => Command::Sell,
        (AuctionKind::Webcast, 13) => Command::Pass,
        (AuctionKind::Webcast, 14) => Command::Remove,
        (AuctionKind::Webcast, 15) => Command::OfferAgain,
        (AuctionKind::Webcast, 16) => Command::Correct,
        (AuctionKind::Webcast, 17) => Command::Reopen,
        (AuctionKind::Webcast, _) => Command::Status { to: status },
    }
}

/// Runs a command on the platform. True when it was accepted.
pub(crate) async fn run(sale: &TestSale, item: Uuid, command: &Command) -> bool {
    let TestSale { platform, caller, .. } = sale;
    let clerk = async |command: ClerkCommand| {
        let auction = sale.item(item).await.1.uuid;
        let seen = platform.ring(caller, auction).await?.version();
        platform.clerk(caller, auction, &command, seen, None).await.map(drop)
    };
    let done: Result<(), PlatformError> = match command.clone() {
        Command::Bid { paddle, amount } => {
            let new = NewBid { bidder: paddle, amount };
            platform.place_bid(caller, item, &new, None, None).await.map(drop)
        }
        Command::Status { to } => {
            let reason = Some("query \"of\" title".to_owned());
            platform.change_item_status(caller, item, to, reason, None, None).await.map(drop)
        }
        Command::Correct => platform.correct_item(caller, item, "a slip".to_owned(), None, None).await.map(drop),
        Command::Send => clerk(ClerkCommand::Send { item: Some(item) }).await,
        Command::RoomBid { paddle, amount } => {
            clerk(ClerkCommand::RoomBid { bidder: paddle, amount: Some(amount), large_jump: true }).await
        }
        Command::Sell => clerk(ClerkCommand::Sell { confirmed: Confirmed::default() }).await,
        Command::Pass => clerk(ClerkCommand::Pass { over_waiting_bid: false }).await,
        Command::Remove => clerk(ClerkCommand::Remove).await,
        Command::OfferAgain => clerk(ClerkCommand::OfferAgain { item }).await,
        Command::Reopen => clerk(ClerkCommand::Reopen { reason: "the hammer slipped".to_owned() }).await,
        Command::End => {
            sale.clock.advance(OPEN);
            let now = sale.platform.now();
            return ItemEndWorker::new(platform.clone()).run_once(now).await.unwrap().items == 1;
        }
    };
    match done {
        Ok(()) => true,
        Err(PlatformError::Rejected(_)) => false,
        Err(other) => panic!("{command:?}: {other}"),
    }
}
