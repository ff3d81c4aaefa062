//! Alerts: the last alert about each endpoint, the recipients, and queued mails.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::ids;
use provider_core::operational::events::OperationalEventKind;
use provider_core::port::{
    Alert, AlertCandidate, AlertQuery, AlertRecipient, AlertReport, AlertScope, AlertStore, FailingEndpoint,
    MAILS_COUNTED_MAX, MailBacklog, NewMail, Order, SentAlert, StoreError, StoreResult, WAITING_MAILS_MAX, WaitingMail,
    WaitingReport,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::rows::{self, Client, ENDPOINT, ENDPOINT_COLUMNS, SqlResult, sql_limit};
use super::{PostgresStore, alert_reports, operational_events};
use crate::codec;

#[async_trait]
impl AlertStore for PostgresStore {
    async fn alert_candidates(&self, query: AlertQuery) -> StoreResult<Vec<AlertCandidate>> {
        let client = self.client().await?;
        Ok(candidates(&client, &query).await?)
    }

    async fn record_alert(&self, alert: Alert) -> StoreResult<()> {
        self.transaction(&(&alert,), |db, &(alert,)| Box::pin(record(db, alert))).await
    }

    async fn waiting_reports(&self, limit: usize) -> StoreResult<Vec<WaitingReport>> {
        let client = self.client().await?;
        Ok(alert_reports::waiting(&client, limit).await?)
    }

    async fn record_report(&self, report: AlertReport) -> StoreResult<()> {
        self.transaction(&(&report,), |db, &(report,)| Box::pin(alert_reports::record(db, report))).await
    }

    async fn failing_in(&self, scope: &AlertScope, order: Order, limit: usize) -> StoreResult<Vec<FailingEndpoint>> {
        let client = self.client().await?;
        Ok(alert_reports::failing_in(&client, scope, order, limit).await?)
    }

    async fn forget_deleted_alerts(&self) -> StoreResult<()> {
        let client = self.client().await?;
        let delete = "DELETE FROM endpoint_alerts s WHERE NOT EXISTS (SELECT FROM endpoints e WHERE e.id = s.endpoint)";
        rows::write(&client, delete, &[]).await?;
        let delete = "DELETE FROM alert_notices n WHERE NOT EXISTS (SELECT FROM endpoints e WHERE e.id = n.endpoint)";
        rows::write(&client, delete, &[]).await?;
        let delete = "DELETE FROM alert_recipients r WHERE r.application <> '' \
             AND NOT EXISTS (SELECT FROM applications a WHERE a.id = r.application)";
        rows::write(&client, delete, &[]).await?;
        Ok(())
    }

    async fn alert_recipients(&self, scope: &AlertScope) -> StoreResult<Vec<AlertRecipient>> {
        let client = self.client().await?;
        let select = format!(
            "SELECT {RECIPIENT} FROM alert_recipients WHERE account = $1 AND application = $2 ORDER BY address"
        );
        let params: &[&(dyn ToSql + Sync)] = &[&&*scope.account, &application(scope)];
        let found: StoreResult<Vec<_>> = rows::all(&client, &select, params, recipient).await.map_err(Into::into);
        found
    }

    async fn put_alert_recipient(
        &self,
        recipient: AlertRecipient,
        recipients_max: usize,
        mail: NewMail,
    ) -> StoreResult<()> {
        self.transaction(&(&recipient, recipients_max, &mail), |db, &(recipient, max, mail)| {
            Box::pin(put_recipient(db, recipient, max, mail))
        })
        .await
    }

    async fn confirm_alert_recipient(
        &self,
        code_hash: [u8; 32],
        sent_after: Timestamp,
        at: Timestamp,
    ) -> StoreResult<Option<AlertRecipient>> {
        let client = self.client().await?;
        let confirm = format!(
            "UPDATE alert_recipients SET confirmed_at = coalesce(confirmed_at, $3) \
             WHERE code_hash = $1 AND created_at > $2 RETURNING {RECIPIENT}"
        );
        let params: &[&(dyn ToSql + Sync)] = &[&code_hash.as_slice(), &sent_after, &at];
        let found: StoreResult<_> = rows::one(&client, &confirm, params, recipient).await.map_err(Into::into);
        found
    }

    async fn delete_alert_recipient(&self, scope: &AlertScope, address: &str) -> StoreResult<bool> {
        let client = self.client().await?;
        let delete = "DELETE FROM alert_recipients WHERE account = $1 AND application = $2 AND address = $3";
        Ok(rows::write(&client, delete, &[&&*scope.account, &application(scope), &address]).await? == 1)
    }

    async fn queue_mail(&self, mail: NewMail, at: Timestamp) -> StoreResult<bool> {
        let client = self.client().await?;
        Ok(insert_mail(&client, &mail, at).await?)
    }

    async fn claim_mails(
        &self,
        now: Timestamp,
        leased_until: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<WaitingMail>> {
        let client = self.client().await?;
        let claim = "UPDATE mails SET next_at = $2, attempts = attempts + 1 WHERE no IN ( \
                 SELECT no FROM mails WHERE next_at <= $1 ORDER BY next_at LIMIT $3 FOR UPDATE SKIP LOCKED) \
             RETURNING no, account, recipient, subject, body, attempts";
        let claimed: StoreResult<Vec<_>> =
            rows::all(&client, claim, &[&now, &leased_until, &sql_limit(limit)], |row| {
                let mail = NewMail {
                    account: rows::id(row, 1)?,
                    recipient: rows::get(row, 2)?,
                    subject: rows::get(row, 3)?,
                    body: rows::get(row, 4)?,
                };
                Ok(WaitingMail { no: rows::get(row, 0)?, mail, tries: rows::unsigned(row, 5)? })
            })
            .await
            .map_err(Into::into);
        claimed
    }

    async fn waiting_mails(&self) -> StoreResult<MailBacklog> {
        // The first number is the oldest mail.
        let select = "SELECT (SELECT count(*) FROM (SELECT FROM mails LIMIT $1) counted), \
             (SELECT queued_at FROM mails ORDER BY no LIMIT 1)";
        let client = self.client().await?;
        let found = rows::one(&client, select, &[&sql_limit(MAILS_COUNTED_MAX)], |row| {
            Ok(MailBacklog { mails: rows::get::<i64>(row, 0)?.unsigned_abs(), oldest_at: rows::get(row, 1)? })
        })
        .await?;
        Ok(found.unwrap_or_default())
    }

    async fn delete_mail(&self, no: i64) -> StoreResult<()> {
        let client = self.client().await?;
        rows::write(&client, "DELETE FROM mails WHERE no = $1", &[&no]).await?;
        Ok(())
    }

    async fn postpone_mail(&self, no: i64, at: Timestamp) -> StoreResult<()> {
        let client = self.client().await?;
        rows::write(&client, "UPDATE mails SET next_at = $2 WHERE no = $1", &[&no, &at]).await?;
        Ok(())
    }
}

const RECIPIENT: &str = "account, application, address, code_hash, created_at, confirmed_at";

fn recipient(row: &Row) -> StoreResult<AlertRecipient> {
    let application = rows::id(row, 1)?;
    Ok(AlertRecipient {
        scope: AlertScope { account: rows::id(row, 0)?, application: Some(application).filter(|id| !id.is_empty()) },
        address: rows::get(row, 2)?,
        code_hash: rows::bytes(row, 3)?,
        created_at: rows::get(row, 4)?,
        confirmed_at: rows::get(row, 5)?,
    })
}

/// The column `application`, which is empty when the scope is the whole account.
fn application(scope: &AlertScope) -> &str {
    scope.application.as_deref().unwrap_or_default()
}

const FAILING: &str = "SELECT e.id FROM endpoints e LEFT JOIN endpoint_alerts s ON s.endpoint = e.id \
     WHERE e.failing_since IS NOT NULL AND NOT e.disabled AND e.failing_since <= $1 \
     AND (s.endpoint IS NULL OR s.failing_since <> e.failing_since OR (s.stage = 1 AND e.failing_since <= $2)) \
     ORDER BY e.failing_since LIMIT $3";
const GIVEN_UP: &str = "SELECT e.id FROM endpoints e LEFT JOIN endpoint_alerts s ON s.endpoint = e.id \
     WHERE e.given_up_at IS NOT NULL AND e.disabled AND (s.endpoint IS NULL OR s.stage <> 3 \
     OR s.failing_since <> coalesce(e.failing_since, e.given_up_at)) ORDER BY e.given_up_at LIMIT $1";
const WORKING: &str = "SELECT e.id, s.failing_since FROM endpoint_alerts s JOIN endpoints e ON e.id = s.endpoint \
     WHERE e.failing_since IS NULL AND NOT e.disabled";
const SUCCEEDED: &str = "SELECT id FROM attempts WHERE endpoint = $1 AND id >= $2 AND status = 0 LIMIT 1";

async fn candidates(db: &impl Client, query: &AlertQuery) -> SqlResult<Vec<AlertCandidate>> {
    let limit = sql_limit(query.limit);
    // PostgreSQL can't store times before 4714 BC.
    let disabling_before = query.disabling_before.max(Timestamp::UNIX_EPOCH);
    let failing_before = query.failing_before.max(Timestamp::UNIX_EPOCH);
    let id = |row: &Row| rows::id(row, 0);
    let mut endpoints = rows::all(db, FAILING, &[&failing_before, &disabling_before, &limit], id).await?;
    endpoints.extend(rows::all(db, GIVEN_UP, &[&limit], id).await?);
    let working = rows::all(db, WORKING, &[], |row| Ok((rows::id(row, 0)?, rows::get::<Timestamp>(row, 1)?))).await?;
    let mut recovered = 0;
    for (endpoint, since) in working {
        let first = ids::lowest_id_at(ids::ATTEMPT, since);
        if recovered < query.limit && rows::one(db, SUCCEEDED, &[&&*endpoint, &first], id).await?.is_some() {
            endpoints.push(endpoint);
            recovered += 1;
        }
    }
    let endpoints: Vec<&str> = endpoints.iter().map(|id| &**id).collect();
    let select = format!(
        "SELECT {ENDPOINT}, a.account, e.given_up_at, s.failing_since, s.stage FROM endpoints e \
         JOIN applications a ON a.id = e.application LEFT JOIN endpoint_alerts s ON s.endpoint = e.id \
         WHERE e.id = ANY ($1) ORDER BY e.id"
    );
    rows::all(db, &select, &[&endpoints], |row| {
        let last_alert = match rows::get::<Option<Timestamp>>(row, ENDPOINT_COLUMNS + 2)? {
            Some(failing_since) => {
                let stage = codec::alert_stage(rows::get::<i32>(row, ENDPOINT_COLUMNS + 3)?.into())?;
                Some(SentAlert { failing_since, stage })
            }
            None => None,
        };
        Ok(AlertCandidate {
            account: rows::id(row, ENDPOINT_COLUMNS)?,
            endpoint: rows::endpoint(row, 0)?,
            given_up_at: rows::get(row, ENDPOINT_COLUMNS + 1)?,
            last_alert,
        })
    })
    .await
}

async fn record(db: &impl Client, alert: &Alert) -> SqlResult<()> {
    // If two nodes record the same alert, the second waits for this lock, and then finds the alert of the first.
    let lock = "SELECT id FROM endpoints WHERE id = $1 FOR UPDATE";
    if rows::one(db, lock, &[&&*alert.endpoint], |row| rows::id(row, 0)).await?.is_none() {
        return Err(StoreError::NotFound.into());
    }
    let select = "SELECT failing_since, stage FROM endpoint_alerts WHERE endpoint = $1";
    let last_alert = rows::one(db, select, &[&&*alert.endpoint], |row| {
        Ok(SentAlert {
            failing_since: rows::get(row, 0)?,
            stage: codec::alert_stage(rows::get::<i32>(row, 1)?.into())?,
        })
    })
    .await?;
    if last_alert != alert.before {
        return Err(StoreError::Conflict.into());
    }
    match alert.after {
        Some(SentAlert { failing_since, stage }) => {
            let put = "INSERT INTO endpoint_alerts (endpoint, failing_since, stage) VALUES ($1, $2, $3) \
                 ON CONFLICT (endpoint) DO UPDATE SET failing_since = excluded.failing_since, stage = excluded.stage";
            rows::write(db, put, &[&&*alert.endpoint, &failing_since, &(stage as i32)]).await?;
        }
        None => {
            rows::write(db, "DELETE FROM endpoint_alerts WHERE endpoint = $1", &[&&*alert.endpoint]).await?;
        }
    }
    if let Some(event) = &alert.event {
        let uid = alert.endpoint_uid.as_deref();
        let kind = OperationalEventKind::Alert(event);
        operational_events::insert_event(db, &alert.application, &alert.endpoint, uid, kind).await?;
    }
    if alert.is_mailed {
        alert_reports::insert_notice(db, alert).await?;
    }
    Ok(())
}

async fn put_recipient(
    db: &impl Client,
    recipient: &AlertRecipient,
    recipients_max: usize,
    mail: &NewMail,
) -> SqlResult<()> {
    let AlertRecipient { scope, address, code_hash, created_at, confirmed_at } = recipient;
    let (account, application) = (&scope.account, application(scope));
    // Concurrent calls for the account wait for this lock, so that each counts the earlier recipients.
    rows::one(db, "SELECT id FROM accounts WHERE id = $1 FOR UPDATE", &[&&**account], |row| rows::id(row, 0)).await?;
    let put = "INSERT INTO alert_recipients AS r (account, application, address, code_hash, created_at, confirmed_at) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account, application, address) DO UPDATE \
         SET code_hash = excluded.code_hash, created_at = excluded.created_at WHERE r.confirmed_at IS NULL";
    let params: &[&(dyn ToSql + Sync)] =
        &[&&**account, &application, address, &code_hash.as_slice(), created_at, confirmed_at];
    if rows::write(db, put, params).await? == 0 {
        return Err(StoreError::Taken("address").into());
    }
    let count = "SELECT count(*) FROM \
         (SELECT FROM alert_recipients WHERE account = $1 AND application = $2 LIMIT $3) counted";
    let limit = sql_limit(recipients_max.saturating_add(1));
    let recipient_count: Option<i64> =
        rows::one(db, count, &[&&**account, &application, &limit], |row| rows::get(row, 0)).await?;
    if recipient_count.is_some_and(|count| count >= limit) {
        return Err(StoreError::LimitReached.into());
    }
    insert_mail(db, mail, *created_at).await.map(drop)
}

/// Drops the mail and returns false if the account has reached its limit of queued mails.
pub(super) async fn insert_mail(db: &impl Client, mail: &NewMail, at: Timestamp) -> SqlResult<bool> {
    let insert = "INSERT INTO mails (account, recipient, subject, body, queued_at, next_at) \
         SELECT $1::text, $2::text, $3::text, $4::text, $5::timestamptz, $5::timestamptz \
         WHERE (SELECT count(*) FROM mails WHERE account = $1) < $6";
    let NewMail { account, recipient, subject, body } = mail;
    rows::write(db, insert, &[&&**account, recipient, subject, body, &at, &sql_limit(WAITING_MAILS_MAX)])
        .await
        .map(|inserted| inserted == 1)
}
