//! A customer's connection to its provider, read from the store, with its API key unsealed. The lane caches it.

use http::HeaderValue;
use jiff::Timestamp;
use kit_runtime::vault::Vault;
use uuid::Uuid;

use crate::port::{Consumer, Contact, ProviderAddress, StoreError};
use crate::provider_access::provider_key_context;

/// The address and credentials of the requests of one customer.
#[derive(Clone)]
pub(super) struct Connection {
    /// The provider; its address is looked up for each request.
    pub(super) provider: ProviderAddress,
    /// The consumer application.
    pub(super) application_id: String,
    /// `Bearer …`, marked as sensitive.
    pub(super) authorization: HeaderValue,
    /// The contact that the row had when it was read.
    pub(super) contact: Contact,
    /// The row of the connection.
    pub(super) updated_at: Timestamp,
}

/// The reason why events of a customer can't be published now.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectionError {
    /// The customer is not connected, lacks a credential, or has a parked queue. Only support can change that.
    #[error("the customer is not connected, or its queue is parked")]
    Closed,
    /// The entered address or key can't be used; the caller parks the queue.
    #[error("{0}")]
    Unusable(String),
    /// The API key can't be unsealed with the keys of this process.
    #[error("the provider API key can't be opened: {0}")]
    Sealed(#[from] kit_runtime::vault::VaultError),
    /// The store is unavailable.
    #[error("the connection can't be read")]
    Store(#[from] StoreError),
}

/// Builds a connection from its row, and unseals the API key.
pub(super) fn open(vault: &Vault, customer: Uuid, consumer: Option<Consumer>) -> Result<Connection, ConnectionError> {
    let consumer = consumer.filter(|consumer| consumer.parked.is_none()).ok_or(ConnectionError::Closed)?;
    let (Some(application_id), Some(sealed)) = (consumer.application_id, &consumer.api_key) else {
        return Err(ConnectionError::Closed);
    };
    let secret = vault.open(&provider_key_context(customer), sealed)?;
    let key = secret.expose_str().ok_or_else(|| ConnectionError::Unusable("the API key is not text".into()))?;
    let mut authorization = HeaderValue::from_str(&format!("Bearer {key}"))
        .map_err(|_| ConnectionError::Unusable("the API key can't stand in a header".into()))?;
    authorization.set_sensitive(true);
    let contact = consumer.contact.contact;
    Ok(Connection {
        provider: consumer.provider,
        application_id,
        authorization,
        contact,
        updated_at: consumer.updated_at,
    })
}
