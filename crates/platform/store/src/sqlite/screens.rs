//! Links and exchange rates of the screens of webcasts.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::Scope;
use platform_core::port::{Digest, GuideRate, Predecessor, ScreenKind, ScreenLink, ScreenStore, StoreResult};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{SqliteStore, users};
use crate::codec::{corrupt, ms};

const LINK: &str = "SELECT uuid, auction, kind, hash, created_at_ms, created_by, expires_at_ms, last_used_at_ms, \
     previous_hash, previous_until_ms, shows_reserve FROM screen_links";

#[async_trait]
impl ScreenStore for SqliteStore {
    async fn screen_links(&self, auction: Uuid) -> StoreResult<Vec<ScreenLink>> {
        let select = format!("{LINK} WHERE auction = ?1 ORDER BY kind");
        self.read(move |db| rows::list(db, &select, [auction.as_bytes()], link)).await
    }

    async fn screen_links_by(&self, creator: &str) -> StoreResult<Vec<ScreenLink>> {
        let select = format!("{LINK} WHERE created_by = ?1 ORDER BY auction, kind");
        let creator = creator.to_owned();
        self.read(move |db| rows::list(db, &select, [creator], link)).await
    }

    async fn screen_link_by_hash(&self, hash: Digest) -> StoreResult<Option<ScreenLink>> {
        let select = format!("{LINK} WHERE hash = ?1 OR previous_hash = ?1");
        self.read(move |db| rows::one(db, &select, [hash], link)).await
    }

    async fn touch_screen_link(&self, hash: Digest, at: Timestamp) -> StoreResult<()> {
        let update = "UPDATE screen_links SET last_used_at_ms = ?2, previous_hash = NULL, previous_until_ms = NULL \
             WHERE hash = ?1";
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
        let date = rate.date.to_string();
        let rates_max = rows::limit(rates_max);
        self.write(move |db| {
            let values = params![auction.as_bytes(), rate.currency, rate.millionths, date, rates_max];
            Ok(rows::execute(db, upsert, values)? == 1)
        })
        .await
    }

    async fn remove_guide_rate(&self, auction: Uuid, currency: &str) -> StoreResult<bool> {
        let delete = "DELETE FROM guide_rates WHERE auction = ?1 AND currency = ?2";
        let currency = currency.to_owned();
        self.write(move |db| Ok(rows::execute(db, delete, (auction.as_bytes(), &currency))? == 1)).await
    }
}

fn link(row: &Row<'_>) -> SqlResult<ScreenLink> {
    Ok(ScreenLink {
        uuid: rows::uuid(row, 0)?,
        auction: rows::uuid(row, 1)?,
        kind: ScreenKind::parse(rows::text(row, 2)?).ok_or_else(|| corrupt("a screen link has an unknown kind"))?,
        shows_reserve: row.get(10)?,
        hash: row.get(3)?,
        created_at: rows::time(row, 4)?,
        created_by: row.get(5)?,
        expires_at: rows::time(row, 6)?,
        last_used_at: rows::optional_time(row, 7)?,
        predecessor: match (row.get::<_, Option<Digest>>(8)?, rows::optional_time(row, 9)?) {
            (Some(hash), Some(until)) => Some(Predecessor { hash, until }),
            _ => None,
        },
    })
}

fn rate(row: &Row<'_>) -> SqlResult<GuideRate> {
    let date = rows::text(row, 2)?.parse().map_err(corrupt)?;
    Ok(GuideRate { currency: row.get(0)?, millionths: row.get(1)?, date })
}

/// Replaces or ends the links that a user made.
pub(super) fn end_links_of(db: &Connection, creator: &str, replaced: &[ScreenLink]) -> SqlResult<()> {
    let replace = "UPDATE screen_links SET uuid = ?1, hash = ?2, created_at_ms = ?3, created_by = ?4, \
         last_used_at_ms = NULL, previous_hash = ?5, previous_until_ms = ?6 \
         WHERE auction = ?7 AND kind = ?8 AND created_by = ?9 AND hash = ?5";
    for link in replaced {
        let Some(predecessor) = &link.predecessor else { continue };
        let values = params![
            link.uuid.as_bytes(),
            link.hash,
            ms(link.created_at),
            link.created_by,
            predecessor.hash,
            ms(predecessor.until),
            link.auction.as_bytes(),
            link.kind.name(),
            creator
        ];
        rows::execute(db, replace, values)?;
    }
    // The statements above gave the replaced links another maker, so this statement does not delete them.
    rows::execute(db, "DELETE FROM screen_links WHERE created_by = ?1", [creator]).map(drop)
}

/// Creates a link, or replaces the existing link of the screen.
pub(super) fn put_link(db: &Connection, link: &ScreenLink) -> SqlResult<()> {
    users::require_maker(db, &link.created_by, Scope::RingWrite)?;
    let insert = "INSERT OR REPLACE INTO screen_links \
         (uuid, auction, kind, hash, created_at_ms, created_by, expires_at_ms, last_used_at_ms, shows_reserve) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let values = params![
        link.uuid.as_bytes(),
        link.auction.as_bytes(),
        link.kind.name(),
        link.hash,
        ms(link.created_at),
        link.created_by,
        ms(link.expires_at),
        link.last_used_at.map(ms),
        link.shows_reserve
    ];
    rows::execute(db, insert, values).map(drop)
}

/// False when the link does not exist.
pub(super) fn revoke_link(db: &Connection, auction: Uuid, kind: ScreenKind) -> SqlResult<bool> {
    let delete = "DELETE FROM screen_links WHERE auction = ?1 AND kind = ?2";
    Ok(rows::execute(db, delete, (auction.as_bytes(), kind.name()))? == 1)
}
