//! Imports event types from the webhooks of an OpenAPI document.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tokio::sync::Semaphore;

use super::{EventTypeInput, openapi};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::model::EventType;
use crate::page::LIMIT_MAX;
use crate::port::{Cursor, Order, Page};
use crate::provider::Provider;
use crate::steps::idempotency::{self, Idempotency, IdempotentWrite};
use crate::steps::written::Created;

/// Maximum number of event types that an account with an import may have.
const EVENT_TYPES_MAX: usize = 25_000;

/// A document to import, and the options.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenApiImport {
    /// The document.
    pub document: Value,
    /// What to do with event types that are not in the document.
    pub unlisted: UnlistedEventTypes,
}

/// What to do with event types that are not in an imported document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnlistedEventTypes {
    /// Keep them.
    Keep,
    /// Archive them.
    Archive,
}

/// The changes of an import.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImportedEventTypes {
    /// Event types of the document that are new or changed, by name.
    pub changed: Vec<EventType>,
    /// Event types that are archived because the document does not contain them, by name.
    pub archived: Vec<EventType>,
}

/// What an import would do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImportPreview {
    /// The changes.
    pub changes: ImportedEventTypes,
    /// The event types of the account as they are now, by name.
    pub present: BTreeMap<String, EventType>,
}

impl Provider {
    /// The changes that an import would make. 422 when the document is not an OpenAPI document, or has no webhooks.
    pub async fn preview_event_types(&self, caller: &Caller, import: &OpenApiImport) -> ProviderResult<ImportPreview> {
        let inputs = openapi::webhooks(&import.document)?;
        let present = self.all_event_types(caller).await?;
        let mut result = ImportedEventTypes::default();
        for (name, mut input) in inputs {
            let old = present.get(&name);
            if let Some(old) = old {
                // Flags and group are optional in a document, so the existing ones stay.
                if input.feature_flags.is_empty() {
                    input.feature_flags.clone_from(&old.feature_flags);
                }
                input.group_name = input.group_name.or_else(|| old.group_name.clone());
            }
            input.check(&name).map_err(|error| at(&name, error))?;
            if old.is_some_and(|old| old.as_input() == input) {
                continue;
            }
            let mut new = self.new_event_type(caller, &name, input);
            if let Some(old) = old {
                new.created_at = old.created_at;
            }
            result.changed.push(new);
        }
        if import.unlisted == UnlistedEventTypes::Archive {
            let names = openapi::names(&import.document);
            let missing = present.values().filter(|old| !old.archived && !names.contains(&old.name));
            let archive = |old: &EventType| EventType { archived: true, updated_at: self.now(), ..old.clone() };
            result.archived = missing.map(archive).collect();
        }
        Ok(ImportPreview { changes: result, present })
    }

    /// Imports a document in one transaction: creates, updates and unarchives its event types, and archives the others
    /// if the caller requests it. `render` makes the JSON of the 200 response, which is stored for the idempotency key.
    /// 422.
    pub async fn import_event_types(
        &self,
        caller: &Caller,
        import: &OpenApiImport,
        idempotency: Option<&Idempotency>,
        render: impl FnOnce(&ImportedEventTypes) -> String + Send,
    ) -> ProviderResult<Created<ImportedEventTypes>> {
        let result = self.preview_event_types(caller, import).await?.changes;
        let written = idempotency::write(
            self.store(),
            caller,
            idempotency,
            self.now(),
            200,
            || render(&result),
            |answer| self.store().upsert_event_types([&result.changed[..], &result.archived].concat(), answer),
        )
        .await?;
        for event_type in result.changed.iter().chain(&result.archived) {
            self.payload_schemas().invalidate(&caller.account, &event_type.name);
        }
        Ok(match written {
            IdempotentWrite::Done => {
                self.record_import(caller, &result.changed, &result.archived).await;
                Created::Existing(result)
            }
            IdempotentWrite::Replayed(answer) => Created::Replayed(answer),
        })
    }

    async fn all_event_types(&self, caller: &Caller) -> ProviderResult<BTreeMap<String, EventType>> {
        let mut all = BTreeMap::new();
        let mut page = Page { from: None, order: Order::Ascending, limit: LIMIT_MAX };
        while all.len() < EVENT_TYPES_MAX {
            let rows = self.store().event_types(&caller.account, page.clone()).await?;
            let more = rows.len() == page.limit;
            page.from = rows.last().map(|last| Cursor::After(last.name.clone()));
            all.extend(rows.into_iter().map(|event_type| (event_type.name.clone(), event_type)));
            if !more {
                return Ok(all);
            }
        }
        Err(ProviderError::BadRequest {
            code: "limit_reached",
            detail: format!("an account with more than {EVENT_TYPES_MAX} event types can't import"),
        })
    }
}

/// Adds the place in the document to the faults.
fn at(name: &str, error: ProviderError) -> ProviderError {
    let ProviderError::Validation(mut faults) = error else { return error };
    for fault in &mut faults {
        let places = ["spec", "webhooks"].map(Into::into).into_iter().chain([name.to_owned().into()]);
        fault.loc.splice(1..1, places);
    }
    ProviderError::Validation(faults)
}

impl EventTypeInput {
    /// The input of a webhook in a document.
    pub(super) fn imported(description: String, deprecated: bool, schemas: Option<Value>) -> Self {
        Self { description, deprecated, schemas, ..Self::default() }
    }
}

impl OpenApiImport {
    /// Names of the document's webhooks.
    pub fn names(&self) -> BTreeSet<String> {
        openapi::names(&self.document)
    }

    /// Reads a document from text, JSON or YAML. 422.
    ///
    /// Documents are read one at a time, on a blocking thread: a small text with aliases can take seconds.
    pub async fn read_document(text: String) -> ProviderResult<Value> {
        static READERS: Semaphore = Semaphore::const_new(1);
        let _permit = READERS.acquire().await;
        let read = tokio::task::spawn_blocking(move || Self::parse_document(&text)).await;
        read.unwrap_or_else(|error| Err(ProviderError::invalid("specRaw", format!("can't be read: {error}"))))
    }

    fn parse_document(text: &str) -> ProviderResult<Value> {
        let read = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| error.to_string())
        } else {
            serde_saphyr::from_str(text).map_err(|error| error.to_string())
        };
        read.map_err(|error| ProviderError::invalid("specRaw", format!("is neither JSON nor YAML: {error}")))
    }
}
