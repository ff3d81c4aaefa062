//! Messages of the clerk on the pages of a webcast that is live: the last one under the stage, all of them in a list, and those of a
//! lot among its bids.

use jiff::Timestamp;
use platform_core::saleroom::{SaleroomMessage, SaleroomSale};
use platform_words::{SaleZone, Words};
use uuid::Uuid;

/// A message as a page shows it.
pub(crate) struct MessageRow {
    pub(crate) number: i64,
    pub(crate) text: String,
    /// `19:04`, in the time zone of the sale.
    pub(crate) time: String,
    /// When it was written.
    pub(crate) at: Timestamp,
    /// The lot that was in the ring.
    item: Option<Uuid>,
    on_stage: bool,
}

/// The messages of a page, the newest first.
#[derive(Default)]
pub(crate) struct Messages(Vec<MessageRow>);

impl Messages {
    pub(crate) fn of(words: Words, sale: &SaleroomSale) -> Self {
        let zone = words.zone(&sale.auction);
        Self(sale.messages.iter().map(|message| MessageRow::of(&zone, message)).collect())
    }

    /// All of them.
    pub(crate) fn rows(&self) -> &[MessageRow] {
        &self.0
    }

    /// The one under the stage.
    pub(crate) fn on_stage(&self) -> Option<&MessageRow> {
        self.0.first().filter(|message| message.on_stage)
    }

    /// Those that were written while the lot was in the ring.
    pub(crate) fn of_lot(self, lot: Uuid) -> impl Iterator<Item = MessageRow> {
        self.0.into_iter().filter(move |message| message.item == Some(lot))
    }
}

impl MessageRow {
    fn of(zone: &SaleZone, message: &SaleroomMessage) -> Self {
        let SaleroomMessage { number, text, at, item, on_stage } = message.clone();
        Self { number, text, time: zone.time_of_day(at), at, item, on_stage }
    }
}
