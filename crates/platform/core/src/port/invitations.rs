//! Invitations of people who become users.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::{Digest, Page, StoreResult};

/// A link with which an invited person becomes a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// E-mail address in lower case; there is one invitation for each address.
    pub email: String,
    /// Role name; see `access::scope::Role`.
    pub role: String,
    /// SHA-256 of the link's code.
    pub hash: Digest,
    /// When it was created.
    pub created_at: Timestamp,
    /// Who invited, as the audit log names them.
    pub created_by: String,
    /// When it is void, used or not.
    pub expires_at: Timestamp,
}

/// Invitations. [`super::AccessChange`] creates, withdraws and accepts them.
#[async_trait]
pub trait InvitationStore: Send + Sync {
    /// Invitations in order of creation (UUID); expired ones too.
    async fn invitations(&self, page: Page<Uuid>) -> StoreResult<Vec<Invitation>>;
    /// The invitation with this code; an expired one too.
    async fn invitation_by_hash(&self, hash: Digest) -> StoreResult<Option<Invitation>>;
}
