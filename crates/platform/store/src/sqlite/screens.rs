//! Links and exchange rates of the screens of webcasts.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{Digest, GuideRate, ScreenKind, ScreenLink, ScreenStore, StoreResult};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult};
use crate::codec::{corrupt, ms};

const LINK: &str =
    "SELECT uuid, auction, kind, hash, created_at_ms, created_by, expires_at_ms, last_used_at_ms FROM screen_links";

#[async_trait]
impl ScreenStore for SqliteStore {
    async fn screen_links(&self, auction: Uuid) -> StoreResult<Vec<ScreenLink>> {
        let select = format!("{LINK} WHERE auction = ?1 ORDER BY kind");
        self.read(move |db| rows::list(db, &select, [auction.as_bytes()], link)).await
    }

    async fn screen_link_by_hash(&self, hash: Digest) -> StoreResult<Option<ScreenLink>> {
        let select = format!("{LINK} WHERE hash = ?1");
        self.read(move |db| rows::one(db, &select, [hash], link)).await
    }

    async fn touch_screen_link(&self, hash: Digest, at: Timestamp) -> StoreResult<()> {
        let update = "UPDATE screen_links SET last_used_at_ms = ?2 WHERE hash = ?1";
        self.write(move |db| rows::execute(db, update, (hash, ms(at))).map(drop)).await
    }

    async fn guide_rates(&self, auction: Uuid) -> StoreResult<Vec<GuideRate>> {
        let select =
            "SELECT currency, rate_millionths, rate_date FROM guide_rates WHERE auction = ?1 ORDER BY currency";
        self.read(move |db| rows::list(db, select, [auction.as_bytes()], rate)).await
    }

    async fn put_guide_rate(&self, auction: Uuid, rate: GuideRate, rates_max: usize) -> StoreResult<bool> {
        let upsert = "INSERT INTO guide_rates (auction, currency, rate_millionths, rate_date) \
             SELECT ?1, ?2, ?3, ?4 WHERE (SELECT count(*) FROM guide_rates WHERE auction = ?1 AND currency <> ?2) < ?5 \
             ON CONFLICT (auction, currency) DO UPDATE SET \
             rate_millionths = excluded.rate_millionths, rate_date = excluded.rate_date";
        let (date, rates_max) = (rate.date.to_string(), rows::limit(rates_max));
        self.write(move |db| {
            let values = params![auction.as_bytes(), rate.currency, rate.millionths, date, rates_max];
            Ok(rows::execute(db, upsert, values)? == 1)
        })
        .await
    }

    async fn remove_guide_rate(&self, auction: Uuid, currency: &str) -> StoreResult<bool> {
        let (delete, currency) = ("DELETE FROM guide_rates WHERE auction = ?1 AND currency = ?2", currency.to_owned());
        self.write(move |db| Ok(rows::execute(db, delete, (auction.as_bytes(), &currency))? == 1)).await
    }
}

fn link(row: &Row<'_>) -> SqlResult<ScreenLink> {
    Ok(ScreenLink {
        uuid: rows::uuid(row, 0)?,
        auction: rows::uuid(row, 1)?,
        kind: ScreenKind::parse(rows::text(row, 2)?).ok_or_else(|| corrupt("a screen of an unknown kind"))?,
        hash: row.get(3)?,
        created_at: rows::time(row, 4)?,
        created_by: row.get(5)?,
        expires_at: rows::time(row, 6)?,
        last_used_at: rows::optional_time(row, 7)?,
    })
}

fn rate(row: &Row<'_>) -> SqlResult<GuideRate> {
    let date = rows::text(row, 2)?.parse().map_err(corrupt)?;
    Ok(GuideRate { currency: row.get(0)?, millionths: row.get(1)?, date })
}

/// Creates a link in place of the one before.
pub(super) fn put_link(db: &Connection, link: &ScreenLink) -> SqlResult<()> {
    let insert = "INSERT OR REPLACE INTO screen_links \
         (uuid, auction, kind, hash, created_at_ms, created_by, expires_at_ms, last_used_at_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let values = params![
        link.uuid.as_bytes(),
        link.auction.as_bytes(),
        link.kind.name(),
        link.hash,
        ms(link.created_at),
        link.created_by,
        ms(link.expires_at),
        link.last_used_at.map(ms)
    ];
    rows::execute(db, insert, values).map(drop)
}

/// False when there was no such link.
pub(super) fn revoke_link(db: &Connection, auction: Uuid, kind: ScreenKind) -> SqlResult<bool> {
    let delete = "DELETE FROM screen_links WHERE auction = ?1 AND kind = ?2";
    Ok(rows::execute(db, delete, (auction.as_bytes(), kind.name()))? == 1)
}
