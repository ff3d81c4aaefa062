//! Codes of the reference data, for which an `id` may stand in on input.
//!
//! The id of a country or a currency is its ISO number: stable for ever, the same on every installation, and known
//! without asking a store.

use crate::ModelError;
use crate::fields::{FieldValue, Fields, pointer};

/// A code with its id.
pub(crate) trait ReferenceCode: FieldValue + Copy + PartialEq {
    /// What the code names: `country`, `currency`.
    const KIND: &'static str;

    fn as_str(&self) -> &'static str;
    fn id(&self) -> i64;
    fn from_id(id: i64) -> Option<Self>;
}

/// Takes `code` and `id`, of which one may be absent. Where both are given they have to agree.
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
                wrong(format!("no {} has the id {id}; give its code, or an id from the reference data", C::KIND))
            })?;
            Ok((Some(id), code))
        }
        (Some(id), Some(code)) if code.id() == id => Ok((Some(id), code)),
        (Some(id), Some(code)) => Err(wrong(format!(
            "{id} is not the id of {}, which is {}; give either of the two, or both that agree",
            code.as_str(),
            code.id()
        ))),
    }
}
