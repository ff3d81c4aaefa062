//! Codes of the reference data. A model accepts an `id` in place of a `code`.
//!
//! The id of a country or a currency is its ISO number. It never changes, is the same on every installation, and needs
//! no look-up in a store.

use crate::ModelError;
use crate::fields::{FieldValue, Fields, pointer};

/// A code with its id.
pub(crate) trait ReferenceCode: FieldValue + Copy + PartialEq {
    /// Kind of the code: `country`, `currency`.
    const KIND: &'static str;

    fn as_str(&self) -> &'static str;
    fn id(&self) -> i64;
    fn from_id(id: i64) -> Option<Self>;
}

/// Reads `code` and `id`. One of them may be absent; if both are given, they must agree.
pub(crate) fn read<C: ReferenceCode>(fields: &mut Fields) -> Result<(Option<i64>, C), ModelError> {
    let id = fields.optional::<i64>("id")?;
    let code = fields.optional::<C>("code")?;
    let wrong = |detail| ModelError::InvalidValue { pointer: pointer("id"), detail };
    match (id, code) {
        (None, None) => Err(ModelError::MissingEither { pointer: pointer("code"), other: "id" }),
        (None, Some(code)) => Ok((None, code)),
        (Some(id), None) => {
            let code = C::from_id(id);
            let code = code.ok_or_else(|| {
                wrong(format!("no {} has the id {id}; give a code, or an id from the reference data", C::KIND))
            })?;
            Ok((Some(id), code))
        }
        (Some(id), Some(code)) if code.id() == id => Ok((Some(id), code)),
        (Some(id), Some(code)) => Err(wrong(format!(
            "{id} is not the id of {}, which is {}; give one of the two, or a matching pair",
            code.as_str(),
            code.id()
        ))),
    }
}
