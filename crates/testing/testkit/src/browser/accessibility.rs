//! Checks of a page against WCAG 2.2 by axe-core, and for faults that axe-core does not look for.

use std::path::Path;

use serde_json::Value;

use super::{BrowserError, Page};

/// Rules of WCAG 2.2, levels A and AA, and axe-core's best practices.
const ALL_RULES: &str = r#"runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]"#;

/// All of them without those about colours.
const RULES_OF_FORM: &str = r#"runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    rules: { "color-contrast": { enabled: false }, "link-in-text-block": { enabled: false } }"#;

/// The rules about colours, which are all that a colour scheme can break. They are the slow ones.
const COLOUR_RULES: &str = r#"runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] }"#;

/// Runs `RULES`. Only the nodes of violations are described.
const RUN: &str = r#"axe.run(document, { RULES, resultTypes: ["violations"] })
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
        self.violations_and_width(page, ALL_RULES).await
    }

    /// The faults of the open page at this width, without those of its colours.
    pub async fn faults_of_form(&self, page: &Page) -> Result<Vec<String>, BrowserError> {
        self.violations_and_width(page, RULES_OF_FORM).await
    }

    async fn violations_and_width(&self, page: &Page, rules: &str) -> Result<Vec<String>, BrowserError> {
        let mut faults = self.violations(page, rules).await?;
        let too_wide = page.evaluate(TOO_WIDE).await?.as_f64().unwrap_or_default();
        if too_wide > 0.0 {
            faults.push(format!("the page is {too_wide} pixels wider than its window"));
        }
        Ok(faults)
    }

    /// The faults of the open page's colours.
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
