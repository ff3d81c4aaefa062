//! Offers of lots that did not sell, each to one bidder.

use std::collections::HashSet;

use async_trait::async_trait;
use kit_engine::postgres::Transaction;
use platform_core::port::{
    Change, EndedOffer, LotOffer, LotOfferStore, NoticeCause, OfferEnd, StoreError, StoreResult,
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{PostgresStore, access_log, notices};
use crate::codec::{ms, offer_outcome};

const OFFER: &str = "SELECT uuid, auction, item, registration, amount, sequence, offered_by, offered_at_ms, until_ms, outcome, actor, \
     ended_at_ms FROM lot_offers";

#[async_trait]
impl LotOfferStore for PostgresStore {
    async fn put_offer(
        &self,
        offer: LotOffer,
        lapsed: Option<Uuid>,
        cause: Option<NoticeCause>,
        note: String,
    ) -> StoreResult<()> {
        self.write(&(offer, lapsed, cause, note), |db, (offer, lapsed, cause, note)| {
            Box::pin(async move {
                put(db, offer, *lapsed).await?;
                notices::put_causes(db, &cause.iter().collect::<Vec<_>>()).await?;
                access_log::append(db, note).await
            })
        })
        .await
    }

    async fn lot_offer(&self, uuid: Uuid) -> StoreResult<Option<LotOffer>> {
        let select = format!("{OFFER} WHERE uuid = $1");
        Ok(rows::one(&self.client().await?, &select, &[&uuid], offer).await?)
    }

    async fn offers_of_item(&self, item: Uuid, limit: usize) -> StoreResult<Vec<LotOffer>> {
        let select = format!("{OFFER} WHERE item = $1 ORDER BY offered_at_ms DESC, uuid DESC LIMIT $2");
        Ok(rows::list(&self.client().await?, &select, &[&item, &rows::limit(limit)], offer).await?)
    }

    async fn offers_of_auction(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<LotOffer>> {
        let select = format!("{OFFER} WHERE auction = $1 ORDER BY offered_at_ms DESC, uuid DESC LIMIT $2");
        Ok(rows::list(&self.client().await?, &select, &[&auction, &rows::limit(limit)], offer).await?)
    }

    async fn offers_to(&self, registration: Uuid, limit: usize) -> StoreResult<Vec<LotOffer>> {
        let select = format!("{OFFER} WHERE registration = $1 ORDER BY offered_at_ms DESC, uuid DESC LIMIT $2");
        Ok(rows::list(&self.client().await?, &select, &[&registration, &rows::limit(limit)], offer).await?)
    }

    async fn end_offer(&self, ended: EndedOffer) -> StoreResult<()> {
        self.write(&ended, |db, ended| {
            Box::pin(async move {
                end(db, ended).await?;
                access_log::append(db, &ended.note).await
            })
        })
        .await
    }
}

async fn put(db: &Transaction<'_>, offer: &LotOffer, lapsed: Option<Uuid>) -> SqlResult<()> {
    let LotOffer { uuid, auction, item, registration, amount, sequence, offered_by, offered_at, until, .. } = offer;
    if let Some(lapsed) = lapsed {
        let lapse = "UPDATE lot_offers SET outcome = 'lapsed', actor = $2, ended_at_ms = $3 WHERE uuid = $1 AND outcome IS NULL";
        rows::execute(db, lapse, &[&lapsed, offered_by, &ms(*offered_at)]).await?;
    }
    let insert = "INSERT INTO lot_offers (uuid, auction, item, registration, amount, sequence, offered_by, offered_at_ms, until_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";
    let values: rows::Values<'_> =
        &[uuid, auction, item, registration, amount, sequence, offered_by, &ms(*offered_at), &ms(*until)];
    match rows::execute(db, insert, values).await? {
        1 => Ok(()),
        _ => Err(StoreError::Taken("offer").into()),
    }
}

async fn end(db: &Transaction<'_>, ended: &EndedOffer) -> SqlResult<()> {
    let update = "UPDATE lot_offers SET outcome = $2, actor = $3, ended_at_ms = $4 WHERE uuid = $1 AND outcome IS NULL";
    let EndedOffer { offer, end: OfferEnd { outcome, actor, at }, note: _ } = ended;
    match rows::execute(db, update, &[offer, &outcome.name(), actor, &ms(*at)]).await? {
        1 => Ok(()),
        _ => Err(StoreError::Conflict.into()),
    }
}

/// Locks the offers that the changes accept; returns those that are open.
pub(super) async fn lock(db: &Transaction<'_>, changes: &[&Change]) -> SqlResult<HashSet<Uuid>> {
    let wanted: Vec<Uuid> = changes.iter().filter_map(|change| Some(change.accepted_offer.as_ref()?.offer)).collect();
    if wanted.is_empty() {
        return Ok(HashSet::new());
    }
    let lock = "SELECT uuid FROM lot_offers WHERE uuid = ANY($1) AND outcome IS NULL ORDER BY uuid FOR UPDATE";
    let found = rows::list(db, lock, &[&wanted], |row| rows::get(row, 0)).await?;
    Ok(found.into_iter().collect())
}

/// Ends the offers that the changes accept, with their entries in the access log. They are locked and open.
pub(super) async fn accept(db: &Transaction<'_>, changes: &[&Change]) -> SqlResult<()> {
    for accepted in changes.iter().filter_map(|change| change.accepted_offer.as_ref()) {
        end(db, accepted).await?;
        access_log::append(db, &accepted.note).await?;
    }
    Ok(())
}

/// Deletes the offers to an erased person's registration.
pub(super) async fn erase(db: &Transaction<'_>, registration: Uuid) -> SqlResult<()> {
    rows::execute(db, "DELETE FROM lot_offers WHERE registration = $1", &[&registration]).await.map(drop)
}

fn offer(row: &Row) -> SqlResult<LotOffer> {
    let (outcome, actor): (Option<String>, Option<String>) = (rows::get(row, 9)?, rows::get(row, 10)?);
    let ended = match (outcome, rows::optional_time(row, 11)?) {
        (Some(outcome), Some(at)) => {
            Some(OfferEnd { outcome: offer_outcome(&outcome)?, actor: actor.unwrap_or_default(), at })
        }
        _ => None,
    };
    Ok(LotOffer {
        uuid: rows::get(row, 0)?,
        auction: rows::get(row, 1)?,
        item: rows::get(row, 2)?,
        registration: rows::get(row, 3)?,
        amount: rows::get(row, 4)?,
        sequence: rows::get(row, 5)?,
        offered_by: rows::get(row, 6)?,
        offered_at: rows::time(row, 7)?,
        until: rows::time(row, 8)?,
        ended,
    })
}
