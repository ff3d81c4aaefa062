//! Exact counts by hour: adding them (in the transactions of other modules), reading and merging them.
//!
//! A transaction adds to its rows last, in the order of their keys, so that two transactions can't deadlock.

use std::ops::Range;
use std::sync::LazyLock;

use async_trait::async_trait;
use provider_core::model::Id;
use provider_core::model::counts::{AttemptCounts, DeliveryCounts, Hour, MessageCounts};
use provider_core::port::{CountScope, CountStore, StoreResult};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use super::rows::{self, Client, SqlResult, sql_limit};
use crate::counts_codec::{
    COLUMNS, CountTable, ENDPOINTS, EndpointAdditions, MESSAGES, MessageAdditions, from_columns, scope, to_columns,
};
use crate::task_codec::{ADD_TO_TASK, TaskAdditions};

#[async_trait]
impl CountStore for PostgresStore {
    async fn delivery_counts(&self, of: &CountScope, hours: Range<Hour>) -> StoreResult<Vec<(Hour, DeliveryCounts)>> {
        let client = self.client().await?;
        let (column, owner) = scope(of);
        let select = ENDPOINTS.by_hour(column);
        Ok(rows::all(&client, &select, &[&&**owner, &hours.start.0, &hours.end.0], |row| in_hour(row, 0)).await?)
    }

    async fn endpoint_counts(
        &self,
        endpoints: &[Id],
        hours: Range<Hour>,
    ) -> StoreResult<Vec<(Id, Hour, DeliveryCounts)>> {
        let client = self.client().await?;
        let endpoints: Vec<&str> = endpoints.iter().map(|id| &**id).collect();
        let read = |row: &Row| {
            let (hour, counts) = in_hour(row, 1)?;
            Ok((rows::id(row, 0)?, hour, counts))
        };
        let select = ENDPOINTS.of_owners_by_hour();
        Ok(rows::all(&client, &select, &[&endpoints, &hours.start.0, &hours.end.0], read).await?)
    }

    async fn message_counts(&self, of: &CountScope, hours: Range<Hour>) -> StoreResult<Vec<(Hour, MessageCounts)>> {
        if matches!(of, CountScope::Endpoint(_)) {
            return Ok(Vec::new());
        }
        let client = self.client().await?;
        let (column, owner) = scope(of);
        let read = |row: &Row| {
            let counts = MessageCounts { messages: number(row, 1)?, payload_bytes: number(row, 2)? };
            Ok((Hour(rows::get(row, 0)?), counts))
        };
        let select = MESSAGES.by_hour(column);
        Ok(rows::all(&client, &select, &[&&**owner, &hours.start.0, &hours.end.0], read).await?)
    }

    async fn count_attempts(&self, endpoint: &str, ids: Range<Id>) -> StoreResult<AttemptCounts> {
        let client = self.client().await?;
        let count = "SELECT count(*) FILTER (WHERE status = 0), count(*) FILTER (WHERE status = 2), \
             count(*) FILTER (WHERE status = 4) FROM attempts WHERE endpoint = $1 AND id >= $2 AND id < $3";
        let read = |row: &Row| {
            Ok(AttemptCounts { success: number(row, 0)?, fail: number(row, 1)?, cancelled: number(row, 2)? })
        };
        let params: &[&(dyn ToSql + Sync)] = &[&endpoint, &&*ids.start, &&*ids.end];
        Ok(rows::one(&client, count, params, read).await?.unwrap_or_default())
    }

    async fn merge_counts(&self, before: Hour, kept_from: Hour, days_max: usize) -> StoreResult<bool> {
        let mut is_done = true;
        for table in [&MESSAGES, &ENDPOINTS] {
            is_done &= self
                .transaction(&(table, before, kept_from, days_max), |db, &(table, before, kept_from, days_max)| {
                    Box::pin(merge(db, table, before, kept_from, days_max))
                })
                .await?;
        }
        Ok(is_done)
    }
}

/// An hour and its counts, in columns that begin at `from`.
fn in_hour(row: &Row, from: usize) -> StoreResult<(Hour, DeliveryCounts)> {
    let mut columns = [0; COLUMNS];
    for (place, column) in columns.iter_mut().enumerate() {
        *column = rows::get(row, from + 1 + place)?;
    }
    Ok((Hour(rows::get(row, from)?), from_columns(columns)))
}

fn number(row: &Row, column: usize) -> StoreResult<u64> {
    Ok(rows::get::<i64>(row, column)?.unsigned_abs())
}

static ADD_TO_ENDPOINTS: LazyLock<String> = LazyLock::new(|| {
    let columns = |text: &dyn Fn(usize) -> String| (4..4 + COLUMNS).map(text).collect::<String>();
    ENDPOINTS.add(&format!(
        "SELECT new.endpoint, new.hour, new.application, \
             (SELECT a.account FROM applications a WHERE a.id = new.application){} \
         FROM unnest($1::text[], $2::bigint[], $3::text[]{}) AS new (endpoint, hour, application{})",
        columns(&|place| format!(", new.c{place}")),
        columns(&|place| format!(", ${place}::bigint[]")),
        columns(&|place| format!(", c{place}")),
    ))
});

static ADD_TO_APPLICATIONS: LazyLock<String> = LazyLock::new(|| {
    MESSAGES.add(
        "SELECT new.application, new.hour, (SELECT a.account FROM applications a WHERE a.id = new.application), \
             new.messages, new.payload_bytes \
         FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) \
             AS new (application, hour, messages, payload_bytes)",
    )
});

/// Adds the counts of a transaction.
pub(super) async fn add_to_endpoints(db: &impl Client, additions: &EndpointAdditions<'_>) -> SqlResult<()> {
    let (mut endpoints, mut hours, mut applications) = (Vec::new(), Vec::new(), Vec::new());
    let mut columns: [Vec<i64>; COLUMNS] = std::array::from_fn(|_| Vec::new());
    for (endpoint, hour, application, counts) in additions.rows() {
        endpoints.push(endpoint);
        hours.push(hour.0);
        applications.push(application);
        for (column, count) in columns.iter_mut().zip(to_columns(counts)) {
            column.push(count);
        }
    }
    if endpoints.is_empty() {
        return Ok(());
    }
    let mut params: Vec<&(dyn ToSql + Sync)> = vec![&endpoints, &hours, &applications];
    params.extend(columns.iter().map(|column| column as &(dyn ToSql + Sync)));
    rows::write(db, &ADD_TO_ENDPOINTS, &params).await.map(drop)
}

/// Adds the accepted messages of a transaction.
pub(super) async fn add_to_applications(db: &impl Client, additions: &MessageAdditions<'_>) -> SqlResult<()> {
    let (mut applications, mut hours) = (Vec::new(), Vec::new());
    let (mut messages, mut payload_bytes) = (Vec::new(), Vec::new());
    for (application, hour, counts) in additions.rows() {
        applications.push(application);
        hours.push(hour.0);
        messages.push(counts.messages as i64);
        payload_bytes.push(counts.payload_bytes as i64);
    }
    if applications.is_empty() {
        return Ok(());
    }
    rows::write(db, &ADD_TO_APPLICATIONS, &[&applications, &hours, &messages, &payload_bytes]).await.map(drop)
}

/// Adds the ends of a transaction to the tasks that sent the messages, after [`add_to_endpoints`]. Nearly always they are
/// of one task.
pub(super) async fn add_to_tasks(db: &impl Client, additions: &TaskAdditions) -> SqlResult<()> {
    for (task, [delivered, exhausted, skipped, cancelled, taken_over]) in additions.rows() {
        rows::write(db, ADD_TO_TASK, &[&delivered, &exhausted, &skipped, &cancelled, &taken_over, &task]).await?;
    }
    Ok(())
}

async fn merge(
    db: &impl Client,
    table: &CountTable,
    before: Hour,
    kept_from: Hour,
    days_max: usize,
) -> SqlResult<bool> {
    let day = |row: &Row| Ok((rows::get::<String>(row, 0)?, rows::get::<i64>(row, 1)?));
    let days = rows::all(db, &table.days_to_merge(), &[&before.0, &sql_limit(days_max)], day).await?;
    for (owner, hour) in &days {
        rows::write(db, &table.merge_day(), &[owner, hour]).await?;
        rows::write(db, &table.delete_merged(), &[owner, hour]).await?;
    }
    let deleted = rows::write(db, &table.delete_old(), &[&kept_from.0, &sql_limit(days_max)]).await?;
    Ok(days.len() < days_max && deleted < days_max as u64)
}
