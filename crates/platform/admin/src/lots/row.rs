//! A row of the grid. The script replaces a whole row when a cell is saved, so a row is rendered by itself too.

use askama::Template;
use askama::filters::HtmlSafe;
use platform_core::images::ImageVariant;
use platform_core::{PlatformError, Scope};
use platform_rules::Item;
use uuid::Uuid;

use super::columns::Column;
use super::consignors::Consignors;
use super::grid_columns::GridColumn;
use crate::images;
use crate::sale::Sale;
use crate::sale::labels::{self, Badge};
use crate::session::Session;

/// A lot as a row.
#[derive(Template)]
#[template(path = "lots/row.html")]
pub(super) struct Row {
    id: Uuid,
    auction: Uuid,
    base: String,
    position: i64,
    version: i64,
    lot_number: String,
    picture: Option<String>,
    badge: Badge,
    cells: Vec<Cell>,
    price: String,
    leader: String,
    is_below_reserve: bool,
    bids: i64,
    ends: String,
    is_extended: bool,
    may_write: bool,
    /// The grid's filters: what a link or form of the row keeps.
    query: String,
}

impl HtmlSafe for Row {}

/// A cell after the lot number.
enum Cell {
    Field(FieldCell),
    Status,
    Price,
    Bids,
    Ends,
}

/// A field that can be edited in its cell.
struct FieldCell {
    column: Column,
    text: String,
    is_number: bool,
    editor: Option<Editor>,
}

/// The open field of a cell.
#[derive(Debug, Clone)]
pub(super) struct Editor {
    pub(super) column: Column,
    pub(super) value: String,
    pub(super) fault: String,
}

impl Row {
    /// The row of an item with these columns; `editor` opens one of its cells.
    pub(super) fn new(
        session: &Session,
        sale: &Sale,
        (item, consignors): (&Item, &Consignors),
        (columns, query): (&[GridColumn], &str),
        editor: Option<Editor>,
    ) -> Self {
        let (may_read, may_write) = (session.may(Scope::AuctionsWrite), sale.may_edit_lots(session));
        let field = |column: Column| FieldCell {
            column,
            text: if column == Column::Reserve && !may_read {
                item.reserve_met().map_or("", |met| if met { "Met" } else { "Not met" }).to_owned()
            } else {
                column.shown(item, &sale.currency, consignors)
            },
            is_number: column.is_amount(),
            editor: editor.clone().filter(|editor| editor.column == column && may_write),
        };
        let cell = |column: &GridColumn| match *column {
            GridColumn::Field(own) => Cell::Field(field(own)),
            GridColumn::Status => Cell::Status,
            GridColumn::Price => Cell::Price,
            GridColumn::Bids => Cell::Bids,
            GridColumn::Ends => Cell::Ends,
        };
        let end = item.effective_end_time.or(item.end_time);
        Self {
            id: item.uuid,
            auction: item.auction,
            base: session.admin.site().base.to_string(),
            position: item.position,
            version: item.version,
            lot_number: item.lot_number.clone(),
            picture: None,
            badge: item.status.into(),
            cells: columns.iter().map(cell).collect(),
            price: item.price().map(|price| sale.currency.show(price)).unwrap_or_default(),
            leader: item.standing.as_ref().map(labels::bidder).unwrap_or_default(),
            is_below_reserve: item.standing.is_some() && item.reserve_met() == Some(false),
            bids: item.shown_bids(),
            ends: end.map(|end| sale.zone.short(end)).unwrap_or_default(),
            is_extended: item.effective_end_time > item.end_time && item.end_time.is_some(),
            may_write,
            query: query.to_owned(),
        }
    }

    /// Adds the small pictures of the rows' items.
    pub(super) async fn add_pictures(
        session: &Session,
        items: &[Item],
        rows: &mut [Self],
    ) -> Result<(), PlatformError> {
        let items: Vec<&Item> = items.iter().collect();
        let (admin, caller) = (&session.admin, &session.caller);
        let mut pictures = images::pictures(admin, caller, &items, ImageVariant::Small).await?;
        for row in rows {
            row.picture = pictures.remove(&row.id);
        }
        Ok(())
    }
}
