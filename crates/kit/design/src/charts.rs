//! Charts that the server draws as SVG, each with the same numbers as text.

use askama::Template;
use askama::filters::HtmlSafe;

/// Height of a chart's drawing, in its own units.
const HEIGHT: u64 = 100;
/// Width of a bar with its gap, in the drawing's units.
const STEP: u64 = 10;

/// What happened in one step of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The step's beginning, for people.
    pub label: String,
    /// What succeeded.
    pub good: u64,
    /// What failed.
    pub bad: u64,
    /// Address of the list of what happened in this step; empty for none.
    pub href: String,
}

/// A bar of a chart: the failed part stands on the successful part.
#[derive(Debug, Clone, Copy)]
struct Bar {
    x: u64,
    good_y: u64,
    good_height: u64,
    bad_y: u64,
    bad_height: u64,
}

fn bars(steps: &[Step]) -> Vec<Bar> {
    let most = steps.iter().map(|step| step.good + step.bad).max().unwrap_or(0).max(1);
    // What is not zero is visible.
    let height = |count: u64| if count == 0 { 0 } else { (count * HEIGHT / most).max(3) };
    let bar = |(no, step): (usize, &Step)| {
        let bad_height = height(step.bad);
        let good_height = height(step.good).min(HEIGHT - bad_height);
        let good_y = HEIGHT - good_height;
        Bar { x: no as u64 * STEP, good_y, good_height, bad_y: good_y - bad_height, bad_height }
    };
    steps.iter().enumerate().map(bar).collect()
}

/// A bar chart of successes and failures, with a table of the same numbers.
#[derive(Debug, Clone, Template)]
#[template(path = "bar_chart.html")]
pub struct BarChart {
    title: String,
    steps: Vec<Step>,
    bars: Vec<Bar>,
    width: u64,
}

impl HtmlSafe for BarChart {}

impl BarChart {
    /// A chart of these steps, oldest first.
    pub fn new(title: impl Into<String>, steps: Vec<Step>) -> Self {
        Self { title: title.into(), bars: bars(&steps), width: steps.len().max(1) as u64 * STEP, steps }
    }
}

/// A chart of the size of a word, with its numbers as its name.
#[derive(Debug, Clone, Template)]
#[template(path = "sparkline.html")]
pub struct Sparkline {
    text: String,
    bars: Vec<Bar>,
    width: u64,
}

impl HtmlSafe for Sparkline {}

impl Sparkline {
    /// A sparkline of these steps, oldest first; `text` says what it shows.
    pub fn new(text: impl Into<String>, steps: &[Step]) -> Self {
        Self { text: text.into(), bars: bars(steps), width: steps.len().max(1) as u64 * STEP }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fits_its_chart_and_what_is_not_zero_is_visible() {
        let step = |good, bad| Step { label: "06:00".into(), good, bad, href: String::new() };
        let steps = vec![step(0, 0), step(1_000_000, 1), step(0, 500_000), step(u64::MAX / 200, 0)];
        for bar in bars(&steps) {
            assert_eq!(bar.good_y + bar.good_height, HEIGHT);
            assert_eq!(bar.bad_y + bar.bad_height, bar.good_y);
        }
        assert!(bars(&steps)[1].bad_height > 0 && bars(&steps)[0].good_height == 0);
        let html = BarChart::new("Attempts <b>", steps).to_string();
        assert!(html.contains("Attempts &#60;b&#62;") && html.contains("<table"), "{html}");
    }
}
