//! Anchors of the audit log: each must hold for the rest of the run, also after a failover.

use serde_json::Value;
use testkit::server::Launch;

/// The anchors so far.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    noted: Vec<String>,
    /// What `lotwire verify` found broken.
    broken: Vec<String>,
}

impl Anchors {
    /// Verifies the log against all anchors and notes the current one. Returns the outcome as text.
    pub(super) async fn check(&mut self, launch: &Launch) -> String {
        self.verify(launch, "--log").await
    }

    /// Verifies everything. Returns the number of anchors, and what was ever found broken.
    pub(super) async fn check_all(&mut self, launch: &Launch) -> (usize, Vec<String>) {
        let outcome = self.verify(launch, "--all").await;
        if outcome.starts_with("failed") {
            self.broken.push(outcome);
        }
        (self.noted.len(), self.broken.clone())
    }

    async fn verify(&mut self, launch: &Launch, what: &str) -> String {
        let mut command = launch.command();
        command.args(["verify", what, "--json"]);
        for anchor in &self.noted {
            command.args(["--anchor", anchor]);
        }
        let output = match tokio::task::spawn_blocking(move || command.output()).await {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => return format!("failed: {error}"),
            Err(error) => return format!("failed: {error}"),
        };
        let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) else {
            return format!("failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        };
        if let Some(anchor) = report["anchor"].as_str() {
            self.noted.push(anchor.to_owned());
        }
        if report["holds"] == true {
            return format!("holds, {} entries", report["entries"]);
        }
        let broken = report["broken"].to_string();
        self.broken.push(broken.clone());
        format!("broken: {broken}")
    }
}
