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
use rusqlite::{Connection, Row, params};

use super::rows::{self, ENDPOINT, SqlResult, ms, sql_limit};
use super::{SqliteStore, alert_reports, operational_events};
use crate::codec;

#[async_trait]
impl AlertStore for SqliteStore {
    async fn alert_candidates(&self, query: AlertQuery) -> StoreResult<Vec<AlertCandidate>> {
        self.read(move |db| candidates(db, &query)).await
    }

    async fn record_alert(&self, alert: Alert) -> StoreResult<()> {
        self.write(move |db| record(db, &alert)).await
    }

    async fn waiting_reports(&self, limit: usize) -> StoreResult<Vec<WaitingReport>> {
        self.read(move |db| alert_reports::waiting(db, limit)).await
    }

    async fn record_report(&self, report: AlertReport) -> StoreResult<()> {
        self.write(move |db| alert_reports::record(db, &report)).await
    }

    async fn failing_in(&self, scope: &AlertScope, order: Order, limit: usize) -> StoreResult<Vec<FailingEndpoint>> {
        let scope = scope.clone();
        self.read(move |db| alert_reports::failing_in(db, &scope, order, limit)).await
    }

    async fn forget_deleted_alerts(&self) -> StoreResult<()> {
        self.write(|db| {
            let delete = "DELETE FROM endpoint_alerts WHERE endpoint NOT IN (SELECT id FROM endpoints)";
            db.execute(delete, ())?;
            let delete = "DELETE FROM alert_notices WHERE endpoint NOT IN (SELECT id FROM endpoints)";
            db.execute(delete, ())?;
            let delete = "DELETE FROM alert_recipients WHERE application <> '' \
                 AND application NOT IN (SELECT id FROM applications)";
            Ok(db.execute(delete, ()).map(drop)?)
        })
        .await
    }

    async fn alert_recipients(&self, scope: &AlertScope) -> StoreResult<Vec<AlertRecipient>> {
        let scope = scope.clone();
        self.read(move |db| {
            let select = format!(
                "SELECT {RECIPIENT} FROM alert_recipients WHERE account = ?1 AND application = ?2 ORDER BY address"
            );
            let mut statement = db.prepare_cached(&select)?;
            let mut found = statement.query([&*scope.account, application(&scope)])?;
            let mut recipients = Vec::new();
            while let Some(row) = found.next()? {
                recipients.push(recipient(row)?);
            }
            Ok(recipients)
        })
        .await
    }

    async fn put_alert_recipient(
        &self,
        recipient: AlertRecipient,
        recipients_max: usize,
        mail: NewMail,
    ) -> StoreResult<()> {
        self.write(move |db| {
            let put = "INSERT INTO alert_recipients (account, application, address, code_hash, created_at, confirmed_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (account, application, address) DO UPDATE \
                 SET code_hash = excluded.code_hash, created_at = excluded.created_at WHERE confirmed_at IS NULL";
            let AlertRecipient { scope, address, code_hash, created_at, confirmed_at } = &recipient;
            let (account, application) = (&*scope.account, application(scope));
            let values = params![account, application, address, code_hash, ms(*created_at), confirmed_at.map(ms)];
            if db.prepare_cached(put)?.execute(values)? == 0 {
                return Err(StoreError::Taken("address").into());
            }
            let count = "SELECT count(*) FROM (SELECT 1 FROM alert_recipients WHERE account = ?1 AND application = ?2 LIMIT ?3)";
            let limit = sql_limit(recipients_max.saturating_add(1));
            let recipient_count: i64 = db.prepare_cached(count)?.query_row((account, application, limit), |row| row.get(0))?;
            if recipient_count >= limit {
                return Err(StoreError::LimitReached.into());
            }
            insert_mail(db, &mail, *created_at).map(drop)
        })
        .await
    }

    async fn confirm_alert_recipient(
        &self,
        code_hash: [u8; 32],
        sent_after: Timestamp,
        at: Timestamp,
    ) -> StoreResult<Option<AlertRecipient>> {
        // The page that confirms an address needs no session. A wrong code must not cause a write.
        let select = "SELECT 1 FROM alert_recipients WHERE code_hash = ?1";
        if !self.read(move |db| Ok(db.prepare_cached(select)?.exists([code_hash])?)).await? {
            return Ok(None);
        }
        self.write(move |db| {
            let confirm = format!(
                "UPDATE alert_recipients SET confirmed_at = coalesce(confirmed_at, ?3) \
                 WHERE code_hash = ?1 AND created_at > ?2 RETURNING {RECIPIENT}"
            );
            let mut statement = db.prepare_cached(&confirm)?;
            let mut found = statement.query((code_hash, ms(sent_after), ms(at)))?;
            found.next()?.map(recipient).transpose()
        })
        .await
    }

    async fn delete_alert_recipient(&self, scope: &AlertScope, address: &str) -> StoreResult<bool> {
        let (scope, address) = (scope.clone(), address.to_owned());
        self.write(move |db| {
            let delete = "DELETE FROM alert_recipients WHERE account = ?1 AND application = ?2 AND address = ?3";
            Ok(db.prepare_cached(delete)?.execute((&*scope.account, application(&scope), address))? == 1)
        })
        .await
    }

    async fn queue_mail(&self, mail: NewMail, at: Timestamp) -> StoreResult<bool> {
        self.write(move |db| insert_mail(db, &mail, at)).await
    }

    async fn claim_mails(
        &self,
        now: Timestamp,
        leased_until: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<WaitingMail>> {
        let select = "SELECT no FROM mails WHERE next_at <= ?1 LIMIT 1";
        if !self.read(move |db| Ok(db.prepare_cached(select)?.exists([ms(now)])?)).await? {
            return Ok(Vec::new());
        }
        self.write(move |db| {
            let claim = "UPDATE mails SET next_at = ?2, attempts = attempts + 1 \
                 WHERE no IN (SELECT no FROM mails WHERE next_at <= ?1 ORDER BY next_at LIMIT ?3) \
                 RETURNING no, account, recipient, subject, body, attempts";
            let mut statement = db.prepare_cached(claim)?;
            let mut claimed = statement.query((ms(now), ms(leased_until), sql_limit(limit)))?;
            let mut mails = Vec::new();
            while let Some(row) = claimed.next()? {
                let mail = NewMail {
                    account: rows::id(row, 1)?,
                    recipient: row.get(2)?,
                    subject: row.get(3)?,
                    body: row.get(4)?,
                };
                mails.push(WaitingMail { no: row.get(0)?, mail, tries: row.get(5)? });
            }
            Ok(mails)
        })
        .await
    }

    async fn waiting_mails(&self) -> StoreResult<MailBacklog> {
        self.read(|db| {
            // The first number is the oldest mail.
            let oldest = "SELECT queued_at FROM mails ORDER BY no LIMIT 1";
            let count = "SELECT count(*) FROM (SELECT 1 FROM mails LIMIT ?1)";
            let counted = rows::one(db, count, [sql_limit(MAILS_COUNTED_MAX)], |row| rows::count(row, 0))?;
            let oldest_at = rows::one(db, oldest, (), |row| rows::time(row, 0))?;
            Ok(MailBacklog { mails: counted.unwrap_or(0) as u64, oldest_at })
        })
        .await
    }

    async fn delete_mail(&self, no: i64) -> StoreResult<()> {
        self.write(move |db| Ok(db.prepare_cached("DELETE FROM mails WHERE no = ?1")?.execute([no]).map(drop)?)).await
    }

    async fn postpone_mail(&self, no: i64, at: Timestamp) -> StoreResult<()> {
        self.write(move |db| {
            let postpone = "UPDATE mails SET next_at = ?2 WHERE no = ?1";
            Ok(db.prepare_cached(postpone)?.execute((no, ms(at))).map(drop)?)
        })
        .await
    }
}

const RECIPIENT: &str = "account, application, address, code_hash, created_at, confirmed_at";

fn recipient(row: &Row<'_>) -> SqlResult<AlertRecipient> {
    let application = rows::id(row, 1)?;
    Ok(AlertRecipient {
        scope: AlertScope { account: rows::id(row, 0)?, application: Some(application).filter(|id| !id.is_empty()) },
        address: row.get(2)?,
        code_hash: row.get(3)?,
        created_at: rows::time(row, 4)?,
        confirmed_at: rows::optional_time(row, 5)?,
    })
}

/// The column `application`, which is empty when the scope is the whole account.
fn application(scope: &AlertScope) -> &str {
    scope.application.as_deref().unwrap_or_default()
}

/// Each condition reads a different index.
const FAILING: &str = "SELECT e.id FROM endpoints e LEFT JOIN endpoint_alerts s ON s.endpoint = e.id \
     WHERE e.failing_since IS NOT NULL AND e.disabled = 0 AND e.failing_since <= ?1 \
     AND (s.endpoint IS NULL OR s.failing_since <> e.failing_since OR (s.stage = 1 AND e.failing_since <= ?2)) \
     ORDER BY e.failing_since LIMIT ?3";
const GIVEN_UP: &str = "SELECT e.id FROM endpoints e LEFT JOIN endpoint_alerts s ON s.endpoint = e.id \
     WHERE e.given_up_at IS NOT NULL AND e.disabled = 1 AND (s.endpoint IS NULL OR s.stage <> 3 \
     OR s.failing_since <> coalesce(e.failing_since, e.given_up_at)) ORDER BY e.given_up_at LIMIT ?1";
const WORKING: &str = "SELECT e.id, s.failing_since FROM endpoint_alerts s JOIN endpoints e ON e.id = s.endpoint \
     WHERE e.failing_since IS NULL AND e.disabled = 0";
const SUCCEEDED: &str = "SELECT 1 FROM attempts WHERE endpoint = ?1 AND id >= ?2 AND status = 0";

fn candidates(db: &Connection, query: &AlertQuery) -> SqlResult<Vec<AlertCandidate>> {
    let limit = sql_limit(query.limit);
    let mut endpoints: Vec<String> = Vec::new();
    let bounds = (ms(query.failing_before), ms(query.disabling_before), limit);
    let mut statement = db.prepare_cached(FAILING)?;
    let mut found = statement.query(bounds)?;
    while let Some(row) = found.next()? {
        endpoints.push(row.get(0)?);
    }
    let mut statement = db.prepare_cached(GIVEN_UP)?;
    let mut found = statement.query([limit])?;
    while let Some(row) = found.next()? {
        endpoints.push(row.get(0)?);
    }
    let mut statement = db.prepare_cached(WORKING)?;
    let mut found = statement.query(())?;
    let mut succeeded = db.prepare_cached(SUCCEEDED)?;
    let mut recovered = 0;
    while let Some(row) = found.next()? {
        let endpoint: String = row.get(0)?;
        let since = rows::time(row, 1)?;
        if recovered < query.limit && succeeded.exists((&endpoint, ids::lowest_id_at(ids::ATTEMPT, since)))? {
            endpoints.push(endpoint);
            recovered += 1;
        }
    }
    let mut candidates = Vec::with_capacity(endpoints.len());
    for endpoint in endpoints {
        candidates.extend(candidate(db, &endpoint)?);
    }
    Ok(candidates)
}

fn candidate(db: &Connection, id: &str) -> SqlResult<Option<AlertCandidate>> {
    let Some(endpoint) = rows::one(db, &format!("{ENDPOINT} WHERE id = ?1"), [id], rows::endpoint)? else {
        return Ok(None);
    };
    let account = "SELECT account FROM applications WHERE id = ?1";
    let Some(account) = rows::one(db, account, [&*endpoint.application], |row| rows::id(row, 0))? else {
        return Ok(None);
    };
    let given_up_at = "SELECT given_up_at FROM endpoints WHERE id = ?1";
    let given_up_at = rows::one(db, given_up_at, [id], |row| rows::optional_time(row, 0))?.flatten();
    Ok(Some(AlertCandidate { account, endpoint, given_up_at, last_alert: last_alert(db, id)? }))
}

fn last_alert(db: &Connection, endpoint: &str) -> SqlResult<Option<SentAlert>> {
    let select = "SELECT failing_since, stage FROM endpoint_alerts WHERE endpoint = ?1";
    rows::one(db, select, [endpoint], |row| {
        Ok(SentAlert { failing_since: rows::time(row, 0)?, stage: codec::alert_stage(row.get(1)?)? })
    })
}

fn record(db: &Connection, alert: &Alert) -> SqlResult<()> {
    if last_alert(db, &alert.endpoint)? != alert.before {
        return Err(StoreError::Conflict.into());
    }
    match alert.after {
        Some(SentAlert { failing_since, stage }) => {
            let put = "INSERT INTO endpoint_alerts (endpoint, failing_since, stage) VALUES (?1, ?2, ?3) \
                 ON CONFLICT (endpoint) DO UPDATE SET failing_since = excluded.failing_since, stage = excluded.stage";
            db.prepare_cached(put)?.execute((&*alert.endpoint, ms(failing_since), stage as u8))?;
        }
        None => {
            db.prepare_cached("DELETE FROM endpoint_alerts WHERE endpoint = ?1")?.execute([&*alert.endpoint])?;
        }
    }
    if let Some(event) = &alert.event {
        let kind = OperationalEventKind::Alert(event);
        operational_events::insert_event(db, &alert.application, &alert.endpoint, alert.endpoint_uid.as_deref(), kind)?;
    }
    if alert.is_mailed { alert_reports::insert_notice(db, alert) } else { Ok(()) }
}

/// Drops the mail and returns false if the account has reached its limit of queued mails.
pub(super) fn insert_mail(db: &Connection, mail: &NewMail, at: Timestamp) -> SqlResult<bool> {
    let insert = "INSERT INTO mails (account, recipient, subject, body, queued_at, next_at) SELECT ?1, ?2, ?3, ?4, ?5, ?5 \
         WHERE (SELECT count(*) FROM mails WHERE account = ?1) < ?6";
    let NewMail { account, recipient, subject, body } = mail;
    let values = params![&**account, recipient, subject, body, ms(at), sql_limit(WAITING_MAILS_MAX)];
    Ok(db.prepare_cached(insert)?.execute(values)? == 1)
}
