//! The way to PostgreSQL: how well it is kept from others, and whether there is room for a node.

use kit_engine::postgres::ServerInfo;

use super::CheckResult;
use crate::config::Config;

/// None on SQLite.
pub(super) async fn check(config: &Config) -> Option<CheckResult> {
    if config.database.url.is_empty() {
        return None;
    }
    let reached = config.database.postgres().probe().await;
    // Each role has a pool, and a connection more that listens.
    let wanted = config.roles.len() * (usize::from(config.database.pool_size) + 1);
    Some(reached.map_err(|error| error.to_string()).and_then(|reached| judge(&reached, wanted)))
}

/// `wanted` is what a node may take.
fn judge(reached: &ServerInfo, wanted: usize) -> CheckResult {
    let ServerInfo { version, connections_max, .. } = reached;
    if usize::try_from(*connections_max).is_ok_and(|most| most < wanted) {
        return Err(format!(
            "the server takes {connections_max} connections, and a node up to {wanted}; raise its max_connections, or lower \
             database.pool_size"
        ));
    }
    Ok(format!("{version}, {}, {connections_max} connections", protection(reached)))
}

fn protection(reached: &ServerInfo) -> String {
    let Some(tls) = &reached.tls else { return "not encrypted".to_owned() };
    match reached.mode {
        "verify-full" => format!("{tls}, certificate and host name checked"),
        "verify-ca" => format!("{tls}, certificate checked"),
        _ => format!("{tls}, any certificate (sslmode=verify-full would check it)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_the_connection_is_said_and_too_little_room_is_wrong() {
        let mut reached = ServerInfo {
            version: "15.4".to_owned(),
            tls: Some("TLSv1.3".to_owned()),
            mode: "prefer",
            connections_max: 97,
        };
        assert_eq!(
            judge(&reached, 34).unwrap(),
            "15.4, TLSv1.3, any certificate (sslmode=verify-full would check it), 97 connections"
        );
        reached.tls = None;
        assert_eq!(judge(&reached, 34).unwrap(), "15.4, not encrypted, 97 connections");
        assert!(judge(&reached, 130).unwrap_err().contains("up to 130; raise its max_connections"));
    }
}
