//! Changing some fields of an endpoint.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::model::Endpoint;
use crate::model::ordering::DeliveryOrder;
use crate::patch_field::PatchField;
use crate::provider::Provider;

/// Changes of a PATCH to an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointPatch {
    /// `http` or `https`, without credentials.
    pub url: PatchField<String>,
    /// The customer's own id for the endpoint.
    pub uid: PatchField<Option<String>>,
    /// Free text.
    pub description: PatchField<String>,
    /// Receives nothing while true.
    pub disabled: PatchField<bool>,
    /// Names of event types that exist; all when none.
    pub filter_types: PatchField<Option<Vec<String>>>,
    /// 1 to 10 channels; all messages when none.
    pub channels: PatchField<Option<Vec<String>>>,
    /// Messages a second that the endpoint receives at most; at least 1.
    pub throttle_rate: PatchField<Option<u16>>,
    /// The caller's own version of the endpoint.
    pub version: PatchField<NonZeroU16>,
    /// Free text pairs, which replace the existing pairs.
    pub metadata: PatchField<BTreeMap<String, String>>,
    /// Whether messages of one key are delivered one after the other.
    pub ordering: PatchField<DeliveryOrder>,
    /// Whether deliveries carry the header `traceparent`.
    pub sends_trace_parent: PatchField<bool>,
}

impl Provider {
    /// Changes the fields that the patch contains. 404, 409 (uid), 422.
    pub async fn patch_endpoint(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
        patch: EndpointPatch,
    ) -> ProviderResult<Endpoint> {
        // The endpoint's current event types are accepted even if they were deleted.
        if let PatchField::Set(Some(names)) = &patch.filter_types {
            let endpoint = self.endpoint(caller, application, id_or_uid).await?;
            self.check_filter_types(caller, names, endpoint.filter_types.as_deref().unwrap_or_default()).await?;
        }
        let address_policy = matches!(patch.url, PatchField::Set(_)).then_some(&self.config().address_policy);
        self.change_endpoint(caller, application, id_or_uid, |endpoint| {
            let patch = patch.clone();
            let mut input = endpoint.as_input();
            patch.url.apply(&mut input.url);
            patch.uid.apply(&mut input.uid);
            patch.description.apply(&mut input.description);
            patch.disabled.apply(&mut input.disabled);
            patch.filter_types.apply(&mut input.filter_types);
            patch.channels.apply(&mut input.channels);
            patch.throttle_rate.apply(&mut input.throttle_rate);
            patch.metadata.apply(&mut input.metadata);
            patch.version.apply(&mut endpoint.version);
            patch.ordering.apply(&mut endpoint.ordering);
            patch.sends_trace_parent.apply(&mut endpoint.sends_trace_parent);
            input.version = None;
            input.ordering = None;
            input.sends_trace_parent = None;
            endpoint.replace_with(input.check(address_policy)?);
            Ok(())
        })
        .await
    }
}
