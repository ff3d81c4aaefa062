//! The names of an OpenAPI document's schemas. A document has one schema of a name, and whoever comes last wins: two shapes of one
//! name would describe an operation with the other's. So what the operations bring is looked at before it is put together.

use std::collections::{BTreeMap, BTreeSet};

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

/// The schemas that operations have brought so far.
#[derive(Default)]
pub struct SchemaNames {
    by_name: BTreeMap<String, RefOr<Schema>>,
    ambiguous: BTreeSet<String>,
}

impl SchemaNames {
    /// Notes what an operation brings.
    pub fn add(&mut self, schemas: &[(String, RefOr<Schema>)]) {
        for (name, schema) in schemas {
            let known = self.by_name.entry(name.clone()).or_insert_with(|| schema.clone());
            if known != schema {
                self.ambiguous.insert(name.clone());
            }
        }
    }

    /// Names that stand for different schemas, in their order; a document that is right has none.
    pub fn ambiguous(self) -> Vec<String> {
        self.ambiguous.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use utoipa::openapi::ObjectBuilder;

    use super::*;

    #[test]
    fn a_name_that_stands_for_two_shapes_is_found_and_one_that_comes_twice_is_not() {
        let shape =
            |field: &str| -> RefOr<Schema> { ObjectBuilder::new().property(field, ObjectBuilder::new()).into() };
        let mut names = SchemaNames::default();
        names.add(&[("Bid".to_owned(), shape("amount")), ("SendIn".to_owned(), shape("item"))]);
        names.add(&[("Bid".to_owned(), shape("amount")), ("SendIn".to_owned(), shape("cursors"))]);
        names.add(&[("SendIn".to_owned(), shape("item"))]);
        assert_eq!(names.ambiguous(), ["SendIn"]);
    }
}
