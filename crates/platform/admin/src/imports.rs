//! What both imports, of lots and of people, show: counts with links to the rows, and the notice on the page that follows.

use askama::Template;
use askama::filters::HtmlSafe;
use kit_design::fields::FormFields;
use platform_core::catalogue::MergeOutcome;

use crate::sale::labels;

/// Rows that a notice links to at most.
pub(crate) const LINKED_MAX: usize = 10;
/// Ids of the first new and the first changed row of a check.
const NEW: &str = "row-new";
const CHANGED: &str = "row-changed";

/// A count of a check, with the id of the part of the page that has its rows.
pub(crate) struct Figure {
    pub(crate) words: &'static str,
    pub(crate) figure: String,
    /// None when the page shows no row of this kind.
    pub(crate) target: Option<&'static str>,
}

impl Figure {
    /// A count whose rows are at `target`, if it has any.
    pub(crate) fn new(words: &'static str, count: u64, target: Option<&'static str>) -> Self {
        Self { words, figure: labels::number(count), target: target.filter(|_| count > 0) }
    }
}

/// The first listed row of each kind, to which the counts lead.
#[derive(Default)]
pub(crate) struct FirstRows {
    has_new: bool,
    has_changed: bool,
}

impl FirstRows {
    /// Id of the next row, if it is the first with this outcome.
    pub(crate) fn id(&mut self, outcome: MergeOutcome) -> Option<&'static str> {
        let (has, id) = match outcome {
            MergeOutcome::New => (&mut self.has_new, NEW),
            MergeOutcome::Changed => (&mut self.has_changed, CHANGED),
            MergeOutcome::Same => return None,
        };
        (!std::mem::replace(has, true)).then_some(id)
    }

    /// Id of the first row with this outcome; none when no row has it.
    pub(crate) fn of(&self, outcome: MergeOutcome) -> Option<&'static str> {
        match outcome {
            MergeOutcome::New => self.has_new.then_some(NEW),
            MergeOutcome::Changed => self.has_changed.then_some(CHANGED),
            MergeOutcome::Same => None,
        }
    }
}

/// The counts of an import, as the address of the page after it has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Rows of the file.
    pub(crate) rows: u64,
    pub(crate) new: u64,
    pub(crate) changed: u64,
    pub(crate) same: u64,
}

impl Counts {
    /// The counts that a query names.
    pub(crate) fn of_query(query: &FormFields) -> Option<Self> {
        let count = |name: &str| query.text(name).parse::<u64>().ok();
        Some(Self { rows: count("rows")?, new: count("new")?, changed: count("changed")?, same: count("same")? })
    }

    /// The query string that names them.
    pub(crate) fn query(self) -> String {
        let Self { rows, new, changed, same } = self;
        format!("rows={rows}&new={new}&changed={changed}&same={same}")
    }

    /// The counts in a sentence.
    fn words(self) -> String {
        let rows = labels::count(self.rows, "row read", "rows read");
        let [new, changed, same] = [self.new, self.changed, self.same].map(labels::number);
        format!("{rows}: {new} new, {changed} changed, {same} unchanged, none refused.")
    }
}

/// The notice after an import.
#[derive(Template)]
#[template(path = "imports.html")]
pub(crate) struct ImportNotice {
    /// The sentence before the counts.
    done: &'static str,
    counts: Counts,
    /// Paths and words of links to what the rows added and changed.
    links: Vec<(String, String)>,
    /// There are more than the links lead to.
    has_more: bool,
}

impl HtmlSafe for ImportNotice {}

impl ImportNotice {
    pub(crate) fn new(done: &'static str, counts: Counts, links: Vec<(String, String)>, has_more: bool) -> Self {
        Self { done, counts, links, has_more }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_go_through_an_address_and_are_written_in_a_sentence() {
        let counts = Counts { rows: 1_204, new: 1_200, changed: 3, same: 1 };
        let query = FormFields::of_query(&counts.query()).unwrap();
        assert_eq!(Counts::of_query(&query), Some(counts));
        assert_eq!(counts.words(), "1,204 rows read: 1,200 new, 3 changed, 1 unchanged, none refused.");
        let incomplete = FormFields::of_query("rows=1&new=1").unwrap();
        assert_eq!(Counts::of_query(&incomplete), None);
    }

    #[test]
    fn the_first_row_of_each_kind_has_an_id() {
        let mut rows = FirstRows::default();
        let outcomes = [MergeOutcome::Changed, MergeOutcome::Same, MergeOutcome::Changed];
        assert_eq!(outcomes.map(|outcome| rows.id(outcome)), [Some("row-changed"), None, None]);
        assert_eq!((rows.of(MergeOutcome::New), rows.of(MergeOutcome::Changed)), (None, Some("row-changed")));
    }

    #[test]
    fn a_count_of_nothing_leads_nowhere() {
        assert_eq!(Figure::new("Errors", 0, Some("errors")).target, None);
        assert_eq!(Figure::new("Errors", 2, Some("errors")).target, Some("errors"));
    }
}
