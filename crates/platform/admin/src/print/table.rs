//! A paper that is one table: its header repeats on each printed page, and no row breaks inside.

use askama::Template;
use axum::response::Response;
use kit_design::frame::{Frame, render_page};

use super::paper::Paper;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::session::Session;

/// A column with the class of its cells: `number` for amounts, `text` for what wraps, `write` for room to write in.
pub(super) struct PaperColumn {
    pub(super) words: &'static str,
    pub(super) class: &'static str,
}

impl PaperColumn {
    pub(super) const fn new(words: &'static str, class: &'static str) -> Self {
        Self { words, class }
    }
}

/// A row: the texts of its cells, in the order of the columns. The first one names it.
#[derive(Default)]
pub(super) struct PaperRow {
    pub(super) cells: Vec<String>,
    /// The class of a row that stands out: `struck` or `total`.
    pub(super) class: &'static str,
}

impl PaperRow {
    pub(super) fn new(cells: Vec<String>) -> Self {
        Self { cells, class: "" }
    }
}

/// The page of such a paper.
#[derive(Template)]
#[template(path = "print/table.html")]
pub(super) struct TablePage {
    frame: Frame,
    paper: Paper,
    columns: Vec<PaperColumn>,
    rows: Vec<PaperRow>,
    /// What a paper without rows says.
    empty: &'static str,
}

/// Renders the paper.
pub(super) fn render(
    session: &Session,
    sale: &Sale,
    paper: Paper,
    (columns, rows): (Vec<PaperColumn>, Vec<PaperRow>),
    empty: &'static str,
) -> Result<Response, PageError> {
    render_page(&TablePage { frame: paper.frame(session, sale), paper, columns, rows, empty })
}

impl TablePage {
    /// The cells of a row with their columns.
    fn cells<'a>(&'a self, row: &'a PaperRow) -> impl Iterator<Item = (&'a PaperColumn, &'a String)> {
        self.columns.iter().zip(&row.cells)
    }
}
