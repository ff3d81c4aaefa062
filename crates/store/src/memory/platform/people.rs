//! People: users, their sessions, and how often somebody tried to sign in.

use std::collections::{BTreeMap, BTreeSet};

use ::platform::Role;
use ::platform::port::{
    Attempt, AttemptsSettled, Digest, Ending, IdempotentAnswer, Page, People, Session, StoreError, StoreResult,
    TotpChange, User, UserChange, UserWritten,
};
use async_trait::async_trait;
use jiff::Timestamp;
use runtime::vault::Sealed;
use uuid::Uuid;

use super::{Memory, Tables, slice};

#[derive(Default)]
pub(super) struct Crowd {
    pub(super) users: BTreeMap<Uuid, User>,
    recovery_codes: BTreeSet<(Uuid, Digest)>,
    sessions: BTreeMap<Uuid, Session>,
    full_at: BTreeMap<Digest, Timestamp>,
}

#[async_trait]
impl People for Memory {
    async fn create_user(&self, user: User, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        let mut tables = self.tables();
        tables.access.check_answer(answer.as_ref())?;
        if tables.people.users.values().any(|other| other.email == user.email) {
            return Err(StoreError::Taken("email"));
        }
        tables.keep(answer);
        tables.people.users.insert(user.uuid, user);
        Ok(())
    }

    async fn user(&self, uuid: Uuid) -> StoreResult<Option<User>> {
        Ok(self.tables().people.users.get(&uuid).cloned())
    }

    async fn user_by_email(&self, email: &str) -> StoreResult<Option<User>> {
        Ok(self.tables().people.users.values().find(|user| user.email == email).cloned())
    }

    async fn users(&self, page: Page<Uuid>) -> StoreResult<Vec<User>> {
        Ok(slice(self.tables().people.users.iter().map(|(uuid, user)| (*uuid, user)), page))
    }

    async fn change_user(&self, change: UserChange) -> StoreResult<UserWritten> {
        let mut tables = self.tables();
        tables.access.check_answer(change.answer.as_ref())?;
        let before = tables.people.at_version(change.user.uuid, change.expected_version)?;
        if before.administers() && !change.user.administers() && tables.people.is_last_administrator(before.uuid) {
            return Ok(UserWritten::LastAdministrator);
        }
        tables.keep(change.answer);
        let people = &mut tables.people;
        let mut user = User { totp: before.totp, signed_in_at: before.signed_in_at, ..change.user };
        match change.totp {
            TotpChange::Keep => {}
            TotpChange::Set(totp, codes) => {
                user.totp = Some(totp);
                people.recovery_codes.retain(|(of, _)| *of != user.uuid);
                people.recovery_codes.extend(codes.into_iter().map(|code| (user.uuid, code)));
            }
            TotpChange::Remove => {
                user.totp = None;
                people.recovery_codes.retain(|(of, _)| *of != user.uuid);
            }
        }
        let (uuid, is_clerk) = (user.uuid, user.role == Role::Clerk.name());
        people.users.insert(user.uuid, user);
        people.end(change.ending);
        if !is_clerk {
            tables.clerks.retain(|(_, user), _| *user != uuid);
        }
        Ok(UserWritten::Done)
    }

    async fn remove_user(&self, uuid: Uuid, version: i64) -> StoreResult<UserWritten> {
        let mut tables = self.tables();
        let people = &mut tables.people;
        let user = people.at_version(uuid, version)?;
        if user.signed_in_at.is_some() {
            return Ok(UserWritten::HasSignedIn);
        }
        if user.administers() && people.is_last_administrator(uuid) {
            return Ok(UserWritten::LastAdministrator);
        }
        people.users.remove(&uuid);
        people.recovery_codes.retain(|(of, _)| *of != uuid);
        tables.clerks.retain(|(_, user), _| *user != uuid);
        Ok(UserWritten::Done)
    }

    async fn use_totp_step(&self, user: Uuid, step: i64) -> StoreResult<bool> {
        let mut tables = self.tables();
        let totp = tables.people.users.get_mut(&user).and_then(|user| user.totp.as_mut());
        Ok(totp.filter(|totp| totp.step < step).map(|totp| totp.step = step).is_some())
    }

    async fn use_recovery_code(&self, user: Uuid, code: Digest) -> StoreResult<bool> {
        Ok(self.tables().people.recovery_codes.remove(&(user, code)))
    }

    async fn recovery_codes(&self, user: Uuid) -> StoreResult<usize> {
        Ok(self.tables().people.recovery_codes.iter().filter(|(of, _)| *of == user).count())
    }

    async fn begin_session(
        &self,
        session: Session,
        version: i64,
        sessions_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        let mut tables = self.tables();
        tables.access.check_answer(answer.as_ref())?;
        tables.people.at_version(session.user, version)?;
        tables.keep(answer);
        let people = &mut tables.people;
        if let Some(user) = people.users.get_mut(&session.user) {
            user.signed_in_at = Some(session.created_at);
        }
        let user = session.user;
        people.sessions.insert(session.uuid, session);
        let of_user = people.sessions.values().filter(|session| session.user == user).map(|session| session.uuid);
        let too_many: Vec<Uuid> = of_user.rev().skip(sessions_max).collect();
        people.sessions.retain(|uuid, _| !too_many.contains(uuid));
        Ok(())
    }

    async fn session_by_hash(&self, hash: Digest) -> StoreResult<Option<(Session, User)>> {
        let tables = self.tables();
        let session = tables.people.sessions.values().find(|session| session.hash == hash);
        Ok(session.and_then(|session| Some((session.clone(), tables.people.users.get(&session.user)?.clone()))))
    }

    async fn session(&self, uuid: Uuid) -> StoreResult<Option<Session>> {
        Ok(self.tables().people.sessions.get(&uuid).cloned())
    }

    async fn sessions(&self, user: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Session>> {
        let tables = self.tables();
        let theirs = tables.people.sessions.iter().filter(|(_, session)| session.user == user);
        Ok(slice(theirs.map(|(uuid, session)| (*uuid, session)), page))
    }

    async fn touch_session(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        if let Some(session) = self.tables().people.sessions.get_mut(&uuid) {
            session.last_used_at = session.last_used_at.max(at);
        }
        Ok(())
    }

    async fn end_sessions(&self, ending: Ending) -> StoreResult<usize> {
        Ok(self.tables().people.end(ending))
    }

    async fn forget_sessions(&self, now: Timestamp, idle_before: Timestamp, limit: usize) -> StoreResult<usize> {
        let people = &mut self.tables().people;
        let is_over = |session: &Session| session.expires_at < now || session.last_used_at < idle_before;
        let over: Vec<Uuid> =
            people.sessions.values().filter(|one| is_over(one)).map(|one| one.uuid).take(limit).collect();
        people.sessions.retain(|uuid, _| !over.contains(uuid));
        let full: Vec<Digest> =
            people.full_at.iter().filter(|(_, at)| **at < now).map(|(subject, _)| *subject).take(limit).collect();
        people.full_at.retain(|subject, _| !full.contains(subject));
        Ok(over.len() + full.len())
    }

    async fn take_attempts(&self, attempts: Vec<Attempt>, now: Timestamp) -> StoreResult<Option<Timestamp>> {
        let people = &mut self.tables().people;
        let mut taken = Vec::new();
        for attempt in attempts {
            match attempt.take(people.full_at.get(&attempt.subject).copied(), now) {
                Ok(full_at) => taken.push((attempt.subject, full_at)),
                Err(allowed_from) => return Ok(Some(allowed_from)),
            }
        }
        people.full_at.extend(taken);
        Ok(None)
    }

    async fn settle_attempts(&self, settled: AttemptsSettled) -> StoreResult<()> {
        let people = &mut self.tables().people;
        for subject in settled.full {
            people.full_at.remove(&subject);
        }
        for attempt in settled.back {
            if let Some(full_at) = people.full_at.get_mut(&attempt.subject) {
                *full_at -= attempt.every;
            }
        }
        Ok(())
    }
}

impl Crowd {
    fn at_version(&self, uuid: Uuid, version: i64) -> StoreResult<User> {
        self.users.get(&uuid).filter(|user| user.version == version).cloned().ok_or(StoreError::Conflict)
    }

    fn is_last_administrator(&self, uuid: Uuid) -> bool {
        !self.users.values().any(|other| other.uuid != uuid && other.administers())
    }

    fn end(&mut self, ending: Ending) -> usize {
        let before = self.sessions.len();
        self.sessions.retain(|uuid, session| !ending.ends(session.user, *uuid));
        before - self.sessions.len()
    }

    /// True when the old text was still there. Whoever changes the user at the same time decides again.
    pub(super) fn reseal(&mut self, user: Uuid, old: &Sealed, new: &Sealed) -> bool {
        let Some(user) = self.users.get_mut(&user) else { return false };
        let totp = user.totp.as_mut().filter(|totp| totp.secret == *old);
        let is_there = totp.map(|totp| totp.secret = new.clone()).is_some();
        user.version += i64::from(is_there);
        is_there
    }
}

impl Tables {
    fn keep(&mut self, answer: Option<IdempotentAnswer>) {
        if let Some(answer) = answer {
            self.access.keep_answer(answer);
        }
    }
}
