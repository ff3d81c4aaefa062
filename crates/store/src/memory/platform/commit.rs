//! A change becomes true as a whole, or not at all.

use std::collections::HashSet;

use ::platform::journal::{JournalEntry, JournalRow, SubjectKind};
use ::platform::port::{Change, Consumer, NodeId, OutboxEvent, Receipt, StartFrom, StoreError, StoreResult};
use auction::Item;
use contract::event::EventType;
use uuid::Uuid;

use super::Tables;

impl Tables {
    pub(super) fn commit(&mut self, change: Change, hand_to: Option<NodeId>) -> StoreResult<Receipt> {
        self.check(&change)?;
        let mut receipt = Receipt::default();
        if let Some(auction) = change.auction {
            self.sales.auctions.insert(auction.state.uuid, auction.state);
        }
        self.addresses.put(change.address);
        self.log.append(change.log);
        for item in change.items {
            self.sales.put_item(item.state);
        }
        for bid in change.bids {
            self.sales.append_bid(bid);
        }
        for mark in change.bid_marks {
            self.sales.mark_bid(mark);
        }
        self.bidders.note(change.stakes);
        if let Some(turn) = change.turn {
            self.bidders.take(turn);
        }
        self.leads.take(change.lead);
        for entry in &change.journal {
            let cursor = self.sales.append(entry);
            receipt.cursors.push(cursor);
            if let Some(event) = outbox_event(entry, cursor).filter(|event| self.outbox.is_connected(event.customer)) {
                match self.outbox.enter(event.clone(), hand_to) {
                    Some(_) => receipt.handed.push(event),
                    None => receipt.waiting += 1,
                }
            }
        }
        if let Some(answer) = change.answer {
            self.access.keep_answer(answer);
        }
        Ok(receipt)
    }

    /// Everything that can speak against a change, before anything of it is done.
    fn check(&self, change: &Change) -> StoreResult<()> {
        self.access.check_answer(change.answer.as_ref())?;
        if let Some(auction) = &change.auction {
            let found = self.sales.auctions.get(&auction.state.uuid).map_or(0, |found| found.version);
            same_version(found, auction.expected_version)?;
        }
        self.leads.check(change.lead.as_ref())?;
        if let Some(turn) = change.turn {
            same_version(self.bidders.turn(turn.registration), turn.seen)?;
        }
        if let Some(seen) = &change.registration {
            same_version(self.bidders.version(seen), seen.version)?;
        }
        let (mut lots, mut places) = (HashSet::new(), HashSet::new());
        for item in &change.items {
            let found = self.sales.items.get(&item.state.uuid).map_or(0, |found| found.version);
            same_version(found, item.expected_version)?;
            let Item { uuid, auction, position, lot_number, .. } = &item.state;
            let another = |holder: &Uuid| holder != uuid;
            if self.sales.lots.get(&(*auction, lot_number.clone())).is_some_and(another)
                || !lots.insert((auction, lot_number))
            {
                return Err(StoreError::Taken("lotNumber"));
            }
            // Somebody else has put an item there meanwhile: with the auction loaded again, another place is chosen.
            if self.sales.places.get(&(*auction, *position)).is_some_and(another) || !places.insert((auction, position))
            {
                return Err(StoreError::Conflict);
            }
        }
        Ok(())
    }

    pub(super) fn put_consumer(&mut self, consumer: Consumer, start: StartFrom) {
        let customer = consumer.customer;
        let complete = consumer.is_complete();
        self.outbox.put_consumer(consumer);
        let StartFrom::Cursor(after) = start else { return };
        if complete {
            let page = ::platform::port::Page { after: Some(after), limit: usize::MAX };
            for row in self.sales.events_after(customer, page) {
                let event = event_of_row(row, customer);
                if !self.outbox.has(event.cursor) {
                    self.outbox.enter(event, None);
                }
            }
        }
    }
}

fn same_version(found: i64, expected: i64) -> StoreResult<()> {
    if found == expected { Ok(()) } else { Err(StoreError::Conflict) }
}

fn outbox_event(entry: &JournalEntry, cursor: i64) -> Option<OutboxEvent> {
    let event = entry.event.as_ref()?;
    Some(OutboxEvent {
        cursor,
        customer: entry.customer,
        subject: entry.subject,
        sequence: entry.sequence,
        event_type: event.event_type(),
        body: event.to_json(),
        attempts: 0,
        at: entry.at,
    })
}

fn event_of_row(row: JournalRow, customer: Uuid) -> OutboxEvent {
    OutboxEvent {
        cursor: row.cursor,
        customer,
        subject: row.subject,
        sequence: row.sequence,
        event_type: match row.kind {
            SubjectKind::Auction => EventType::AuctionStatusChange,
            SubjectKind::Item => EventType::ItemStatusChange,
        },
        body: row.body.unwrap_or_default(),
        attempts: 0,
        at: row.at,
    }
}
