//! How many mails a mailbox receives, a house sends and a user tries out at most. The allowances are those of sign-in attempts
//! in the store, so a restart or another node does not renew them.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use kit_identity::throttle::{Attempt, AttemptsToReturn};
use kit_mail::allowances::{Allowance, mailbox};
use uuid::Uuid;

use crate::config::MailLimits;
use crate::error::PlatformResult;
use crate::port::HeldMails;
use crate::{Caller, Platform};

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Mails of one house to one mailbox in 24 hours, and as many about purchases, which no other mails hold back.
const OF_HOUSE_TO_MAILBOX_MAX: u32 = 20;
/// Mails of all houses to one mailbox in 24 hours.
const TO_MAILBOX_MAX: u32 = 60;
/// Test mails of one user in an hour.
const TESTS_OF_USER_MAX: u32 = 10;
/// Mails of a house that one transaction holds back.
const HELD_AT_ONCE: usize = 1_000;

/// A limit on mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MailLimit {
    /// Mails to one mailbox in 24 hours.
    Mailbox,
    /// Mails of a house in an hour.
    HouseHour(u32),
    /// Mails of a house in 24 hours.
    HouseDay(u32),
}

impl MailLimit {
    /// Why a mail waits, for the page of mails.
    pub(super) fn reason(self) -> String {
        match self {
            Self::Mailbox => {
                format!("waiting: the address received {OF_HOUSE_TO_MAILBOX_MAX} mails or more in the last 24 hours")
            }
            Self::HouseHour(_) => "waiting for the hourly limit of the house".to_owned(),
            Self::HouseDay(_) => "waiting for the daily limit of the house".to_owned(),
        }
    }

    /// The interval in which mails of the house become possible; none for a limit of one mailbox.
    fn interval_of_house(self) -> Option<Duration> {
        match self {
            Self::Mailbox => None,
            Self::HouseHour(max) => Some(HOUR / max.max(1)),
            Self::HouseDay(max) => Some(DAY / max.max(1)),
        }
    }
}

/// A limit that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UsedUp {
    pub(super) limit: MailLimit,
    /// When the next mail is possible.
    pub(super) until: Timestamp,
}

/// What a mail takes from its allowances.
#[derive(Debug, Clone)]
pub(super) struct TakenMail {
    of_mailbox: Vec<Attempt>,
    of_house: Vec<Attempt>,
}

impl Platform {
    /// Takes one mail of a house to an address from all its allowances, or nothing from any. Mails about purchases have a
    /// separate allowance at the mailbox. Errors: the limit that is used up.
    pub(super) async fn take_mail(
        &self,
        customer: Uuid,
        address: &str,
        is_purchase: bool,
    ) -> PlatformResult<Result<TakenMail, UsedUp>> {
        let limits = self.config().mail_limits;
        let (of_mailbox, [of_hour, of_day]) = (of_mailbox(customer, address, is_purchase), of_house(customer, limits));
        let of_house = vec![of_day, of_hour];
        let all = of_mailbox.iter().chain(&of_house).copied().collect();
        let Some(until) = self.store().take_sign_in_attempts(all, self.now()).await? else {
            return Ok(Ok(TakenMail { of_mailbox, of_house }));
        };
        let by_limit = [
            (MailLimit::Mailbox, of_mailbox),
            (MailLimit::HouseHour(limits.house_mails_per_hour), vec![of_hour]),
            (MailLimit::HouseDay(limits.house_mails_per_day), vec![of_day]),
        ];
        let subjects = by_limit.iter().flat_map(|(_, attempts)| attempts).map(|attempt| attempt.subject).collect();
        let full_at: BTreeMap<_, _> = self.store().allowances_full_at(subjects).await?.into_iter().collect();
        let now = self.now();
        let used_up = by_limit.into_iter().filter_map(|(limit, attempts)| {
            let wait = |attempt: &Attempt| attempt.take(full_at.get(&attempt.subject).copied(), now).err();
            Some(UsedUp { limit, until: attempts.iter().filter_map(wait).max()? })
        });
        // The longest wait. Without one, a mail became possible again meanwhile.
        let longest = used_up.max_by_key(|used_up| used_up.until);
        Ok(Err(longest.unwrap_or(UsedUp { limit: MailLimit::HouseHour(limits.house_mails_per_hour), until })))
    }

    /// Gives a mail that the mail server could not take back to its allowances.
    pub(super) async fn return_mail(&self, taken: TakenMail) -> PlatformResult<()> {
        self.give_back([taken.of_mailbox, taken.of_house].concat()).await
    }

    /// Gives a mail that was refused for good back to the mailbox, which did not receive it. It counts for the house:
    /// otherwise a house could try any number of addresses.
    pub(super) async fn return_refused_mail(&self, taken: TakenMail) -> PlatformResult<()> {
        self.give_back(taken.of_mailbox).await
    }

    /// Takes a test mail of a user. Errors: when the next one is possible.
    pub(super) async fn take_test_mail(&self, caller: &Caller) -> PlatformResult<Result<(), Timestamp>> {
        let wanted = attempt(&Allowance::new("test mail", &[&caller.actor], TESTS_OF_USER_MAX, HOUR));
        let allowed_from = self.store().take_sign_in_attempts(vec![wanted], self.now()).await?;
        Ok(allowed_from.map_or(Ok(()), Err))
    }

    /// Holds all due mails of a house back whose limit is used up. Each gets the time at which it is possible, so that they
    /// neither keep the mails of other houses waiting nor are tried in vain. Returns their number.
    pub(super) async fn hold_mails_of(&self, customer: Uuid, used_up: UsedUp) -> PlatformResult<usize> {
        let Some(interval) = used_up.limit.interval_of_house() else { return Ok(0) };
        let mut held = HeldMails { customer, reason: used_up.limit.reason(), after: used_up.until, interval };
        let mut total = 0;
        loop {
            let count = self.store().hold_mails(self.now(), held.clone(), HELD_AT_ONCE).await?;
            total += count;
            if count < HELD_AT_ONCE {
                return Ok(total);
            }
            held.after += interval * u32::try_from(count).unwrap_or(u32::MAX);
        }
    }

    async fn give_back(&self, taken: Vec<Attempt>) -> PlatformResult<()> {
        Ok(self.store().return_sign_in_attempts(AttemptsToReturn { full: Vec::new(), back: taken }).await?)
    }
}

/// What a user reads who sent too many test mails.
pub(super) fn too_many_tests(until: Timestamp, now: Timestamp) -> String {
    has_to_wait(&format!("you sent {TESTS_OF_USER_MAX} test mails in an hour"), until, now)
}

/// What a user reads whose house sent too many mails for a test mail.
pub(super) fn house_at_limit(until: Timestamp, now: Timestamp) -> String {
    has_to_wait("the house sent as many mails as its limit allows", until, now)
}

fn has_to_wait(cause: &str, until: Timestamp, now: Timestamp) -> String {
    let minutes = until.duration_since(now).as_secs().max(1).unsigned_abs().div_ceil(60);
    let minutes = if minutes == 1 { "a minute".to_owned() } else { format!("{minutes} minutes") };
    format!("has to wait: {cause}. The next one is possible in {minutes}")
}

fn of_mailbox(customer: Uuid, address: &str, is_purchase: bool) -> Vec<Attempt> {
    let (house, mailbox) = (customer.to_string(), mailbox(address));
    let kind = if is_purchase { "bidder mail about a purchase" } else { "bidder mail" };
    let allowance = |owner: &[&str], mails_max| attempt(&Allowance::new(kind, owner, mails_max, DAY));
    vec![
        allowance(&["to mailbox", &mailbox], TO_MAILBOX_MAX),
        allowance(&["of house to mailbox", &house, &mailbox], OF_HOUSE_TO_MAILBOX_MAX),
    ]
}

/// Of an hour, and of a day.
pub(super) fn of_house(customer: Uuid, limits: MailLimits) -> [Attempt; 2] {
    let house = customer.to_string();
    [
        (["of house in an hour", &house], limits.house_mails_per_hour, HOUR),
        (["of house in a day", &house], limits.house_mails_per_day, DAY),
    ]
    .map(|(owner, mails_max, window)| attempt(&Allowance::new("bidder mail", &owner, mails_max, window)))
}

pub(super) fn attempt(allowance: &Allowance) -> Attempt {
    let Allowance { subject, mails_max, refill_interval } = *allowance;
    Attempt { subject, refill_interval, attempts_max: mails_max }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_to_wait_reads_how_long() {
        let now = Timestamp::UNIX_EPOCH;
        assert!(too_many_tests(now + Duration::from_secs(61), now).ends_with("possible in 2 minutes"));
        assert!(too_many_tests(now, now).ends_with("possible in a minute"));
    }
}
