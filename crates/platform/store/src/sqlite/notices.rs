//! Notices to bidders: their causes, the notices, and the browsers that show them.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{
    ClaimedPush, NewMail, Notice, NoticeCause, NoticeStep, NoticeStore, OpenCause, PUSHES_WAITING_MAX,
    PushSubscription, StoreError, StoreResult,
};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{SqliteStore, mails};
use crate::codec::{corrupt, ms, notice_kind, to_json};

const NOTICE: &str = "SELECT uuid, account, auction, item, kind, facts, at_ms, seen_at_ms, mailed FROM bidder_notices";

#[async_trait]
impl NoticeStore for SqliteStore {
    async fn open_causes(&self, limit: usize) -> StoreResult<Vec<OpenCause>> {
        let select = "SELECT number, auction, what, at_ms, through FROM notice_causes ORDER BY number LIMIT ?1";
        self.read(move |db| rows::list(db, select, [rows::limit(limit)], cause)).await
    }

    async fn make_notices(&self, step: NoticeStep) -> StoreResult<()> {
        self.write(move |db| {
            advance(db, &step)?;
            step.notices.iter().try_for_each(|(notice, mail)| insert(db, notice, mail.as_ref()))?;
            mails::insert_unless_changed(db, &step.mails)
        })
        .await
    }

    async fn notices(&self, account: Uuid, after: Option<Uuid>, limit: usize) -> StoreResult<Vec<Notice>> {
        let select = format!("{NOTICE} WHERE account = ?1 AND uuid > ?2 ORDER BY uuid DESC LIMIT ?3");
        let after = after.unwrap_or_default();
        self.read(move |db| rows::list(db, &select, (account.as_bytes(), after.as_bytes(), rows::limit(limit)), notice))
            .await
    }

    async fn unseen_notices(&self, account: Uuid, counted_max: usize) -> StoreResult<(usize, Option<Uuid>)> {
        let count =
            "SELECT count(*) FROM (SELECT 1 FROM bidder_notices WHERE account = ?1 AND seen_at_ms IS NULL LIMIT ?2)";
        let latest = "SELECT uuid FROM bidder_notices WHERE account = ?1 ORDER BY uuid DESC LIMIT 1";
        self.read(move |db| {
            let unseen: i64 = db.query_row(count, (account.as_bytes(), rows::limit(counted_max)), |row| row.get(0))?;
            let latest = rows::one(db, latest, [account.as_bytes()], |row| rows::uuid(row, 0))?;
            Ok((usize::try_from(unseen).map_err(corrupt)?, latest))
        })
        .await
    }

    async fn notices_about(&self, account: Uuid, item: Uuid, limit: usize) -> StoreResult<Vec<Notice>> {
        let select = format!("{NOTICE} WHERE account = ?1 AND item = ?2 ORDER BY uuid DESC LIMIT ?3");
        self.read(move |db| rows::list(db, &select, (account.as_bytes(), item.as_bytes(), rows::limit(limit)), notice))
            .await
    }

    async fn see_notices(&self, account: Uuid, through: Uuid, at: Timestamp) -> StoreResult<()> {
        let update =
            "UPDATE bidder_notices SET seen_at_ms = ?3 WHERE account = ?1 AND uuid <= ?2 AND seen_at_ms IS NULL";
        self.write(move |db| rows::execute(db, update, (account.as_bytes(), through.as_bytes(), ms(at))).map(drop))
            .await
    }

    async fn paddles_on(&self, item: Uuid, after: &str, limit: usize) -> StoreResult<Vec<String>> {
        let select = "SELECT DISTINCT bidder FROM bids WHERE item = ?1 AND struck IS NULL AND bidder > ?2 \
             ORDER BY bidder LIMIT ?3";
        let after = after.to_owned();
        self.read(move |db| rows::list(db, select, (item.as_bytes(), after, rows::limit(limit)), |row| Ok(row.get(0)?)))
            .await
    }

    async fn accounts_watching(&self, item: Uuid, after: Uuid, limit: usize) -> StoreResult<Vec<Uuid>> {
        let select = "SELECT account FROM watched_items WHERE item = ?1 AND account > ?2 ORDER BY account LIMIT ?3";
        self.read(move |db| {
            let values = (item.as_bytes(), after.as_bytes(), rows::limit(limit));
            rows::list(db, select, values, |row| rows::uuid(row, 0))
        })
        .await
    }

    async fn put_push_subscription(&self, subscription: PushSubscription, subscriptions_max: usize) -> StoreResult<()> {
        let known = "DELETE FROM push_subscriptions WHERE endpoint = ?1 AND key = ?2 AND auth = ?3";
        let put = "INSERT INTO push_subscriptions (uuid, account, endpoint, key, auth, created_at_ms, session) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING";
        let too_many = "DELETE FROM push_subscriptions WHERE account = ?1 AND uuid NOT IN \
             (SELECT uuid FROM push_subscriptions WHERE account = ?1 ORDER BY uuid DESC LIMIT ?2)";
        self.write(move |db| {
            let PushSubscription { uuid, account, session, endpoint, key, auth, created_at } = &subscription;
            rows::execute(db, known, (endpoint, key, auth))?;
            let (uuid, account_bytes, session) = (uuid.as_bytes(), account.as_bytes(), session.as_bytes());
            let values = params![uuid, account_bytes, endpoint, key, auth, ms(*created_at), session];
            rows::execute(db, put, values)?;
            rows::execute(db, too_many, (account.as_bytes(), rows::limit(subscriptions_max))).map(drop)
        })
        .await
    }

    async fn push_subscriptions(&self, account: Uuid) -> StoreResult<Vec<PushSubscription>> {
        let select = "SELECT uuid, account, endpoint, key, auth, created_at_ms, session FROM push_subscriptions \
             WHERE account = ?1 AND EXISTS (SELECT 1 FROM bidder_sessions s WHERE s.uuid = session) ORDER BY uuid";
        self.read(move |db| rows::list(db, select, [account.as_bytes()], subscription)).await
    }

    async fn remove_push_subscription(&self, endpoint: &str) -> StoreResult<()> {
        let endpoint = endpoint.to_owned();
        self.write(move |db| remove_subscription(db, &endpoint)).await
    }

    async fn claim_pushes(&self, now: Timestamp, until: Timestamp, limit: usize) -> StoreResult<Vec<ClaimedPush>> {
        let claim = "UPDATE bidder_notices SET push_due_at_ms = ?2, push_tries = push_tries + 1 WHERE uuid IN \
             (SELECT uuid FROM bidder_notices WHERE push_due_at_ms <= ?1 ORDER BY push_due_at_ms LIMIT ?3) \
             RETURNING uuid, account, auction, item, kind, facts, at_ms, seen_at_ms, mailed, push_tries";
        self.write(move |db| rows::list(db, claim, (ms(now), ms(until), rows::limit(limit)), claimed)).await
    }

    async fn end_push(&self, notice: Uuid, again: Option<Timestamp>) -> StoreResult<()> {
        let update = "UPDATE bidder_notices SET push_due_at_ms = ?2 WHERE uuid = ?1 AND push_due_at_ms IS NOT NULL";
        self.write(move |db| rows::execute(db, update, (notice.as_bytes(), again.map(ms))).map(drop)).await
    }

    async fn delete_old_notices(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        let delete = "DELETE FROM bidder_notices WHERE uuid IN \
             (SELECT uuid FROM bidder_notices WHERE at_ms < ?1 ORDER BY at_ms LIMIT ?2)";
        self.write(move |db| rows::execute(db, delete, (ms(before), rows::limit(limit)))).await
    }
}

/// Inserts the causes of a commit.
pub(super) fn put_causes(db: &Connection, causes: &[NoticeCause]) -> SqlResult<()> {
    let insert = "INSERT INTO notice_causes (auction, what, at_ms) VALUES (?1, ?2, ?3)";
    for NoticeCause { auction, what, at } in causes {
        db.prepare_cached(insert)?.execute(params![auction.as_bytes(), to_json(what)?, ms(*at)])?;
    }
    Ok(())
}

/// `Conflict` when the cause went on or ended meanwhile.
fn advance(db: &Connection, step: &NoticeStep) -> SqlResult<()> {
    let OpenCause { number, through, .. } = &step.cause;
    let written = match &step.through {
        Some(next) => {
            let update = "UPDATE notice_causes SET through = ?3 WHERE number = ?1 AND through = ?2";
            rows::execute(db, update, (number, through, next))?
        }
        None => rows::execute(db, "DELETE FROM notice_causes WHERE number = ?1 AND through = ?2", (number, through))?,
    };
    if written == 1 { Ok(()) } else { Err(StoreError::Conflict.into()) }
}

fn insert(db: &Connection, notice: &Notice, mail: Option<&NewMail>) -> SqlResult<()> {
    let insert = "INSERT INTO bidder_notices (uuid, account, auction, item, kind, facts, at_ms, mailed, push_due_at_ms) \
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, \
         CASE WHEN EXISTS (SELECT 1 FROM push_subscriptions WHERE account = ?2) AND (SELECT count(*) FROM bidder_notices \
         WHERE account = ?2 AND push_due_at_ms IS NOT NULL) < ?9 THEN ?7 END \
         WHERE EXISTS (SELECT 1 FROM bidder_accounts WHERE uuid = ?2 AND closed_at_ms IS NULL)";
    let Notice { uuid, account, auction, item, kind, facts, at, seen_at: _, is_mailed } = notice;
    let item = item.as_ref().map(Uuid::as_bytes);
    let (kind, facts) = (kind.name(), to_json(facts)?);
    let (uuid, account, auction) = (uuid.as_bytes(), account.as_bytes(), auction.as_bytes());
    let values = params![uuid, account, auction, item, kind, facts, ms(*at), is_mailed, PUSHES_WAITING_MAX];
    let written = rows::execute(db, insert, values)?;
    match mail.filter(|_| written == 1) {
        Some(mail) => mails::insert(db, mail),
        None => Ok(()),
    }
}

fn remove_subscription(db: &Connection, endpoint: &str) -> SqlResult<()> {
    rows::execute(db, "DELETE FROM push_subscriptions WHERE endpoint = ?1", [endpoint]).map(drop)
}

fn cause(row: &Row<'_>) -> SqlResult<OpenCause> {
    let cause = NoticeCause { auction: rows::uuid(row, 1)?, what: rows::json(row, 2)?, at: rows::time(row, 3)? };
    Ok(OpenCause { number: row.get(0)?, cause, through: row.get(4)? })
}

fn notice(row: &Row<'_>) -> SqlResult<Notice> {
    let item: Option<[u8; 16]> = row.get(3)?;
    Ok(Notice {
        uuid: rows::uuid(row, 0)?,
        account: rows::uuid(row, 1)?,
        auction: rows::uuid(row, 2)?,
        item: item.map(Uuid::from_bytes),
        kind: notice_kind(rows::text(row, 4)?)?,
        facts: rows::json(row, 5)?,
        at: rows::time(row, 6)?,
        seen_at: rows::optional_time(row, 7)?,
        is_mailed: row.get(8)?,
    })
}

fn claimed(row: &Row<'_>) -> SqlResult<ClaimedPush> {
    let tries: i64 = row.get(9)?;
    Ok(ClaimedPush { notice: notice(row)?, tries: u32::try_from(tries).map_err(corrupt)? })
}

fn subscription(row: &Row<'_>) -> SqlResult<PushSubscription> {
    Ok(PushSubscription {
        uuid: rows::uuid(row, 0)?,
        account: rows::uuid(row, 1)?,
        endpoint: row.get(2)?,
        key: row.get(3)?,
        auth: row.get(4)?,
        created_at: rows::time(row, 5)?,
        session: rows::uuid(row, 6)?,
    })
}
