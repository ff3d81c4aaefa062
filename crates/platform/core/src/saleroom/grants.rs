//! Access of a house's web sites to the accounts of bidders: a code that works once (RFC 6749, section 4.1), bound to the site by a
//! challenge (RFC 7636, `S256`), becomes an access token and a refresh token. The advice of RFC 9700 decides the rest.
//!
//! - A code belongs to a site, an address to come back to, a challenge and an account. Whatever does not fit at its first use ends
//!   it, and a second use ends the tokens of the first.
//! - A refresh token works once. A second use ends the grant with all its tokens, because one of the two users stole it.
//! - Another password, the end of all sessions, and the end of the account end its grants. So does the house, by listing the site no
//!   longer.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use kit_identity::{one_time, token_hash};
use kit_runtime::vault::Secret;

use super::accounts::require_accounts;
use super::{Saleroom, SignedInBidder};
use crate::Platform;
use crate::error::saleroom_refusal::SaleroomRefusal;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Digest, RegistrationRule, SiteGrant, SiteGrantsToEnd, SiteToken, SiteTokenKind, StoreError};

/// First characters of codes and of the two kinds of tokens. None begins as an API key or a session does.
const CODE_PREFIX: &str = "lwg_";
const ACCESS_PREFIX: &str = "lwa_";
const REFRESH_PREFIX: &str = "lwr_";
const RANDOM_BYTES: usize = 32;
/// How long a code works.
const CODE_VALID: Duration = Duration::from_secs(60);
/// How long an access token works.
pub const ACCESS_VALID: Duration = Duration::from_secs(60 * 60);
/// How long a bidder's consent lasts, used or not: as long as a session.
const GRANT_VALID: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Grants of one account; a further one ends the oldest.
const GRANTS_MAX: usize = 20;
/// Grants and tokens deleted in one transaction.
const FORGET_MAX: usize = 1_000;
/// Characters of a challenge: 32 bytes in base64url.
const CHALLENGE_CHARS: usize = 43;
/// Characters of a verifier, at least and at most (RFC 7636, section 4.1).
const VERIFIER_CHARS: std::ops::RangeInclusive<usize> = 43..=128;

/// The request of a site for access, checked against what the house lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRequest {
    origin: String,
    redirect: String,
    challenge: String,
}

/// A code with what its site sends to redeem it.
#[derive(Debug)]
pub struct CodeRedemption<'a> {
    /// The origin of the site.
    pub origin: &'a str,
    /// The code.
    pub code: &'a str,
    /// The address to which the bidder came back with it.
    pub redirect: &'a str,
    /// The verifier of the challenge.
    pub verifier: &'a str,
}

/// The tokens of a site. They are not shown again.
#[derive(Debug)]
pub struct SiteTokens {
    /// For calls of the API, for [`ACCESS_VALID`].
    pub access: Secret,
    /// For the next tokens, once.
    pub refresh: Secret,
}

/// A bidder for whom a site acts.
#[derive(Debug, Clone)]
pub struct SiteBidder {
    /// The bidder; the session is the grant.
    pub bidder: SignedInBidder,
    /// The origin of the site.
    pub origin: String,
}

impl AccessRequest {
    /// The request of a listed site with one of its listed addresses, letter by letter.
    ///
    /// Errors: `site_not_listed`; then nothing may be sent to the address.
    pub fn of(saleroom: &Saleroom, origin: &str, redirect: &str) -> PlatformResult<Self> {
        let site = saleroom.site(origin).filter(|site| site.redirects.iter().any(|listed| listed == redirect));
        let site = site.ok_or(SaleroomRefusal::SiteNotListed)?;
        Ok(Self { origin: site.origin.clone(), redirect: redirect.to_owned(), challenge: String::new() })
    }

    /// The request with the challenge of its site. None for text that is no challenge of the method `S256`.
    pub fn with_challenge(self, challenge: &str) -> Option<Self> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(challenge).ok()?;
        let is_digest = challenge.len() == CHALLENGE_CHARS && bytes.len() == 32;
        is_digest.then(|| Self { challenge: challenge.to_owned(), ..self })
    }

    /// The origin of the site.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The address to come back to.
    pub fn redirect(&self) -> &str {
        &self.redirect
    }
}

impl Platform {
    /// Lets a site act for a bidder, who has read what that means. Returns the code for the site.
    ///
    /// Errors: `accounts_closed`, `busy`.
    pub async fn allow_site(
        &self,
        saleroom: &Saleroom,
        bidder: &SignedInBidder,
        request: AccessRequest,
    ) -> PlatformResult<Secret> {
        require_accounts(saleroom)?;
        let (code, hash) = self.new_site_token(CODE_PREFIX);
        let now = self.now();
        let AccessRequest { origin, redirect, challenge } = request;
        let grant = SiteGrant {
            uuid: self.ids().uuid_v7(),
            account: bidder.account.id,
            origin,
            redirect,
            challenge,
            code: hash,
            code_expires_at: now + CODE_VALID,
            redeemed_at: None,
            created_at: now,
            last_used_at: now,
            expires_at: now + GRANT_VALID,
        };
        self.store().begin_site_grant(grant, bidder.account.version, GRANTS_MAX).await?;
        Ok(code)
    }

    /// The first tokens of a site for a code. Any other use of a code than the right one ends it, with the tokens that came of it.
    ///
    /// Errors: `accounts_closed`, `grant_void`.
    pub async fn redeem_site_code(
        &self,
        saleroom: &Saleroom,
        redemption: &CodeRedemption<'_>,
    ) -> PlatformResult<SiteTokens> {
        require_accounts(saleroom)?;
        let void = || PlatformError::from(SaleroomRefusal::GrantVoid);
        let grant = self.store().site_grant_by_code(one_time::lookup_hash(redemption.code)).await?.ok_or_else(void)?;
        let account = self.store().bidder_account(grant.account).await?;
        let is_of_house = account.is_some_and(|account| account.profile.customer == saleroom.house.customer);
        let fits = is_of_house
            && saleroom.site(&grant.origin).is_some()
            && grant.redeemed_at.is_none()
            && grant.code_expires_at > self.now()
            && grant.origin == redemption.origin
            && grant.redirect == redemption.redirect
            && challenge_of(redemption.verifier).is_some_and(|challenge| challenge == grant.challenge);
        if !fits {
            tracing::warn!(grant = %grant.uuid, origin = %grant.origin, "a code of a web site was used twice or wrongly");
            self.store().end_site_grants(SiteGrantsToEnd::One(grant.uuid)).await?;
            return Err(void());
        }
        let (tokens, stored) = self.next_site_tokens(&grant);
        match self.store().redeem_site_code(grant.uuid, self.now(), stored).await {
            Ok(()) => Ok(tokens),
            Err(StoreError::Conflict) => {
                self.store().end_site_grants(SiteGrantsToEnd::One(grant.uuid)).await?;
                Err(void())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The next tokens of a site. The access tokens before them end.
    ///
    /// Errors: `accounts_closed`, `grant_void`.
    pub async fn refresh_site_tokens(
        &self,
        saleroom: &Saleroom,
        origin: &str,
        refresh: &str,
    ) -> PlatformResult<SiteTokens> {
        require_accounts(saleroom)?;
        let void = || PlatformError::from(SaleroomRefusal::GrantVoid);
        let found = self.store().site_token(one_time::lookup_hash(refresh)).await?;
        let (token, grant, account) = found.ok_or_else(void)?;
        let is_own = token.kind == SiteTokenKind::Refresh
            && account.profile.customer == saleroom.house.customer
            && grant.origin == origin
            && saleroom.site(origin).is_some();
        if !is_own || token.expires_at <= self.now() {
            return Err(void());
        }
        let (tokens, stored) = self.next_site_tokens(&grant);
        let rotated = match token.used_at {
            None => self.store().rotate_site_tokens(token, self.now(), stored).await,
            Some(_) => Err(StoreError::Conflict),
        };
        match rotated {
            Ok(()) => Ok(tokens),
            Err(StoreError::Conflict) => {
                tracing::warn!(grant = %grant.uuid, %origin, "a refresh token was used twice: its grant ends");
                self.store().end_site_grants(SiteGrantsToEnd::One(grant.uuid)).await?;
                Err(void())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Ends the grant of a token of a site (RFC 7009). A token that is unknown, or another site's, changes nothing.
    pub async fn revoke_site_token(&self, saleroom: &Saleroom, origin: &str, token: &str) -> PlatformResult<()> {
        let found = self.store().site_token(one_time::lookup_hash(token)).await?;
        let Some((_, grant, account)) = found else { return Ok(()) };
        if account.profile.customer == saleroom.house.customer && grant.origin == origin {
            self.store().end_site_grants(SiteGrantsToEnd::One(grant.uuid)).await?;
        }
        Ok(())
    }

    /// The bidder for whom the site with this access token acts at this house; none for a token that does not work here.
    pub async fn bidder_of_site_token(&self, saleroom: &Saleroom, token: &str) -> PlatformResult<Option<SiteBidder>> {
        if saleroom.house.saleroom.registration == RegistrationRule::Closed || !token.starts_with(ACCESS_PREFIX) {
            return Ok(None);
        }
        let found = self.store().site_token(one_time::lookup_hash(token)).await?;
        let Some((token, grant, account)) = found else { return Ok(None) };
        let works = token.kind == SiteTokenKind::Access
            && token.expires_at > self.now()
            && grant.expires_at > self.now()
            && account.disabled_at.is_none()
            && account.profile.customer == saleroom.house.customer
            && saleroom.site(&grant.origin).is_some();
        let bidder = SignedInBidder { account, session: grant.uuid };
        Ok(works.then_some(SiteBidder { bidder, origin: grant.origin }))
    }

    /// The sites that act for a bidder, each with its latest grant, the latest first.
    pub async fn connected_sites(&self, bidder: &SignedInBidder) -> PlatformResult<Vec<SiteGrant>> {
        let mut sites: Vec<SiteGrant> = Vec::new();
        for grant in self.store().site_grants(bidder.account.id).await? {
            match sites.iter_mut().find(|known| known.origin == grant.origin) {
                Some(known) => known.last_used_at = known.last_used_at.max(grant.last_used_at),
                None if grant.expires_at > self.now() => sites.push(grant),
                None => {}
            }
        }
        Ok(sites)
    }

    /// Ends all access of a site to a bidder's account.
    pub async fn disconnect_site(&self, bidder: &SignedInBidder, origin: &str) -> PlatformResult<()> {
        let ending = SiteGrantsToEnd::OfSite(bidder.account.id, origin.to_owned());
        Ok(self.store().end_site_grants(ending).await.map(drop)?)
    }

    /// Deletes grants and tokens that have ended; returns their number.
    pub async fn delete_expired_site_access(&self) -> PlatformResult<usize> {
        Ok(self.store().delete_expired_site_access(self.now(), FORGET_MAX).await?)
    }

    fn new_site_token(&self, prefix: &str) -> (Secret, Digest) {
        let token = format!("{prefix}{}", self.ids().token(RANDOM_BYTES));
        let hash = token_hash(&token);
        (Secret::new(token.into_bytes()), hash)
    }

    /// No token outlives its grant.
    fn next_site_tokens(&self, grant: &SiteGrant) -> (SiteTokens, Vec<SiteToken>) {
        let ((access, access_hash), (refresh, refresh_hash)) =
            (self.new_site_token(ACCESS_PREFIX), self.new_site_token(REFRESH_PREFIX));
        let token = |hash, kind, expires_at| SiteToken { hash, grant: grant.uuid, kind, expires_at, used_at: None };
        let access_end = (self.now() + ACCESS_VALID).min(grant.expires_at);
        let stored = vec![
            token(access_hash, SiteTokenKind::Access, access_end),
            token(refresh_hash, SiteTokenKind::Refresh, grant.expires_at),
        ];
        (SiteTokens { access, refresh }, stored)
    }
}

/// The challenge of a verifier; none for text that is no verifier.
fn challenge_of(verifier: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let is_verifier = VERIFIER_CHARS.contains(&verifier.len()) && verifier.bytes().all(is_plain);
    is_verifier.then(|| BASE64_URL_SAFE_NO_PAD.encode(token_hash(verifier)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_that_of_rfc_7636() {
        // Appendix B of RFC 7636.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(challenge_of(verifier).as_deref(), Some("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"));
        for text in ["", &verifier[1..], &"a".repeat(129), &format!("{}+", &verifier[1..]), &format!("{verifier} ")] {
            assert_eq!(challenge_of(text), None, "{text}");
        }
    }
}
