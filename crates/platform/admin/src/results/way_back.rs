//! The way back from a form about one result: to the page of the results from which it was opened, or else to the lot.

use kit_design::fields::FormFields;
use platform_core::PlatformError;
use platform_rules::Item;
use uuid::Uuid;

use super::list::filter_name;
use crate::page_error::PageError;
use crate::sale::{Sale, notice};
use crate::session::Session;

/// The field of a form, and the parameter of its address, that carries the query of the results.
const FIELD: &str = "results";

/// Where a form about a result was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WayBack {
    /// The query of the results; empty when the form was opened elsewhere.
    query: String,
}

impl WayBack {
    /// From this page of the results.
    pub(super) fn to_results(show: &str, after: Option<i64>) -> Self {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("show", show);
        if let Some(after) = after {
            query.append_pair("after", &after.to_string());
        }
        Self { query: query.finish() }
    }

    /// The way that a form or the address of its page carries.
    pub(crate) fn of(fields: &FormFields) -> Self {
        let Some(query) = fields.non_empty(FIELD) else { return Self::default() };
        let query = FormFields::of_query(query).unwrap_or_default();
        Self::to_results(filter_name(query.text("show")), query.text("after").parse().ok())
    }

    /// The query of the results, as the form carries it.
    pub(crate) fn query(&self) -> &str {
        &self.query
    }

    /// The fields of a new form. Only the way back has a value.
    pub(crate) fn fields(&self) -> FormFields {
        FormFields::of_query(&self.parameter()).unwrap_or_default()
    }

    /// The parameter of the address of a form.
    pub(super) fn parameter(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).append_pair(FIELD, &self.query).finish()
    }

    /// The path that the form's “Cancel” leads to.
    pub(crate) fn path(&self, sale: &Sale, item: &Item) -> String {
        if self.query.is_empty() {
            sale.path(&format!("/lots/{}", item.uuid))
        } else {
            sale.path(&format!("/results?{}#lot-{}", self.query, item.position))
        }
    }

    /// The path after the form was accepted, with the name of its notice.
    pub(crate) fn path_after(&self, sale: &Sale, item: &Item, done: &str) -> String {
        if self.query.is_empty() {
            sale.path(&format!("/lots/{}?done={done}", item.uuid))
        } else {
            let (query, lot, position) = (&self.query, item.uuid, item.position);
            sale.path(&format!("/results?{query}&done={done}&lot={lot}#lot-{position}"))
        }
    }
}

/// The notice of the results about the lot that was just corrected; none when none was.
pub(super) async fn notice(session: &Session, query: &FormFields) -> Result<Option<String>, PageError> {
    let lot = Uuid::try_parse(query.text("lot")).ok();
    let (Some(lot), Some(words)) = (lot, notice::from_query(query)) else { return Ok(None) };
    match session.platform().item(&session.caller, lot).await {
        Ok((item, _)) => Ok(Some(format!("Lot {}. {words}", item.lot_number))),
        Err(PlatformError::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_leads_back_to_the_page_of_results_from_which_it_was_opened() {
        let way = WayBack::to_results("sold", Some(99));
        assert_eq!(WayBack::of(&way.fields()), way);
        assert_eq!(way.query(), "show=sold&after=99");
        let of = |text: &str| WayBack::of(&FormFields::of_query(text).unwrap());
        assert_eq!(of("results=https%3A%2F%2Felsewhere.example").query(), "show=");
        assert_eq!(of("results=show%3Dother%26after%3Dx").query(), "show=");
        assert_eq!(of("reason=x"), WayBack::default());
    }
}
