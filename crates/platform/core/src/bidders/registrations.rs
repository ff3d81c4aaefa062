//! Creates registrations, edits them and changes their status.

use std::collections::BTreeMap;
use std::time::Duration;

use kit_mail::is_address;
use platform_rules::item::REASON_CHARS_MAX;
use platform_rules::{AMOUNT_MAX, Admission, Auction, AuctionKind, BIDDER_CHARS_MAX, LogHead, paddle_problem};
use uuid::Uuid;

use crate::audit::registration_entries;
use crate::caller::visible;
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::{
    BidderItem, DecidedLimit, ITEMS_READ_MAX, Page, Registration, RegistrationChange, RegistrationStatus,
    RegistrationWrite, StoreError, Versioned,
};
use crate::steps::decide::expect_version;
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::steps::input::check_text;
use crate::{Caller, Platform, Scope};

/// Characters of a bidder's name.
const NAME_CHARS_MAX: usize = 200;
/// Characters of a note about a bidder.
const NOTE_CHARS_MAX: usize = 1_000;
/// Tries of a change after version conflicts.
const ATTEMPTS_MAX: usize = 50;
/// Longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// The input of a new registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRegistration {
    /// Paddle number, 1 to 64 characters; without one the next number is assigned.
    pub paddle: Option<String>,
    /// The person or firm behind the paddle.
    pub party: Option<Uuid>,
    /// Name; 1 to 200 characters. None for a bidder who is named later.
    pub name: Option<String>,
    /// E-mail address.
    pub email: Option<String>,
    /// Spending limit, minor units.
    pub limit: Option<i64>,
    /// Note about the bidder; 1 to 1,000 characters.
    pub note: Option<String>,
    /// Pending or approved.
    pub status: RegistrationStatus,
}

/// The fields of a registration to change. None keeps a field, `Some(None)` removes its value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RegistrationPatch {
    /// The paddle; it can change until a bid names the old or the new one. 1 to 64 characters.
    pub paddle: Option<String>,
    /// The person or firm behind the paddle.
    pub party: Option<Option<Uuid>>,
    /// Name.
    pub name: Option<String>,
    /// E-mail address.
    pub email: Option<Option<String>>,
    /// Spending limit, minor units.
    pub limit: Option<Option<i64>>,
    /// Note about the bidder.
    pub note: Option<Option<String>>,
}

/// The new status of a registration, with a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrationDecision {
    /// Status wanted.
    pub to: RegistrationStatus,
    /// Required for a refusal and a suspension; at most 500 characters.
    pub reason: Option<String>,
}

impl Platform {
    /// Registers a bidder for an auction.
    ///
    /// Errors: `not_found` (auction), `auction_closed` (it is archived), `invalid`, `taken` (paddle, party),
    /// `vendor_has_bid`, `bidder_blocked`, `person_erased`, `busy`.
    pub async fn register_bidder(
        &self,
        caller: &Caller,
        auction: Uuid,
        entry: &NewRegistration,
        answering: Option<IdempotentRequest<'_, Registration>>,
    ) -> PlatformResult<Outcome<Registration>> {
        caller.require(Scope::BiddersWrite)?;
        let auction = self.visible_auction(caller, auction).await?;
        self.register_in(caller, &auction, entry, answering).await
    }

    /// As [`Platform::register_bidder`], for a caller who may do it in this auction.
    pub(crate) async fn register_in(
        &self,
        caller: &Caller,
        auction: &Auction,
        entry: &NewRegistration,
        answering: Option<IdempotentRequest<'_, Registration>>,
    ) -> PlatformResult<Outcome<Registration>> {
        let (uuid, now) = (self.ids().uuid_v7(), self.now());
        let mut state = Registration {
            uuid,
            auction: auction.uuid,
            customer: auction.customer,
            paddle: entry.paddle.clone().unwrap_or_default(),
            party: entry.party,
            name: entry.name.clone(),
            email: entry.email.clone(),
            limit: entry.limit,
            note: entry.note.clone(),
            status: entry.status,
            reason: None,
            actor: caller.actor.clone(),
            version: 1,
            created_at: now,
            updated_at: now,
            log: LogHead::default(),
            spending_version: 1,
        };
        check(&state, entry)?;
        if let Some(answer) = self.replay(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        auction.require_unarchived()?;
        if let Some(party) = self.party_of(&state).await? {
            state.party = Some(party.uuid);
            state.take_from(&party.details, &auction.currency);
        }
        self.require_unblocked(&state).await?;
        if entry.paddle.is_some() {
            self.check_party(auction, None, &state).await?;
        }
        // The lock keeps concurrent requests of this node from trying the same number. The store rejects a number that
        // another node assigned meanwhile.
        let _lock = if entry.paddle.is_none() { self.retry_locks().lock(auction.uuid).await } else { None };
        for _ in 0..ATTEMPTS_MAX {
            if entry.paddle.is_none() {
                state.paddle = (self.store().highest_paddle(auction.uuid).await? + 1).to_string();
            }
            state.log = LogHead::default();
            let log = registration_entries(&mut state, &[], self.random().as_ref())?;
            let registration = Versioned { expected_version: 0, state: state.clone() };
            let answer = answering.as_ref().map(|answering| answering.answer(&state, now));
            let mail = self.decision_mail(auction, &state).await?;
            let notice_cause = self.decision_cause(auction, &state);
            let write = RegistrationWrite { registration, log, answer, mail, notice_cause, limit_decided: None };
            match self.store().put_registration(write).await {
                Ok(()) => {
                    self.mails_queued().notify();
                    self.notices_caused().notify();
                    self.registration_cache().forget(auction.uuid, &state.paddle);
                    self.find_bidder_items(auction, None, &state).await?;
                    let state = self.follow_merge(&caller.actor, state).await?;
                    return Ok(Outcome::Fresh(self.suspend_if_blocked(caller, state).await?));
                }
                // Another node assigned the number to another bidder meanwhile.
                Err(StoreError::Taken("paddle")) if entry.paddle.is_none() => {
                    kit_runtime::backoff::pause(PAUSE_MAX.mul_f64(self.random().unit_f64())).await;
                }
                Err(StoreError::Replayed) => return self.replayed(answering.as_ref()).await,
                Err(error) => return Err(error.into()),
            }
        }
        Err(PlatformError::Busy)
    }

    /// Changes the fields of a registration that the patch names.
    ///
    /// Errors: `not_found`, `precondition_failed`, `auction_closed` (it is archived), `invalid`, `taken` (paddle,
    /// party), `paddle_has_bid`, `vendor_has_bid`, `bidder_blocked`, `person_erased`, `busy`.
    pub async fn change_registration(
        &self,
        caller: &Caller,
        (auction, registration): (Uuid, Uuid),
        patch: &RegistrationPatch,
        expected_version: Option<i64>,
    ) -> PlatformResult<Registration> {
        caller.require(Scope::BiddersWrite)?;
        let auction = self.visible_auction(caller, auction).await?;
        if let Some(Err(message)) = patch.paddle.as_deref().map(check_paddle) {
            return Err(PlatformError::invalid("/paddle", message));
        }
        let kept = match patch.party.flatten() {
            Some(party) => self.kept_party(auction.customer, party).await?.map(|kept| kept.uuid).or(Some(party)),
            None => None,
        };
        let change = |state: &Registration| {
            let RegistrationPatch { paddle, party, name, email, limit, note } = patch.clone();
            Ok(RegistrationChange::Edited {
                paddle: paddle.filter(|paddle| *paddle != state.paddle),
                // A record that was merged stays where it is entered already.
                party: party.map_or(state.party, |party| if party == state.party { party } else { kept }),
                name: name.or_else(|| state.name.clone()),
                email: email.unwrap_or_else(|| state.email.clone()),
                limit: limit.unwrap_or(state.limit),
                note: note.unwrap_or_else(|| state.note.clone()),
            })
        };
        self.rewrite(caller, &auction, registration, change, (expected_version, None), None).await?.fresh()
    }

    /// Changes the status of a registration: approved, refused, suspended, and back.
    ///
    /// Errors: `not_found`, `precondition_failed`, `auction_closed` (it is archived), `illegal_transition`,
    /// `reason_required`, `bidder_blocked`, `invalid`.
    pub async fn change_registration_status(
        &self,
        caller: &Caller,
        (auction, registration): (Uuid, Uuid),
        step: &RegistrationDecision,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, Registration>>,
    ) -> PlatformResult<Outcome<Registration>> {
        caller.require(Scope::BiddersWrite)?;
        self.decide_registration(caller, (auction, registration), step, expected_version, answering).await
    }

    /// As [`Platform::change_registration_status`], for a caller who may do it.
    pub(super) async fn decide_registration(
        &self,
        caller: &Caller,
        (auction, registration): (Uuid, Uuid),
        step: &RegistrationDecision,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, Registration>>,
    ) -> PlatformResult<Outcome<Registration>> {
        let auction = self.visible_auction(caller, auction).await?;
        let change = |state: &Registration| {
            let legal = next_statuses(state.status);
            if !legal.contains(&step.to) {
                return Err(PlatformError::Rejected(platform_rules::Rejection::IllegalTransition {
                    from: Some(state.status.as_str()),
                    to: step.to.as_str(),
                    legal: legal.iter().map(|status| status.as_str()).collect(),
                }));
            }
            Ok(RegistrationChange::StatusChanged { from: state.status, to: step.to, reason: reason(step)? })
        };
        self.rewrite(caller, &auction, registration, change, (expected_version, None), answering).await
    }

    /// A registration.
    pub async fn registration(
        &self,
        caller: &Caller,
        (auction, registration): (Uuid, Uuid),
    ) -> PlatformResult<Registration> {
        caller.require_one_of(&[Scope::BiddersRead, Scope::BiddersWrite])?;
        let auction = self.visible_bidders(caller, auction).await?.uuid;
        self.registration_in(caller, auction, registration).await
    }

    /// Registrations of an auction, in the order in which they were entered.
    pub async fn registrations(
        &self,
        caller: &Caller,
        auction: Uuid,
        page: Page<Uuid>,
    ) -> PlatformResult<Vec<Registration>> {
        caller.require(Scope::BiddersRead)?;
        let auction = self.visible_bidders(caller, auction).await?.uuid;
        Ok(self.store().registrations(auction, page).await?)
    }

    /// The registration of a paddle: a list of one or none.
    pub async fn registrations_of(
        &self,
        caller: &Caller,
        auction: Uuid,
        paddle: &str,
    ) -> PlatformResult<Vec<Registration>> {
        caller.require(Scope::BiddersRead)?;
        let auction = self.visible_bidders(caller, auction).await?.uuid;
        Ok(self.store().registration_by_paddle(auction, paddle).await?.into_iter().collect())
    }

    /// Names of the bidders with these paddles, by paddle. Empty for a caller without `bidders:read`.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`.
    pub async fn bidder_names(
        &self,
        caller: &Caller,
        auction: Uuid,
        paddles: &[String],
    ) -> PlatformResult<BTreeMap<String, String>> {
        if caller.require(Scope::BiddersRead).is_err() || paddles.is_empty() {
            return Ok(BTreeMap::new());
        }
        let auction = self.visible_bidders(caller, auction).await?.uuid;
        let found = self.store().registrations_of_paddles(auction, paddles).await?;
        Ok(found.into_iter().filter_map(|registration| Some((registration.paddle, registration.name?))).collect())
    }

    /// True when the registrations of an auction can't change any more, because it is ARCHIVED.
    pub async fn has_final_bidders(&self, caller: &Caller, auction: Uuid) -> PlatformResult<bool> {
        caller.require_one_of(&[Scope::BiddersRead, Scope::BiddersWrite])?;
        Ok(self.visible_auction(caller, auction).await?.require_unarchived().is_err())
    }

    pub(super) async fn registration_in(
        &self,
        caller: &Caller,
        auction: Uuid,
        uuid: Uuid,
    ) -> PlatformResult<Registration> {
        let found = self.store().registration(uuid).await?.filter(|registration| registration.auction == auction);
        visible(caller, found, "registration", |registration| registration.customer)
    }

    /// Changes a registration. With a decision, the change also grants the bidder's request for a higher limit.
    pub(super) async fn rewrite(
        &self,
        caller: &Caller,
        auction: &Auction,
        uuid: Uuid,
        change: impl Fn(&Registration) -> PlatformResult<RegistrationChange> + Send + Sync,
        (expected_version, limit_decided): (Option<i64>, Option<DecidedLimit>),
        answering: Option<IdempotentRequest<'_, Registration>>,
    ) -> PlatformResult<Outcome<Registration>> {
        if let Some(answer) = self.replay(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        for _ in 0..ATTEMPTS_MAX {
            let before = self.registration_in(caller, auction.uuid, uuid).await?;
            expect_version(expected_version, before.version)?;
            auction.require_unarchived()?;
            let now = self.now();
            let mut state = before.clone();
            let change = change(&before)?;
            let is_edited = matches!(change, RegistrationChange::Edited { .. });
            self.check_paddles(auction, &before, &change).await?;
            state.apply(&change, &caller.actor, now);
            if is_edited {
                self.require_unerased(&before).await?;
                self.require_unerased(&state).await?;
            }
            check_fields(&state, &before)?;
            self.check_party(auction, before.party, &state).await?;
            if state.status == RegistrationStatus::Approved {
                self.require_unblocked(&state).await?;
            }
            let log = registration_entries(&mut state, &[change], self.random().as_ref())?;
            let registration = Versioned { expected_version: before.version, state: state.clone() };
            let answer = answering.as_ref().map(|answering| answering.answer(&state, now));
            let mail = if is_edited { None } else { self.decision_mail(auction, &state).await? };
            let notice_cause = match &limit_decided {
                Some(decided) => self.limit_cause(auction, decided),
                None if is_edited => None,
                None => self.decision_cause(auction, &state),
            };
            let write = RegistrationWrite {
                registration,
                log,
                answer,
                mail,
                notice_cause,
                limit_decided: limit_decided.clone(),
            };
            match self.store().put_registration(write).await {
                Ok(()) => {
                    self.mails_queued().notify();
                    self.notices_caused().notify();
                    self.registration_cache().forget(auction.uuid, &before.paddle);
                    self.registration_cache().forget(auction.uuid, &state.paddle);
                    self.find_bidder_items(auction, before.limit, &state).await?;
                    let can_bid = state.status == RegistrationStatus::Approved;
                    let state = if can_bid { self.suspend_if_blocked(caller, state).await? } else { state };
                    return Ok(Outcome::Fresh(state));
                }
                Err(StoreError::Conflict) => {}
                Err(StoreError::Replayed) => return self.replayed(answering.as_ref()).await,
                Err(error) => return Err(error.into()),
            }
        }
        Err(PlatformError::Busy)
    }

    /// Records the items on which a bidder leads when the bidder gets a spending limit. Bids that precede the
    /// registration were not recorded, so this is the only function that reads the whole auction, once.
    async fn find_bidder_items(
        &self,
        auction: &Auction,
        before: Option<i64>,
        now: &Registration,
    ) -> PlatformResult<()> {
        let can_have_bid = auction.kind == AuctionKind::Timed && auction.registration == Admission::Open;
        if !can_have_bid || before.is_some() || now.limit.is_none() {
            return Ok(());
        }
        if self.store().item_counts(auction.uuid).await?.with_bids == 0 {
            return Ok(());
        }
        let mut after = None;
        loop {
            let items = self.store().items(auction.uuid, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = items.last() else { return Ok(()) };
            after = Some(last.position);
            let leading = items.iter().filter(|item| item.committed_by(&now.paddle) > 0);
            let bidder_item = |item: &platform_rules::Item| BidderItem {
                auction: auction.uuid,
                paddle: now.paddle.clone(),
                item: item.uuid,
            };
            let bidder_items: Vec<BidderItem> = leading.map(bidder_item).collect();
            if !bidder_items.is_empty() {
                self.store().record_bidder_items(bidder_items).await?;
            }
        }
    }
}

/// The legal next statuses.
pub fn next_statuses(status: RegistrationStatus) -> &'static [RegistrationStatus] {
    use RegistrationStatus::{Approved, Pending, Refused, Suspended};
    match status {
        Pending => &[Approved, Refused],
        Approved => &[Suspended, Refused],
        Refused => &[Approved],
        Suspended => &[Approved, Refused],
    }
}

fn reason(step: &RegistrationDecision) -> PlatformResult<Option<String>> {
    let reason = step.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    match reason {
        None if matches!(step.to, RegistrationStatus::Refused | RegistrationStatus::Suspended) => {
            Err(PlatformError::Rejected(platform_rules::Rejection::ReasonRequired))
        }
        None => Ok(None),
        Some(reason) => match check_text(reason, REASON_CHARS_MAX) {
            Ok(()) => Ok(Some(reason.to_owned())),
            Err(message) => Err(PlatformError::invalid("/reason", message)),
        },
    }
}

/// Checks a paddle, by the same rules as the bidder of a bid.
fn check_paddle(paddle: &str) -> Result<(), String> {
    check_text(paddle, BIDDER_CHARS_MAX)?;
    paddle_problem(paddle).map_or(Ok(()), |problem| Err(problem.to_owned()))
}

fn check(state: &Registration, entry: &NewRegistration) -> PlatformResult<()> {
    let mut problems = problems_of(state);
    if let Some(Err(message)) = entry.paddle.as_deref().map(check_paddle) {
        problems.push(Problem::new("/paddle", message));
    }
    if !matches!(entry.status, RegistrationStatus::Pending | RegistrationStatus::Approved) {
        problems.push(Problem::new("/status", "a new registration is pending or approved"));
    }
    if problems.is_empty() { Ok(()) } else { Err(PlatformError::Invalid(problems)) }
}

/// A stored address stays valid until a caller changes it: earlier versions accepted addresses that are refused now.
fn check_fields(state: &Registration, before: &Registration) -> PlatformResult<()> {
    let mut problems = problems_of(state);
    if state.email == before.email {
        problems.retain(|problem| problem.pointer != "/email");
    }
    if problems.is_empty() { Ok(()) } else { Err(PlatformError::Invalid(problems)) }
}

fn problems_of(state: &Registration) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Some(Err(message)) = state.name.as_deref().map(|name| check_text(name, NAME_CHARS_MAX)) {
        problems.push(Problem::new("/name", message));
    }
    if state.email.as_deref().is_some_and(|email| !is_address(email)) {
        problems.push(Problem::new("/email", "is not an e-mail address"));
    }
    if state.limit.is_some_and(|limit| !(0..=AMOUNT_MAX).contains(&limit)) {
        problems.push(Problem::new("/limit", format!("must be from 0 to {AMOUNT_MAX} minor units")));
    }
    if let Some(Err(message)) = state.note.as_deref().map(|note| check_text(note, NOTE_CHARS_MAX)) {
        problems.push(Problem::new("/note", message));
    }
    problems
}
