//! The report of an import.

/// A mistake in a catalogue file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowError {
    /// Physical line of the file, from 1; a field in quotes may span several.
    pub line: u64,
    /// Name of the column; none when it concerns the whole row or file.
    pub column: Option<String>,
    /// What is wrong and what to do.
    pub message: String,
}

/// The result of an import. With any error, nothing was imported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// Rows read after the header.
    pub rows: u64,
    /// Items imported, or that a dry run would have imported.
    pub items: u64,
    /// The first 1,000 errors, in the file's order.
    pub errors: Vec<RowError>,
    /// The number of all errors.
    pub error_count: u64,
    /// The first currency that is not that of the auction, with its line.
    pub(super) other_currency: Option<(u64, String)>,
}

impl ImportReport {
    pub(super) fn error(&mut self, error: RowError, errors_max: usize) {
        self.error_count += 1;
        if self.errors.len() < errors_max {
            self.errors.push(error);
        }
    }
}
