//! Exact counts by hour: adding them (in the transactions of other modules), reading and merging them.

use std::ops::Range;
use std::sync::LazyLock;

use async_trait::async_trait;
use provider_core::model::Id;
use provider_core::model::counts::{AttemptCounts, DeliveryCounts, Hour, MessageCounts};
use provider_core::port::{CountScope, CountStore, StoreResult};
use rusqlite::Connection;

use super::SqliteStore;
use super::rows::{self, SqlResult, sql_limit};
use crate::counts_codec::{
    COLUMNS, CountTable, ENDPOINTS, EndpointAdditions, MESSAGES, MessageAdditions, from_columns, scope, to_columns,
};
use crate::task_codec::{ADD_TO_TASK, TaskAdditions};

#[async_trait]
impl CountStore for SqliteStore {
    async fn delivery_counts(&self, of: &CountScope, hours: Range<Hour>) -> StoreResult<Vec<(Hour, DeliveryCounts)>> {
        let of = of.clone();
        self.read(move |db| delivery_counts(db, &of, &hours)).await
    }

    async fn endpoint_counts(
        &self,
        endpoints: &[Id],
        hours: Range<Hour>,
    ) -> StoreResult<Vec<(Id, Hour, DeliveryCounts)>> {
        let endpoints = endpoints.to_vec();
        self.read(move |db| {
            let mut found = Vec::new();
            for endpoint in endpoints {
                let counts = delivery_counts(db, &CountScope::Endpoint(endpoint.clone()), &hours)?;
                found.extend(counts.into_iter().map(|(hour, counts)| (endpoint.clone(), hour, counts)));
            }
            Ok(found)
        })
        .await
    }

    async fn message_counts(&self, of: &CountScope, hours: Range<Hour>) -> StoreResult<Vec<(Hour, MessageCounts)>> {
        if matches!(of, CountScope::Endpoint(_)) {
            return Ok(Vec::new());
        }
        let of = of.clone();
        self.read(move |db| {
            let (column, owner) = scope(&of);
            let mut statement = db.prepare_cached(&MESSAGES.by_hour(column))?;
            let found = statement.query_and_then((&**owner, hours.start.0, hours.end.0), |row| -> SqlResult<_> {
                let number = |column| -> SqlResult<u64> { Ok(row.get::<_, i64>(column)?.unsigned_abs()) };
                Ok((Hour(row.get(0)?), MessageCounts { messages: number(1)?, payload_bytes: number(2)? }))
            })?;
            found.collect()
        })
        .await
    }

    async fn count_attempts(&self, endpoint: &str, ids: Range<Id>) -> StoreResult<AttemptCounts> {
        let endpoint = endpoint.to_owned();
        self.read(move |db| count_attempts(db, &endpoint, &ids)).await
    }

    async fn merge_counts(&self, before: Hour, kept_from: Hour, days_max: usize) -> StoreResult<bool> {
        self.write(move |db| {
            let mut is_done = true;
            for table in [&MESSAGES, &ENDPOINTS] {
                is_done &= merge(db, table, before, kept_from, days_max)?;
            }
            Ok(is_done)
        })
        .await
    }
}

fn delivery_counts(db: &Connection, of: &CountScope, hours: &Range<Hour>) -> SqlResult<Vec<(Hour, DeliveryCounts)>> {
    let (column, owner) = scope(of);
    let mut statement = db.prepare_cached(&ENDPOINTS.by_hour(column))?;
    let found = statement.query_and_then((&**owner, hours.start.0, hours.end.0), |row| -> SqlResult<_> {
        let mut columns = [0; COLUMNS];
        for (place, column) in columns.iter_mut().enumerate() {
            *column = row.get(place + 1)?;
        }
        Ok((Hour(row.get(0)?), from_columns(columns)))
    })?;
    found.collect()
}

/// The attempts by status. SQLite reads only the index.
pub(super) const ATTEMPTS_BY_STATUS: &str = "SELECT count(*) FILTER (WHERE status = 0), count(*) FILTER (WHERE status = 2), \
     count(*) FILTER (WHERE status = 4) FROM attempts WHERE endpoint = ?1 AND id >= ?2 AND id < ?3";

fn count_attempts(db: &Connection, endpoint: &str, ids: &Range<Id>) -> SqlResult<AttemptCounts> {
    let counted = rows::one(db, ATTEMPTS_BY_STATUS, (endpoint, &*ids.start, &*ids.end), |row| {
        let number = |column| -> SqlResult<u64> { Ok(row.get::<_, i64>(column)?.unsigned_abs()) };
        Ok(AttemptCounts { success: number(0)?, fail: number(1)?, cancelled: number(2)? })
    })?;
    Ok(counted.unwrap_or_default())
}

static ADD_TO_ENDPOINT: LazyLock<String> = LazyLock::new(|| {
    let values = (4..4 + COLUMNS).map(|place| format!(", ?{place}")).collect::<String>();
    ENDPOINTS.add(&format!("VALUES (?1, ?2, ?3, (SELECT account FROM applications WHERE id = ?3){values})"))
});

static ADD_TO_APPLICATION: LazyLock<String> =
    LazyLock::new(|| MESSAGES.add("VALUES (?1, ?2, (SELECT account FROM applications WHERE id = ?1), ?3, ?4)"));

/// Adds the counts of a transaction.
pub(super) fn add_to_endpoints(db: &Connection, additions: &EndpointAdditions<'_>) -> SqlResult<()> {
    let mut add = db.prepare_cached(&ADD_TO_ENDPOINT)?;
    for (endpoint, hour, application, counts) in additions.rows() {
        add.raw_bind_parameter(1, endpoint)?;
        add.raw_bind_parameter(2, hour.0)?;
        add.raw_bind_parameter(3, application)?;
        for (place, column) in to_columns(counts).into_iter().enumerate() {
            add.raw_bind_parameter(place + 4, column)?;
        }
        add.raw_execute()?;
    }
    Ok(())
}

/// Adds the accepted messages of a transaction.
pub(super) fn add_to_applications(db: &Connection, additions: &MessageAdditions<'_>) -> SqlResult<()> {
    let mut add = db.prepare_cached(&ADD_TO_APPLICATION)?;
    for (application, hour, counts) in additions.rows() {
        add.execute((application, hour.0, counts.messages as i64, counts.payload_bytes as i64))?;
    }
    Ok(())
}

/// Adds the ends of a transaction to the tasks that sent the messages.
pub(super) fn add_to_tasks(db: &Connection, additions: &TaskAdditions) -> SqlResult<()> {
    for (task, [delivered, exhausted, skipped, cancelled, taken_over]) in additions.rows() {
        db.prepare_cached(ADD_TO_TASK)?.execute((delivered, exhausted, skipped, cancelled, taken_over, task))?;
    }
    Ok(())
}

fn merge(db: &Connection, table: &CountTable, before: Hour, kept_from: Hour, days_max: usize) -> SqlResult<bool> {
    let mut statement = db.prepare_cached(&table.days_to_merge())?;
    let days = statement.query_map((before.0, sql_limit(days_max)), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let days = days.collect::<Result<Vec<(String, i64)>, _>>()?;
    for day in &days {
        db.prepare_cached(&table.merge_day())?.execute((&day.0, day.1))?;
        db.prepare_cached(&table.delete_merged())?.execute((&day.0, day.1))?;
    }
    let deleted = db.prepare_cached(&table.delete_old())?.execute((kept_from.0, sql_limit(days_max)))?;
    Ok(days.len() < days_max && deleted < days_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn attempts_are_counted_in_their_index() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("provider.db");
        drop(super::super::open(&path).await.unwrap());
        let db = Connection::open(&path).unwrap();
        let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {ATTEMPTS_BY_STATUS}")).unwrap();
        let steps = plan.query_map(("ep", "a", "b"), |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).filter(|step| step.contains("attempts")).collect();
        assert_eq!(steps, ["SEARCH attempts USING COVERING INDEX attempts_at_endpoint (endpoint=? AND id>? AND id<?)"]);
    }
}
