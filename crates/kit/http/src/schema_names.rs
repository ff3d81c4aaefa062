//! Detects name conflicts among the schemas of an OpenAPI document. In a document the last schema of a name replaces
//! the earlier ones, so two schemas with one name would give an operation the wrong schema. The document builders check
//! the schemas of all operations before they assemble the document.

use std::collections::{BTreeMap, BTreeSet};

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

/// The schemas of the operations so far.
#[derive(Default)]
pub struct SchemaNames {
    by_name: BTreeMap<String, RefOr<Schema>>,
    ambiguous: BTreeSet<String>,
}

impl SchemaNames {
    /// Adds the schemas of an operation.
    pub fn add(&mut self, schemas: &[(String, RefOr<Schema>)]) {
        for (name, schema) in schemas {
            let known = self.by_name.entry(name.clone()).or_insert_with(|| schema.clone());
            if known != schema {
                self.ambiguous.insert(name.clone());
            }
        }
    }

    /// The names with different schemas, sorted; empty in a correct document.
    pub fn ambiguous(self) -> Vec<String> {
        self.ambiguous.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use utoipa::openapi::ObjectBuilder;

    use super::*;

    #[test]
    fn a_name_with_two_schemas_is_ambiguous_and_a_repeated_schema_is_not() {
        let shape =
            |field: &str| -> RefOr<Schema> { ObjectBuilder::new().property(field, ObjectBuilder::new()).into() };
        let mut names = SchemaNames::default();
        names.add(&[("Bid".to_owned(), shape("amount")), ("SendIn".to_owned(), shape("item"))]);
        names.add(&[("Bid".to_owned(), shape("amount")), ("SendIn".to_owned(), shape("cursors"))]);
        names.add(&[("SendIn".to_owned(), shape("item"))]);
        assert_eq!(names.ambiguous(), ["SendIn"]);
    }
}
