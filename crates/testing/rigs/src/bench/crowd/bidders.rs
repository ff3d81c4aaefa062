//! Bidders of a lot, who do what the lot's page and its scripts do: they press the button with the amount that the page shows, with the
//! key of its form, and wait for the answer, which has the next button. When the stream has a newer state than the page's box, the box
//! is read again, once a second at most.

use std::ops::Range;
use std::time::{Duration, Instant};

use kit_runtime::random::{Random as _, SystemRandom};
use tokio::sync::watch;
use tokio::time::{sleep_until, timeout_at};

use super::streams::Shown;
use crate::RigError;
use crate::bench::visitor::{Visitor, words_of};

/// Pause between two readings of the box, as in the page's script.
const READ_PAUSE: Duration = Duration::from_secs(1);

/// A bidder with an account and a paddle of the sale.
pub(super) struct Bidder {
    pub(super) visitor: Visitor,
    pub(super) paddle: String,
    /// Path of the lot's page.
    pub(super) lot: String,
}

/// What the box on the lot's page offers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct BidBox {
    /// Version of the lot that it shows.
    version: i64,
    pub(super) paddle: String,
    /// None for a bidder who leads, and before and after the sale.
    next: Option<NextBid>,
}

/// The form of the next bid.
#[derive(Debug, PartialEq, Eq)]
struct NextBid {
    amount: String,
    key: String,
    rates: String,
}

/// What became of the presses of bidders. Times are microseconds.
#[derive(Debug, Default)]
pub(super) struct Presses {
    /// Paddles and amounts of bids that the server said it had placed.
    pub(super) placed: Vec<(String, i64)>,
    /// Bids that were refused with words, because the price had moved.
    pub(super) refused: u64,
    /// Other answers, and the words of one of them.
    pub(super) other: u64,
    pub(super) other_words: Option<String>,
    pub(super) answers_us: Vec<u64>,
    pub(super) reads_us: Vec<u64>,
}

impl Presses {
    pub(super) fn add(&mut self, other: Self) {
        self.placed.extend(other.placed);
        self.refused += other.refused;
        self.other += other.other;
        self.other_words = self.other_words.take().or(other.other_words);
        self.answers_us.extend(other.answers_us);
        self.reads_us.extend(other.reads_us);
    }

    fn note_other(&mut self, words: impl FnOnce() -> String) {
        self.other += 1;
        self.other_words.get_or_insert_with(words);
    }
}

impl NextBid {
    fn of(form: &str) -> Option<Self> {
        Some(Self { amount: field(form, "amount")?, key: field(form, "key")?, rates: field(form, "rates")? })
    }
}

impl BidBox {
    /// The box of a page; none when the page has none.
    pub(super) fn of(page: &str) -> Option<Self> {
        let (_, page) = page.split_once("id=\"bid-box\"")?;
        let next = page.split_once("data-bid=\"next\"").map(|(_, form)| form);
        let next = next.and_then(NextBid::of);
        Some(Self {
            version: attribute(page, "data-version=\"")?.parse().unwrap_or_default(),
            paddle: attribute(page, "data-paddle=\"")?,
            next,
        })
    }
}

fn attribute(html: &str, name: &str) -> Option<String> {
    let (_, rest) = html.split_once(name)?;
    rest.split('"').next().map(str::to_owned)
}

fn field(form: &str, name: &str) -> Option<String> {
    attribute(form, &format!("name=\"{name}\" value=\""))
}

impl Bidder {
    /// Bids until a time. Between an answer and the next press lies a time of thought within the range.
    pub(super) async fn bid(
        mut self,
        mut stream: watch::Receiver<Option<Shown>>,
        until: Instant,
        thought: Range<Duration>,
    ) -> Result<Presses, RigError> {
        let mut presses = Presses::default();
        let mut shown = BidBox::default();
        let mut read_at: Option<Instant> = None;
        while Instant::now() < until {
            let span = (thought.end - thought.start).mul_f64(SystemRandom.unit_f64());
            let press_at = (Instant::now() + thought.start + span).min(until);
            while Instant::now() < press_at {
                let is_old = stream.borrow_and_update().as_ref().is_some_and(|now| now.version > shown.version);
                let may_read_at = read_at.map_or_else(Instant::now, |read_at| read_at + READ_PAUSE);
                if is_old && Instant::now() >= may_read_at {
                    shown = self.read(&mut presses).await?.unwrap_or(shown);
                    read_at = Some(Instant::now());
                } else if is_old {
                    sleep_until(may_read_at.min(press_at).into()).await;
                } else {
                    // The stream ends after the bidders do.
                    let _ = timeout_at(press_at.into(), stream.changed()).await;
                }
            }
            let Some(next) = shown.next.take().filter(|_| press_at < until) else { continue };
            shown = self.press(&next, &mut presses).await?.unwrap_or(shown);
        }
        Ok(presses)
    }

    /// Reads the page again for its box.
    async fn read(&mut self, presses: &mut Presses) -> Result<Option<BidBox>, RigError> {
        let begin = Instant::now();
        let answer = self.visitor.get(&self.lot).await?;
        presses.reads_us.push(begin.elapsed().as_micros() as u64);
        if answer.status != 200 {
            presses.note_other(|| format!("{}: {}", answer.status, words_of(&String::from_utf8_lossy(&answer.body))));
        }
        Ok(BidBox::of(&String::from_utf8_lossy(&answer.body)))
    }

    async fn press(&mut self, next: &NextBid, presses: &mut Presses) -> Result<Option<BidBox>, RigError> {
        let NextBid { amount, key, rates } = next;
        let fields =
            [("key", key.as_str()), ("kind", "next"), ("rates", rates), ("amount", amount), ("confirmed", "yes")];
        let begin = Instant::now();
        let answer = self.visitor.post(&format!("{}/bid", self.lot), &fields).await?;
        presses.answers_us.push(begin.elapsed().as_micros() as u64);
        match answer.status {
            200 => presses.placed.push((self.paddle.clone(), amount.parse()?)),
            409 => presses.refused += 1,
            status => presses.note_other(|| format!("{status}: {}", words_of(&String::from_utf8_lossy(&answer.body)))),
        }
        Ok(BidBox::of(&String::from_utf8_lossy(&answer.body)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_of_a_page_has_the_next_bid_with_its_key() {
        let page = r#"<p data-version="1"></p><section id="bid-box" class="bid-box" data-paddle="12" data-version="7" data-leads="false">
            <form method="post" data-bid="next"><input type="hidden" name="key" value="k1n"><input type="hidden" name="kind" value="next"><input type="hidden" name="rates" value="2500-0-2000"><input type="hidden" name="amount" value="52000"></form></section>"#;
        let next = Some(NextBid { amount: "52000".to_owned(), key: "k1n".to_owned(), rates: "2500-0-2000".to_owned() });
        assert_eq!(BidBox::of(page), Some(BidBox { version: 7, paddle: "12".to_owned(), next }));
        let leading =
            r#"<section id="bid-box" data-paddle="12" data-version="8"><form data-bid="max"></form></section>"#;
        assert_eq!(BidBox::of(leading), Some(BidBox { version: 8, paddle: "12".to_owned(), next: None }));
        assert_eq!(BidBox::of("<main>no lot</main>"), None);
    }
}
