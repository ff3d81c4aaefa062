//! Encoding of background tasks in columns, shared by both engines: codes for kinds and statuses, JSON for the rest.

use std::collections::BTreeMap;

use jiff::Timestamp;
use provider_core::model::counts::{DeliveryEnd, EndedDeliveries};
use provider_core::model::{AttemptStatus, Selection, TaskKind, TaskStatus};
use provider_core::port::StoreResult;
use serde::{Deserialize, Serialize};

use crate::codec::{corrupt, from_json, status, to_json};

pub(crate) fn kind_number(kind: TaskKind) -> i16 {
    match kind {
        TaskKind::Recover => 0,
        TaskKind::ReplayMissing => 1,
        TaskKind::BulkReplay => 2,
        TaskKind::PurgeContent => 3,
    }
}

pub(crate) fn kind(number: i64) -> StoreResult<TaskKind> {
    match number {
        0 => Ok(TaskKind::Recover),
        1 => Ok(TaskKind::ReplayMissing),
        2 => Ok(TaskKind::BulkReplay),
        3 => Ok(TaskKind::PurgeContent),
        other => Err(corrupt(format_args!("kind of task {other}"))),
    }
}

/// Adds counts, in the order of [`TaskAdditions::rows`], to a task. SQLite numbers parameters by their places in the text.
pub(crate) const ADD_TO_TASK: &str = "UPDATE background_tasks SET delivered = delivered + $1, exhausted = exhausted + $2, \
     skipped = skipped + $3, cancelled = cancelled + $4, taken_over = taken_over + $5 WHERE id = $6";

/// What a transaction adds to the counts of background tasks, by task: the order in which rows are locked. Most
/// transactions end no delivery of a task.
#[derive(Default)]
pub(crate) struct TaskAdditions {
    rows: BTreeMap<String, (EndedDeliveries, u64)>,
}

impl TaskAdditions {
    /// Adds deliveries that ended, by the tasks of their rows.
    pub(crate) fn ended(&mut self, tasks: impl IntoIterator<Item = String>, end: DeliveryEnd) {
        for task in tasks {
            self.ended_count(task, end, 1);
        }
    }

    /// Adds this number of ended deliveries of a task.
    pub(crate) fn ended_count(&mut self, task: String, end: DeliveryEnd, count: u64) {
        self.rows.entry(task).or_default().0.add(end, count);
    }

    /// Adds a delivery that another task took over.
    pub(crate) fn taken_over(&mut self, task: String) {
        self.rows.entry(task).or_default().1 += 1;
    }

    /// Whether there is nothing to add.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows: the task and its counts.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&str, [i64; 5])> {
        self.rows.iter().map(|(task, (ended, taken_over))| {
            let EndedDeliveries { delivered, exhausted, skipped, cancelled } = *ended;
            let counts = [delivered, exhausted, skipped, cancelled, *taken_over];
            (task.as_str(), counts.map(|count| i64::try_from(count).unwrap_or(i64::MAX)))
        })
    }
}

/// An SQL condition that is true when a task of this kind still has to send the message to the endpoint. The
/// transaction that records an attempt also deletes the delivery row, so a statement that does not find the row finds
/// the attempt. The concatenation with an empty text makes SQLite search the attempts of the message, not those of the
/// endpoint.
pub(crate) fn enqueue_condition(kind: TaskKind, message: &str, endpoint: &str) -> String {
    let tried =
        format!("EXISTS (SELECT 1 FROM attempts a WHERE a.message = {message} AND a.endpoint || '' = {endpoint}");
    let waits = format!("EXISTS (SELECT 1 FROM deliveries d WHERE d.endpoint = {endpoint} AND d.message = {message})");
    match kind {
        TaskKind::Recover => format!("NOT {waits} AND NOT {tried} AND a.status = 0)"),
        TaskKind::ReplayMissing => format!("NOT {waits} AND NOT {tried})"),
        TaskKind::BulkReplay => format!("NOT {waits}"),
        // This task does not send messages.
        TaskKind::PurgeContent => "FALSE".to_owned(),
    }
}

pub(crate) fn task_status_number(status: TaskStatus) -> i16 {
    match status {
        TaskStatus::Running => 0,
        TaskStatus::Finished => 1,
        TaskStatus::Failed => 2,
    }
}

pub(crate) fn task_status(number: i64) -> StoreResult<TaskStatus> {
    match number {
        0 => Ok(TaskStatus::Running),
        1 => Ok(TaskStatus::Finished),
        2 => Ok(TaskStatus::Failed),
        other => Err(corrupt(format_args!("status of task {other}"))),
    }
}

#[derive(Serialize, Deserialize)]
struct StoredSelection {
    since_ms: i64,
    until_ms: i64,
    event_types: Option<Vec<String>>,
    channel: Option<String>,
    tag: Option<String>,
    status: Option<i64>,
    status_code_class: Option<u16>,
}

pub(crate) fn selection_to_json(selection: &Selection) -> StoreResult<String> {
    to_json(&StoredSelection {
        since_ms: selection.since.as_millisecond(),
        until_ms: selection.until.as_millisecond(),
        event_types: selection.event_types.clone(),
        channel: selection.channel.clone(),
        tag: selection.tag.clone(),
        status: selection.status.map(|status| status as i64),
        status_code_class: selection.status_code_class,
    })
}

pub(crate) fn selection_from_json(text: &str) -> StoreResult<Selection> {
    let stored: StoredSelection = from_json(text)?;
    Ok(Selection {
        since: Timestamp::from_millisecond(stored.since_ms).map_err(corrupt)?,
        until: Timestamp::from_millisecond(stored.until_ms).map_err(corrupt)?,
        event_types: stored.event_types,
        channel: stored.channel,
        tag: stored.tag,
        status: stored.status.map(status).transpose()?,
        status_code_class: stored.status_code_class,
    })
}

/// The status of an attempt, if there was one.
pub(crate) fn latest(number: Option<i64>, code: Option<i64>) -> StoreResult<Option<(AttemptStatus, u16)>> {
    let (Some(number), Some(code)) = (number, code) else { return Ok(None) };
    Ok(Some((status(number)?, u16::try_from(code).map_err(corrupt)?)))
}
