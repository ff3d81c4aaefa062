//! The systemd units of the packages: how exposed they leave the system, by `systemd-analyze security`.

use std::path::PathBuf;
use std::process::Command;

use crate::{Failure, debian, root, say};

/// Highest accepted exposure in tenths: 2.0 of 10. The unit of a server without any sandbox has 9.6.
const EXPOSURE_MAX_TENTHS: &str = "20";

/// The units that run something.
const SERVICES: [&str; 2] = ["lotwire.service", "lotwire-backup.service"];

fn path(service: &str) -> PathBuf {
    root().join("packaging/systemd").join(service)
}

/// Fails when a unit is more exposed than allowed, and prints the figures.
pub(crate) fn check() -> Result<(), Failure> {
    debian::ensure(&["systemd"], || debian::on_path("systemd-analyze"))?;
    SERVICES.into_iter().try_for_each(check_service)
}

fn check_service(service: &str) -> Result<(), Failure> {
    let mut command = Command::new("systemd-analyze");
    command.args(["security", "--offline=yes", "--no-pager"]).arg(format!("--threshold={EXPOSURE_MAX_TENTHS}"));
    let output = command.arg(path(service)).output().map_err(|error| format!("systemd-analyze: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let figure = text.lines().find(|line| line.contains("Overall exposure level")).unwrap_or_default();
    say(figure.trim_start_matches("→ "));
    if output.status.success() && !figure.is_empty() {
        return Ok(());
    }
    let missing: Vec<&str> = text.lines().filter(|line| line.starts_with('✗')).collect();
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "{service} is more exposed than allowed ({EXPOSURE_MAX_TENTHS} tenths):\n{}\n{errors}",
        missing.join("\n")
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The settings of the unit; a repeated one has all its values.
    fn settings() -> BTreeMap<String, Vec<String>> {
        let text = std::fs::read_to_string(path(SERVICES[0])).unwrap();
        let mut settings = BTreeMap::<String, Vec<String>>::new();
        for line in text.lines().filter(|line| !line.starts_with(['#', '['])) {
            if let Some((name, value)) = line.split_once('=') {
                settings.entry(name.to_owned()).or_default().push(value.to_owned());
            }
        }
        settings
    }

    #[test]
    fn the_unit_waits_for_readiness_and_for_the_time_of_day() {
        let settings = settings();
        let has =
            |name: &str, value: &str| settings[name].iter().any(|found| found.split(' ').any(|word| word == value));
        assert!(has("Type", "notify") && has("After", "time-sync.target") && has("User", "lotwire"), "{settings:?}");
        assert!(has("ExecStart", "/etc/lotwire/lotwire.toml") && has("ExecStart", "serve"), "{settings:?}");
    }

    #[test]
    fn the_unit_may_stop_for_longer_than_the_server_drains() {
        let reference = std::fs::read_to_string(root().join("docs/operate/configuration.md")).unwrap();
        let drain = reference.lines().find(|line| line.starts_with("| `provider.drain_timeout`")).unwrap();
        let seconds = |text: &str| text.trim_matches(|char: char| !char.is_ascii_digit()).parse::<u32>().unwrap();
        let drain = seconds(drain.split('|').nth(3).unwrap());
        let stop = seconds(&settings()["TimeoutStopSec"][0]);
        // The server releases deliveries and closes its databases after the drain.
        assert!(drain > 0 && stop >= drain + 30, "{stop} s to stop, {drain} s to drain");
    }
}
