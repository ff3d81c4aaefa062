//! Exports items as rows of a CSV file: the catalogue, or the catalogue with the results of the sale. The caller writes
//! the header and then one row after the other, so the whole file is never in memory.
//!
//! Amounts are in major units, with a point and exactly the decimals of the column `currency`, without separators of
//! thousands. Importing an exported file gives the same items, except that spaces around a text are trimmed, and that only an
//! export for staff contains reserve and vendor. A spreadsheet never evaluates a cell as a formula (see the module `formula`).

use contract::models::UrlAttachmentApiModel;
use jiff::Timestamp;
use platform_rules::{Auction, Hidden, Item, SaleResult, new_item_end};
use serde_json::Value;
use serde_json::value::RawValue;

use super::columns::{Column, RESULTS};
use super::formula;
use crate::amounts::CurrencyFormat;

/// The content of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Export {
    /// The catalogue.
    Catalogue,
    /// The catalogue with status, buyer, hammer price, premium, tax and total.
    Results,
}

/// Who reads an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportReaders {
    /// Each caller who sees the lots.
    All,
    /// Staff who see reserve and vendor of each lot.
    Staff,
}

const COLUMNS: [Column; 13] = [
    Column::LotNumber,
    Column::Title,
    Column::Description,
    Column::Category,
    Column::ImageUrl,
    Column::Currency,
    Column::LowEstimate,
    Column::HighEstimate,
    Column::OpeningBid,
    Column::BuyNow,
    Column::FixedIncrement,
    Column::EndTime,
    Column::Attachments,
];

/// Columns that only staff read.
const STAFF_COLUMNS: [Column; 2] = [Column::Reserve, Column::Vendor];

fn columns_for(readers: ExportReaders) -> impl Iterator<Item = Column> {
    let of_staff = STAFF_COLUMNS.into_iter().filter(move |_| readers == ExportReaders::Staff);
    COLUMNS.into_iter().chain(of_staff)
}

impl Export {
    /// The first line.
    pub fn header(self, readers: ExportReaders) -> String {
        let mut names: Vec<String> = columns_for(readers).map(|column| column.name().to_owned()).collect();
        if self == Self::Results {
            names.extend(RESULTS.map(str::to_owned));
        }
        line(&names)
    }

    /// The line, or lines, of an item.
    pub fn row(self, readers: ExportReaders, auction: &Auction, item: &Item) -> String {
        let currency = CurrencyFormat::of(&auction.currency);
        let mut cells: Vec<String> =
            columns_for(readers).map(|column| cell(column, auction, item, &currency)).collect();
        if self == Self::Results {
            let result = SaleResult::of(auction, item);
            let amount =
                |of: fn(SaleResult) -> i64| result.map(|result| currency.write(of(result))).unwrap_or_default();
            let buyer = item.standing.as_ref().filter(|_| result.is_some());
            cells.push(item.status.name().to_owned());
            cells.push(buyer.map(|buyer| buyer.bidder.clone()).unwrap_or_default());
            cells.push(amount(|result| result.hammer));
            cells.push(amount(|result| result.premium));
            cells.push(amount(|result| result.tax));
            cells.push(amount(|result| result.total));
        }
        line(&cells)
    }
}

fn cell(column: Column, auction: &Auction, item: &Item, currency: &CurrencyFormat) -> String {
    let amount = |amount: Option<i64>| amount.map(|amount| currency.write(amount)).unwrap_or_default();
    match column {
        Column::LotNumber => item.lot_number.clone(),
        Column::Title => item.title.clone(),
        Column::Description => item.description.trim().to_owned(),
        Column::Category => item.category.clone().unwrap_or_default(),
        Column::ImageUrl => item.image_url.clone().unwrap_or_default(),
        Column::Currency => currency.code().to_owned(),
        Column::LowEstimate => amount(item.low_estimate),
        Column::HighEstimate => amount(item.high_estimate),
        Column::OpeningBid => amount(Some(item.opening_bid)),
        Column::BuyNow => amount(item.buy_now),
        Column::FixedIncrement => amount(item.fixed_increment),
        // A planned end is left out, because the auction that imports the file plans its own.
        Column::EndTime => {
            let own = item.end_time.filter(|_| item.end_time != new_item_end(auction, item.position));
            own.map(kit_runtime::clock::rfc3339_ms).unwrap_or_default()
        }
        Column::Reserve => amount(item.reserve.map(Hidden::reveal)),
        Column::Vendor => item.vendor.map(|vendor| vendor.to_string()).unwrap_or_default(),
        Column::Attachments if item.attachments.is_empty() => String::new(),
        Column::Attachments => serde_json::to_string(&item.attachments).unwrap_or_default(),
        Column::Artist
        | Column::Date
        | Column::Medium
        | Column::Dimensions
        | Column::Credit
        | Column::Estimate
        | Column::Result(_) => String::new(),
    }
}

/// One line of CSV (RFC 4180).
pub(crate) fn line(cells: &[String]) -> String {
    let mut line = String::new();
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            line.push(',');
        }
        let cell = formula::escape_formula(cell);
        if cell.contains(['"', ',', '\n', '\r']) {
            line.push('"');
            line.push_str(&cell.replace('"', "\"\""));
            line.push('"');
        } else {
            line.push_str(&cell);
        }
    }
    line.push_str("\r\n");
    line
}

/// Reads a cell of attachments: a JSON list of models, or one address.
pub(super) fn attachments_from(text: &str) -> Result<Vec<UrlAttachmentApiModel>, String> {
    let read = |raw: &str| UrlAttachmentApiModel::from_json(raw).map_err(|error| error.to_string());
    if !text.starts_with('[') {
        return read(&Value::from_iter([("url", text)]).to_string()).map(|one| vec![one]);
    }
    let list: Vec<&RawValue> =
        serde_json::from_str(text).map_err(|_| "is not a JSON list of objects with `url` and `label`".to_owned())?;
    let read_all = list.into_iter().map(|raw| read(raw.get()));
    let attachments = read_all.collect::<Result<Vec<_>, _>>()?;
    match crate::sales::attachments::problems("", &attachments).first() {
        Some(problem) => Err(problem.message.clone()),
        None => Ok(attachments),
    }
}

/// Reads a cell of a time.
pub(super) fn time_from(text: &str) -> Result<Timestamp, String> {
    let at: Timestamp = text.parse().map_err(|_| "is not a time: write it like 2027-03-01T18:00:00.000Z".to_owned())?;
    Ok(kit_runtime::clock::from_ms(kit_runtime::clock::to_ms(at)))
}
