//! Checks of a page against WCAG 2.2 by axe-core, and for faults that axe-core does not look for.

use std::path::Path;

use serde_json::Value;

use super::{BrowserError, Page};

/// Rules of WCAG 2.2, levels A and AA, and axe-core's best practices.
const ALL_RULES: &str = r#"["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]"#;

/// The rules about colours, which are all that a colour scheme can break.
const COLOUR_RULES: &str = r#"{ type: "rule", values: ["color-contrast", "link-in-text-block"] }"#;

/// Runs `RULES`. Only the nodes of violations are described.
const RUN: &str = r#"axe.run(document, { runOnly: RULES, resultTypes: ["violations"] })
    .then((found) => found.violations.map((rule) =>
        rule.id + ": " + rule.help + ": " + rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")))"#;

/// How many CSS pixels the page is wider than its window.
const TOO_WIDE: &str = "document.documentElement.scrollWidth - innerWidth";

/// axe-core, as `cargo xtask clients` installs it.
pub struct Accessibility {
    script: String,
}

impl Accessibility {
    /// Reads axe-core from the folder of the installed clients, such as `target/clients`.
    pub fn from_clients(folder: &Path) -> Result<Self, BrowserError> {
        let file = folder.join("javascript/node_modules/axe-core/axe.min.js");
        let reading = || format!("reading {} (`cargo xtask clients` installs it)", file.display());
        let script = std::fs::read_to_string(&file).map_err(|error| BrowserError::new(reading(), error))?;
        Ok(Self { script })
    }

    /// The faults of the open page, one line each.
    pub async fn faults(&self, page: &Page) -> Result<Vec<String>, BrowserError> {
        let mut faults = self.violations(page, ALL_RULES).await?;
        let too_wide = page.evaluate(TOO_WIDE).await?.as_f64().unwrap_or_default();
        if too_wide > 0.0 {
            faults.push(format!("the page is {too_wide} pixels wider than its window"));
        }
        Ok(faults)
    }

    /// The faults of the open page's colours, for a page whose other faults were checked in another colour scheme.
    pub async fn colour_faults(&self, page: &Page) -> Result<Vec<String>, BrowserError> {
        self.violations(page, COLOUR_RULES).await
    }

    async fn violations(&self, page: &Page, rules: &str) -> Result<Vec<String>, BrowserError> {
        if page.evaluate("typeof axe").await? != "object" {
            page.evaluate(&format!("{};0", self.script)).await?;
        }
        let found = page.evaluate(&RUN.replace("RULES", rules)).await?;
        let lines = found.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        Ok(lines.collect())
    }
}
