//! Nodes: who lives, and what the dead leave.

use jiff::Timestamp;
use provider_core::port::NodeId;

use super::rows::{self, Client, SqlResult};

/// The number that stands for a node in delivery rows, held until the transaction ends: whoever takes the node for dead waits,
/// and sees the rows. A node that was taken for dead before gets a new number, so that no row belongs to one that nobody
/// watches.
pub(super) async fn node_number(db: &impl Client, node: &NodeId, now: Timestamp) -> SqlResult<i64> {
    let select = "SELECT no FROM nodes WHERE id = $1 FOR KEY SHARE";
    let insert = "INSERT INTO nodes (id, heartbeat_at) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING no";
    let id = &*node.0;
    if let Some(no) = rows::one(db, select, &[&id], |row| rows::get(row, 0)).await? {
        return Ok(no);
    }
    let made = rows::all(db, insert, &[&id, &now], |row| rows::get(row, 0)).await?;
    made.first().copied().ok_or_else(|| crate::codec::corrupt("a node without a number").into())
}

/// Says that `node` lives, and gives back what nodes had that were last heard of before `dead_before`; true when there was
/// such a node. There is no index by owner, which every delivery would pay for: the unfinished work is gone through once for
/// nodes that died.
pub(super) async fn heartbeat(
    db: &impl Client,
    node: &NodeId,
    now: Timestamp,
    dead_before: Timestamp,
) -> SqlResult<bool> {
    let hear = "INSERT INTO nodes (id, heartbeat_at) VALUES ($1, $2) \
         ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at";
    rows::write(db, hear, &[&&*node.0, &now]).await?;
    // A row that another heartbeat is deleting is that one's to deal with.
    let remove_dead_nodes = "DELETE FROM nodes WHERE no IN (SELECT no FROM nodes WHERE heartbeat_at < $1 ORDER BY no FOR UPDATE) RETURNING no";
    let dead: Vec<i64> = rows::all(db, remove_dead_nodes, &[&dead_before], |row| rows::get(row, 0)).await?;
    if dead.is_empty() {
        return Ok(false);
    }
    let give_back = "UPDATE deliveries SET owner = NULL, next_at = $2 WHERE owner = ANY ($1)";
    rows::write(db, give_back, &[&dead, &now]).await?;
    Ok(true)
}
