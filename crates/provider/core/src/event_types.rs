//! Event types of an account, by name.

pub(crate) mod example;

mod check;
mod import;
mod openapi;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::activity::Change;
use crate::caller::{Caller, Scope};
use crate::error::{ProviderError, ProviderResult};
use crate::model::EventType;
use crate::page::{LIMIT_MAX, ListPage, PageRequest};
use crate::patch_field::PatchField;
use crate::port::{Cursor, Order, StoreError};
use crate::provider::Provider;
use crate::schema;
use crate::steps::idempotency::{self, Idempotency, IdempotentWrite};
use crate::steps::written::{CHANGE_TRIES_MAX, Created, PUT_TRIES_MAX, Put};
use crate::uid::NAME_CHARS_MAX;
use crate::validation::FieldErrors;

pub use check::CheckedSchemas;
pub use import::{ImportPreview, ImportedEventTypes, OpenApiImport, UnlistedEventTypes};

/// Maximum number of store pages that are read for one page of a filtered list.
const SCANNED_PAGES_MAX: usize = 100;
/// Maximum number of feature flags of an event type.
const FEATURE_FLAGS_MAX: usize = 100;

/// A caller's input for an event type, without its name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventTypeInput {
    /// Free text.
    pub description: String,
    /// Hidden from lists.
    pub archived: bool,
    /// Deprecated: it will be removed.
    pub deprecated: bool,
    /// JSON Schema per version key.
    pub schemas: Option<Value>,
    /// Feature flags. Without flags, every caller sees the event type; otherwise a token needs one of them.
    pub feature_flags: BTreeSet<String>,
    /// Name of the group of the event type.
    pub group_name: Option<String>,
}

/// Changes of a PATCH to an event type.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventTypePatch {
    /// Free text.
    pub description: PatchField<String>,
    /// Hidden from lists.
    pub archived: PatchField<bool>,
    /// Deprecated: it will be removed.
    pub deprecated: PatchField<bool>,
    /// JSON Schema per version key.
    pub schemas: PatchField<Option<Value>>,
    /// Feature flags, which replace the existing flags.
    pub feature_flags: PatchField<BTreeSet<String>>,
    /// Name of the group of the event type.
    pub group_name: PatchField<Option<String>>,
}

/// Whether a list contains archived event types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Archived {
    /// The list has no archived event types.
    Hidden,
    /// The list has archived event types.
    Shown,
}

/// Whether the webhooks of an OpenAPI document can be imported.
#[cfg(feature = "fuzzing")]
pub(crate) fn check_import(document: &Value) -> ProviderResult<()> {
    let names = openapi::names(document);
    for (name, input) in openapi::webhooks(document)? {
        assert!(names.contains(&name));
        input.check(&name)?;
    }
    Ok(())
}

impl Provider {
    /// Creates an event type, or replaces an archived event type of that name. 409 when an event type exists that is
    /// not archived, 422.
    pub async fn create_event_type(
        &self,
        caller: &Caller,
        name: &str,
        input: EventTypeInput,
        idempotency: Option<&Idempotency>,
        render: impl FnOnce(&EventType) -> String + Send,
    ) -> ProviderResult<Created<EventType>> {
        let input = input.with_json_schema_types();
        input.check(name)?;
        let existing = self.store().event_type(&caller.account, name).await?;
        let is_archived = existing.as_ref().is_some_and(|existing| existing.archived);
        if existing.is_none() {
            self.check_event_type_room(caller).await?;
        }
        let mut event_type = self.new_event_type(caller, name, input);
        if let Some(existing) = existing.filter(|existing| existing.archived) {
            event_type.created_at = existing.created_at;
        }
        let written = idempotency::write(
            self.store(),
            caller,
            idempotency,
            event_type.updated_at,
            201,
            || render(&event_type),
            |answer| {
                let event_type = event_type.clone();
                async move {
                    if is_archived {
                        self.store().upsert_event_types(vec![event_type], answer).await
                    } else {
                        self.store().create_event_type(event_type, answer).await
                    }
                }
            },
        )
        .await;
        self.payload_schemas().invalidate(&caller.account, name);
        match written {
            Ok(IdempotentWrite::Done) => {
                self.record_event_type(caller, Change::created(&event_type)).await;
                Ok(Created::New(event_type))
            }
            Ok(IdempotentWrite::Replayed(answer)) => Ok(Created::Replayed(answer)),
            Err(ProviderError::Conflict { .. }) => Err(ProviderError::Conflict {
                code: "event_type_exists",
                detail: format!("there is an event type {name} already"),
            }),
            Err(error) => Err(error),
        }
    }

    /// An event type, archived or not. 404.
    pub async fn event_type(&self, caller: &Caller, name: &str) -> ProviderResult<EventType> {
        let event_type = self.store().event_type(&caller.account, name).await?;
        event_type.filter(|event_type| caller.can_see(event_type)).ok_or(ProviderError::NotFound)
    }

    /// The account's event types, ordered by name.
    pub async fn list_event_types(
        &self,
        caller: &Caller,
        page: &PageRequest,
        archived: Archived,
    ) -> ProviderResult<ListPage<EventType>> {
        let mut store_page = page.to_store(Order::Ascending);
        if archived == Archived::Shown && caller.scope == Scope::Account {
            let rows = self.store().event_types(&caller.account, store_page).await?;
            return Ok(page.slice(rows, |event_type| &event_type.name));
        }
        let wanted = store_page.limit;
        store_page.limit = LIMIT_MAX + 1;
        let mut shown: Vec<EventType> = Vec::new();
        for _ in 0..SCANNED_PAGES_MAX {
            let rows = self.store().event_types(&caller.account, store_page.clone()).await?;
            let (read, first, last) = (rows.len(), rows.first().cloned(), rows.last().cloned());
            let live = rows.into_iter().filter(|event_type| archived == Archived::Shown || !event_type.archived);
            let live = live.filter(|event_type| caller.can_see(event_type));
            if page.is_backward() {
                shown = live.chain(shown).collect();
                store_page.from = first.map(|first| Cursor::Before(first.name));
            } else {
                shown.extend(live);
                store_page.from = last.map(|last| Cursor::After(last.name));
            }
            if read < store_page.limit || shown.len() >= wanted {
                break;
            }
        }
        // One more than the requested number shows that there is another page.
        if page.is_backward() {
            shown.drain(..shown.len().saturating_sub(wanted));
        } else {
            shown.truncate(wanted);
        }
        Ok(page.slice(shown, |event_type| &event_type.name))
    }

    /// Replaces an event type, or creates it.
    pub async fn upsert_event_type(
        &self,
        caller: &Caller,
        name: &str,
        input: EventTypeInput,
    ) -> ProviderResult<Put<EventType>> {
        let input = input.with_json_schema_types();
        input.check(name)?;
        for _ in 0..PUT_TRIES_MAX {
            let existing = self.store().event_type(&caller.account, name).await?;
            let mut event_type = self.new_event_type(caller, name, input.clone());
            let old = existing.clone();
            let (written, put) = match existing {
                Some(existing) => {
                    event_type.created_at = existing.created_at;
                    let put = Put::Updated(event_type.clone());
                    (self.store().replace_event_type(existing, event_type).await, put)
                }
                None => {
                    self.check_event_type_room(caller).await?;
                    let put = Put::Created(event_type.clone());
                    (self.store().create_event_type(event_type, None).await, put)
                }
            };
            self.payload_schemas().invalidate(&caller.account, name);
            match written {
                Ok(()) => {
                    let (Put::Created(new) | Put::Updated(new)) = &put;
                    let change = old.as_ref().map_or_else(|| Change::created(new), |old| Change::replaced(old, new));
                    self.record_event_type(caller, change).await;
                    return Ok(put);
                }
                // Another caller created, changed or deleted it meanwhile.
                Err(StoreError::Taken(_) | StoreError::Conflict | StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Conflict.into())
    }

    /// Changes the fields that the patch contains. 404, 422.
    pub async fn patch_event_type(
        &self,
        caller: &Caller,
        name: &str,
        patch: EventTypePatch,
    ) -> ProviderResult<EventType> {
        self.change_event_type(caller, name, |event_type| {
            let patch = patch.clone();
            patch.description.apply(&mut event_type.description);
            patch.archived.apply(&mut event_type.archived);
            patch.deprecated.apply(&mut event_type.deprecated);
            patch.schemas.apply(&mut event_type.schemas);
            event_type.schemas.iter_mut().for_each(schema::type_names::to_lower_case);
            patch.feature_flags.apply(&mut event_type.feature_flags);
            patch.group_name.apply(&mut event_type.group_name);
            event_type.as_input().check(name)
        })
        .await
    }

    /// Archives an event type: messages of it are still accepted. 404.
    pub async fn archive_event_type(&self, caller: &Caller, name: &str) -> ProviderResult<()> {
        let archived = self.change_event_type(caller, name, |event_type| {
            event_type.archived = true;
            Ok(())
        });
        archived.await.map(drop)
    }

    /// Changes the current state of an event type, and retries when another caller changed it first. 404.
    async fn change_event_type(
        &self,
        caller: &Caller,
        name: &str,
        change: impl Fn(&mut EventType) -> ProviderResult<()> + Send,
    ) -> ProviderResult<EventType> {
        for _ in 0..CHANGE_TRIES_MAX {
            let old = self.event_type(caller, name).await?;
            let mut new = old.clone();
            change(&mut new)?;
            new.updated_at = self.now();
            let written = self.store().replace_event_type(old.clone(), new.clone()).await;
            // Also after an error, because the change may have been committed.
            self.payload_schemas().invalidate(&caller.account, name);
            match written {
                Ok(()) => {
                    self.record_event_type(caller, Change::replaced(&old, &new)).await;
                    return Ok(new);
                }
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Conflict.into())
    }

    /// Deletes an event type for good (`expunge=true`). 404.
    pub async fn expunge_event_type(&self, caller: &Caller, name: &str) -> ProviderResult<()> {
        let old = self.store().event_type(&caller.account, name).await?.ok_or(ProviderError::NotFound)?;
        let deleted = self.store().delete_event_type(&caller.account, name).await;
        self.payload_schemas().invalidate(&caller.account, name);
        if !deleted? {
            return Err(ProviderError::NotFound);
        }
        self.record_event_type(caller, Change::deleted(&old)).await;
        Ok(())
    }

    /// 400 when the account has reached its maximum number of event types.
    async fn check_event_type_room(&self, caller: &Caller) -> ProviderResult<()> {
        let max = self.config().event_types_max;
        if self.store().event_type_count(&caller.account, max).await? < max {
            return Ok(());
        }
        Err(ProviderError::BadRequest {
            code: "limit_reached",
            detail: format!("an account has at most {max} event types; delete one with expunge=true first"),
        })
    }

    fn new_event_type(&self, caller: &Caller, name: &str, input: EventTypeInput) -> EventType {
        let now = self.now();
        EventType {
            account: caller.account.clone(),
            name: name.to_owned(),
            description: input.description,
            archived: input.archived,
            deprecated: input.deprecated,
            schemas: input.schemas,
            feature_flags: input.feature_flags,
            group_name: input.group_name,
            created_at: now,
            updated_at: now,
        }
    }
}

impl EventType {
    /// The input that describes the event type as it is.
    pub fn as_input(&self) -> EventTypeInput {
        EventTypeInput {
            description: self.description.clone(),
            archived: self.archived,
            deprecated: self.deprecated,
            schemas: self.schemas.clone(),
            feature_flags: self.feature_flags.clone(),
            group_name: self.group_name.clone(),
        }
    }
}

impl EventTypeInput {
    /// The same input with type names of JSON Schema: `"type": "STRING"` becomes `"type": "string"`.
    fn with_json_schema_types(mut self) -> Self {
        self.schemas.iter_mut().for_each(schema::type_names::to_lower_case);
        self
    }

    /// Whether an event type of this name can have these values. 422 names all fields that are wrong.
    pub fn check(&self, name: &str) -> ProviderResult<()> {
        let mut errors = FieldErrors::default();
        errors.name("name", name);
        errors.text("description", &self.description);
        let flags: Vec<String> = self.feature_flags.iter().cloned().collect();
        let flags = Some(flags.as_slice()).filter(|flags| !flags.is_empty());
        errors.names("featureFlags", flags, FEATURE_FLAGS_MAX, NAME_CHARS_MAX);
        if let Some(group_name) = &self.group_name {
            errors.name("groupName", group_name);
        }
        if let Some(schemas) = &self.schemas {
            errors.add(schema::faults(schemas));
        }
        errors.finish()
    }
}
