//! The alert rules: each alert has a test in which it fires and a section of the runbooks, which it links, and rules and dashboard
//! name only metrics that the documentation lists. `cargo xtask watch-test` compares the documentation with real servers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::Findings;
use crate::Failure;

const RULES: &str = "docs/operate/alerts.yml";
const TESTS: &str = "docs/operate/alerts.test.yml";
const RUNBOOKS: &str = "docs/operate/runbooks.md";
const DASHBOARD: &str = "docs/operate/dashboard.json";
const METRICS: &str = "docs/operate/health-and-alerts.md";

pub(super) fn check(root: &Path, found: &mut Findings) -> Result<(), Failure> {
    let read = |name: &str| fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"));
    let rules = read(RULES)?;
    found.errors(of_alerts(&rules, &read(TESTS)?, &read(RUNBOOKS)?));
    let metrics = read(METRICS)?;
    for (name, text) in [(RULES, rules), (TESTS, read(TESTS)?), (DASHBOARD, read(DASHBOARD)?)] {
        found.errors(unknown_metrics(name, &text, &metrics));
    }
    Ok(())
}

fn of_alerts(rules: &str, tests: &str, runbooks: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let alerts: Vec<&str> = rules.split("- alert: ").skip(1).collect();
    let name = |rule: &str| rule.lines().next().unwrap_or_default().trim().to_owned();
    let fired: BTreeSet<String> =
        tests.split("- alertname: ").skip(1).filter(|test| test.contains("exp_alerts:")).map(name).collect();
    let sections: BTreeSet<&str> = runbooks.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for rule in &alerts {
        let name = name(rule);
        if !fired.contains(&name) {
            errors.push(format!("{TESTS}: {name} fires in no test"));
        }
        if !sections.contains(name.as_str()) {
            errors.push(format!("{RUNBOOKS}: {name} has no section"));
        }
        let link = format!("{RUNBOOKS}#{}", name.to_lowercase());
        if !rule.lines().any(|line| line.trim().starts_with("runbook_url: ") && line.ends_with(&link)) {
            errors.push(format!("{RULES}: {name} does not link {link}"));
        }
    }
    let names: BTreeSet<String> = alerts.iter().map(|rule| name(rule)).collect();
    for section in sections.iter().filter(|section| !names.contains(**section)) {
        errors.push(format!("{RUNBOOKS}: there is no alert {section}"));
    }
    errors
}

/// Metrics that a text names and no table of the page has.
fn unknown_metrics(name: &str, text: &str, page: &str) -> Vec<String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let documented: BTreeSet<&str> = rows.filter_map(|row| row.split(['`', '{']).next()).collect();
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let metrics: BTreeSet<&str> = words
        .filter(|word| word.strip_prefix("lotwire_").is_some_and(|rest| !rest.is_empty()))
        .map(|word| ["_bucket", "_count", "_sum"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word))
        .collect();
    metrics
        .iter()
        .filter(|metric| !documented.contains(**metric))
        .map(|metric| format!("{name}: {METRICS} does not list the metric {metric}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "- alert: Late\n  annotations:\n    runbook_url: https://x/docs/operate/runbooks.md#late\n";

    #[test]
    fn an_alert_needs_a_test_in_which_it_fires_and_a_section_that_it_links() {
        let test = "- alertname: Late\n  exp_alerts: []";
        assert_eq!(of_alerts(RULE, test, "# Runbooks\n## Late\n"), [""; 0]);
        assert_eq!(of_alerts(RULE, "- alertname: Late\n", "## Late"), [format!("{TESTS}: Late fires in no test")]);
        assert_eq!(
            of_alerts(RULE, test, "## Early"),
            [format!("{RUNBOOKS}: Late has no section"), format!("{RUNBOOKS}: there is no alert Early")]
        );
        let unlinked = of_alerts(&RULE.replace("#late", "#early"), test, "## Late");
        assert_eq!(unlinked, [format!("{RULES}: Late does not link {RUNBOOKS}#late")]);
    }

    #[test]
    fn a_metric_has_a_row_of_a_table() {
        let page = "| `lotwire_backlog{endpoint}` | waits |\n| `lotwire_wait_seconds` | time |\n";
        let query = "max(lotwire_backlog) + rate(lotwire_wait_seconds_bucket[5m]) + lotwire_lanes";
        assert_eq!(
            unknown_metrics(RULES, query, page),
            [format!("{RULES}: {METRICS} does not list the metric lotwire_lanes")]
        );
    }
}
