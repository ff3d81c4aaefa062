//! Reports by mail: the notices that wait for one, and the endpoints that fail.

use jiff::Timestamp;
use provider_core::model::Id;
use provider_core::port::{
    Alert, AlertNotice, AlertReport, AlertScope, AlertStage, FailingEndpoint, Order, StoreError, WaitingReport,
};
use rusqlite::{Connection, Row, params};

use super::alerts::insert_mail;
use super::rows::{self, ENDPOINT, SqlResult, ms, sql_limit};
use crate::codec;
use crate::merge::direction_sql;

/// The notice that follows from a notification. A mail that listed the endpoint as failing has reported already that it
/// fails.
const PUT_NOTICE: &str = "INSERT INTO alert_notices (endpoint, application, failing_since, stage, noted_at) \
     VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (endpoint) DO UPDATE SET failing_since = excluded.failing_since, \
     stage = excluded.stage, noted_at = excluded.noted_at, reported_at = NULL \
     WHERE reported_at IS NULL OR failing_since <> excluded.failing_since OR stage <> excluded.stage";
const WAITING: &str = "SELECT n.application, a.account FROM alert_notices n JOIN applications a ON a.id = n.application \
     WHERE n.reported_at IS NULL GROUP BY n.application, a.account ORDER BY min(n.noted_at), n.application LIMIT ?1";
const NOTICES: &str = "SELECT endpoint, failing_since, stage, noted_at FROM alert_notices \
     WHERE application = ?1 AND reported_at IS NULL ORDER BY endpoint";
const IS_FAILING: &str = "SELECT 1 FROM endpoints e JOIN endpoint_alerts s ON s.endpoint = e.id \
     WHERE e.application = ?1 AND e.failing_since IS NOT NULL AND e.disabled = 0";

pub(super) fn insert_notice(db: &Connection, alert: &Alert) -> SqlResult<()> {
    let Some(about) = alert.after.or(alert.before) else { return Ok(()) };
    let stage = codec::notice_stage(alert.after.map(|after| after.stage));
    let values = params![&*alert.endpoint, &*alert.application, ms(about.failing_since), stage, ms(alert.at)];
    Ok(db.prepare_cached(PUT_NOTICE)?.execute(values).map(drop)?)
}

pub(super) fn waiting(db: &Connection, limit: usize) -> SqlResult<Vec<WaitingReport>> {
    let mut statement = db.prepare_cached(WAITING)?;
    let applications =
        statement.query_and_then([sql_limit(limit)], |row| Ok((rows::id(row, 0)?, rows::id(row, 1)?)))?;
    applications
        .map(|found: SqlResult<(Id, Id)>| {
            let (application, account) = found?;
            let reported_at = "SELECT max(reported_at) FROM alert_notices WHERE application = ?1";
            let reported_at = rows::one(db, reported_at, [&*application], |row| rows::optional_time(row, 0))?.flatten();
            let is_failing = db.prepare_cached(IS_FAILING)?.exists([&*application])?;
            let mut statement = db.prepare_cached(NOTICES)?;
            let notices = statement.query_and_then([&*application], notice)?.collect::<SqlResult<_>>()?;
            Ok(WaitingReport { account, application, notices, reported_at, is_failing })
        })
        .collect()
}

fn notice(row: &Row<'_>) -> SqlResult<AlertNotice> {
    Ok(AlertNotice {
        endpoint: rows::id(row, 0)?,
        failing_since: rows::time(row, 1)?,
        stage: codec::reported_stage(row.get(2)?)?,
        noted_at: rows::time(row, 3)?,
    })
}

pub(super) fn record(db: &Connection, report: &AlertReport) -> SqlResult<()> {
    let at = ms(report.at);
    let reported =
        "UPDATE alert_notices SET reported_at = ?3 WHERE endpoint = ?1 AND noted_at = ?2 AND reported_at IS NULL";
    for notice in &report.notices {
        if db.prepare_cached(reported)?.execute((&*notice.endpoint, ms(notice.noted_at), at))? == 0 {
            return Err(StoreError::Conflict.into());
        }
    }
    let put = "INSERT INTO alert_notices (endpoint, application, failing_since, stage, noted_at, reported_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?5) ON CONFLICT (endpoint) DO UPDATE SET failing_since = excluded.failing_since, \
         stage = excluded.stage, noted_at = excluded.noted_at, reported_at = excluded.reported_at \
         WHERE reported_at IS NOT NULL";
    let stage = codec::notice_stage(Some(AlertStage::Failing));
    for FailingEndpoint { endpoint, since, .. } in &report.failing_too {
        db.prepare_cached(put)?.execute((&*endpoint.id, &*report.application, ms(*since), stage, at))?;
    }
    report.mails.iter().try_for_each(|mail| insert_mail(db, mail, report.at).map(drop))
}

pub(super) fn failing_in(
    db: &Connection,
    scope: &AlertScope,
    order: Order,
    limit: usize,
) -> SqlResult<Vec<FailingEndpoint>> {
    let direction = direction_sql(order);
    let select = format!(
        "SELECT e.id, coalesce(e.failing_since, e.given_up_at) AS since, n.reported_at IS NOT NULL \
         FROM endpoints e JOIN applications a ON a.id = e.application LEFT JOIN alert_notices n ON n.endpoint = e.id \
         AND n.failing_since = coalesce(e.failing_since, e.given_up_at) WHERE a.account = ?1 AND (?2 = '' OR a.id = ?2) \
         AND ((e.failing_since IS NOT NULL AND e.disabled = 0) OR (e.given_up_at IS NOT NULL AND e.disabled = 1)) \
         ORDER BY since {direction}, e.id {direction} LIMIT ?3"
    );
    let application = scope.application.as_deref().unwrap_or_default();
    let mut statement = db.prepare_cached(&select)?;
    let found = statement.query_and_then((&*scope.account, application, sql_limit(limit)), |row| {
        Ok((rows::id(row, 0)?, rows::time(row, 1)?, row.get(2)?))
    })?;
    let found: Vec<(Id, Timestamp, bool)> = found.collect::<SqlResult<_>>()?;
    let mut failing = Vec::with_capacity(found.len());
    for (id, since, is_reported) in found {
        let endpoint = rows::one(db, &format!("{ENDPOINT} WHERE id = ?1"), [&*id], rows::endpoint)?;
        failing.extend(endpoint.map(|endpoint| FailingEndpoint { endpoint, since, is_reported }));
    }
    Ok(failing)
}
