//! A customer's connection, ready to be used: read from the store, its key opened, kept for a while.

use http::HeaderValue;
use jiff::Timestamp;
use kit_runtime::vault::Vault;
use uuid::Uuid;

use crate::port::{Consumer, Contact, ProviderAddress, StoreError};
use crate::provider_access::provider_key_context;

/// What requests are made with.
#[derive(Clone)]
pub(super) struct Connection {
    /// The provider; its address is looked up for each request.
    pub(super) provider: ProviderAddress,
    /// The consumer application.
    pub(super) application_id: String,
    /// `Bearer …`, marked as sensitive.
    pub(super) authorization: HeaderValue,
    /// What was recorded when the row was read.
    pub(super) contact: Contact,
    /// The row that it was made of.
    pub(super) updated_at: Timestamp,
}

/// Why events of a customer can't be published now.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectionError {
    /// Not connected, not both credentials, or parked: it ends when support has done something.
    #[error("the customer is not connected, or its queue is parked")]
    Closed,
    /// What support entered can't be used; the queue is to be parked.
    #[error("{0}")]
    Unusable(String),
    /// The key can't be opened with the keys that this process has.
    #[error("the provider API key can't be opened: {0}")]
    Sealed(#[from] kit_runtime::vault::VaultError),
    /// The store did not answer.
    #[error("the connection can't be read")]
    Store(#[from] StoreError),
}

/// Makes a connection of a row.
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
