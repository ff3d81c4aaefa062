//! Inserts the journal rows of a batch and their outbox rows, each assigned to a node or to none.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use kit_engine::postgres::{Connection as _, Transaction};
use kit_runtime::trace::TraceParent;
use platform_core::journal::JournalEntry;
use platform_core::port::{Change, CommitReceipt, Cursor, NodeId, OutboxEvent};
use uuid::Uuid;

use super::write::column;
use crate::codec::{corrupt, kind_code, ms};
use crate::postgres::locks;
use crate::postgres::rows::{self, SqlResult};

/// Data for the insert into journal and outbox, read after the journal's lock was acquired.
pub(super) struct JournalPlan {
    /// One cursor for each journal entry, ascending.
    cursors: Vec<Cursor>,
    /// The complete connections, by customer.
    connections: HashMap<Uuid, JournalConnection>,
    /// Subjects that have an earlier row in the outbox.
    held_back: HashSet<Uuid>,
}

/// A customer's complete connection.
struct JournalConnection {
    /// True while the queue is not parked.
    is_running: bool,
    updated_at: Timestamp,
}

/// Acquires the journal's lock, which is held until the commit, and draws the cursors that follow the last stored
/// cursor. A rollback leaves no gap, so a gap proves that a row was removed.
pub(super) async fn draw_cursors(db: &Transaction<'_>, changes: &[&Change]) -> SqlResult<JournalPlan> {
    let entries: Vec<&JournalEntry> = changes.iter().flat_map(|change| &change.journal).collect();
    let announced = entries.iter().filter(|entry| entry.event.is_some());
    let (customers, subjects): (HashSet<Uuid>, HashSet<Uuid>) =
        announced.map(|entry| (entry.customer, entry.subject)).unzip();
    let (customers, subjects) = (Vec::from_iter(customers), Vec::from_iter(subjects));
    // The server runs the statements in the order in which they are sent. All are prepared first, because a statement
    // that had to be prepared would be sent after the others.
    let lock = db.prepare_cached(locks::LOCK).await?;
    let last = db.prepare_cached("SELECT cursor FROM journal ORDER BY cursor DESC LIMIT 1").await?;
    let connections = "SELECT customer, parked_at_ms IS NULL, updated_at_ms FROM consumers \
         WHERE customer = ANY($1) AND application_id IS NOT NULL AND api_key IS NOT NULL";
    let connections = db.prepare_cached(connections).await?;
    let held_back = "SELECT n.subject FROM unnest($1::uuid[]) AS n (subject) \
         WHERE EXISTS (SELECT 1 FROM outbox o WHERE o.subject = n.subject)";
    let held_back = db.prepare_cached(held_back).await?;
    let key = locks::journal_key();
    let lock_values: rows::Values<'_> = &[&key];
    let (customer_values, subject_values): (rows::Values<'_>, rows::Values<'_>) = (&[&customers], &[&subjects]);
    let (_, last, connections, held_back) = tokio::try_join!(
        biased;
        db.query(&lock, lock_values),
        db.query(&last, &[]),
        db.query(&connections, customer_values),
        db.query(&held_back, subject_values),
    )?;
    let last: Cursor = last.first().map(|row| rows::get(row, 0)).transpose()?.unwrap_or(0);
    let connections = connections.iter().map(|row| {
        Ok((rows::get(row, 0)?, JournalConnection { is_running: rows::get(row, 1)?, updated_at: rows::time(row, 2)? }))
    });
    Ok(JournalPlan {
        cursors: (last + 1..).take(entries.len()).collect(),
        connections: connections.collect::<SqlResult<_>>()?,
        held_back: held_back.iter().map(|row| rows::get(row, 0)).collect::<SqlResult<_>>()?,
    })
}

pub(super) struct Announced {
    /// One receipt for each change.
    pub(super) receipts: Vec<CommitReceipt>,
    /// True when rows are unassigned, so that another node can claim them.
    pub(super) notify_nodes: bool,
}

struct JournalInsert<'a> {
    cursor: Cursor,
    entry: &'a JournalEntry,
    body: Option<String>,
}

struct OutboxInsert {
    cursor: Cursor,
    customer: Uuid,
    subject: Uuid,
    owner: Option<Uuid>,
    trace_parent: Option<TraceParent>,
}

/// Writes the journal and the outbox.
pub(super) async fn append(
    db: &Transaction<'_>,
    changes: &[&Change],
    journal_plan: JournalPlan,
    assign_to: Option<NodeId>,
) -> SqlResult<Announced> {
    let JournalPlan { cursors, connections, mut held_back } = journal_plan;
    let mut cursors = cursors.into_iter();
    let (mut appended, mut entered) = (Vec::new(), Vec::new());
    let mut announced = Announced { receipts: Vec::with_capacity(changes.len()), notify_nodes: false };
    for change in changes {
        let mut receipt = CommitReceipt::default();
        for entry in &change.journal {
            let cursor =
                cursors.next().ok_or_else(|| corrupt("the commit drew fewer cursors than it has journal entries"))?;
            receipt.cursors.push(cursor);
            let body = entry.event.as_ref().map(|event| event.to_json());
            if let (Some(connection), Some(event), Some(body)) = (connections.get(&entry.customer), &entry.event, &body)
            {
                let is_first = held_back.insert(entry.subject);
                let owner = assign_to.filter(|_| connection.is_running && is_first).map(|node| node.0);
                receipt.connection_updated_at = Some(connection.updated_at);
                match owner {
                    None => receipt.waiting += 1,
                    Some(_) => receipt.assigned.push(OutboxEvent {
                        cursor,
                        customer: entry.customer,
                        subject: entry.subject,
                        sequence: entry.sequence,
                        event_type: event.event_type(),
                        body: body.clone(),
                        attempts: 0,
                        at: entry.at,
                        restore_number: None,
                        trace_parent: change.trace_parent(),
                    }),
                }
                announced.notify_nodes |= connection.is_running && owner.is_none();
                let (customer, subject, trace_parent) = (entry.customer, entry.subject, change.trace_parent());
                entered.push(OutboxInsert { cursor, customer, subject, owner, trace_parent });
            }
            appended.push(JournalInsert { cursor, entry, body });
        }
        announced.receipts.push(receipt);
    }
    tokio::try_join!(biased; insert_journal(db, &appended), insert_outbox(db, &entered))?;
    Ok(announced)
}

async fn insert_journal(db: &Transaction<'_>, appended: &[JournalInsert<'_>]) -> SqlResult<()> {
    let insert = "INSERT INTO journal (cursor, customer, subject, kind, sequence, from_status, to_status, cause, actor, \
         at_ms, reason, body) \
         SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::smallint[], $5::bigint[], $6::text[], $7::text[], \
         $8::text[], $9::text[], $10::bigint[], $11::text[], $12::text[])";
    let appended: Vec<&JournalInsert<'_>> = appended.iter().collect();
    let appended = appended.as_slice();
    let values: rows::Values<'_> = &[
        &column(appended, |row| row.cursor),
        &column(appended, |row| row.entry.customer),
        &column(appended, |row| row.entry.subject),
        &column(appended, |row| kind_code(row.entry.kind)),
        &column(appended, |row| row.entry.sequence),
        &column(appended, |row| row.entry.from),
        &column(appended, |row| row.entry.to),
        &column(appended, |row| row.entry.cause),
        &column(appended, |row| row.entry.actor.as_str()),
        &column(appended, |row| ms(row.entry.at)),
        &column(appended, |row| row.entry.reason.as_deref()),
        &column(appended, |row| row.body.as_deref()),
    ];
    rows::execute(db, insert, values).await.map(drop)
}

async fn insert_outbox(db: &Transaction<'_>, entered: &[OutboxInsert]) -> SqlResult<()> {
    if entered.is_empty() {
        return Ok(());
    }
    let insert = "INSERT INTO outbox (cursor, customer, subject, owner, traceparent, attempts) \
         SELECT n.*, 0 FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[]) AS n";
    let entered: Vec<&OutboxInsert> = entered.iter().collect();
    let entered = entered.as_slice();
    let values: rows::Values<'_> = &[
        &column(entered, |row| row.cursor),
        &column(entered, |row| row.customer),
        &column(entered, |row| row.subject),
        &column(entered, |row| row.owner),
        &column(entered, |row| row.trace_parent.map(|position| position.to_string())),
    ];
    rows::execute(db, insert, values).await.map(drop)
}
