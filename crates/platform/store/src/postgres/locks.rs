//! Advisory locks, held until the end of the transaction. A transaction that acquires both locks acquires [`NODES`]
//! first.

use kit_engine::postgres::{Connection, Transaction};

use super::rows::{self, SqlResult};

/// Held by transactions that draw cursors or decide from which cursor on a customer is connected. So cursors become
/// visible in their order, and every event is either before or after the connection
/// (docs/decisions/0004-journal-cursors-in-commit-order.md).
const JOURNAL: i64 = 0x6c6f_7477_6972_6501;
/// Shared by transactions that assign rows to a node, and exclusive for transactions that declare nodes dead. So no row
/// is assigned to a node while the node is being deleted.
const NODES: i64 = 0x6c6f_7477_6972_6502;

/// The statement that acquires the journal's lock; its parameter is [`journal_key`].
pub(super) const LOCK: &str = "SELECT pg_advisory_xact_lock($1)";

pub(super) fn journal_key() -> i64 {
    JOURNAL
}

pub(super) async fn journal(db: &Transaction<'_>) -> SqlResult<()> {
    rows::execute(db, LOCK, &[&JOURNAL]).await.map(drop)
}

pub(super) async fn nodes_exclusive(db: &Transaction<'_>) -> SqlResult<()> {
    rows::execute(db, LOCK, &[&NODES]).await.map(drop)
}

pub(super) async fn nodes_shared(db: &impl Connection) -> SqlResult<()> {
    rows::execute(db, "SELECT pg_advisory_xact_lock_shared($1)", &[&NODES]).await.map(drop)
}
