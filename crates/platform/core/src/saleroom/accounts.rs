//! Accounts of bidders: opened by a link that was mailed, signed in to with a password, one for each address at a house.
//!
//! Nothing tells a visitor whether an address has an account: the same mail goes to every address, and its link opens an account
//! or, where there is one, changes its password.

use std::net::IpAddr;
use std::sync::LazyLock;
use std::time::Duration;

use kit_identity::passwords::NO_PASSWORD;
use kit_identity::sign_in::{Client, PasswordCheck, SignIn};
use kit_identity::throttle::{Limit, TakenAttempts};
use kit_identity::user::{Change, plain_email};
use kit_identity::{Audience, Identity, IdentityConfig, Refusal, one_time, passwords, token_hash};
use kit_mail::is_address;
use kit_runtime::vault::Secret;
use uuid::Uuid;

use super::Saleroom;
use crate::bidders::{PARTY_FIELD_CHARS_MAX, PARTY_NAME_CHARS_MAX};
use crate::customers::addresses::{self, AddressInput};
use crate::error::saleroom_refusal::SaleroomRefusal;
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::{
    BidderAccount, BidderAccountChange, BidderDetails, BidderLink, BidderProfile, Language, RegistrationRule,
    StoreError,
};
use crate::steps::idempotency::IdempotentRequest;
use crate::steps::input::{check_shown_name, check_text, is_time_zone};
use crate::{Caller, Platform, Scope};

/// First characters of the tokens of bidders' sessions.
const SESSION_PREFIX: &str = "lwb_";
/// First characters of the codes in links.
const LINK_PREFIX: &str = "lwl_";
/// How long a link opens an account.
pub const LINK_VALID: Duration = Duration::from_secs(60 * 60);
/// How long a bidder stays signed in, used or not. Addresses of sign-ins are kept as long.
const SESSION_TTL: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Sign-ins from one IP address within the window of attempts: everyone in a saleroom may share its address.
const ATTEMPTS_OF_ADDRESS_MAX: u32 = 300;
/// Links asked for from one IP address within the same time.
const LINKS_OF_ADDRESS_MAX: u32 = 100;
/// The names that keep bidders' attempts apart from those of the platform's users.
const SIGN_IN_REALM: &str = "bidder";
const LINK_REALM: &str = "bidder-link";
const OWN_REALM: &str = "bidder-own";
/// Sessions and links deleted in one transaction.
const FORGET_MAX: usize = 1_000;

static AUDIENCE: Audience = Audience {
    session_prefix: SESSION_PREFIX,
    device_realm: "bidder",
    totp_context: "bidder-totp",
    code_purpose: "bidder-code",
};

static SESSIONS: LazyLock<IdentityConfig> = LazyLock::new(|| IdentityConfig {
    session_ttl: SESSION_TTL,
    session_idle: SESSION_TTL,
    ..IdentityConfig::default()
});

/// A bidder who is signed in at a house.
#[derive(Debug, Clone)]
pub struct SignedInBidder {
    /// The account.
    pub account: BidderAccount,
    /// The session.
    pub session: Uuid,
}

/// What a new account, or a new password, is made of.
#[derive(Debug)]
pub struct AccountInput {
    /// What the bidder enters about themselves; ignored for an account that exists.
    pub details: BidderDetails,
    /// The password.
    pub password: Secret,
}

/// The session that began, with the tokens for the browser. They are not shown again.
pub type BidderSignedIn = kit_identity::sign_in::SignedIn<Uuid, BidderProfile>;

impl SignedInBidder {
    /// The bidder as a caller, who acts for themselves at their house.
    pub(super) fn caller(&self) -> Caller {
        Caller {
            actor: format!("bidder:{}", self.account.id),
            id: self.account.id,
            session: Some(self.session),
            role: None,
            customer: Some(self.account.profile.customer),
            scopes: [Scope::AuctionsRead, Scope::BidsWrite].into_iter().collect(),
        }
    }

    /// A form of the bidder with the key of its page. `request` says what the form asks for: another request with the same key is
    /// refused.
    pub(super) fn answering<'a, T>(
        &self,
        key: &'a str,
        request: &str,
        render: &'a (dyn Fn(&T) -> String + Sync),
    ) -> IdempotentRequest<'a, T> {
        let request_hash = token_hash(request);
        IdempotentRequest { caller: self.account.id, key, request_hash, status: 200, render, tag: &|_| None }
    }
}

impl Platform {
    /// Mails a link to an address. The answer is the same whether it has an account, and when the address received too many links
    /// already. `page` is the address of the page that
    /// takes the link's code, and the mail has the language.
    ///
    /// Errors: `accounts_closed`, `invalid` (not an address), `too_many_attempts`, `too_many_mails`, `mail_unavailable`.
    pub async fn mail_bidder_link(
        &self,
        saleroom: &Saleroom,
        email: &str,
        from: Option<IpAddr>,
        (page, language): (&str, Language),
    ) -> PlatformResult<()> {
        require_accounts(saleroom)?;
        let email = plain_email(email);
        if !is_address(&email) {
            return Err(PlatformError::invalid("/email", "is not an e-mail address, such as ann@example.com"));
        }
        if let Some(from) = from {
            let limit = Limit { attempts_max: LINKS_OF_ADDRESS_MAX, ..SESSIONS.attempts() };
            let attempt = limit.at_address_of(LINK_REALM, from);
            self.take_attempts(&TakenAttempts::of(attempt), Some(from)).await?;
        }
        let customer = saleroom.house.customer;
        let (code, hash) = self.bidder_identity().one_time_code(LINK_PREFIX);
        let expires_at = self.bidder_identity().after(LINK_VALID)?;
        let address = format!("{page}?key={}", code.expose_str().unwrap_or_default());
        self.send_account_link(BidderLink { customer, email, hash, expires_at }, (&address, language)).await
    }

    /// The address of the link with this code, and whether it has an account. The link stays usable.
    ///
    /// Errors: `accounts_closed`, `link_void`, `too_many_attempts`.
    pub async fn open_bidder_link(
        &self,
        saleroom: &Saleroom,
        code: &str,
        from: Option<IpAddr>,
    ) -> PlatformResult<(String, bool)> {
        require_accounts(saleroom)?;
        let taken = self.take_attempt_at_link(from).await?;
        let link = self.usable_link(saleroom, code).await?;
        self.return_attempt_at_link(taken).await?;
        let account = self.store().bidder_account_by_email(link.customer, &link.email).await?;
        Ok((link.email, account.is_some_and(|account| account.disabled_at.is_none())))
    }

    /// Opens the account of the link's address with a password, or gives the account that exists another password, and signs in.
    ///
    /// Errors: `accounts_closed`, `link_void`, `invalid`, `too_many_attempts`.
    pub async fn use_bidder_link(
        &self,
        saleroom: &Saleroom,
        code: &str,
        input: AccountInput,
        client: &Client,
    ) -> PlatformResult<BidderSignedIn> {
        require_accounts(saleroom)?;
        let taken = self.take_attempt_at_link(client.from).await?;
        let link = self.usable_link(saleroom, code).await?;
        self.return_attempt_at_link(taken).await?;
        let (identity, now) = (self.bidder_identity(), self.now());
        let found = self.store().bidder_account_by_email(link.customer, &link.email).await?;
        let is_open = found.as_ref().is_some_and(|account| account.disabled_at.is_none());
        let mut problems = if is_open { Vec::new() } else { input.details.problems_at(saleroom) };
        let password = passwords::problem(&input.password, &link.email);
        problems.extend(password.map(|problem| Problem::new("/password", problem)));
        if !problems.is_empty() {
            return Err(PlatformError::Invalid(problems));
        }
        let void = |error: StoreError| match error {
            StoreError::Conflict | StoreError::Taken(_) => SaleroomRefusal::LinkVoid.into(),
            error => PlatformError::from(error),
        };
        let account = match found {
            Some(mut account) => {
                // An account that was deleted opens again, with the record that it had.
                if account.disabled_at.take().is_some() {
                    account.profile.details = plain(input.details);
                }
                let change = identity.choose_password_by_link(account, &input.password).await?;
                let account = change.user.clone();
                let entry = BidderAccountChange { change, link: Some((link.hash, now)), party: None };
                self.store().change_bidder_account(entry).await.map_err(void)?;
                account
            }
            None => {
                let hash = identity.hash(&input.password).await?;
                let profile = BidderProfile { customer: link.customer, party: None, details: plain(input.details) };
                let account = BidderAccount::new(self.ids().uuid_v7(), link.email, hash, now, profile);
                self.store().open_bidder_account(account.clone(), link.hash, now).await.map_err(void)?;
                tracing::info!(account = %account.id, customer = %link.customer, "a bidder opened an account");
                account
            }
        };
        self.begin_bidder_session(account, None, client).await
    }

    /// Signs a bidder in.
    ///
    /// Errors: `accounts_closed`, `sign_in_refused`, `too_many_attempts`, `invalid`, `busy`.
    pub async fn sign_in_bidder(&self, saleroom: &Saleroom, sign_in: &SignIn) -> PlatformResult<BidderSignedIn> {
        require_accounts(saleroom)?;
        let too_long = |(field, bytes)| Problem::new(format!("/{field}"), format!("is longer than {bytes} bytes"));
        let problems: Vec<Problem> = sign_in.too_long().into_iter().map(too_long).collect();
        if !problems.is_empty() {
            return Err(PlatformError::Invalid(problems));
        }
        let (identity, customer, from) = (self.bidder_identity(), saleroom.house.customer, sign_in.client.from);
        let attempted = identity.attempt(&sign_in.email, &sign_in.client);
        let name = format!("{customer}/{}", attempted.email);
        let address = from.map(|from| (from, address_limit()));
        let taken = SESSIONS.attempts().at_account_of(SIGN_IN_REALM, &name, attempted.device.as_ref(), address);
        self.take_attempts(&taken, from).await?;
        let found = self.store().bidder_account_by_email(customer, &attempted.email).await?;
        let PasswordCheck::Right(account) = identity.check_password(found, &sign_in.password).await? else {
            return Err(Refusal::SignInRefused.into());
        };
        let signed_in = self.begin_bidder_session(account, attempted.device, &sign_in.client).await?;
        self.return_attempts(taken.after_sign_in()).await?;
        Ok(signed_in)
    }

    /// The bidder with this session at this house; none without one. A session of another house is none here.
    pub async fn signed_in_bidder(&self, saleroom: &Saleroom, token: &str) -> PlatformResult<Option<SignedInBidder>> {
        if saleroom.house.saleroom.registration == RegistrationRule::Closed || !token.starts_with(SESSION_PREFIX) {
            return Ok(None);
        }
        let Some((session, account)) = self.store().bidder_session(token_hash(token)).await? else { return Ok(None) };
        if account.profile.customer != saleroom.house.customer || !self.bidder_identity().goes_on(&session) {
            return Ok(None);
        }
        if session.needs_touch(self.now())
            && let Err(error) = self.store().touch_bidder_session(session.id, self.now()).await
        {
            tracing::warn!(session = %session.id, %error, "the last use of a session could not be recorded");
        }
        Ok(Some(SignedInBidder { account, session: session.id }))
    }

    /// Ends the session.
    pub async fn sign_out_bidder(&self, bidder: &SignedInBidder) -> PlatformResult<()> {
        Ok(self.store().end_bidder_session(bidder.session).await?)
    }

    /// Replaces what a bidder entered about themselves. Registrations that exist keep the name that the house has.
    ///
    /// Errors: `invalid`, `busy`.
    pub async fn change_bidder_details(
        &self,
        saleroom: &Saleroom,
        bidder: &SignedInBidder,
        details: BidderDetails,
    ) -> PlatformResult<()> {
        let problems = details.problems_at(saleroom);
        if !problems.is_empty() {
            return Err(PlatformError::Invalid(problems));
        }
        let mut account = bidder.account.clone();
        account.profile.details = plain(details);
        let entry = BidderAccountChange { change: Change::to(account), link: None, party: None };
        Ok(self.store().change_bidder_account(entry).await?)
    }

    /// Keeps the language that a bidder chose for pages and mails.
    ///
    /// Errors: `busy`.
    pub async fn choose_bidder_language(&self, bidder: &SignedInBidder, language: Language) -> PlatformResult<()> {
        let mut account = bidder.account.clone();
        account.profile.details.language = Some(language);
        let entry = BidderAccountChange { change: Change::to(account), link: None, party: None };
        Ok(self.store().change_bidder_account(entry).await?)
    }

    /// Deletes an account with its sessions, details and watched lots. Bids, purchases and the house's own record stay. The address
    /// of one that has a record keeps leading to it: otherwise a bidder who is blocked or limited would begin anew.
    ///
    /// Errors: `password_refused`, `too_many_attempts`, `busy`.
    pub async fn delete_bidder_account(&self, bidder: &SignedInBidder, password: &Secret) -> PlatformResult<()> {
        let account = &bidder.account;
        let taken = SESSIONS.attempts().at_account_of(OWN_REALM, &account.id.to_string(), None, None);
        self.take_attempts(&taken, None).await?;
        self.bidder_identity().check_own_password(account, password).await?;
        if account.profile.party.is_none() {
            self.store().delete_bidder_account(account.id, account.version).await?;
        } else {
            let mut closed = self.bidder_identity().reset_password(account.clone(), NO_PASSWORD.to_owned(), false);
            closed.user.disabled_at = Some(self.now());
            closed.user.profile.details = BidderDetails::default();
            let entry = BidderAccountChange { change: closed, link: None, party: None };
            self.store().change_bidder_account(entry).await?;
        }
        tracing::info!(account = %account.id, customer = %account.profile.customer, "a bidder deleted their account");
        self.return_attempts(taken.after_sign_in()).await
    }

    /// Deletes sessions and links that have ended; returns their number.
    pub async fn delete_expired_bidder_access(&self) -> PlatformResult<usize> {
        let (now, idle_before) = (self.now(), self.bidder_identity().idle_before());
        Ok(self.store().delete_expired_bidder_access(now, idle_before, FORGET_MAX).await?)
    }

    async fn begin_bidder_session(
        &self,
        account: BidderAccount,
        device: Option<kit_identity::devices::Device>,
        client: &Client,
    ) -> PlatformResult<BidderSignedIn> {
        let signed_in = self.bidder_identity().begin_session(self.ids().uuid_v7(), account, device, client)?;
        let (session, version) = (signed_in.session.clone(), signed_in.user.version);
        self.store().begin_bidder_session(session, version, SESSIONS.sessions_max).await?;
        Ok(signed_in)
    }

    async fn usable_link(&self, saleroom: &Saleroom, code: &str) -> PlatformResult<BidderLink> {
        let link = self.store().bidder_link(one_time::lookup_hash(code)).await?;
        let is_usable = |link: &BidderLink| link.customer == saleroom.house.customer && link.expires_at > self.now();
        link.filter(is_usable).ok_or_else(|| SaleroomRefusal::LinkVoid.into())
    }

    /// What the rules of sign-in are decided with, for bidders.
    fn bidder_identity(&self) -> Identity<'_> {
        Identity { audience: &AUDIENCE, config: &SESSIONS, ..self.identity() }
    }
}

/// `accounts_closed` when the house takes no bids from accounts.
pub(super) fn require_accounts(saleroom: &Saleroom) -> PlatformResult<()> {
    match saleroom.house.saleroom.registration {
        RegistrationRule::Closed => Err(SaleroomRefusal::AccountsClosed.into()),
        RegistrationRule::ByStaff | RegistrationRule::AtOnce => Ok(()),
    }
}

fn address_limit() -> Limit {
    Limit { attempts_max: ATTEMPTS_OF_ADDRESS_MAX, ..SESSIONS.attempts() }
}

/// The details as they are stored: trimmed, without empty texts.
fn plain(details: BidderDetails) -> BidderDetails {
    let text = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let BidderDetails { name, phone, address, language, time_zone } = details;
    BidderDetails { name: name.trim().to_owned(), phone: text(phone), address, language, time_zone: text(time_zone) }
}

impl BidderDetails {
    /// All problems of the details at a house, with what it asks for.
    fn problems_at(&self, saleroom: &Saleroom) -> Vec<Problem> {
        let (details, asked) = (plain(self.clone()), &saleroom.house.saleroom);
        let mut problems = Vec::new();
        if let Err(message) = check_shown_name(&details.name, PARTY_NAME_CHARS_MAX) {
            problems.push(Problem::new("/name", message));
        }
        if let Some(Err(message)) = details.phone.as_deref().map(|phone| check_text(phone, PARTY_FIELD_CHARS_MAX)) {
            problems.push(Problem::new("/phone", message));
        }
        if details.time_zone.as_deref().is_some_and(|name| !is_time_zone(name)) {
            problems.push(Problem::new("/timeZone", "is not a time zone, such as Europe/London"));
        }
        if asked.asks_phone && details.phone.is_none() {
            problems.push(Problem::new("/phone", "is missing: the house asks for it"));
        }
        if asked.asks_address && details.address.is_none() {
            problems.push(Problem::new("/address/addressLine1", "is missing: the house asks for your address"));
        }
        if let Some(address) = &details.address {
            let found = addresses::problems(&AddressInput::Full(Box::new(address.clone())));
            problems.extend(found);
        }
        problems
    }
}
