//! The page of a form about the sale of one lot, with its consequences first.

use askama::Template;
use kit_design::error_summary::ErrorSummary;
use kit_design::form_field::FormField;
use kit_design::frame::Frame;
use platform_rules::Item;
use uuid::Uuid;

use crate::results::WayBack;
use crate::sale::Sale;
use crate::sale::labels::Badge;
use crate::session::{Section, Session};

/// A form about the sale of a lot.
#[derive(Template)]
#[template(path = "lots/sold_form.html")]
pub(super) struct SoldForm {
    frame: Frame,
    sale_title: String,
    sale_path: String,
    path: String,
    page: &'static str,
    heading: String,
    action: &'static str,
    lot_number: String,
    title: String,
    badge: Badge,
    version: i64,
    /// The query of the results to which the form leads back, and the path of “Cancel”.
    results: String,
    cancel: String,
    /// The UUID of what the form makes, so that a form that is sent twice makes it once.
    pub(super) id: Option<Uuid>,
    pub(super) consequences: Vec<String>,
    pub(super) fields: Vec<FormField>,
    pub(super) errors: ErrorSummary,
}

impl SoldForm {
    /// The form at `page` of the lot, without fields and consequences.
    pub(super) fn new(
        session: &Session,
        (sale, item): (&Sale, &Item),
        way_back: &WayBack,
        (page, action): (&'static str, &'static str),
    ) -> Self {
        let heading = format!("{action}: lot {}", item.lot_number);
        Self {
            frame: session.frame(heading.as_str(), Section::Auctions),
            sale_title: sale.title(),
            sale_path: sale.path(""),
            path: sale.path(&format!("/lots/{}", item.uuid)),
            page,
            heading,
            action,
            lot_number: item.lot_number.clone(),
            title: item.title.clone(),
            badge: item.status.into(),
            version: item.version,
            results: way_back.query().to_owned(),
            cancel: way_back.path(sale, item),
            id: None,
            consequences: Vec::new(),
            fields: Vec::new(),
            errors: ErrorSummary::default(),
        }
    }
}
