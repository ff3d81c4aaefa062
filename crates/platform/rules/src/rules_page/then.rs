//! The third cell of an example: the claims about the state at the end, such as `a leads at 310, next bid 320`.

use super::scenario::Scenario;
use crate::ring::commissions;
use crate::sample::at;
use crate::{PublicItem, RingStatus, WebcastPhase};

impl Scenario {
    /// Checks every claim of the cell. If the last step was rejected, the cell must claim it.
    pub(super) fn check(&self, then: &str) -> Result<(), String> {
        if let Some(code) = self.refused
            && !then.contains("refused:")
        {
            return Err(format!("the last step was rejected: {code}"));
        }
        then.split(',').map(str::trim).try_for_each(|claim| self.check_claim(claim))
    }

    fn check_claim(&self, claim: &str) -> Result<(), String> {
        let words: Vec<&str> = claim.split_whitespace().collect();
        let public = PublicItem::of(&self.auction, &self.item);
        let ring = self.item.in_ring();
        let bid = |number: &str| number.parse().ok().and_then(|number| self.log.get(number)).cloned();
        let actual = match words[..] {
            ["the", "room", "leads", "at", _] => match &self.item.standing {
                Some(standing) if standing.known_bidder().is_none() => format!("the room leads at {}", standing.amount),
                _ => "the room does not lead".to_owned(),
            },
            ["buyer", "open"] => if self.item.is_buyer_open() { "buyer open" } else { "no buyer open" }.to_owned(),
            ["no", "bidder", "leads"] => match &public.leader {
                None => claim.to_owned(),
                Some(leader) => format!("{leader} leads"),
            },
            [_, "leads", "at", _] => match (&public.leader, public.price) {
                (Some(leader), Some(price)) => format!("{leader} leads at {price}"),
                _ => "no bidder leads".to_owned(),
            },
            ["next", "bid", _] | ["no", "next", "bid"] => {
                public.minimum_bid.map_or("no next bid".to_owned(), |least| format!("next bid {least}"))
            }
            ["asked", _] => format!("asked {}", ring.map_or(0, |ring| ring.asking_price)),
            ["warnings", _] => format!("warnings {}", ring.map_or(0, |ring| ring.warnings)),
            ["paused"] => ring.filter(|ring| ring.paused).map_or("not paused", |_| "paused").to_owned(),
            ["not", "paused"] => ring.filter(|ring| !ring.paused).map_or("paused", |_| "not paused").to_owned(),
            ["reserve", "met"] | ["reserve", "not", "met"] => match public.reserve_met {
                Some(true) => "reserve met".to_owned(),
                Some(false) => "reserve not met".to_owned(),
                None => "no reserve".to_owned(),
            },
            ["end", _] => {
                let end = public.effective_end_time.map(|end| end.duration_since(at(0)).as_secs());
                format!("end {}", end.unwrap_or_default())
            }
            ["buy", "now", "open"] | ["buy", "now", "over"] => {
                public.buy_now.map_or("buy now over", |_| "buy now open").to_owned()
            }
            ["ring", ..] => match self.item.ring {
                RingStatus::Waiting | RingStatus::WaitingAgain => "ring waiting".to_owned(),
                RingStatus::InRing(_) => "ring in_ring".to_owned(),
                RingStatus::Done => "ring done".to_owned(),
            },
            ["phase", ..] => match self.auction.phase {
                WebcastPhase::PreBidding => "phase pre_bidding".to_owned(),
                WebcastPhase::Live => "phase live".to_owned(),
            },
            ["waits:", ..] => {
                let waiting = self.item.pending.iter().map(|pending| format!(" {} {}", pending.bidder, pending.amount));
                format!("waits:{}", waiting.collect::<Vec<_>>().join(" /"))
            }
            ["lost:", ..] => {
                let lost = self.item.lost.iter();
                let lost = lost.map(|lost| format!(" {} {} {}", lost.bid.bidder, lost.bid.amount, lost.cause.as_str()));
                format!("lost:{}", lost.collect::<Vec<_>>().join(" /"))
            }
            ["nothing", "waits"] => {
                if self.item.pending.is_empty() {
                    claim.to_owned()
                } else {
                    "something waits".to_owned()
                }
            }
            ["commissions:", ..] => {
                let commissions = commissions(&self.item, &self.log).map_err(|rejection| rejection.to_string())?;
                let commissions = commissions.iter().map(|left| format!(" {} {}", left.bidder, left.maximum.reveal()));
                format!("commissions:{}", commissions.collect::<Vec<_>>().join(" /"))
            }
            ["bid", number, ..] => match bid(number).map(|record| record.struck) {
                None => format!("there is no bid {number}"),
                Some(None) => format!("bid {number} counts"),
                Some(Some(struck)) => format!("bid {number} {}", struck.strike.as_str()),
            },
            ["bids", _] => format!("bids {}", public.bid_count),
            ["linked", "both", "ways"] => match &self.relisted {
                Some(item)
                    if item.relisted_from == Some(self.item.uuid) && self.item.relisted_as == Some(item.uuid) =>
                {
                    claim.to_owned()
                }
                _ => "not linked".to_owned(),
            },
            ["refused:", _] => format!("refused: {}", self.refused.unwrap_or("not at all")),
            [_] => public.status.name().to_owned(),
            _ => return Err(format!("unknown claim {claim:?}")),
        };
        if actual == claim { Ok(()) } else { Err(format!("it is {actual:?}, not {claim:?}")) }
    }
}
