//! Offers of lots that did not sell, each to one bidder.

use async_trait::async_trait;
use platform_core::port::{EndedOffer, LotOffer, LotOfferStore, NoticeCause, OfferEnd, StoreError, StoreResult};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{SqliteStore, access_log, notices};
use crate::codec::{ms, offer_outcome};

const OFFER: &str = "SELECT uuid, auction, item, registration, amount, sequence, offered_by, offered_at_ms, until_ms, outcome, actor, \
     ended_at_ms FROM lot_offers";

#[async_trait]
impl LotOfferStore for SqliteStore {
    async fn put_offer(
        &self,
        offer: LotOffer,
        lapsed: Option<Uuid>,
        cause: Option<NoticeCause>,
        note: String,
    ) -> StoreResult<()> {
        let lapse = "UPDATE lot_offers SET outcome = 'lapsed', actor = ?2, ended_at_ms = ?3 WHERE uuid = ?1 AND outcome IS NULL";
        let insert = "INSERT INTO lot_offers (uuid, auction, item, registration, amount, sequence, offered_by, offered_at_ms, until_ms) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING";
        self.write(move |db| {
            let LotOffer { uuid, auction, item, registration, amount, sequence, offered_by, offered_at, until, .. } =
                &offer;
            if let Some(lapsed) = lapsed {
                rows::execute(db, lapse, params![lapsed.as_bytes(), offered_by, ms(*offered_at)])?;
            }
            let values = params![
                uuid.as_bytes(),
                auction.as_bytes(),
                item.as_bytes(),
                registration.as_bytes(),
                amount,
                sequence,
                offered_by,
                ms(*offered_at),
                ms(*until)
            ];
            if rows::execute(db, insert, values)? != 1 {
                return Err(StoreError::Taken("offer").into());
            }
            notices::put_causes(db, cause.as_slice())?;
            access_log::append(db, &note)
        })
        .await
    }

    async fn lot_offer(&self, uuid: Uuid) -> StoreResult<Option<LotOffer>> {
        let select = format!("{OFFER} WHERE uuid = ?1");
        self.read(move |db| rows::one(db, &select, [uuid.as_bytes()], offer)).await
    }

    async fn offers_of_item(&self, item: Uuid, limit: usize) -> StoreResult<Vec<LotOffer>> {
        let select = format!("{OFFER} WHERE item = ?1 ORDER BY offered_at_ms DESC, uuid DESC LIMIT ?2");
        self.read(move |db| rows::list(db, &select, (item.as_bytes(), rows::limit(limit)), offer)).await
    }

    async fn offers_of_auction(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<LotOffer>> {
        let select = format!("{OFFER} WHERE auction = ?1 ORDER BY offered_at_ms DESC, uuid DESC LIMIT ?2");
        self.read(move |db| rows::list(db, &select, (auction.as_bytes(), rows::limit(limit)), offer)).await
    }

    async fn offers_to(&self, registration: Uuid, limit: usize) -> StoreResult<Vec<LotOffer>> {
        let select = format!("{OFFER} WHERE registration = ?1 ORDER BY offered_at_ms DESC, uuid DESC LIMIT ?2");
        self.read(move |db| rows::list(db, &select, (registration.as_bytes(), rows::limit(limit)), offer)).await
    }

    async fn end_offer(&self, ended: EndedOffer) -> StoreResult<()> {
        self.write(move |db| {
            end(db, &ended)?;
            access_log::append(db, &ended.note)
        })
        .await
    }
}

/// Ends an offer, without its entry in the access log. `Conflict` when it is not open.
pub(super) fn end(db: &Connection, ended: &EndedOffer) -> SqlResult<()> {
    let update = "UPDATE lot_offers SET outcome = ?2, actor = ?3, ended_at_ms = ?4 WHERE uuid = ?1 AND outcome IS NULL";
    let EndedOffer { offer, end: OfferEnd { outcome, actor, at }, note: _ } = ended;
    match rows::execute(db, update, params![offer.as_bytes(), outcome.name(), actor, ms(*at)])? {
        1 => Ok(()),
        _ => Err(StoreError::Conflict.into()),
    }
}

/// Deletes the offers to an erased person's registration.
pub(super) fn erase(db: &Connection, registration: Uuid) -> SqlResult<()> {
    rows::execute(db, "DELETE FROM lot_offers WHERE registration = ?1", [registration.as_bytes()]).map(drop)
}

fn offer(row: &Row<'_>) -> SqlResult<LotOffer> {
    let (outcome, actor): (Option<String>, Option<String>) = (row.get(9)?, row.get(10)?);
    let ended = match (outcome, rows::optional_time(row, 11)?) {
        (Some(outcome), Some(at)) => {
            Some(OfferEnd { outcome: offer_outcome(&outcome)?, actor: actor.unwrap_or_default(), at })
        }
        _ => None,
    };
    Ok(LotOffer {
        uuid: rows::uuid(row, 0)?,
        auction: rows::uuid(row, 1)?,
        item: rows::uuid(row, 2)?,
        registration: rows::uuid(row, 3)?,
        amount: row.get(4)?,
        sequence: row.get(5)?,
        offered_by: row.get(6)?,
        offered_at: rows::time(row, 7)?,
        until: rows::time(row, 8)?,
        ended,
    })
}
