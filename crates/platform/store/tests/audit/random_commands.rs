//! Random commands on a sale: by bidders with and without registrations and limits, by administrators who edit, move ends,
//! copy, relist, suspend, withdraw, cancel and correct, and by clerks who sell, undo and reopen. After every accepted
//! command, the invariants of [`crate::invariants`] hold on every store, and the replayed log gives the stored state.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::{AuctionStatus, ItemStatus};
use kit_runtime::clock::Clock as _;
use kit_runtime::random::{Random, SeededRandom};
use platform_core::bidders::{NewRegistration, RegistrationDecision, RegistrationPatch};
use platform_core::bidding::absentee_bids::NewAbsenteeBid;
use platform_core::bidding::bids::NewBid;
use platform_core::error::{PlatformError, PlatformResult};
use platform_core::port::{Page, Registration, RegistrationStatus, Store};
use platform_core::ring::{ClerkCommand, Confirmed, ConfirmedPrice, NewInternetBid};
use platform_core::sales::auctions::copy::{AuctionCopy, CopiedItems};
use platform_core::sales::auctions::edit::AuctionPatch;
use platform_core::sales::auctions::move_ends::{MoveEnds, NewEnds};
use platform_core::sales::auctions::shift::Shift;
use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::sales::items::edit_many::ItemEditEntry;
use platform_core::sales::items::hammer_price::HammerPrice;
use platform_core::sales::items::post_sale::PostSaleOffer;
use platform_core::sales::items::relist::Relist;
use platform_core::sales::items::unpaid::UnpaidLots;
use platform_rules::edit::AuctionEdit;
use platform_rules::item::ItemEdit;
use platform_rules::{AuctionKind, Hidden, Item};
use uuid::Uuid;

use crate::invariants::{CommandEffect, SaleInvariants};
use crate::test_sale::TestSale;

const COMMANDS: usize = 150;
/// The last one is never registered.
const PADDLES: u32 = 5;
const SECONDS: i64 = 60;

/// How often each command was accepted.
type Tally = BTreeMap<&'static str, usize>;

#[tokio::test]
async fn a_sqlite_store_keeps_the_invariants_and_accepts_every_command() {
    let mut tally = Tally::new();
    for seed in 0..16 {
        drive(platform_store::sqlite::open_temporary().unwrap(), seed, 5, &mut tally).await;
    }
    let missing: Vec<&str> = COMMANDS_OF_BOTH.into_iter().filter(|name| !tally.contains_key(name)).collect();
    assert!(missing.is_empty(), "commands that were never accepted: {missing:?}; {tally:?}");
}

#[tokio::test]
async fn a_sqlite_store_keeps_the_invariants() {
    for seed in 100..104 {
        let directory = tempfile::tempdir().unwrap();
        let store = platform_store::sqlite::open(&directory.path().join("platform.db")).await.unwrap();
        drive(store, seed, 25, &mut Tally::new()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_store_keeps_the_invariants() {
    for seed in 200..203 {
        let url = testkit::postgres::fresh_database().await.unwrap();
        let config = platform_store::postgres::PostgresConfig { url, pool_size: 4, ..Default::default() };
        drive(platform_store::postgres::open(&config).await.unwrap(), seed, 25, &mut Tally::new()).await;
    }
}

async fn drive(store: Arc<dyn Store>, seed: u64, verify_every: usize, tally: &mut Tally) {
    let sale = TestSale::new(store, seed).await;
    for kind in AuctionKind::ALL {
        let created = sale.auction(kind, 3).await;
        let mut random_commands =
            RandomCommands { sale: &sale, random: SeededRandom::new(seed), auction: created.auction.uuid, kind };
        // A reserve that few bids reach.
        let dear = ItemEdit { reserve: Some(Some(Hidden::new(90_007))), ..ItemEdit::default() };
        sale.platform.change_item(&sale.caller, created.items[0].uuid, &dear, None).await.unwrap();
        let mut invariants = SaleInvariants::new(random_commands.items().await);
        for step in 0..COMMANDS {
            let (name, done) = random_commands.command().await;
            let at = format!("seed {seed}, {kind:?}, command {step}: {name}");
            let accepted = match done {
                Ok(did) => {
                    *tally.entry(name).or_default() += 1;
                    Some(did)
                }
                Err(error) if is_refusal(&error) => None,
                Err(other) => panic!("{at}: {other}"),
            };
            invariants.check(&sale, accepted.as_ref(), random_commands.items().await, &at).await;
            if step % verify_every == 0 {
                assert_eq!(sale.broken().await, Vec::<String>::new(), "{at}");
            }
        }
    }
    assert_eq!(sale.broken().await, Vec::<String>::new(), "seed {seed}");
}

fn is_refusal(error: &PlatformError) -> bool {
    use PlatformError::{Invalid, NotFound, Rejected, Taken};
    matches!(error, Rejected(_) | Invalid(_) | NotFound(_) | Taken(_))
}

/// The result of a command that needed a preparing edit. The edit stays if the command is refused, so it counts as the
/// effect.
fn prepared_for(
    name: &'static str,
    prepared: bool,
    done: PlatformResult<CommandEffect>,
) -> (&'static str, PlatformResult<CommandEffect>) {
    match done {
        Err(error) if prepared && is_refusal(&error) => ("edit", Ok(CommandEffect::Planned)),
        done => (name, done),
    }
}

/// One sale, and the source of random commands on it.
struct RandomCommands<'a> {
    sale: &'a TestSale,
    random: SeededRandom,
    auction: Uuid,
    kind: AuctionKind,
}

/// Commands of both kinds of auction, each of which must be accepted at least once.
const COMMANDS_OF_BOTH: [&str; 34] = [
    "bid",
    "buy now",
    "cancel",
    "move end",
    "shift ends",
    "wait",
    "correct",
    "relist",
    "send",
    "ask",
    "room bid",
    "online bid",
    "accept",
    "undo",
    "retract",
    "sell",
    "pass",
    "remove",
    "offer again",
    "reopen",
    "pause",
    "resume",
    "status",
    "edit",
    "edit auction",
    "bulk",
    "copy",
    "register",
    "limit",
    "suspend",
    "leave",
    "hammer price",
    "offer",
    "unpaid",
];

impl RandomCommands<'_> {
    fn below(&self, end: u32) -> u32 {
        (self.random.unit_f64() * f64::from(end)) as u32
    }

    fn one_of<'a, T>(&self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len() as u32) as usize)
    }

    async fn items(&self) -> Vec<Item> {
        let page = Page { after: None, limit: 100 };
        self.sale.platform.items(&self.sale.caller, self.auction, page).await.unwrap()
    }

    async fn registrations(&self) -> Vec<Registration> {
        let page = Page { after: None, limit: 100 };
        self.sale.platform.registrations(&self.sale.caller, self.auction, page).await.unwrap()
    }

    async fn command(&mut self) -> (&'static str, PlatformResult<CommandEffect>) {
        let items = self.items().await;
        let item = self.one_of(&items).unwrap().clone();
        match (self.kind, self.below(100)) {
            (AuctionKind::Timed, 0..58) => self.bidding(&item).await,
            (AuctionKind::Timed, 58..68) => self.ends(&item).await,
            (AuctionKind::Webcast, 0..68) => self.ringing(&items, &item).await,
            (_, 68..90) => self.administering(&items, &item).await,
            _ => self.registering().await,
        }
    }

    async fn bidding(&self, item: &Item) -> (&'static str, PlatformResult<CommandEffect>) {
        let TestSale { platform, caller, .. } = self.sale;
        let bidder = self.paddle();
        match self.below(58) {
            0..44 => {
                let new = NewBid { bidder: bidder.clone(), amount: self.amount(item) };
                let done = platform.place_bid(caller, item.uuid, &new, None, None).await;
                ("bid", done.map(|_| CommandEffect::Bid { item: item.uuid, paddle: bidder }))
            }
            44..47 => {
                // A buy-now price can be set only before the first bid.
                let edit = ItemEdit { buy_now: Some(Some(1_000)), ..ItemEdit::default() };
                let prepared = platform.change_item(caller, item.uuid, &edit, None).await.is_ok();
                let done = platform.buy_now(caller, item.uuid, &bidder, None, None).await;
                prepared_for("buy now", prepared, done.map(|_| CommandEffect::Bid { item: item.uuid, paddle: bidder }))
            }
            47..52 => ("cancel", self.cancel(item).await),
            _ => {
                // Without a later end, the item would end again at once.
                let later = self.sale.clock.now() + jiff::SignedDuration::from_secs(600);
                let prepared = platform.move_end(caller, item.uuid, (later, "a slip".into()), None, None).await.is_ok();
                let done = platform.correct_item(caller, item.uuid, "a slip".into(), None, None).await;
                prepared_for("correct", prepared, done.map(|_| CommandEffect::Other))
            }
        }
    }

    async fn cancel(&self, item: &Item) -> PlatformResult<CommandEffect> {
        let TestSale { platform, caller, .. } = self.sale;
        let bids = self.sale.store.bids(item.uuid, Page { after: None, limit: 1_000 }).await?;
        let bid = self.one_of(&bids).map_or(Uuid::nil(), |bid| bid.uuid);
        platform.cancel_bid(caller, (item.uuid, bid), "a slip", None, None).await.map(|_| CommandEffect::TookBack)
    }

    async fn ends(&self, item: &Item) -> (&'static str, PlatformResult<CommandEffect>) {
        let TestSale { platform, caller, clock, .. } = self.sale;
        let seconds = i64::from(self.below(40)) * SECONDS - 5 * SECONDS;
        match self.below(10) {
            0..2 => {
                let to = item.effective_end_time.unwrap_or(clock.now()) + jiff::SignedDuration::from_secs(seconds);
                let done = platform.move_end(caller, item.uuid, (to, "a slow site".into()), None, None).await;
                ("move end", done.map(|_| CommandEffect::Other))
            }
            2..4 => {
                let ends = NewEnds::Shift { seconds };
                let wanted = MoveEnds { ends, items: None, reason: Some("a slow site".into()) };
                let done = platform.move_ends(caller, self.auction, &wanted, None, None).await;
                ("shift ends", done.map(|_| CommandEffect::Planned))
            }
            _ => {
                clock.advance(std::time::Duration::from_secs(u64::from(self.below(1_600))));
                let done = ItemEndWorker::new(platform.clone()).run_once(platform.now()).await;
                ("wait", done.map(|_| CommandEffect::Other))
            }
        }
    }

    async fn ringing(&self, items: &[Item], item: &Item) -> (&'static str, PlatformResult<CommandEffect>) {
        let TestSale { platform, caller, .. } = self.sale;
        let in_ring = items.iter().find(|item| item.in_ring().is_some());
        let target = in_ring.unwrap_or(item);
        let bidder = self.paddle();
        let amount = self.amount(target);
        let reason = || "a slip".to_owned();
        let (name, command, did) = match self.below(80) {
            0..4 => {
                let new = NewAbsenteeBid { bidder, maximum: amount, unusual_amount: true };
                let done = platform.place_absentee_bid(caller, item.uuid, &new, None, None).await;
                return ("leave", done.map(|_| CommandEffect::Other));
            }
            4..18 => {
                let new = NewInternetBid { bidder, amount };
                let done = platform.bid_in_ring(caller, target.uuid, &new, None, None).await;
                return ("online bid", done.map(|_| CommandEffect::Other));
            }
            18..26 => ("send", ClerkCommand::Send { item: Some(item.uuid) }, CommandEffect::Other),
            26..34 => {
                let bid = ClerkCommand::RoomBid { bidder, amount: Some(amount), large_jump: self.below(2) == 0 };
                ("room bid", bid, CommandEffect::Other)
            }
            34..42 => {
                let bid = self.one_of(&target.pending).map_or(Uuid::nil(), |pending| pending.bid);
                ("accept", ClerkCommand::Accept { bid }, CommandEffect::Other)
            }
            42..45 => {
                let amount = (amount - i64::from(self.below(20)) * 10).max(1);
                let confirmed = ConfirmedPrice { large_jump: true, below_standing_bid: self.below(4) > 0 };
                ("ask", ClerkCommand::SetAskingPrice { amount, confirmed }, CommandEffect::TookBack)
            }
            45..48 => ("undo", ClerkCommand::Undo { reason: reason() }, CommandEffect::TookBack),
            48..50 => {
                let page = Page { after: None, limit: 1_000 };
                let (_, bids) = platform.bids(caller, target.uuid, page).await.unwrap();
                let bid = self.one_of(&bids).map_or(Uuid::nil(), |bid| bid.uuid);
                ("retract", ClerkCommand::Retract { bid, reason: reason() }, CommandEffect::TookBack)
            }
            50..54 => ("sell", ClerkCommand::Sell { confirmed: Confirmed::default() }, CommandEffect::Other),
            54..57 => ("pass", ClerkCommand::Pass { over_waiting_bid: false }, CommandEffect::TookBack),
            57..59 => ("remove", ClerkCommand::Remove, CommandEffect::Other),
            59..61 => {
                let passed = items.iter().find(|item| item.status == ItemStatus::Passed).unwrap_or(item);
                ("offer again", ClerkCommand::OfferAgain { item: passed.uuid }, CommandEffect::Other)
            }
            61..63 => ("reopen", ClerkCommand::Reopen { reason: reason() }, CommandEffect::Other),
            63..65 => ("pause", ClerkCommand::Pause, CommandEffect::Other),
            65..68 => ("resume", ClerkCommand::Resume, CommandEffect::Other),
            _ => return self.correcting(items, item).await,
        };
        let seen = platform.ring(caller, self.auction).await.unwrap().version();
        (name, platform.clerk(caller, self.auction, &command, seen, None).await.map(|_| did))
    }

    /// Corrections of results: hammer prices, buyers, unpaid lots and offers.
    async fn correcting(&self, items: &[Item], item: &Item) -> (&'static str, PlatformResult<CommandEffect>) {
        let TestSale { platform, caller, .. } = self.sale;
        let any_of = |statuses: &[ItemStatus]| {
            let found = items.iter().filter(|item| statuses.contains(&item.status)).collect::<Vec<_>>();
            self.one_of(&found).map_or(item, |found| *found).clone()
        };
        match self.below(7) {
            0..2 => {
                let sold = any_of(&[ItemStatus::Sold]);
                let amount = i64::from(self.below(60)) * 10;
                let right = HammerPrice { amount, reason: "a slip".into(), unusual_amount: true };
                let done = platform.correct_hammer_price(caller, sold.uuid, &right, None, None).await;
                ("hammer price", done.map(|_| CommandEffect::TookBack))
            }
            2..5 => {
                let open = any_of(&[ItemStatus::Passed, ItemStatus::Unsold]);
                let amount = i64::from(self.below(60)) * 10;
                let offer =
                    PostSaleOffer { buyer: self.paddle(), amount, reason: "an offer".into(), unusual_amount: true };
                let done = platform.accept_offer(caller, open.uuid, &offer, None, None).await;
                ("offer", done.map(|_| CommandEffect::Other))
            }
            _ => {
                let sold = any_of(&[ItemStatus::Sold]);
                let buyer = sold.standing.map_or_else(|| self.paddle(), |standing| standing.bidder);
                let unpaid = UnpaidLots { buyer, items: None, reason: "not paid".into() };
                let done = platform.record_unpaid_lots(caller, self.auction, &unpaid, None, None).await;
                ("unpaid", done.map(|_| CommandEffect::Other))
            }
        }
    }

    async fn administering(&self, items: &[Item], item: &Item) -> (&'static str, PlatformResult<CommandEffect>) {
        let TestSale { platform, caller, .. } = self.sale;
        match self.below(22) {
            0..9 => {
                use ItemStatus::{Draft, Live, Preview, Suspended, Withdrawn};
                // Most changes return the item to a status in which it accepts bids.
                let to = *self.one_of(&[Live, Live, Live, Preview, Suspended, Draft, Withdrawn]).unwrap();
                let reason = Some("query".to_owned());
                let done = platform.change_item_status(caller, item.uuid, to, reason, None, None).await;
                ("status", done.map(|_| if to == Draft { CommandEffect::TookBack } else { CommandEffect::Other }))
            }
            9..13 => (
                "edit",
                platform.change_item(caller, item.uuid, &self.edit(), None).await.map(|_| CommandEffect::Planned),
            ),
            13..15 => {
                let title = Some(format!("Prints {}", self.below(100)));
                let extension_seconds = Some((self.below(2) == 0).then_some(120));
                let extension_seconds = extension_seconds.filter(|_| self.below(2) == 0);
                let edit = AuctionEdit { title, extension_seconds, ..AuctionEdit::default() };
                let patch = AuctionPatch { edit, address: None };
                let done = platform.change_auction(caller, self.auction, &patch, None).await;
                ("edit auction", done.map(|_| CommandEffect::Planned))
            }
            15..17 => {
                let entry = |item: &Item| {
                    let status = (self.below(2) == 0).then(|| (ItemStatus::Live, Some("query".to_owned())));
                    Ok(ItemEditEntry { item: item.uuid, version: None, edit: self.edit(), status })
                };
                let entries: Vec<_> = items.iter().map(entry).collect();
                let done = platform.change_items(caller, self.auction, &entries, None, None).await;
                ("bulk", done.map(|_| CommandEffect::Planned))
            }
            17 => {
                let copy = AuctionCopy { title: None, shift: Shift::Days(7), items: CopiedItems::All };
                ("copy", platform.copy_auction(caller, self.auction, &copy, None).await.map(|_| CommandEffect::Other))
            }
            _ => ("relist", self.relist().await),
        }
    }

    /// Relists unsold items in a copy of the auction without items.
    async fn relist(&self) -> PlatformResult<CommandEffect> {
        let TestSale { platform, caller, .. } = self.sale;
        let is_unsold = |item: &Item| item.status == ItemStatus::Unsold && item.relisted_as.is_none();
        if !self.items().await.iter().any(is_unsold) {
            return Err(PlatformError::NotFound("unsold item"));
        }
        let copy = AuctionCopy { title: None, shift: Shift::Seconds(86_400), items: CopiedItems::None };
        let into = platform.copy_auction(caller, self.auction, &copy, None).await?.fresh()?.auction;
        assert_eq!(into.status, AuctionStatus::Draft);
        let wanted = Relist { into: into.uuid, items: None, status: ItemStatus::Draft };
        platform.relist_items(caller, self.auction, &wanted, None).await.map(|_| CommandEffect::Other)
    }

    /// Reserves end in 7 and bids in 0, so that the check can distinguish them.
    fn edit(&self) -> ItemEdit {
        let chosen = |one_in: u32| self.below(one_in) == 0;
        let tens = i64::from(self.below(40)) * 10;
        let later = self.sale.clock.now() + jiff::SignedDuration::from_secs(i64::from(self.below(4_000)));
        ItemEdit {
            title: Some(format!("A chair, {}", self.below(100))),
            reserve: chosen(2).then(|| chosen(2).then(|| Hidden::new(tens + 107))),
            buy_now: chosen(3).then(|| Some(tens + 600)),
            end_time: chosen(6).then_some(Some(later)),
            ..ItemEdit::default()
        }
    }

    async fn registering(&self) -> (&'static str, PlatformResult<CommandEffect>) {
        let TestSale { platform, caller, .. } = self.sale;
        let registrations = self.registrations().await;
        let known = self.one_of(&registrations);
        let limit = |one_in: u32| (self.below(one_in) > 0).then(|| i64::from(self.below(200)) * 10);
        match (self.below(10), known) {
            (4..7, Some(known)) => {
                let note = Some(Some(format!("rang at {}", self.below(12))));
                let patch = RegistrationPatch { limit: Some(limit(3)), note, ..RegistrationPatch::default() };
                let done = platform.change_registration(caller, (self.auction, known.uuid), &patch, None).await;
                ("limit", done.map(|_| CommandEffect::Other))
            }
            (7.., Some(known)) => {
                let to = *self.one_of(&RegistrationStatus::ALL).unwrap();
                let to = if self.below(2) == 0 { RegistrationStatus::Approved } else { to };
                let step = RegistrationDecision { to, reason: Some("query".into()) };
                let named = (self.auction, known.uuid);
                let done = platform.change_registration_status(caller, named, &step, None, None).await;
                ("suspend", done.map(|_| CommandEffect::Other))
            }
            _ => {
                let entry = NewRegistration {
                    paddle: Some(format!("p{}", self.below(PADDLES - 1))),
                    party: None,
                    name: Some("A. Bidder".into()),
                    email: Some("a@example.com".into()),
                    limit: limit(2),
                    note: None,
                    status: RegistrationStatus::Approved,
                };
                (
                    "register",
                    platform.register_bidder(caller, self.auction, &entry, None).await.map(|_| CommandEffect::Other),
                )
            }
        }
    }

    fn paddle(&self) -> String {
        format!("p{}", self.below(PADDLES))
    }

    /// An amount that is mostly high enough, and sometimes far higher.
    fn amount(&self, item: &Item) -> i64 {
        let price = item.in_ring().map_or(item.price().unwrap_or(90), |ring| ring.asking_price - 10);
        let far = if self.below(5) == 0 { i64::from(self.below(60)) * 10 } else { 0 };
        price / 10 * 10 + (i64::from(self.below(12)) - 2) * 10 + far
    }
}
