//! BulkChangeStore: the items of an auction follow a change of the auction in steps, on any node.

use std::sync::Arc;

use contract::{AuctionStatus, ItemStatus};
use kit_runtime::clock::{Clock as _, TestClock};
use kit_runtime::random::SeededRandom;
use kit_runtime::vault::{Key, KeyId, Vault};
use platform_core::bidding::bids::NewBid;
use platform_core::catalogue::{CatalogueImport, ImportMode};
use platform_core::config::BulkChangeConfig;
use platform_core::port::{BulkChange, BulkChangeStep, BulkOperation, Change, StoreError};
use platform_core::provider_access::ProviderAccess;
use platform_core::ring::ClerkCommand;
use platform_core::sales::auctions::NewAuction;
use platform_core::sales::auctions::requested_status::RequestedStatus;
use platform_core::sales::bulk_change::BulkChangeWorker;
use platform_core::sales::new_item::NewItem;
use platform_core::{Caller, Platform, PlatformConfig, PlatformError, PlatformParts};
use platform_rules::{AuctionChange, AuctionKind, Item};
use uuid::Uuid;

use super::given::{
    Shared, at, auction_uuid, bid, caller_uuid, commit, customer_uuid, next, next_auction, sale, whole,
};

pub(super) fn bulk_change(number: usize, operation: BulkOperation) -> BulkChange {
    BulkChange {
        auction: auction_uuid(number),
        customer: customer_uuid(1),
        operation,
        actor: "key:1".into(),
        at: at(1),
        step: 1,
        through: 4,
        until: 20,
    }
}

pub(super) fn step(seen: Option<i64>, bulk_change: Option<BulkChange>, entered: Option<(Uuid, i64)>) -> Change {
    let auction = bulk_change.as_ref().map_or(auction_uuid(1), |bulk_change| bulk_change.auction);
    Change {
        bulk_change: Some(BulkChangeStep { auction, expected_step: seen, bulk_change, entered }),
        ..Change::default()
    }
}

pub(super) async fn a_bulk_change_advances_by_steps_and_one_of_two_concurrent_steps_wins(store: Shared) {
    sale(&store, 2).await;
    let first = bulk_change(1, BulkOperation::GoLive);
    commit(&store, step(None, Some(first.clone()), None)).await.unwrap();
    assert_eq!(store.bulk_change(auction_uuid(1)).await.unwrap(), Some(first.clone()));
    assert!(matches!(commit(&store, step(None, Some(first.clone()), None)).await, Err(StoreError::Conflict)));
    let second = BulkChange { step: 2, through: 9, ..first.clone() };
    // A step that another node has taken is refused with all of its changes.
    let item = store.item(super::given::item_uuid(1)).await.unwrap().unwrap();
    let late = Change { items: vec![next(item.clone())], ..step(Some(7), Some(second.clone()), None) };
    assert!(matches!(commit(&store, late).await, Err(StoreError::Conflict)));
    assert_eq!(store.item(item.uuid).await.unwrap().unwrap().version, item.version);
    let nodes: Vec<_> = (0..4)
        .map(|_| {
            let store = store.clone();
            let change = step(Some(1), Some(second.clone()), None);
            tokio::spawn(async move { commit(&store, change).await.is_ok() })
        })
        .collect();
    let mut won = 0;
    for node in nodes {
        won += usize::from(node.await.unwrap());
    }
    assert_eq!((won, store.bulk_change(auction_uuid(1)).await.unwrap()), (1, Some(second.clone())));
    let other = bulk_change(2, BulkOperation::Reconcile);
    commit(&store, step(None, Some(other.clone()), None)).await.unwrap();
    assert_eq!(store.bulk_changes(9).await.unwrap(), [second, other.clone()]);
    assert_eq!(store.bulk_changes(1).await.unwrap().len(), 1);
    assert!(matches!(commit(&store, step(Some(1), None, None)).await, Err(StoreError::Conflict)));
    commit(&store, step(Some(2), None, None)).await.unwrap();
    assert_eq!(
        (store.bulk_change(auction_uuid(1)).await.unwrap(), store.bulk_changes(9).await.unwrap()),
        (None, vec![other])
    );
}

pub(super) async fn staged_chunks_without_a_bulk_change_are_deleted(store: Shared) {
    sale(&store, 1).await;
    let used = caller_uuid(1);
    let orphaned = caller_uuid(2);
    let piece = |lot: &str| {
        vec![NewItem { end_time: Some(at(5)), reserve: Some(7), ..NewItem::new(lot, "Größe \u{0} \"quer\"") }]
    };
    for (import, number) in [(used, 0), (used, 1), (orphaned, 0), (orphaned, 1), (orphaned, 2)] {
        store.stage_chunk(import, number, piece(&number.to_string()), at(number)).await.unwrap();
    }
    assert!(matches!(store.stage_chunk(orphaned, 2, piece("2"), at(9)).await, Err(StoreError::Taken(_))));
    assert_eq!(store.staged_chunk(used, 1).await.unwrap(), Some(piece("1")));
    assert_eq!(store.staged_chunk(used, 2).await.unwrap(), None);
    let first = BulkChange { step: 0, ..bulk_change(1, BulkOperation::Import { import: used }) };
    commit(&store, step(None, Some(first.clone()), None)).await.unwrap();
    // The chunks of a running bulk change are not deleted.
    assert_eq!(
        (store.delete_staged_chunks(used, 9).await.unwrap(), store.delete_orphaned_chunks(at(1), 9).await.unwrap()),
        (0, 1)
    );
    assert_eq!(
        (
            store.delete_staged_chunks(orphaned, 1).await.unwrap(),
            store.delete_staged_chunks(orphaned, 9).await.unwrap()
        ),
        (1, 1)
    );
    commit(&store, step(Some(0), Some(BulkChange { step: 1, ..first }), Some((used, 0)))).await.unwrap();
    assert_eq!(
        (store.staged_chunk(used, 0).await.unwrap(), store.staged_chunk(used, 1).await.unwrap()),
        (None, Some(piece("1")))
    );
    commit(&store, step(Some(1), None, Some((used, 1)))).await.unwrap();
    assert_eq!(
        (store.staged_chunk(used, 1).await.unwrap(), store.delete_orphaned_chunks(at(99), 9).await.unwrap()),
        (None, 0)
    );
}

/// Two nodes on one store. The call changes four items of an auction, and each further step three.
pub(super) struct Nodes {
    pub(super) store: Shared,
    pub(super) clock: TestClock,
    pub(super) first: Platform,
    pub(super) second: Platform,
    auctioneer: Uuid,
}

impl Nodes {
    pub(super) async fn new(store: Shared) -> Self {
        let clock = TestClock::default();
        let (first, second) = (node(&store, &clock, 1), node(&store, &clock, 2));
        let caller = Caller::command_line();
        let customer = first.create_customer(&caller, "Smith & Sons", None).await.unwrap().fresh().unwrap();
        let auctioneer = first.create_auctioneer(&caller, customer.uuid, "Smith", None).await.unwrap();
        let auctioneer = auctioneer.fresh().unwrap().uuid;
        Self { store, clock, first, second, auctioneer }
    }

    /// A draft auction with a catalogue of `items` items.
    pub(super) async fn auction(&self, kind: AuctionKind, items: usize) -> Uuid {
        let new = NewAuction {
            starts_at: Some(self.clock.now()),
            ends_at: Some(self.clock.now() + std::time::Duration::from_secs(3_600)),
            ..NewAuction::new(self.auctioneer, kind, "Prints", "GBP", "Europe/London")
        };
        let caller = Caller::command_line();
        let auction = self.first.create_auction(&caller, &new, None).await.unwrap().fresh().unwrap().auction.uuid;
        let report = self.import(auction, &catalogue(1..=items)).await.unwrap();
        assert_eq!(report, (items as u64, 0));
        self.status(auction, AuctionStatus::Preview).await.unwrap();
        auction
    }

    /// Imports a catalogue. Returns the numbers of imported items and of errors.
    pub(super) async fn import(&self, auction: Uuid, file: &str) -> Result<(u64, u64), PlatformError> {
        let mode = ImportMode::Import;
        let status = ItemStatus::Draft;
        let import = CatalogueImport { auction, mode, status, expected_version: None };
        let source = std::io::Cursor::new(file.to_owned());
        let report = self.first.import_catalogue(&Caller::command_line(), import, source, None).await?.fresh()?;
        Ok((report.items, report.error_count))
    }

    pub(super) async fn status(&self, auction: Uuid, to: AuctionStatus) -> Result<AuctionStatus, PlatformError> {
        let changed = self.first.change_auction_status(&Caller::command_line(), auction, to, None, None).await?;
        Ok(changed.fresh()?.auction.status)
    }

    pub(super) async fn bid(&self, item: Uuid) -> Result<i64, PlatformError> {
        let new = NewBid { bidder: "7".into(), amount: 100 };
        let placed = self.second.place_bid(&Caller::command_line(), item, &new, None, None).await?;
        Ok(placed.fresh()?.item.bid_count)
    }

    pub(super) async fn items(&self, auction: Uuid) -> Vec<Item> {
        self.store.items(auction, whole()).await.unwrap()
    }

    /// The statuses of the items in running order, as runs with their lengths.
    async fn statuses(&self, auction: Uuid) -> Vec<(ItemStatus, usize)> {
        let mut counted: Vec<(ItemStatus, usize)> = Vec::new();
        for item in self.items(auction).await {
            match counted.last_mut() {
                Some((status, count)) if *status == item.status => *count += 1,
                _ => counted.push((item.status, 1)),
            }
        }
        counted
    }

    /// Runs the workers of both nodes until the bulk change is complete.
    pub(super) async fn follow(&self, auction: Uuid) {
        while self.store.bulk_change(auction).await.unwrap().is_some() {
            let one = BulkChangeWorker::new(self.first.clone());
            let two = BulkChangeWorker::new(self.second.clone());
            let (one, two) = tokio::join!(one.run_once(), two.run_once());
            one.and(two).unwrap();
        }
    }

    pub(super) async fn verifies(&self) {
        let verified = self.second.verify_all(&[], &|_| ()).await.unwrap();
        let broken: Vec<_> = verified.broken.iter().map(|broken| broken.what.clone()).collect();
        assert_eq!(broken, Vec::<String>::new());
    }
}

fn node(store: &Shared, clock: &TestClock, seed: u64) -> Platform {
    let vault = Vault::new(vec![(KeyId::new("k1").unwrap(), Key::generate(&SeededRandom::new(9)))]).unwrap();
    let bulk_changes = BulkChangeConfig { first_items_max: 4, items_max: 3 };
    Platform::new(PlatformParts {
        store: store.clone(),
        clock: Arc::new(clock.clone()),
        random: Arc::new(SeededRandom::new(seed)),
        vault: Arc::new(vault),
        providers: ProviderAccess::unfiltered(),
        config: PlatformConfig { bulk_changes, ..PlatformConfig::default() },
    })
}

fn catalogue(lots: std::ops::RangeInclusive<usize>) -> String {
    let rows: String = lots.map(|lot| format!("{lot},A print,1.00\n")).collect();
    format!("lot_number,title,opening_bid\n{rows}")
}

pub(super) fn code<T: std::fmt::Debug>(result: Result<T, PlatformError>) -> &'static str {
    result.unwrap_err().code()
}

pub(super) async fn a_large_auction_goes_live_in_steps_and_waiting_items_refuse_commands(store: Shared) {
    let nodes = Nodes::new(store).await;
    let auction = nodes.auction(AuctionKind::Timed, 12).await;
    let items = nodes.items(auction).await;
    assert_eq!(nodes.status(auction, AuctionStatus::Live).await.unwrap(), AuctionStatus::Live);
    assert_eq!(nodes.statuses(auction).await, [(ItemStatus::Live, 4), (ItemStatus::Draft, 8)]);
    let caller = Caller::command_line();
    let bulk_change = nodes.second.bulk_change(&caller, auction).await.unwrap().unwrap();
    assert_eq!((bulk_change.operation, bulk_change.through, bulk_change.until), (BulkOperation::GoLive, 3, 11));

    // The changed items are on sale. The others wait for their step, and no command on them is accepted before it.
    assert_eq!(nodes.bid(items[3].uuid).await.unwrap(), 1);
    assert_eq!(code(nodes.bid(items[4].uuid).await), "items_following");
    let suspend = |item: Uuid| {
        let platform = nodes.second.clone();
        let caller = caller.clone();
        let reason = Some("a doubt".to_owned());
        async move { platform.change_item_status(&caller, item, ItemStatus::Suspended, reason, None, None).await }
    };
    assert_eq!(code(suspend(items[11].uuid).await), "items_following");
    suspend(items[0].uuid).await.unwrap();
    assert_eq!(code(nodes.status(auction, AuctionStatus::Reconciliation).await), "items_following");
    let more = [NewItem::new("99", "Another")];
    assert_eq!(code(nodes.second.add_items(&caller, auction, &more, None, None).await), "items_following");
    assert_eq!(code(nodes.import(auction, &catalogue(50..=60)).await), "items_following");
    let version = nodes.store.auction(auction).await.unwrap().unwrap().version;

    nodes.follow(auction).await;
    assert_eq!(nodes.statuses(auction).await, [(ItemStatus::Suspended, 1), (ItemStatus::Live, 11)]);
    for item in &nodes.items(auction).await[1..] {
        assert_eq!((item.sequence, item.effective_end_time.is_some()), (3, true), "lot {}", item.lot_number);
    }
    let after = nodes.store.auction(auction).await.unwrap().unwrap().version;
    assert_eq!(version, after, "the steps raised the version of the auction");
    nodes.second.add_items(&caller, auction, &more, None, None).await.unwrap();
    assert_eq!(nodes.bid(items[11].uuid).await.unwrap(), 1);
    nodes.verifies().await;
}

pub(super) async fn a_large_auction_returns_to_preview_unless_a_bid_was_accepted(store: Shared) {
    let nodes = Nodes::new(store).await;
    let auction = nodes.auction(AuctionKind::Timed, 11).await;
    nodes.status(auction, AuctionStatus::Live).await.unwrap();
    nodes.follow(auction).await;
    assert_eq!(nodes.status(auction, AuctionStatus::Preview).await.unwrap(), AuctionStatus::Preview);
    assert_eq!(nodes.statuses(auction).await, [(ItemStatus::Draft, 11)], "an item of a PREVIEW auction is not DRAFT");
    assert_eq!(code(nodes.bid(nodes.items(auction).await[10].uuid).await), "auction_not_live");
    nodes.verifies().await;

    nodes.status(auction, AuctionStatus::Live).await.unwrap();
    nodes.follow(auction).await;
    // A killed process leaves an unfinished return to PREVIEW, and a bid that was decided before it commits.
    let mut returning = nodes.store.auction(auction).await.unwrap().unwrap();
    returning.apply(&AuctionChange::ReturnBegun);
    let customer = returning.customer;
    let bulk_change =
        BulkChange { auction, customer, through: 5, until: 10, ..bulk_change(1, BulkOperation::ReturnToPreview) };
    let begun = step(None, Some(bulk_change), None);
    commit(&nodes.store, Change { auction: Some(next_auction(returning)), ..begun }).await.unwrap();
    let last = nodes.items(auction).await[10].clone();
    assert_eq!(code(nodes.bid(last.uuid).await), "items_following");
    let mut others = Vec::new();
    for item in &nodes.items(auction).await[6..] {
        others.push((item.uuid, item.version));
    }
    commit(&nodes.store, bid(last, 100)).await.unwrap();
    nodes.follow(auction).await;
    let auction_now = nodes.store.auction(auction).await.unwrap().unwrap();
    assert_eq!((auction_now.status, auction_now.returning), (AuctionStatus::Live, false));
    for (item, version) in others {
        let now = nodes.store.item(item).await.unwrap().unwrap();
        assert!(now.version > version, "the version of the item did not rise, so an earlier decision could commit");
    }
    assert_eq!(code(nodes.status(auction, AuctionStatus::Preview).await), "auction_has_bids");
}

pub(super) async fn passed_items_of_a_large_auction_become_unsold_in_steps(store: Shared) {
    let nodes = Nodes::new(store).await;
    let auction = nodes.auction(AuctionKind::Webcast, 9).await;
    nodes.status(auction, AuctionStatus::Live).await.unwrap();
    nodes.follow(auction).await;
    let caller = Caller::command_line();
    let clerk = async |command: ClerkCommand| {
        let seen = nodes.second.ring(&caller, auction).await.unwrap().version();
        nodes.second.clerk(&caller, auction, &command, seen, None).await.unwrap();
    };
    for _ in 0..9 {
        clerk(ClerkCommand::Send { item: None }).await;
        clerk(ClerkCommand::Pass { over_waiting_bid: false }).await;
    }
    nodes.status(auction, AuctionStatus::Reconciliation).await.unwrap();
    assert_eq!(nodes.statuses(auction).await, [(ItemStatus::Unsold, 4), (ItemStatus::Passed, 5)]);
    let last = nodes.items(auction).await[8].uuid;
    let withdrawn = nodes.second.change_item_status(&caller, last, ItemStatus::Withdrawn, None, None, None).await;
    assert_eq!(code(withdrawn), "items_following");
    assert_eq!(code(nodes.status(auction, AuctionStatus::Archived).await), "items_following");
    nodes.follow(auction).await;
    assert_eq!(nodes.statuses(auction).await, [(ItemStatus::Unsold, 9)]);
    let history = nodes.store.history(last, whole()).await.unwrap();
    let announced: Vec<_> = history.iter().filter(|row| row.body.is_some()).map(|row| row.to.as_str()).collect();
    assert_eq!(announced, ["PASSED", "UNSOLD"]);
    nodes.status(auction, AuctionStatus::Archived).await.unwrap();
    nodes.verifies().await;
}

pub(super) async fn archiving_a_mistaken_auction_withdraws_its_items_in_steps(store: Shared) {
    let nodes = Nodes::new(store).await;
    let auction = nodes.auction(AuctionKind::Timed, 9).await;
    assert_eq!(code(nodes.status(auction, AuctionStatus::Archived).await), "reason_required");
    let mistake = RequestedStatus { reason: Some("entered twice".to_owned()), ..AuctionStatus::Archived.into() };
    nodes.first.change_auction_status(&Caller::command_line(), auction, mistake, None, None).await.unwrap();
    assert_eq!(nodes.statuses(auction).await, [(ItemStatus::Withdrawn, 4), (ItemStatus::Draft, 5)]);
    nodes.follow(auction).await;
    assert_eq!(nodes.statuses(auction).await, [(ItemStatus::Withdrawn, 9)]);
    let last = nodes.items(auction).await[8].uuid;
    let history = nodes.store.history(last, whole()).await.unwrap();
    assert_eq!(history.last().and_then(|row| row.reason.as_deref()), Some("entered twice"));
    let history = nodes.store.history(auction, whole()).await.unwrap();
    assert_eq!(history.last().and_then(|row| row.reason.as_deref()), Some("entered twice"));
    nodes.verifies().await;
}

pub(super) async fn a_large_catalogue_is_imported_in_steps_completely_or_not_at_all(store: Shared) {
    let nodes = Nodes::new(store).await;
    let auction = nodes.auction(AuctionKind::Timed, 3).await;
    let broken = format!("{}99,,1.00\n", catalogue(4..=20));
    assert_eq!(nodes.import(auction, &broken).await.unwrap(), (0, 1));
    let taken = catalogue(3..=20);
    assert_eq!(nodes.import(auction, &taken).await.unwrap(), (0, 1));
    assert_eq!(nodes.items(auction).await.len(), 3);
    let far = nodes.clock.now() + std::time::Duration::from_secs(9);
    assert_eq!(nodes.store.delete_orphaned_chunks(far, 99).await.unwrap(), 0, "staged chunks remained");

    let before = nodes.store.auction(auction).await.unwrap().unwrap().version;
    assert_eq!(nodes.import(auction, &catalogue(4..=20)).await.unwrap(), (17, 0));
    let items = nodes.items(auction).await;
    let places: Vec<(i64, String)> = items.iter().map(|item| (item.position, item.lot_number.clone())).collect();
    assert_eq!(places, (0..20).map(|place| (place, (place + 1).to_string())).collect::<Vec<_>>());
    assert_eq!(nodes.store.auction(auction).await.unwrap().unwrap().version, before + 1);
    assert_eq!(
        (nodes.store.bulk_change(auction).await.unwrap(), nodes.store.delete_orphaned_chunks(far, 99).await.unwrap()),
        (None, 0)
    );
    nodes.verifies().await;
}

pub(super) async fn any_node_completes_an_interrupted_import(store: Shared) {
    let nodes = Nodes::new(store).await;
    let auction = nodes.auction(AuctionKind::Timed, 2).await;
    // A process that is killed directly after the first commit of an import of five items leaves this state.
    let import = caller_uuid(7);
    let piece = |lots: std::ops::Range<usize>| lots.map(|lot| NewItem::new(lot.to_string(), "A print")).collect();
    nodes.store.stage_chunk(import, 0, piece(3..6), nodes.clock.now()).await.unwrap();
    nodes.store.stage_chunk(import, 1, piece(6..8), nodes.clock.now()).await.unwrap();
    let state = nodes.store.auction(auction).await.unwrap().unwrap();
    let customer = state.customer;
    let at = nodes.clock.now();
    let operation = BulkOperation::Import { import };
    let bulk_change = BulkChange { auction, customer, at, step: 0, through: 1, until: 6, ..bulk_change(1, operation) };
    commit(&nodes.store, Change { auction: Some(next_auction(state)), ..step(None, Some(bulk_change), None) })
        .await
        .unwrap();

    // The import has reserved its lot numbers and positions; commands on existing items still work.
    let caller = Caller::command_line();
    let items = nodes.items(auction).await;
    let edit = |lot: &str| platform_rules::item::ItemEdit { lot_number: Some(lot.to_owned()), ..Default::default() };
    let renamed = nodes.second.change_item(&caller, items[0].uuid, &edit("5"), None).await;
    assert_eq!(code(renamed), "items_following");
    let titled = platform_rules::item::ItemEdit { title: Some("A rare print".into()), ..Default::default() };
    nodes.second.change_item(&caller, items[0].uuid, &titled, None).await.unwrap();
    let more = [NewItem::new("5", "Another")];
    assert_eq!(code(nodes.second.add_items(&caller, auction, &more, None, None).await), "items_following");
    assert_eq!(code(nodes.status(auction, AuctionStatus::Live).await), "items_following");
    nodes.follow(auction).await;
    let lots: Vec<String> = nodes.items(auction).await.into_iter().map(|item| item.lot_number).collect();
    assert_eq!(lots, ["1", "2", "3", "4", "5", "6", "7"]);
    nodes.second.change_item(&caller, items[0].uuid, &edit("1A"), None).await.unwrap();
    nodes.verifies().await;
}
