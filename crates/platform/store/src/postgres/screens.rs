//! Links and exchange rates of the screens of webcasts.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::Scope;
use platform_core::port::{Digest, GuideRate, Predecessor, ScreenKind, ScreenLink, ScreenStore, StoreResult};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{PostgresStore, users};
use crate::codec::{corrupt, ms};

const LINK: &str = "SELECT uuid, auction, kind, hash, created_at_ms, created_by, expires_at_ms, last_used_at_ms, \
     previous_hash, previous_until_ms, shows_reserve FROM screen_links";

#[async_trait]
impl ScreenStore for PostgresStore {
    async fn screen_links(&self, auction: Uuid) -> StoreResult<Vec<ScreenLink>> {
        let select = format!("{LINK} WHERE auction = $1 ORDER BY kind");
        Ok(rows::list(&self.client().await?, &select, &[&auction], link).await?)
    }

    async fn screen_links_by(&self, creator: &str) -> StoreResult<Vec<ScreenLink>> {
        let select = format!("{LINK} WHERE created_by = $1 ORDER BY auction, kind");
        Ok(rows::list(&self.client().await?, &select, &[&creator], link).await?)
    }

    async fn screen_link_by_hash(&self, hash: Digest) -> StoreResult<Option<ScreenLink>> {
        let select = format!("{LINK} WHERE hash = $1 OR previous_hash = $1");
        Ok(rows::one(&self.client().await?, &select, &[&hash.as_slice()], link).await?)
    }

    async fn touch_screen_link(&self, hash: Digest, at: Timestamp) -> StoreResult<()> {
        let update = "UPDATE screen_links SET last_used_at_ms = $2, previous_hash = NULL, previous_until_ms = NULL \
             WHERE hash = $1";
        rows::execute(&self.client().await?, update, &[&hash.as_slice(), &ms(at)]).await?;
        Ok(())
    }

    async fn guide_rates(&self, auction: Uuid) -> StoreResult<Vec<GuideRate>> {
        let select =
            "SELECT currency, rate_millionths, rate_date FROM guide_rates WHERE auction = $1 ORDER BY currency";
        Ok(rows::list(&self.client().await?, select, &[&auction], rate).await?)
    }

    async fn put_guide_rate(&self, auction: Uuid, rate: GuideRate, rates_max: usize) -> StoreResult<bool> {
        let put = (auction, rate, rows::limit(rates_max));
        self.write(&put, |db, put| Box::pin(put_rate(db, put))).await
    }

    async fn remove_guide_rate(&self, auction: Uuid, currency: &str) -> StoreResult<bool> {
        let delete = "DELETE FROM guide_rates WHERE auction = $1 AND currency = $2";
        Ok(rows::execute(&self.client().await?, delete, &[&auction, &currency]).await? == 1)
    }
}

async fn put_rate(db: &Transaction<'_>, (auction, rate, rates_max): &(Uuid, GuideRate, i64)) -> SqlResult<bool> {
    // Concurrent rates of this auction wait for this lock, so that each counts the earlier rates.
    rows::execute(db, "SELECT 1 FROM auctions WHERE uuid = $1 FOR NO KEY UPDATE", &[auction]).await?;
    let upsert = "INSERT INTO guide_rates (auction, currency, rate_millionths, rate_date) \
         SELECT $1::uuid, $2::text, $3::bigint, $4::text \
         WHERE (SELECT count(*) FROM guide_rates WHERE auction = $1 AND currency <> $2) < $5 \
         ON CONFLICT (auction, currency) DO UPDATE SET \
         rate_millionths = excluded.rate_millionths, rate_date = excluded.rate_date";
    let values: rows::Values<'_> = &[auction, &rate.currency, &rate.millionths, &rate.date.to_string(), rates_max];
    Ok(rows::execute(db, upsert, values).await? == 1)
}

fn link(row: &Row) -> SqlResult<ScreenLink> {
    Ok(ScreenLink {
        uuid: rows::get(row, 0)?,
        auction: rows::get(row, 1)?,
        kind: ScreenKind::parse(rows::get(row, 2)?).ok_or_else(|| corrupt("a screen link has an unknown kind"))?,
        shows_reserve: rows::get(row, 10)?,
        hash: rows::get::<&[u8]>(row, 3)?.try_into().map_err(corrupt)?,
        created_at: rows::time(row, 4)?,
        created_by: rows::get(row, 5)?,
        expires_at: rows::time(row, 6)?,
        last_used_at: rows::optional_time(row, 7)?,
        predecessor: match (rows::get::<Option<&[u8]>>(row, 8)?, rows::optional_time(row, 9)?) {
            (Some(hash), Some(until)) => Some(Predecessor { hash: hash.try_into().map_err(corrupt)?, until }),
            _ => None,
        },
    })
}

fn rate(row: &Row) -> SqlResult<GuideRate> {
    let date = rows::get::<&str>(row, 2)?.parse().map_err(corrupt)?;
    Ok(GuideRate { currency: rows::get(row, 0)?, millionths: rows::get(row, 1)?, date })
}

/// Replaces or ends the links that a user made.
pub(super) async fn end_links_of(db: &Transaction<'_>, creator: &str, replaced: &[ScreenLink]) -> SqlResult<()> {
    let replace = "UPDATE screen_links SET uuid = $1, hash = $2, created_at_ms = $3, created_by = $4, \
         last_used_at_ms = NULL, previous_hash = $5, previous_until_ms = $6 \
         WHERE auction = $7 AND kind = $8 AND created_by = $9 AND hash = $5";
    for link in replaced {
        let Some(predecessor) = &link.predecessor else { continue };
        let values: rows::Values<'_> = &[
            &link.uuid,
            &link.hash.as_slice(),
            &ms(link.created_at),
            &link.created_by,
            &predecessor.hash.as_slice(),
            &ms(predecessor.until),
            &link.auction,
            &link.kind.name(),
            &creator,
        ];
        rows::execute(db, replace, values).await?;
    }
    // The statements above gave the replaced links another maker, so this statement does not delete them.
    rows::execute(db, "DELETE FROM screen_links WHERE created_by = $1", &[&creator]).await.map(drop)
}

/// Creates a link, or replaces the existing link of the screen.
pub(super) async fn put_link(db: &Transaction<'_>, link: &ScreenLink) -> SqlResult<()> {
    users::require_maker(db, &link.created_by, Scope::RingWrite).await?;
    let upsert = "INSERT INTO screen_links \
         (uuid, auction, kind, hash, created_at_ms, created_by, expires_at_ms, last_used_at_ms, shows_reserve) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (auction, kind) DO UPDATE SET \
         uuid = excluded.uuid, hash = excluded.hash, created_at_ms = excluded.created_at_ms, \
         created_by = excluded.created_by, expires_at_ms = excluded.expires_at_ms, \
         last_used_at_ms = excluded.last_used_at_ms, shows_reserve = excluded.shows_reserve";
    let values: rows::Values<'_> = &[
        &link.uuid,
        &link.auction,
        &link.kind.name(),
        &link.hash.as_slice(),
        &ms(link.created_at),
        &link.created_by,
        &ms(link.expires_at),
        &link.last_used_at.map(ms),
        &link.shows_reserve,
    ];
    rows::execute(db, upsert, values).await.map(drop)
}

/// False when the link does not exist.
pub(super) async fn revoke_link(db: &impl Connection, auction: Uuid, kind: ScreenKind) -> SqlResult<bool> {
    let delete = "DELETE FROM screen_links WHERE auction = $1 AND kind = $2";
    Ok(rows::execute(db, delete, &[&auction, &kind.name()]).await? == 1)
}
