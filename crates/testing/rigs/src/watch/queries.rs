//! The queries of the dashboard and of the rules: each is valid, and each metric that they name has series.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::prometheus::Prometheus;
use crate::RigError;

/// Beginnings of the names of metrics.
const METRICS: [&str; 2] = ["lotwire_", "process_"];

/// Runs all queries. Returns their number.
pub(super) async fn check(prometheus: &Prometheus, docs: &Path) -> Result<usize, RigError> {
    let dashboard: Value = serde_json::from_slice(&std::fs::read(docs.join("dashboard.json"))?)?;
    let dashboard = of_dashboard(&dashboard);
    let rules = prometheus.rules().await?;
    for query in &dashboard {
        if prometheus.query(query).await?.is_empty() {
            return Err(format!("a query of the dashboard returns nothing: {query}").into());
        }
    }
    for rule in &rules {
        prometheus.query(rule).await?;
    }
    let named: BTreeSet<&str> = dashboard.iter().chain(&rules).flat_map(|query| names(query)).collect();
    for name in &named {
        if prometheus.query(&format!("count({name})")).await?.is_empty() {
            return Err(format!("no server has {name}, which a query names").into());
        }
    }
    Ok(dashboard.len() + rules.len() + named.len())
}

/// The queries of all panels, with values for the variables, and those that list the values of variables.
fn of_dashboard(dashboard: &Value) -> Vec<String> {
    let panels = dashboard["panels"].as_array().into_iter().flatten();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let queries = targets.filter_map(|target| target["expr"].as_str());
    let variables = dashboard["templating"]["list"].as_array().into_iter().flatten();
    let listed = variables.filter_map(|variable| {
        let (metric, label) =
            variable["query"]["query"].as_str()?.strip_prefix("label_values(")?.strip_suffix(')')?.split_once(", ")?;
        Some(format!("count by ({label}) ({metric}{{{label}!=\"\"}})"))
    });
    let filled =
        |query: &str| query.replace("$instance", ".*").replace("$port", ".*").replace("$__rate_interval", "1m");
    queries.map(filled).chain(listed).collect()
}

/// The metrics that a query names.
fn names(query: &str) -> impl Iterator<Item = &str> {
    let words = query.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| METRICS.iter().any(|prefix| word.starts_with(prefix) && word.len() > prefix.len()))
}

/// The metrics of the tables of a page.
pub(super) fn documented(page: &str) -> impl Iterator<Item = &str> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split(['`', '{']).next())
        .filter(|name| METRICS.iter().any(|prefix| name.starts_with(prefix)))
}
