//! Checks the connection to PostgreSQL: its encryption, and whether the server accepts enough connections.

use kit_engine::OlderTables;
use kit_engine::postgres::ServerInfo;

use super::CheckResult;
use crate::config::Config;

/// The finding; none with SQLite.
pub(super) async fn check(config: &Config) -> Option<CheckResult> {
    if config.database.url.is_empty() {
        return None;
    }
    let reached = config.database.postgres(OlderTables::Refuse).probe().await;
    // Each role has a pool and one listening connection.
    let wanted = config.roles.len() * (usize::from(config.database.pool_size) + 1);
    Some(reached.map_err(|error| error.to_string()).and_then(|reached| judge(&reached, wanted)))
}

/// The finding. `wanted` is the maximum number of connections of a node.
fn judge(reached: &ServerInfo, wanted: usize) -> CheckResult {
    let ServerInfo { version, connections_max, .. } = reached;
    if usize::try_from(*connections_max).is_ok_and(|most| most < wanted) {
        return Err(format!(
            "the server accepts {connections_max} connections, but a node uses up to {wanted}. Raise max_connections \
             of the server, or lower database.pool_size"
        ));
    }
    Ok(format!("{version}, {}, {connections_max} connections", protection(reached)))
}

fn protection(reached: &ServerInfo) -> String {
    let Some(tls) = &reached.tls else { return "not encrypted".to_owned() };
    match reached.mode {
        "verify-full" => format!("{tls}, certificate and host name verified"),
        "verify-ca" => format!("{tls}, certificate verified"),
        _ => format!("{tls}, certificate not verified (sslmode=verify-full verifies it)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finding_names_the_encryption_and_too_few_connections_are_wrong() {
        let mut reached = ServerInfo {
            version: "15.4".to_owned(),
            tls: Some("TLSv1.3".to_owned()),
            mode: "prefer",
            connections_max: 97,
        };
        assert_eq!(
            judge(&reached, 34).unwrap(),
            "15.4, TLSv1.3, certificate not verified (sslmode=verify-full verifies it), 97 connections"
        );
        reached.tls = None;
        assert_eq!(judge(&reached, 34).unwrap(), "15.4, not encrypted, 97 connections");
        assert!(judge(&reached, 130).unwrap_err().contains("up to 130. Raise max_connections"));
    }
}
