//! Printing of a page.

use base64::Engine as _;
use serde_json::json;

use super::super::connection::BrowserError;
use super::Page;

impl Page {
    /// The page as the browser prints it to a PDF, on the paper that its styles name, without the browser's own header and footer.
    pub async fn print(&self) -> Result<Vec<u8>, BrowserError> {
        let printed = self.call("Page.printToPDF", json!({ "preferCSSPageSize": true })).await?;
        let decoded = base64::engine::general_purpose::STANDARD.decode(printed["data"].as_str().unwrap_or_default());
        decoded.map_err(|error| BrowserError::new("printing the page", error))
    }
}
