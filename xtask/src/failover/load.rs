//! The load: `rigs failover` in the namespace of the Lotwire nodes.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::network::APP;
use crate::{Failure, target_dir};

/// The running rig with its two nodes.
pub(super) struct Load {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Load {
    /// Starts the nodes and the load. `log` receives the log of both nodes.
    pub(super) fn start(database_url: &str, bids: &str, log: &Path) -> Result<Self, Failure> {
        let log = File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
        let mut process = Command::new("ip")
            .args(["netns", "exec", APP])
            .arg(target_dir().join("debug/rigs"))
            .args(["failover", "--database-url", database_url, "--bids", bids])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("rigs: {error}"))?;
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().ok_or("the rig has no output")?);
        let mut load = Self { process, input, output };
        match load.line()?.as_str() {
            "ready" => Ok(load),
            other => Err(format!("the load did not start: {other}")),
        }
    }

    /// Verifies the audit log against all anchors so far. Returns the outcome.
    pub(super) fn verify(&mut self) -> Result<String, Failure> {
        self.send("anchor")?;
        self.line()
    }

    /// Ends the load, waits until everything is delivered, and returns the figures.
    pub(super) fn stop(mut self) -> Result<Value, Failure> {
        self.send("stop")?;
        let line = self.line()?;
        serde_json::from_str(&line).map_err(|_| format!("the load ended with: {line}"))
    }

    fn send(&mut self, command: &str) -> Result<(), Failure> {
        let input = self.input.as_mut().ok_or("the rig has no input")?;
        writeln!(input, "{command}").map_err(|error| format!("the load ended: {error}"))
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|error| format!("reading from the load: {error}"))?;
        if line.is_empty() {
            Err("the load ended early; see lotwire.log".to_owned())
        } else {
            Ok(line.trim().to_owned())
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // At the end of its input, a rig without a reader ends too. Its nodes end with it.
        drop(self.input.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
