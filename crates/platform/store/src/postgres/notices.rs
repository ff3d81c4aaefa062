//! Notices to bidders: their causes, the notices, and the browsers that show them.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::port::{
    ClaimedPush, NewMail, Notice, NoticeCause, NoticeStep, NoticeStore, OpenCause, PUSHES_WAITING_MAX,
    PushSubscription, StoreError, StoreResult,
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{PostgresStore, mails};
use crate::codec::{corrupt, ms, notice_kind, to_json};

const NOTICE: &str = "SELECT uuid, account, auction, item, kind, facts, at_ms, seen_at_ms, mailed FROM bidder_notices";

#[async_trait]
impl NoticeStore for PostgresStore {
    async fn open_causes(&self, limit: usize) -> StoreResult<Vec<OpenCause>> {
        let select = "SELECT number, auction, what, at_ms, through FROM notice_causes ORDER BY number LIMIT $1";
        Ok(rows::list(&self.client().await?, select, &[&rows::limit(limit)], cause).await?)
    }

    async fn make_notices(&self, step: NoticeStep) -> StoreResult<()> {
        self.write(&step, |db, step| {
            Box::pin(async move {
                advance(db, step).await?;
                for (notice, mail) in &step.notices {
                    insert(db, notice, mail.as_ref()).await?;
                }
                mails::insert_unless_changed(db, &step.mails).await
            })
        })
        .await
    }

    async fn notices(&self, account: Uuid, after: Option<Uuid>, limit: usize) -> StoreResult<Vec<Notice>> {
        let select = format!("{NOTICE} WHERE account = $1 AND uuid > $2 ORDER BY uuid DESC LIMIT $3");
        let values: rows::Values<'_> = &[&account, &after.unwrap_or_default(), &rows::limit(limit)];
        Ok(rows::list(&self.client().await?, &select, values, notice).await?)
    }

    async fn unseen_notices(&self, account: Uuid, counted_max: usize) -> StoreResult<(usize, Option<Uuid>)> {
        let select = "SELECT (SELECT count(*) FROM (SELECT 1 FROM bidder_notices WHERE account = $1 AND seen_at_ms IS NULL \
             LIMIT $2) unseen), (SELECT uuid FROM bidder_notices WHERE account = $1 ORDER BY uuid DESC LIMIT 1)";
        let found = |row: &Row| Ok((rows::get::<i64>(row, 0)?, rows::get(row, 1)?));
        let values: rows::Values<'_> = &[&account, &rows::limit(counted_max)];
        let found = rows::one(&self.client().await?, select, values, found).await?;
        let (unseen, latest) = found.unwrap_or_default();
        Ok((usize::try_from(unseen).map_err(corrupt)?, latest))
    }

    async fn notices_about(&self, account: Uuid, item: Uuid, limit: usize) -> StoreResult<Vec<Notice>> {
        let select = format!("{NOTICE} WHERE account = $1 AND item = $2 ORDER BY uuid DESC LIMIT $3");
        Ok(rows::list(&self.client().await?, &select, &[&account, &item, &rows::limit(limit)], notice).await?)
    }

    async fn see_notices(&self, account: Uuid, through: Uuid, at: Timestamp) -> StoreResult<()> {
        let update =
            "UPDATE bidder_notices SET seen_at_ms = $3 WHERE account = $1 AND uuid <= $2 AND seen_at_ms IS NULL";
        Ok(rows::execute(&self.client().await?, update, &[&account, &through, &ms(at)]).await.map(drop)?)
    }

    async fn paddles_on(&self, item: Uuid, after: &str, limit: usize) -> StoreResult<Vec<String>> {
        let select = "SELECT DISTINCT bidder COLLATE \"C\" AS paddle FROM bids WHERE item = $1 AND struck IS NULL \
             AND bidder COLLATE \"C\" > $2 ORDER BY paddle LIMIT $3";
        let values: rows::Values<'_> = &[&item, &after, &rows::limit(limit)];
        Ok(rows::list(&self.client().await?, select, values, |row| rows::get(row, 0)).await?)
    }

    async fn accounts_watching(&self, item: Uuid, after: Uuid, limit: usize) -> StoreResult<Vec<Uuid>> {
        let select = "SELECT account FROM watched_items WHERE item = $1 AND account > $2 ORDER BY account LIMIT $3";
        let values: rows::Values<'_> = &[&item, &after, &rows::limit(limit)];
        Ok(rows::list(&self.client().await?, select, values, |row| rows::get(row, 0)).await?)
    }

    async fn put_push_subscription(&self, subscription: PushSubscription, subscriptions_max: usize) -> StoreResult<()> {
        self.write(&(subscription, subscriptions_max), |db, (subscription, subscriptions_max)| {
            Box::pin(put_subscription(db, subscription, *subscriptions_max))
        })
        .await
    }

    async fn push_subscriptions(&self, account: Uuid) -> StoreResult<Vec<PushSubscription>> {
        let select = "SELECT uuid, account, endpoint, key, auth, created_at_ms, session FROM push_subscriptions \
             WHERE account = $1 AND EXISTS (SELECT 1 FROM bidder_sessions s WHERE s.uuid = session) ORDER BY uuid";
        Ok(rows::list(&self.client().await?, select, &[&account], subscription).await?)
    }

    async fn remove_push_subscription(&self, endpoint: &str) -> StoreResult<()> {
        let delete = "DELETE FROM push_subscriptions WHERE endpoint = $1";
        Ok(rows::execute(&self.client().await?, delete, &[&endpoint]).await.map(drop)?)
    }

    async fn claim_pushes(&self, now: Timestamp, until: Timestamp, limit: usize) -> StoreResult<Vec<ClaimedPush>> {
        let claim = "UPDATE bidder_notices SET push_due_at_ms = $2, push_tries = push_tries + 1 WHERE uuid IN \
             (SELECT uuid FROM bidder_notices WHERE push_due_at_ms <= $1 ORDER BY push_due_at_ms LIMIT $3 \
             FOR UPDATE SKIP LOCKED) \
             RETURNING uuid, account, auction, item, kind, facts, at_ms, seen_at_ms, mailed, push_tries";
        let values: rows::Values<'_> = &[&ms(now), &ms(until), &rows::limit(limit)];
        Ok(rows::list(&self.client().await?, claim, values, claimed).await?)
    }

    async fn end_push(&self, notice: Uuid, again: Option<Timestamp>) -> StoreResult<()> {
        let update = "UPDATE bidder_notices SET push_due_at_ms = $2 WHERE uuid = $1 AND push_due_at_ms IS NOT NULL";
        Ok(rows::execute(&self.client().await?, update, &[&notice, &again.map(ms)]).await.map(drop)?)
    }

    async fn delete_old_notices(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        let delete = "DELETE FROM bidder_notices WHERE uuid IN \
             (SELECT uuid FROM bidder_notices WHERE at_ms < $1 ORDER BY at_ms LIMIT $2)";
        let deleted = rows::execute(&self.client().await?, delete, &[&ms(before), &rows::limit(limit)]).await?;
        Ok(usize::try_from(deleted).unwrap_or(usize::MAX))
    }
}

/// Inserts the causes of a commit.
pub(super) async fn put_causes(db: &impl Connection, causes: &[&NoticeCause]) -> SqlResult<()> {
    if causes.is_empty() {
        return Ok(());
    }
    let auctions: Vec<Uuid> = causes.iter().map(|cause| cause.auction).collect();
    let whats: Vec<String> = causes.iter().map(|cause| to_json(&cause.what)).collect::<StoreResult<_>>()?;
    let times: Vec<i64> = causes.iter().map(|cause| ms(cause.at)).collect();
    let insert = "INSERT INTO notice_causes (auction, what, at_ms) \
         SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[])";
    rows::execute(db, insert, &[&auctions, &whats, &times]).await.map(drop)
}

/// `Conflict` when the cause went on or ended meanwhile.
async fn advance(db: &Transaction<'_>, step: &NoticeStep) -> SqlResult<()> {
    let OpenCause { number, through, .. } = &step.cause;
    let written = match &step.through {
        Some(next) => {
            let update = "UPDATE notice_causes SET through = $3 WHERE number = $1 AND through = $2";
            rows::execute(db, update, &[number, through, next]).await?
        }
        None => {
            let delete = "DELETE FROM notice_causes WHERE number = $1 AND through = $2";
            rows::execute(db, delete, &[number, through]).await?
        }
    };
    if written == 1 { Ok(()) } else { Err(StoreError::Conflict.into()) }
}

/// The lock makes a change of the account, which deletes its notices when it is closed, wait for this transaction.
async fn insert(db: &Transaction<'_>, notice: &Notice, mail: Option<&NewMail>) -> SqlResult<()> {
    let Notice { uuid, account, auction, item, kind, facts, at, seen_at: _, is_mailed } = notice;
    let lock = "SELECT 1 FROM bidder_accounts WHERE uuid = $1 AND closed_at_ms IS NULL FOR SHARE";
    if rows::one(db, lock, &[account], |_| Ok(())).await?.is_none() {
        return Ok(());
    }
    let insert = "INSERT INTO bidder_notices (uuid, account, auction, item, kind, facts, at_ms, mailed, push_due_at_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7::bigint, $8, \
         CASE WHEN EXISTS (SELECT 1 FROM push_subscriptions WHERE account = $2) AND (SELECT count(*) FROM bidder_notices \
         WHERE account = $2 AND push_due_at_ms IS NOT NULL) < $9 THEN $7::bigint END)";
    let values: rows::Values<'_> = &[
        uuid,
        account,
        auction,
        item,
        &kind.name(),
        &to_json(facts)?,
        &ms(*at),
        &i64::from(*is_mailed),
        &PUSHES_WAITING_MAX,
    ];
    rows::execute(db, insert, values).await?;
    match mail {
        Some(mail) => mails::insert(db, mail).await,
        None => Ok(()),
    }
}

async fn put_subscription(db: &Transaction<'_>, subscription: &PushSubscription, max: usize) -> SqlResult<()> {
    let PushSubscription { uuid, account, session, endpoint, key, auth, created_at } = subscription;
    let put = "INSERT INTO push_subscriptions AS known (uuid, account, endpoint, key, auth, created_at_ms, session) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (endpoint) DO UPDATE SET uuid = excluded.uuid, \
         account = excluded.account, created_at_ms = excluded.created_at_ms, session = excluded.session \
         WHERE known.key = excluded.key AND known.auth = excluded.auth";
    rows::execute(db, put, &[uuid, account, endpoint, key, auth, &ms(*created_at), session]).await?;
    let too_many = "DELETE FROM push_subscriptions WHERE account = $1 AND uuid NOT IN \
         (SELECT uuid FROM push_subscriptions WHERE account = $1 ORDER BY uuid DESC LIMIT $2)";
    rows::execute(db, too_many, &[account, &rows::limit(max)]).await.map(drop)
}

fn cause(row: &Row) -> SqlResult<OpenCause> {
    let cause = NoticeCause { auction: rows::get(row, 1)?, what: rows::json(row, 2)?, at: rows::time(row, 3)? };
    Ok(OpenCause { number: rows::get(row, 0)?, cause, through: rows::get(row, 4)? })
}

fn notice(row: &Row) -> SqlResult<Notice> {
    Ok(Notice {
        uuid: rows::get(row, 0)?,
        account: rows::get(row, 1)?,
        auction: rows::get(row, 2)?,
        item: rows::get(row, 3)?,
        kind: notice_kind(rows::get(row, 4)?)?,
        facts: rows::json(row, 5)?,
        at: rows::time(row, 6)?,
        seen_at: rows::optional_time(row, 7)?,
        is_mailed: rows::get::<i64>(row, 8)? != 0,
    })
}

fn claimed(row: &Row) -> SqlResult<ClaimedPush> {
    let tries: i64 = rows::get(row, 9)?;
    Ok(ClaimedPush { notice: notice(row)?, tries: u32::try_from(tries).map_err(corrupt)? })
}

fn subscription(row: &Row) -> SqlResult<PushSubscription> {
    Ok(PushSubscription {
        uuid: rows::get(row, 0)?,
        account: rows::get(row, 1)?,
        endpoint: rows::get(row, 2)?,
        key: rows::get(row, 3)?,
        auth: rows::get(row, 4)?,
        created_at: rows::time(row, 5)?,
        session: rows::get(row, 6)?,
    })
}
