//! Progress on standard error: bars on a terminal, otherwise a line every two seconds. Standard output has only the
//! results, so that programs can read it.

use std::io::IsTerminal as _;
use std::time::Duration;

use consumer::Receiver;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The bars of a demonstration.
pub(super) struct Progress {
    bars: MultiProgress,
    is_terminal: bool,
    pub(super) bids: ProgressBar,
    pub(super) webcast: ProgressBar,
    pub(super) received: ProgressBar,
}

impl Progress {
    pub(super) fn new(timed_lots: usize, webcast_lots: usize) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let bars = MultiProgress::with_draw_target(if is_terminal {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        });
        let style = ProgressStyle::with_template("  {msg:<34} {bar:32} {pos:>7}/{len}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = |length: usize, text: &'static str| {
            bars.add(ProgressBar::new(length as u64).with_style(style.clone()).with_message(text))
        };
        Progress {
            bids: bar(timed_lots, "timed auction: lots bid for"),
            webcast: bar(webcast_lots, "webcast: lots sold or passed"),
            received: bar(timed_lots + webcast_lots, "webhooks received and verified"),
            bars,
            is_terminal,
        }
    }

    /// Prints a line above the bars.
    pub(super) fn say(&self, text: &str) {
        if self.is_terminal {
            let _ = self.bars.println(text);
        } else {
            eprint_line(text);
        }
    }

    /// Updates the bar of received webhooks until the future is dropped.
    pub(super) async fn follow(&self, receiver: &Receiver) -> std::convert::Infallible {
        let mut ticks = 0_u32;
        loop {
            let received = receiver.read(|record| record.arrivals().len()) as u64;
            self.received.set_length(self.received.length().unwrap_or(0).max(received));
            self.received.set_position(received);
            if !self.is_terminal && ticks % 10 == 9 {
                eprint_line(&format!(
                    "  lots bid for {}/{}, webcast lots done {}/{}, webhooks received {received}",
                    self.bids.position(),
                    self.bids.length().unwrap_or(0),
                    self.webcast.position(),
                    self.webcast.length().unwrap_or(0),
                ));
            }
            ticks += 1;
            kit_runtime::backoff::pause(Duration::from_millis(200)).await;
        }
    }

    /// Stops the bars at their present state.
    pub(super) fn finish(&self) {
        for bar in [&self.bids, &self.webcast, &self.received] {
            bar.abandon();
        }
    }
}

#[expect(clippy::print_stderr, reason = "progress is for the person at the terminal")]
fn eprint_line(text: &str) {
    eprintln!("{text}");
}
