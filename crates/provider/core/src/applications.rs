//! Consumer applications.

use std::collections::BTreeMap;

use crate::activity::Change;
use crate::caller::Caller;
use crate::error::{FieldError, ProviderError, ProviderResult};
use crate::ids;
use crate::model::Application;
use crate::page::{ListPage, PageRequest};
use crate::patch_field::PatchField;
use crate::port::{ApplicationExclusion, Order, StoreError};
use crate::provider::Provider;
use crate::steps::idempotency::{self, Idempotency, IdempotentWrite};
use crate::steps::written::{CHANGE_TRIES_MAX, Created, PUT_TRIES_MAX, Put};
use crate::uid::NAME_CHARS_MAX;
use crate::validation::FieldErrors;

/// A caller's input for an application.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApplicationInput {
    /// Not empty.
    pub name: String,
    /// The customer's own id for the application.
    pub uid: Option<String>,
    /// Messages a second that its endpoints receive at most; at least 1.
    pub throttle_rate: Option<u16>,
    /// Free text pairs.
    pub metadata: BTreeMap<String, String>,
}

/// Changes of a PATCH to an application.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApplicationPatch {
    /// Not empty.
    pub name: PatchField<String>,
    /// The customer's own id for the application.
    pub uid: PatchField<Option<String>>,
    /// Messages a second that its endpoints receive at most; at least 1.
    pub throttle_rate: PatchField<Option<u16>>,
    /// Free text pairs, which replace the existing pairs.
    pub metadata: PatchField<BTreeMap<String, String>>,
}

/// What to do when the uid exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfExists {
    /// Refuse: 409.
    Refuse,
    /// Return the existing application (`get_if_exists=true`).
    Get,
}

impl Provider {
    /// Creates an application. `render` makes the JSON of the 201 response, which is stored for the idempotency key.
    /// 409 when the uid is taken, 422.
    pub async fn create_application(
        &self,
        caller: &Caller,
        input: ApplicationInput,
        if_taken: IfExists,
        idempotency: Option<&Idempotency>,
        render: impl FnOnce(&Application) -> String + Send,
    ) -> ProviderResult<Created<Application>> {
        input.check()?;
        if if_taken == IfExists::Get
            && let Some(uid) = &input.uid
            && let Some(existing) = self.store().application(&caller.account, uid).await?
        {
            return Ok(Created::Existing(existing));
        }
        let application = self.new_application(caller, input);
        let written = idempotency::write(
            self.store(),
            caller,
            idempotency,
            application.created_at,
            201,
            || render(&application),
            |answer| self.store().create_application(application.clone(), answer),
        )
        .await;
        match written {
            Ok(IdempotentWrite::Done) => {
                self.record_application(caller, Change::created(&application)).await;
                Ok(Created::New(application))
            }
            Ok(IdempotentWrite::Replayed(answer)) => Ok(Created::Replayed(answer)),
            // Another caller created it meanwhile.
            Err(ProviderError::Conflict { .. }) if if_taken == IfExists::Get => {
                let uid = application.uid.as_deref().unwrap_or_default();
                Ok(Created::Existing(self.application(caller, uid).await?))
            }
            Err(error) => Err(error),
        }
    }

    /// An application by id or uid. 404.
    pub async fn application(&self, caller: &Caller, id_or_uid: &str) -> ProviderResult<Application> {
        self.store().application(&caller.account, id_or_uid).await?.ok_or(ProviderError::NotFound)
    }

    /// The account's applications except the excluded ones, by default oldest first.
    pub async fn list_applications(
        &self,
        caller: &Caller,
        exclude: &[ApplicationExclusion],
        page: &PageRequest,
    ) -> ProviderResult<ListPage<Application>> {
        let store_page = page.to_store(Order::Ascending);
        let rows = self.store().applications_except(&caller.account, exclude, store_page).await?;
        Ok(page.slice(rows, |application| &application.id))
    }

    /// Replaces the application with this id or uid. If none exists, creates an application, for which the id in the
    /// path is not used.
    pub async fn put_application(
        &self,
        caller: &Caller,
        id_or_uid: &str,
        input: ApplicationInput,
    ) -> ProviderResult<Put<Application>> {
        input.check()?;
        for try_no in 1.. {
            let change = |application: &mut Application| {
                application.replace_with(input.clone());
                Ok(())
            };
            match self.change_application(caller, id_or_uid, change).await {
                Err(ProviderError::NotFound) => {}
                changed => return Ok(Put::Updated(changed?)),
            }
            let application = self.new_application(caller, input.clone());
            match self.store().create_application(application.clone(), None).await {
                Ok(()) => {
                    self.record_application(caller, Change::created(&application)).await;
                    return Ok(Put::Created(application));
                }
                // Another caller created it meanwhile, so this call updates it.
                Err(StoreError::Taken(_)) if try_no < PUT_TRIES_MAX && input.uid.as_deref() == Some(id_or_uid) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Conflict.into())
    }

    /// Changes the fields that the patch contains. 404, 409 (uid), 422.
    pub async fn patch_application(
        &self,
        caller: &Caller,
        id_or_uid: &str,
        patch: ApplicationPatch,
    ) -> ProviderResult<Application> {
        self.change_application(caller, id_or_uid, |application| {
            let ApplicationPatch { name, uid, throttle_rate, metadata } = patch.clone();
            let mut input = application.as_input();
            name.apply(&mut input.name);
            uid.apply(&mut input.uid);
            throttle_rate.apply(&mut input.throttle_rate);
            metadata.apply(&mut input.metadata);
            input.check()?;
            application.replace_with(input);
            Ok(())
        })
        .await
    }

    /// Changes the current state of an application, and retries when another caller changed it first. 404.
    async fn change_application(
        &self,
        caller: &Caller,
        id_or_uid: &str,
        change: impl Fn(&mut Application) -> ProviderResult<()> + Send,
    ) -> ProviderResult<Application> {
        for _ in 0..CHANGE_TRIES_MAX {
            let old = self.application(caller, id_or_uid).await?;
            let mut new = old.clone();
            change(&mut new)?;
            new.updated_at = self.now();
            let replaced = self.store().replace_application(old.clone(), new.clone()).await;
            self.snapshots().invalidate(&new.id);
            match replaced {
                Ok(()) => {
                    self.dispatcher().changed(&new.id).await;
                    self.record_application(caller, Change::replaced(&old, &new)).await;
                    new.version += 1;
                    return Ok(new);
                }
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Conflict.into())
    }

    /// Deletes an application with its endpoints and their waiting deliveries. 404.
    pub async fn delete_application(&self, caller: &Caller, id_or_uid: &str) -> ProviderResult<()> {
        let application = self.application(caller, id_or_uid).await?;
        let deleted = self.store().delete_application(&caller.account, &application.id).await;
        self.snapshots().invalidate(&application.id);
        if !deleted? {
            return Err(ProviderError::NotFound);
        }
        self.record_application(caller, Change::deleted(&application)).await;
        Ok(())
    }

    /// Creates the application that a request contains ([`ApplicationInput::check_inline`]), unless it exists.
    pub(crate) async fn create_inline(&self, caller: &Caller, input: ApplicationInput) -> ProviderResult<()> {
        let application = self.new_application(caller, input);
        match self.store().create_application(application.clone(), None).await {
            Ok(()) => {
                self.record_application(caller, Change::created(&application)).await;
                Ok(())
            }
            // Another caller's message created it meanwhile.
            Err(StoreError::Taken(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn new_application(&self, caller: &Caller, input: ApplicationInput) -> Application {
        let now = self.now();
        Application {
            id: self.ids().make(ids::APPLICATION),
            account: caller.account.clone(),
            uid: input.uid,
            name: input.name,
            throttle_rate: input.throttle_rate,
            metadata: input.metadata,
            version: 1,
            purges: 0,
            created_at: now,
            updated_at: now,
        }
    }
}

impl Application {
    fn as_input(&self) -> ApplicationInput {
        ApplicationInput {
            name: self.name.clone(),
            uid: self.uid.clone(),
            throttle_rate: self.throttle_rate,
            metadata: self.metadata.clone(),
        }
    }

    fn replace_with(&mut self, input: ApplicationInput) {
        self.name = input.name;
        self.uid = input.uid;
        self.throttle_rate = input.throttle_rate;
        self.metadata = input.metadata;
    }
}

impl ApplicationInput {
    /// Checks the `application` in a request to `path`, whether or not the application exists. Its uid must be the uid
    /// in the path, so that a request never names two applications.
    pub(crate) fn check_inline(&self, path: &str) -> ProviderResult<()> {
        let is_of_path = self.uid.as_deref() == Some(path);
        let uid = || {
            let message = format!("must be {path:?}, the uid in the path");
            ProviderError::Validation(vec![FieldError::in_body(["uid".into()], message)])
        };
        let checked = self.check().and_then(|()| if is_of_path { Ok(()) } else { Err(uid()) });
        checked.map_err(|error| match error {
            ProviderError::Validation(mut faults) => {
                faults.iter_mut().for_each(|fault| fault.loc.insert(1, "application".into()));
                ProviderError::Validation(faults)
            }
            other => other,
        })
    }

    fn check(&self) -> ProviderResult<()> {
        let mut errors = FieldErrors::default();
        errors.required_text("name", &self.name, NAME_CHARS_MAX);
        errors.uid("uid", self.uid.as_deref(), ids::APPLICATION);
        errors.throttle_rate(self.throttle_rate);
        errors.metadata(&self.metadata);
        errors.finish()
    }
}
