//! Nodes: who lives, and what the dead leave.

use jiff::Timestamp;
use provider_core::port::NodeId;
use rusqlite::Connection;

use super::rows::{self, SqlResult, ms};

/// The number that stands for a node in delivery rows. It is looked up in the transaction that uses it: a node that was
/// taken for dead meanwhile gets a new one, so that no row belongs to a number that nobody watches.
pub(super) fn node_number(db: &Connection, node: &NodeId, now: Timestamp) -> SqlResult<i64> {
    let found = rows::one(db, "SELECT no FROM nodes WHERE id = ?1", [&*node.0], |row| Ok(row.get(0)?))?;
    match found {
        Some(no) => Ok(no),
        None => {
            db.execute("INSERT INTO nodes (id, heartbeat_at) VALUES (?1, ?2)", (&*node.0, ms(now)))?;
            Ok(db.last_insert_rowid())
        }
    }
}

/// Says that `node` lives, and gives back what nodes had that were last heard of before `dead_before`. There is no index by
/// owner, which every delivery would pay for: the unfinished work is gone through once for nodes that died.
pub(super) fn heartbeat(db: &Connection, node: &NodeId, now: Timestamp, dead_before: Timestamp) -> SqlResult<()> {
    let hear = "INSERT INTO nodes (id, heartbeat_at) VALUES (?1, ?2) \
         ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at";
    db.prepare_cached(hear)?.execute((&*node.0, ms(now)))?;
    let dead = db.prepare_cached("SELECT 1 FROM nodes WHERE heartbeat_at < ?1")?.exists([ms(dead_before)])?;
    if dead {
        let give_back = "UPDATE deliveries SET owner = NULL, next_at = ?2 \
             WHERE owner IN (SELECT no FROM nodes WHERE heartbeat_at < ?1)";
        db.execute(give_back, (ms(dead_before), ms(now)))?;
        db.execute("DELETE FROM nodes WHERE heartbeat_at < ?1", [ms(dead_before)])?;
    }
    Ok(())
}
