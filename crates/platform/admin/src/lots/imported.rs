//! What follows an import of lots: the counts, and links to the lots that it added and changed.

use kit_design::fields::FormFields;
use platform_core::catalogue::{MergeOutcome, MergeReport};
use platform_core::port::Page;
use platform_core::sales::lists::ItemQuery;

use crate::imports::{Counts, ImportNotice, LINKED_MAX};
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels;
use crate::session::Session;

/// Path of the page that follows an import, below that of the sale: with the counts, the number of lots before it, and
/// lots that it changed.
pub(super) fn path(sale: &Sale, report: &MergeReport) -> String {
    let counts = Counts { rows: report.rows, new: report.new, changed: report.changed, same: report.same };
    let changed = report.outcomes.iter().filter(|row| row.outcome == MergeOutcome::Changed);
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("before", &sale.counts.total.to_string());
    for row in changed.take(LINKED_MAX) {
        query.append_pair("lot", &row.lot_number);
    }
    format!("/lots?done=imported&{}&{}", counts.query(), query.finish())
}

/// The notice of that page: a link to the new lots, which are at the end of the running order, and one to each changed lot.
pub(super) async fn notice(
    session: &Session,
    sale: &Sale,
    query: &FormFields,
) -> Result<Option<ImportNotice>, PageError> {
    let counts = Counts::of_query(query).filter(|_| query.text("done") == "imported");
    let Some(counts) = counts else { return Ok(None) };
    let base = &session.admin.site().base;
    let mut links = Vec::new();
    let before = query.text("before").parse::<u64>().unwrap_or(0);
    if before > 0 && counts.new > 0 {
        let words = format!("Show {}", labels::count(counts.new, "new lot", "new lots"));
        links.push((format!("{base}{}", sale.path(&format!("/lots?after={}", before - 1))), words));
    }
    let mut changed = 0_u64;
    for number in query.all("lot").take(LINKED_MAX) {
        let wanted = ItemQuery { statuses: Vec::new(), lot_number: Some(number.to_owned()) };
        let page = Page { after: None, limit: 1 };
        let found = session.platform().list_items(&session.caller, sale.auction.uuid, &wanted, page).await?;
        links.extend(found.iter().map(|lot| {
            (format!("{base}{}", sale.path(&format!("/lots/{}", lot.uuid))), format!("Lot {}", lot.lot_number))
        }));
        changed += found.len() as u64;
    }
    let done = "The catalogue was imported.";
    Ok(Some(ImportNotice::new(done, counts, links, counts.changed > changed)))
}
