//! Random sales, and random commands in them.

use contract::ItemStatus;
use proptest::prelude::*;

use crate::AuctionKind;

/// The terms of a random sale. Reserves end in 7 and bids in 0, so that a test can tell them apart.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) kind: AuctionKind,
    pub(super) reserve: Option<i64>,
    pub(super) opening_bid: i64,
    pub(super) fixed_increment: Option<i64>,
    pub(super) buy_now: Option<i64>,
    pub(super) extension_seconds: Option<u32>,
    pub(super) accepts_at_once: bool,
    /// Spending limit of the last bidder.
    pub(super) limit: Option<i64>,
}

pub(super) fn facts() -> impl Strategy<Value = Facts> {
    (
        prop::sample::select(&AuctionKind::ALL[..]),
        prop::option::of((0_i64..4_000).prop_map(|tens| tens * 10 + 7)),
        prop::sample::select(vec![0, 100, 10_000]),
        prop::option::of(prop::sample::select(vec![10, 1_000])),
        prop::option::of(Just(60_000)),
        prop::option::of(1_u32..300),
        any::<bool>(),
        prop::option::of((10_i64..5_000).prop_map(|tens| tens * 10)),
    )
        .prop_map(
            |(kind, reserve, opening_bid, fixed_increment, buy_now, extension_seconds, accepts_at_once, limit)| Facts {
                kind,
                reserve,
                opening_bid,
                fixed_increment,
                buy_now: buy_now.filter(|_| kind == AuctionKind::Timed),
                extension_seconds,
                accepts_at_once,
                limit,
            },
        )
}

/// One of four bidders; few, so that they outbid each other.
pub(super) type Paddle = &'static str;

pub(super) const PADDLES: [Paddle; 4] = ["a", "b", "c", "d"];

/// A step. Amounts are relative to the minimum bid at that moment, so that about half of the bids are accepted. `ago`
/// counts back from the last bid.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Administrator {
        to: ItemStatus,
        with_reason: bool,
    },
    GoLive,
    ReachEnd,
    MoveEnd {
        seconds: i64,
    },
    Reconcile,
    Bid {
        paddle: Paddle,
        above_minimum: i64,
    },
    Leave {
        paddle: Paddle,
        above_minimum: i64,
    },
    BuyNow {
        paddle: Paddle,
    },
    Cancel {
        ago: i64,
    },
    /// An administrator accepts an offer after the sale.
    AcceptOffer {
        paddle: Paddle,
        amount: i64,
    },
    Send,
    RoomBid {
        paddle: Paddle,
        above_minimum: i64,
    },
    Accept {
        place: usize,
    },
    Commission {
        paddle: Paddle,
    },
    /// The absentee takes the maximum back.
    Withdraw {
        paddle: Paddle,
    },
    Ask {
        above_minimum: i64,
    },
    Undo,
    Retract {
        ago: i64,
    },
    FairWarning,
    Pause,
    Resume,
    OpenRoomBid {
        above_minimum: i64,
    },
    /// The clerk names or changes the buyer.
    Buyer {
        paddle: Paddle,
        with_reason: bool,
    },
    /// The hammer price is corrected.
    Price {
        amount: i64,
    },
    Sell {
        below_reserve: bool,
        over_waiting_bid: bool,
    },
    Pass {
        over_waiting_bid: bool,
    },
    Remove,
    OfferAgain,
    Reopen,
    /// An administrator edits the terms.
    Edit {
        opening_bid: Option<i64>,
        reserve: Option<Option<i64>>,
        buy_now: Option<Option<i64>>,
    },
    EditAuction {
        extension_seconds: Option<u32>,
    },
    /// An administrator shifts the planned end with the ends of the auction.
    Shift {
        to_seconds: i64,
    },
    Suspend {
        paddle: Paddle,
    },
    Approve {
        paddle: Paddle,
    },
    Wait {
        seconds: i64,
    },
}

fn paddle() -> impl Strategy<Value = Paddle> {
    prop::sample::select(&PADDLES[..])
}

/// Amounts mostly above the minimum, some far above.
fn amount() -> impl Strategy<Value = i64> {
    prop_oneof![4 => (-50_i64..500).prop_map(|tens| tens * 10), 1 => (-50_i64..5_000).prop_map(|tens| tens * 10)]
}

fn edit() -> impl Strategy<Value = Step> {
    let opening_bid = prop::option::of(prop::sample::select(vec![0, 100, 10_000]));
    let reserve = prop::option::of(prop::option::of((0_i64..4_000).prop_map(|tens| tens * 10 + 7)));
    let buy_now = prop::option::of(prop::option::of(Just(60_000)));
    (opening_bid, reserve, buy_now).prop_map(|(opening_bid, reserve, buy_now)| Step::Edit {
        opening_bid,
        reserve,
        buy_now,
    })
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let bids = prop_oneof![
        3 => (paddle(), amount()).prop_map(|(paddle, above_minimum)| Step::Bid { paddle, above_minimum }),
        2 => (paddle(), amount()).prop_map(|(paddle, above_minimum)| Step::RoomBid { paddle, above_minimum }),
        1 => (paddle(), amount()).prop_map(|(paddle, above_minimum)| Step::Leave { paddle, above_minimum }),
        1 => paddle().prop_map(|paddle| Step::Commission { paddle }),
        1 => paddle().prop_map(|paddle| Step::Withdraw { paddle }),
        1 => (0_usize..3).prop_map(|place| Step::Accept { place }),
        1 => amount().prop_map(|above_minimum| Step::OpenRoomBid { above_minimum }),
    ];
    let looking_back = prop_oneof![
        2 => (0_i64..6).prop_map(|ago| Step::Cancel { ago }),
        1 => (0_i64..4).prop_map(|ago| Step::Retract { ago }),
        1 => Just(Step::Undo),
        2 => (-3_000_i64..3_000).prop_map(|above_minimum| Step::Ask { above_minimum }),
    ];
    let clerk = prop::sample::select(vec![
        Step::Send,
        Step::Send,
        Step::Send,
        Step::FairWarning,
        Step::Pause,
        Step::Resume,
        Step::Resume,
        Step::Sell { below_reserve: false, over_waiting_bid: false },
        Step::Sell { below_reserve: true, over_waiting_bid: false },
        Step::Sell { below_reserve: true, over_waiting_bid: true },
        Step::Pass { over_waiting_bid: false },
        Step::Pass { over_waiting_bid: true },
        Step::Remove,
        Step::OfferAgain,
        Step::Reopen,
    ]);
    let others = prop_oneof![
        3 => (prop::sample::select(ItemStatus::ALL), any::<bool>())
            .prop_map(|(to, with_reason)| Step::Administrator { to, with_reason }),
        1 => prop::sample::select(vec![Step::GoLive, Step::ReachEnd, Step::Reconcile]),
        1 => (0_i64..2_000).prop_map(|seconds| Step::MoveEnd { seconds }),
        1 => paddle().prop_map(|paddle| Step::BuyNow { paddle }),
        1 => (0_i64..5_000).prop_map(|tens| Step::Price { amount: tens * 10 }),
        1 => (paddle(), any::<bool>()).prop_map(|(paddle, with_reason)| Step::Buyer { paddle, with_reason }),
        1 => (paddle(), (0_i64..5_000).prop_map(|tens| tens * 10))
            .prop_map(|(paddle, amount)| Step::AcceptOffer { paddle, amount }),
        2 => (0_i64..300).prop_map(|seconds| Step::Wait { seconds }),
    ];
    let entered = prop_oneof![
        2 => edit(),
        1 => prop::option::of(1_u32..300).prop_map(|extension_seconds| Step::EditAuction { extension_seconds }),
        1 => (0_i64..2_000).prop_map(|to_seconds| Step::Shift { to_seconds }),
        1 => paddle().prop_map(|paddle| Step::Suspend { paddle }),
        1 => paddle().prop_map(|paddle| Step::Approve { paddle }),
    ];
    prop_oneof![10 => bids, 4 => looking_back, 4 => clerk, 2 => others, 2 => entered]
}
