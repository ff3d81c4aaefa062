//! The text of a PDF, page by page, as poppler's `pdftotext` reads it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::browser::BrowserError;

/// The text of each page. Words that stand side by side on the page are on one line.
pub fn page_texts(pdf: &[u8]) -> Result<Vec<String>, BrowserError> {
    let failed = |error: &dyn std::fmt::Display| {
        BrowserError::new("reading a PDF with pdftotext (is Debian's package `poppler-utils` installed?)", error)
    };
    let mut file = tempfile::NamedTempFile::new().map_err(|error| failed(&error))?;
    file.write_all(pdf).map_err(|error| failed(&error))?;
    let output = Command::new("pdftotext").arg("-layout").arg(file.path()).arg("-").stdin(Stdio::null()).output();
    let output = output.map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&String::from_utf8_lossy(&output.stderr)));
    }
    // A form feed ends each page.
    let text = String::from_utf8_lossy(&output.stdout);
    let mut pages: Vec<String> = text.split('\u{c}').map(str::to_owned).collect();
    pages.pop();
    Ok(pages)
}
