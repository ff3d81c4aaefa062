//! The columns of an endpoint, shared by both engines (decision 0002). A field that a statement filters by or changes
//! alone is a column. The others are JSON: `sealed` has the values that the sealing keys open, and `state` the rest.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use jiff::Timestamp;
use kit_runtime::vault::Sealed;
use provider_core::model::{Endpoint, Id, OldSecret};
use provider_core::port::StoreResult;
use serde::{Deserialize, Serialize};

use crate::codec::{self, corrupt, from_json, to_json};

/// A row of `endpoints`.
pub(crate) struct EndpointColumns<'row> {
    pub(crate) id: Id,
    pub(crate) application: Id,
    pub(crate) uid: Option<String>,
    pub(crate) url: String,
    pub(crate) description: String,
    pub(crate) filter_types: Option<&'row str>,
    pub(crate) disabled: bool,
    pub(crate) disabled_at: Option<Timestamp>,
    pub(crate) failing_since: Option<Timestamp>,
    pub(crate) ordering: i64,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) sealed: &'row str,
    pub(crate) state: &'row str,
}

/// The column `state`.
#[derive(Serialize, Deserialize)]
struct State {
    channels: Option<Vec<String>>,
    throttle_rate: Option<u16>,
    version: NonZeroU16,
    metadata: BTreeMap<String, String>,
    /// Absent in rows of versions before traces.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    sends_trace_parent: bool,
}

/// The column `sealed`.
#[derive(Serialize, Deserialize)]
struct SealedValues {
    secret: String,
    old_secrets: Vec<StoredOldSecret>,
    headers: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct StoredOldSecret {
    secret: String,
    expires_at_ms: i64,
}

/// The column `state` of this endpoint.
pub(crate) fn state_to_json(endpoint: &Endpoint) -> StoreResult<String> {
    to_json(&State {
        channels: endpoint.channels.clone(),
        throttle_rate: endpoint.throttle_rate,
        version: endpoint.version,
        metadata: endpoint.metadata.clone(),
        sends_trace_parent: endpoint.sends_trace_parent,
    })
}

/// Whether both endpoints have the same secrets and headers.
pub(crate) fn has_same_sealed_values(one: &Endpoint, other: &Endpoint) -> bool {
    one.secret == other.secret && one.old_secrets == other.old_secrets && one.headers == other.headers
}

/// The column `sealed` of this endpoint.
pub(crate) fn sealed_to_json(endpoint: &Endpoint) -> StoreResult<String> {
    let old_secrets = endpoint.old_secrets.iter().map(|old| StoredOldSecret {
        secret: old.secret.as_str().to_owned(),
        expires_at_ms: old.expires_at.as_millisecond(),
    });
    to_json(&SealedValues {
        secret: endpoint.secret.as_str().to_owned(),
        old_secrets: old_secrets.collect(),
        headers: endpoint.headers.clone(),
    })
}

impl EndpointColumns<'_> {
    /// The endpoint that the row stores.
    pub(crate) fn into_endpoint(self) -> StoreResult<Endpoint> {
        let State { channels, throttle_rate, version, metadata, sends_trace_parent } = from_json(self.state)?;
        let SealedValues { secret, old_secrets, headers } = from_json(self.sealed)?;
        let old_secrets = old_secrets.into_iter().map(|old| {
            let expires_at = Timestamp::from_millisecond(old.expires_at_ms).map_err(corrupt)?;
            Ok(OldSecret { secret: Sealed::from_text(old.secret), expires_at })
        });
        Ok(Endpoint {
            id: self.id,
            application: self.application,
            uid: self.uid,
            url: self.url,
            description: self.description,
            disabled: self.disabled,
            filter_types: codec::optional_from_json(self.filter_types)?,
            channels,
            throttle_rate,
            version,
            metadata,
            headers,
            secret: Sealed::from_text(secret),
            old_secrets: old_secrets.collect::<StoreResult<_>>()?,
            failing_since: self.failing_since,
            disabled_at: self.disabled_at,
            ordering: codec::ordering(self.ordering)?,
            sends_trace_parent,
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}
