//! Access to bidders' accounts that web sites of a house have: what a bidder allowed, and the tokens that came of it.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::{BidderAccount, Digest, StoreResult};

/// Characters of an address to which a bidder comes back.
pub const SITE_REDIRECT_CHARS_MAX: usize = 500;

/// What a bidder allowed to a site, once. Its code becomes tokens once; the grant ends with the last of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteGrant {
    /// Its id.
    pub uuid: Uuid,
    /// The account.
    pub account: Uuid,
    /// The origin of the site.
    pub origin: String,
    /// The address to which the bidder went back with the code.
    pub redirect: String,
    /// The challenge of the site's request (RFC 7636, `S256`).
    pub challenge: String,
    /// SHA-256 of the code.
    pub code: Digest,
    /// When the code is void, used or not.
    pub code_expires_at: Timestamp,
    /// When the site used the code; none before.
    pub redeemed_at: Option<Timestamp>,
    /// When the bidder allowed it.
    pub created_at: Timestamp,
    /// When its site got tokens last.
    pub last_used_at: Timestamp,
    /// When it ends, used or not.
    pub expires_at: Timestamp,
}

/// A token of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SiteToken {
    /// SHA-256 of the token.
    pub hash: Digest,
    /// The grant.
    pub grant: Uuid,
    /// What it is for.
    pub kind: SiteTokenKind,
    /// When it is void, used or not.
    pub expires_at: Timestamp,
    /// When a refresh token was used; none before.
    pub used_at: Option<Timestamp>,
}

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteTokenKind {
    /// Calls of the API.
    Access,
    /// The next two tokens, once.
    Refresh,
}

/// Which grants to end, with their tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SiteGrantsToEnd {
    /// This one.
    One(Uuid),
    /// Those of an account for an origin.
    OfSite(Uuid, String),
}

/// Grants of bidders to sites. A change of an account that ends all its sessions, or all but one, ends its grants too, and so does
/// the end of the account.
#[async_trait]
pub trait SiteGrantStore: Send + Sync {
    /// Stores a grant, and ends the oldest ones of the account beyond `grants_max`. `Conflict` when the account has another version.
    async fn begin_site_grant(&self, grant: SiteGrant, version: i64, grants_max: usize) -> StoreResult<()>;
    /// The grant with this code; one whose code was used, or has expired, too.
    async fn site_grant_by_code(&self, code: Digest) -> StoreResult<Option<SiteGrant>>;
    /// Uses up the code of a grant, and stores its first tokens. `Conflict` when the code was used, or the grant has ended.
    async fn redeem_site_code(&self, grant: Uuid, at: Timestamp, tokens: Vec<SiteToken>) -> StoreResult<()>;
    /// The token with its grant and account; an expired or used one too. None when the grant has ended.
    async fn site_token(&self, hash: Digest) -> StoreResult<Option<(SiteToken, SiteGrant, BidderAccount)>>;
    /// Uses up a refresh token, ends the access tokens of its grant, and stores the next tokens. `Conflict` when it was used, or the
    /// grant has ended.
    async fn rotate_site_tokens(&self, used: SiteToken, at: Timestamp, tokens: Vec<SiteToken>) -> StoreResult<()>;
    /// The grants of an account whose code was used, the latest first.
    async fn site_grants(&self, account: Uuid) -> StoreResult<Vec<SiteGrant>>;
    /// Ends grants with their tokens; returns the number of grants.
    async fn end_site_grants(&self, ending: SiteGrantsToEnd) -> StoreResult<usize>;
    /// Deletes at most `limit` grants that expired before `now`, or whose unused code did, and at most `limit` expired tokens; returns
    /// their number.
    async fn delete_expired_site_access(&self, now: Timestamp, limit: usize) -> StoreResult<usize>;
}
