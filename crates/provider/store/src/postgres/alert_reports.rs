//! Reports by mail: the notices that wait for one, and the endpoints that fail.

use jiff::Timestamp;
use provider_core::port::{
    Alert, AlertNotice, AlertReport, AlertScope, AlertStage, FailingEndpoint, Order, StoreError, StoreResult,
    WaitingReport,
};
use tokio_postgres::Row;

use super::alerts::insert_mail;
use super::rows::{self, Client, ENDPOINT, ENDPOINT_COLUMNS, SqlResult, sql_limit};
use crate::codec;
use crate::merge::direction_sql;

/// The notice that follows from a notification. A mail that listed the endpoint as failing has reported already that it
/// fails.
const PUT_NOTICE: &str = "INSERT INTO alert_notices AS n (endpoint, application, failing_since, stage, noted_at) \
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (endpoint) DO UPDATE SET failing_since = excluded.failing_since, \
     stage = excluded.stage, noted_at = excluded.noted_at, reported_at = NULL \
     WHERE n.reported_at IS NULL OR n.failing_since <> excluded.failing_since OR n.stage <> excluded.stage";
const WAITING: &str = "SELECT n.application, a.account FROM alert_notices n JOIN applications a ON a.id = n.application \
     WHERE n.reported_at IS NULL GROUP BY n.application, a.account ORDER BY min(n.noted_at), n.application LIMIT $1";
const NOTICES: &str = "SELECT endpoint, failing_since, stage, noted_at FROM alert_notices \
     WHERE application = $1 AND reported_at IS NULL ORDER BY endpoint";
const STATE: &str = "SELECT (SELECT max(reported_at) FROM alert_notices WHERE application = $1), \
     EXISTS (SELECT FROM endpoints e JOIN endpoint_alerts s ON s.endpoint = e.id \
     WHERE e.application = $1 AND e.failing_since IS NOT NULL AND NOT e.disabled)";

pub(super) async fn insert_notice(db: &impl Client, alert: &Alert) -> SqlResult<()> {
    let Some(about) = alert.after.or(alert.before) else { return Ok(()) };
    let stage = codec::notice_stage(alert.after.map(|after| after.stage));
    let (endpoint, application) = (&*alert.endpoint, &*alert.application);
    rows::write(db, PUT_NOTICE, &[&endpoint, &application, &about.failing_since, &stage, &alert.at]).await.map(drop)
}

pub(super) async fn waiting(db: &impl Client, limit: usize) -> SqlResult<Vec<WaitingReport>> {
    let pair = |row: &Row| Ok((rows::id(row, 0)?, rows::id(row, 1)?));
    let mut reports = Vec::new();
    for (application, account) in rows::all(db, WAITING, &[&sql_limit(limit)], pair).await? {
        let state = |row: &Row| Ok((rows::get::<Option<Timestamp>>(row, 0)?, rows::get::<bool>(row, 1)?));
        let (reported_at, is_failing) = rows::one(db, STATE, &[&&*application], state).await?.unwrap_or_default();
        let notices = rows::all(db, NOTICES, &[&&*application], notice).await?;
        reports.push(WaitingReport { account, application, notices, reported_at, is_failing });
    }
    Ok(reports)
}

fn notice(row: &Row) -> StoreResult<AlertNotice> {
    Ok(AlertNotice {
        endpoint: rows::id(row, 0)?,
        failing_since: rows::get(row, 1)?,
        stage: codec::reported_stage(rows::get::<i32>(row, 2)?.into())?,
        noted_at: rows::get(row, 3)?,
    })
}

pub(super) async fn record(db: &impl Client, report: &AlertReport) -> SqlResult<()> {
    // Two nodes that report the same notices update them in the same order. The second finds that they are reported.
    let reported =
        "UPDATE alert_notices SET reported_at = $3 WHERE endpoint = $1 AND noted_at = $2 AND reported_at IS NULL";
    for notice in &report.notices {
        if rows::write(db, reported, &[&&*notice.endpoint, &notice.noted_at, &report.at]).await? == 0 {
            return Err(StoreError::Conflict.into());
        }
    }
    let put = "INSERT INTO alert_notices AS n (endpoint, application, failing_since, stage, noted_at, reported_at) \
         VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT (endpoint) DO UPDATE SET failing_since = excluded.failing_since, \
         stage = excluded.stage, noted_at = excluded.noted_at, reported_at = excluded.reported_at \
         WHERE n.reported_at IS NOT NULL";
    let stage = codec::notice_stage(Some(AlertStage::Failing));
    for FailingEndpoint { endpoint, since, .. } in &report.failing_too {
        rows::write(db, put, &[&&*endpoint.id, &&*report.application, since, &stage, &report.at]).await?;
    }
    for mail in &report.mails {
        insert_mail(db, mail, report.at).await?;
    }
    Ok(())
}

pub(super) async fn failing_in(
    db: &impl Client,
    scope: &AlertScope,
    order: Order,
    limit: usize,
) -> SqlResult<Vec<FailingEndpoint>> {
    let direction = direction_sql(order);
    let select = format!(
        "SELECT {ENDPOINT}, coalesce(e.failing_since, e.given_up_at) AS since, n.reported_at IS NOT NULL \
         FROM endpoints e JOIN applications a ON a.id = e.application LEFT JOIN alert_notices n ON n.endpoint = e.id \
         AND n.failing_since = coalesce(e.failing_since, e.given_up_at) WHERE a.account = $1 AND ($2::text IS NULL OR a.id = $2) \
         AND ((e.failing_since IS NOT NULL AND NOT e.disabled) OR (e.given_up_at IS NOT NULL AND e.disabled)) \
         ORDER BY since {direction}, e.id {direction} LIMIT $3"
    );
    let application = scope.application.as_deref();
    rows::all(db, &select, &[&&*scope.account, &application, &sql_limit(limit)], |row| {
        Ok(FailingEndpoint {
            endpoint: rows::endpoint(row, 0)?,
            since: rows::get(row, ENDPOINT_COLUMNS)?,
            is_reported: rows::get(row, ENDPOINT_COLUMNS + 1)?,
        })
    })
    .await
}
