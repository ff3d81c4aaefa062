//! The queue of mails to bidders, and reminders of sales.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{
    ClaimedMail, HeldCount, HeldMails, MAILS_COUNTED_MAX, MailBacklog, MailCounts, MailResult, MailState, MailStore,
    MailText, NewMail, Page, Reminder, ReminderStep, StoreError, StoreResult, StoredMail,
};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult, is_constraint};
use crate::codec::{interval_ms, language, mail_kind, mail_state, mail_state_code, ms};

const MAIL: &str =
    "uuid, customer, auction, registration, party, kind, recipient, subject, body, queued_at_ms, unsubscribe";
const STORED: &str = "state, tries, next_at_ms, fault, failing_since_ms, ended_at_ms, held_since_ms";
const REMINDER: &str = "SELECT uuid, customer, auction, actor, language, subject, body, after, recipients, without_email, \
     created_at_ms, ended_at_ms FROM reminders";

#[async_trait]
impl MailStore for SqliteStore {
    async fn claim_mails(&self, now: Timestamp, until: Timestamp, limit: usize) -> StoreResult<Vec<ClaimedMail>> {
        // Most calls find nothing; a write would cost a transaction.
        let due = "SELECT 1 FROM mails WHERE state = 0 AND next_at_ms <= ?1 LIMIT 1";
        if self.read(move |db| rows::one(db, due, [ms(now)], |_| Ok(()))).await?.is_none() {
            return Ok(Vec::new());
        }
        let claim = format!(
            "UPDATE mails SET next_at_ms = ?2, tries = tries + 1, fault = NULL WHERE uuid IN \
             (SELECT uuid FROM mails WHERE state = 0 AND next_at_ms <= ?1 ORDER BY next_at_ms, uuid LIMIT ?3) \
             RETURNING {MAIL}, tries"
        );
        let claimed = |row: &Row<'_>| Ok(ClaimedMail { mail: new_mail(row)?, tries: row.get(11)? });
        self.write(move |db| rows::list(db, &claim, (ms(now), ms(until), rows::limit(limit)), claimed)).await
    }

    async fn record_mail_result(&self, mail: Uuid, tries: u32, result: MailResult, at: Timestamp) -> StoreResult<bool> {
        self.write(move |db| record(db, mail, tries, &result, at)).await
    }

    async fn hold_mails(&self, now: Timestamp, held: HeldMails, limit: usize) -> StoreResult<usize> {
        let hold = "UPDATE mails SET fault = ?3, next_at_ms = ?4 + ?5 * d.place, \
             held_since_ms = coalesce(held_since_ms, ?2) FROM \
             (SELECT uuid AS due, row_number() OVER (ORDER BY next_at_ms, uuid) AS place FROM mails \
             WHERE customer = ?1 AND state = 0 AND next_at_ms <= ?2 ORDER BY next_at_ms, uuid LIMIT ?6) d \
             WHERE mails.uuid = d.due";
        self.write(move |db| {
            let (house, interval) = (held.customer.as_bytes(), interval_ms(held.interval));
            let values = params![house, ms(now), held.reason, ms(held.after), interval, rows::limit(limit)];
            rows::execute(db, hold, values)
        })
        .await
    }

    async fn mail(&self, uuid: Uuid) -> StoreResult<Option<StoredMail>> {
        let select = format!("SELECT {MAIL}, {STORED} FROM mails WHERE uuid = ?1");
        self.read(move |db| rows::one(db, &select, [uuid.as_bytes()], stored)).await
    }

    async fn mails(&self, customer: Uuid, state: MailState, page: Page<Uuid>) -> StoreResult<Vec<StoredMail>> {
        let select = format!(
            "SELECT {MAIL}, {STORED} FROM mails WHERE customer = ?1 AND state = ?2 AND uuid < ?3 \
             ORDER BY uuid DESC LIMIT ?4"
        );
        let (before, limit) = (page.after.unwrap_or(Uuid::max()), rows::limit(page.limit));
        self.read(move |db| {
            let values = params![customer.as_bytes(), mail_state_code(state), before.as_bytes(), limit];
            rows::list(db, &select, values, stored)
        })
        .await
    }

    async fn mails_of_registration(&self, registration: Uuid, limit: usize) -> StoreResult<Vec<StoredMail>> {
        let select = format!("SELECT {MAIL}, {STORED} FROM mails WHERE registration = ?1 ORDER BY uuid DESC LIMIT ?2");
        self.read(move |db| rows::list(db, &select, (registration.as_bytes(), rows::limit(limit)), stored)).await
    }

    async fn mail_counts(&self, customer: Uuid) -> StoreResult<MailCounts> {
        let count = "SELECT count(*) FROM (SELECT 1 FROM mails WHERE customer = ?1 AND state = ?2 LIMIT ?3)";
        self.read(move |db| {
            let of = |state| {
                let values = params![customer.as_bytes(), mail_state_code(state), rows::limit(MAILS_COUNTED_MAX)];
                let found = rows::one(db, count, values, |row| Ok(row.get::<_, i64>(0)?))?;
                SqlResult::Ok(found.unwrap_or_default().unsigned_abs())
            };
            Ok(MailCounts {
                waiting: of(MailState::Waiting)?,
                failed: of(MailState::Failed)?,
                sent: of(MailState::Sent)?,
            })
        })
        .await
    }

    async fn release_mails(&self, now: Timestamp) -> StoreResult<usize> {
        let release =
            "UPDATE mails SET next_at_ms = ?1 WHERE state = 0 AND tries > 0 AND fault IS NULL AND next_at_ms > ?1";
        self.write(move |db| rows::execute(db, release, [ms(now)])).await
    }

    async fn send_mail_now(&self, uuid: Uuid, tries: u32, recipient: &str, at: Timestamp) -> StoreResult<bool> {
        let recipient = recipient.to_owned();
        let update = "UPDATE mails SET next_at_ms = ?4, recipient = ?3 \
             WHERE uuid = ?1 AND state = 0 AND tries = ?2 AND fault IS NOT NULL AND next_at_ms > ?4";
        self.write(move |db| Ok(rows::execute(db, update, (uuid.as_bytes(), tries, recipient, ms(at)))? == 1)).await
    }

    async fn send_mail_again(&self, uuid: Uuid, recipient: &str, at: Timestamp) -> StoreResult<bool> {
        let recipient = recipient.to_owned();
        let update = "UPDATE mails SET state = 0, tries = 0, next_at_ms = ?3, recipient = ?2, fault = NULL, \
             failing_since_ms = NULL, held_since_ms = NULL, ended_at_ms = NULL, queued_at_ms = ?3 \
             WHERE uuid = ?1 AND state = 2";
        self.write(move |db| Ok(rows::execute(db, update, (uuid.as_bytes(), recipient, ms(at)))? == 1)).await
    }

    async fn failed_mails(&self, customer: Option<Uuid>, since: Timestamp) -> StoreResult<Vec<(Uuid, u64)>> {
        let count = "SELECT customer, count(*) FROM mails WHERE state = 2 AND ended_at_ms >= ?1 \
             AND (?2 IS NULL OR customer = ?2) GROUP BY customer ORDER BY customer";
        self.read(move |db| {
            let values = params![ms(since), customer.as_ref().map(Uuid::as_bytes)];
            rows::list(db, count, values, |row| Ok((rows::uuid(row, 0)?, row.get::<_, i64>(1)?.unsigned_abs())))
        })
        .await
    }

    async fn held_mails(&self, customer: Option<Uuid>) -> StoreResult<Vec<(Uuid, HeldCount)>> {
        let count = "SELECT customer, count(*), min(held_since_ms) FROM mails WHERE state = 0 AND held_since_ms IS NOT NULL \
             AND (?1 IS NULL OR customer = ?1) GROUP BY customer ORDER BY customer";
        let of_house = |row: &Row<'_>| {
            let count = HeldCount { mails: row.get::<_, i64>(1)?.unsigned_abs(), since: rows::time(row, 2)? };
            Ok((rows::uuid(row, 0)?, count))
        };
        self.read(move |db| rows::list(db, count, [customer.as_ref().map(Uuid::as_bytes)], of_house)).await
    }

    async fn release_held_mails(&self, now: Timestamp, limit: usize) -> StoreResult<usize> {
        let held = "state = 0 AND held_since_ms IS NOT NULL AND fault IS NOT NULL AND next_at_ms > ?1";
        let exists = format!("SELECT 1 FROM mails WHERE {held} LIMIT 1");
        if self.read(move |db| rows::one(db, &exists, [ms(now)], |_| Ok(()))).await?.is_none() {
            return Ok(0);
        }
        let release = format!(
            "UPDATE mails SET next_at_ms = ?1 WHERE uuid IN (SELECT uuid FROM mails WHERE {held} ORDER BY uuid LIMIT ?2)"
        );
        self.write(move |db| rows::execute(db, &release, (ms(now), rows::limit(limit)))).await
    }

    async fn waiting_mails(&self, now: Timestamp) -> StoreResult<MailBacklog> {
        let overdue = "FROM mails WHERE state = 0 AND (tries > 0 OR next_at_ms <= ?1)";
        let oldest = format!("SELECT queued_at_ms {overdue} ORDER BY queued_at_ms LIMIT 1");
        let count = format!("SELECT count(*) FROM (SELECT 1 {overdue} LIMIT ?2)");
        self.read(move |db| {
            let values = (ms(now), rows::limit(MAILS_COUNTED_MAX));
            let counted = rows::one(db, &count, values, |row| Ok(row.get::<_, i64>(0)?))?;
            let oldest_at = rows::one(db, &oldest, [ms(now)], |row| rows::time(row, 0))?;
            Ok(MailBacklog { mails: counted.unwrap_or_default().unsigned_abs(), oldest_at })
        })
        .await
    }

    async fn delete_old_mails(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        let old = "SELECT 1 FROM mails WHERE ended_at_ms < ?1 LIMIT 1";
        if self.read(move |db| rows::one(db, old, [ms(before)], |_| Ok(()))).await?.is_none() {
            return Ok(0);
        }
        let delete = "DELETE FROM mails WHERE uuid IN (SELECT uuid FROM mails WHERE ended_at_ms < ?1 LIMIT ?2)";
        self.write(move |db| rows::execute(db, delete, (ms(before), rows::limit(limit)))).await
    }

    async fn begin_reminder(&self, reminder: Reminder, seen: Option<Uuid>) -> StoreResult<()> {
        self.write(move |db| {
            let exists = "SELECT 1 FROM reminders WHERE uuid = ?1";
            if rows::one(db, exists, [reminder.uuid.as_bytes()], |_| Ok(()))?.is_some() {
                return Err(StoreError::Taken("reminder").into());
            }
            let latest = "SELECT uuid FROM reminders WHERE auction = ?1 ORDER BY created_at_ms DESC, uuid DESC LIMIT 1";
            if rows::one(db, latest, [reminder.auction.as_bytes()], |row| rows::uuid(row, 0))? != seen {
                return Err(StoreError::Conflict.into());
            }
            let insert = "INSERT INTO reminders (uuid, customer, auction, actor, language, subject, body, created_at_ms) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
            let values = params![
                reminder.uuid.as_bytes(),
                reminder.customer.as_bytes(),
                reminder.auction.as_bytes(),
                reminder.actor,
                reminder.language.name(),
                reminder.text.subject,
                reminder.text.text,
                ms(reminder.created_at)
            ];
            rows::execute(db, insert, values).map(drop)
        })
        .await
    }

    async fn latest_reminder(&self, auction: Uuid) -> StoreResult<Option<Reminder>> {
        let select = format!("{REMINDER} WHERE auction = ?1 ORDER BY created_at_ms DESC, uuid DESC LIMIT 1");
        self.read(move |db| rows::one(db, &select, [auction.as_bytes()], reminder)).await
    }

    async fn open_reminders(&self, limit: usize) -> StoreResult<Vec<Reminder>> {
        let select = format!("{REMINDER} WHERE ended_at_ms IS NULL ORDER BY created_at_ms, uuid LIMIT ?1");
        self.read(move |db| rows::list(db, &select, [rows::limit(limit)], reminder)).await
    }

    async fn remind(&self, step: ReminderStep) -> StoreResult<()> {
        self.write(move |db| remind(db, &step)).await
    }
}

/// Inserts the mail about a decision in place of those about earlier decisions that wait.
pub(super) fn put_decision(db: &Connection, mail: &NewMail) -> SqlResult<()> {
    let replaced =
        "DELETE FROM mails WHERE registration = ?1 AND state = 0 AND kind IN ('approved', 'declined', 'suspended')";
    rows::execute(db, replaced, [mail.registration.as_bytes()])?;
    insert(db, mail)
}

/// Deletes the mails about registrations, or to a party.
pub(super) fn erase(db: &Connection, registration: Option<Uuid>, party: Option<Uuid>) -> SqlResult<()> {
    if let Some(registration) = registration {
        rows::execute(db, "DELETE FROM mails WHERE registration = ?1", [registration.as_bytes()])?;
    }
    if let Some(party) = party {
        rows::execute(db, "DELETE FROM mails WHERE party = ?1", [party.as_bytes()])?;
    }
    Ok(())
}

pub(super) fn insert(db: &Connection, mail: &NewMail) -> SqlResult<()> {
    let insert =
        format!("INSERT INTO mails ({MAIL}, next_at_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?10)");
    let values = params![
        mail.uuid.as_bytes(),
        mail.customer.as_bytes(),
        mail.auction.as_bytes(),
        mail.registration.as_bytes(),
        mail.party.as_ref().map(Uuid::as_bytes),
        mail.kind.name(),
        mail.recipient,
        mail.subject,
        mail.text,
        ms(mail.queued_at),
        mail.unsubscribe
    ];
    rows::execute(db, &insert, values).map(drop)
}

fn record(db: &Connection, mail: Uuid, tries: u32, result: &MailResult, at: Timestamp) -> SqlResult<bool> {
    let claimed = "WHERE uuid = ?1 AND tries = ?2 AND state = 0";
    let (uuid, at) = (mail.as_bytes(), ms(at));
    let written = match result {
        MailResult::Sent => {
            let sql = format!(
                "UPDATE mails SET state = 1, ended_at_ms = ?3, next_at_ms = NULL, fault = NULL, \
                 failing_since_ms = NULL, held_since_ms = NULL {claimed}"
            );
            rows::execute(db, &sql, (uuid, tries, at))?
        }
        MailResult::Failed(fault) => {
            let sql = format!(
                "UPDATE mails SET state = 2, ended_at_ms = ?3, next_at_ms = NULL, fault = ?4, \
                 held_since_ms = NULL, failing_since_ms = coalesce(failing_since_ms, ?3) {claimed}"
            );
            rows::execute(db, &sql, (uuid, tries, at, fault))?
        }
        MailResult::Postponed(fault, until) => {
            let sql = format!(
                "UPDATE mails SET next_at_ms = ?5, fault = ?4, held_since_ms = NULL, \
                 failing_since_ms = coalesce(failing_since_ms, ?3) {claimed}"
            );
            rows::execute(db, &sql, (uuid, tries, at, fault, ms(*until)))?
        }
        MailResult::Held(fault, until) => {
            let sql = format!(
                "UPDATE mails SET next_at_ms = ?5, fault = ?4, tries = tries - 1, \
                 held_since_ms = coalesce(held_since_ms, ?3) {claimed}"
            );
            rows::execute(db, &sql, (uuid, tries, at, fault, ms(*until)))?
        }
    };
    Ok(written == 1)
}

/// Inserts mails, each with the version of the registration that it was written from. `Conflict` when one has another version.
pub(super) fn insert_unless_changed(db: &Connection, mails: &[(NewMail, i64)]) -> SqlResult<()> {
    for (mail, version) in mails {
        let same = "SELECT 1 FROM registrations WHERE uuid = ?1 AND version = ?2";
        if rows::one(db, same, (mail.registration.as_bytes(), version), |_| Ok(()))?.is_none() {
            return Err(StoreError::Conflict.into());
        }
        insert(db, mail)?;
    }
    Ok(())
}

fn remind(db: &Connection, step: &ReminderStep) -> SqlResult<()> {
    insert_unless_changed(db, &step.mails)?;
    let before = &step.reminder;
    let update = "UPDATE reminders SET after = coalesce(?2, after), recipients = recipients + ?3, \
         without_email = without_email + ?4, ended_at_ms = ?5 WHERE uuid = ?1 AND after IS ?6 AND ended_at_ms IS NULL";
    let values = params![
        before.uuid.as_bytes(),
        step.through.as_ref().map(Uuid::as_bytes),
        rows::limit(step.mails.len()),
        i64::try_from(step.without_email).unwrap_or(i64::MAX),
        step.ended_at.map(ms),
        before.after.as_ref().map(Uuid::as_bytes)
    ];
    match rows::execute(db, update, values) {
        Ok(1) => Ok(()),
        Ok(_) => Err(StoreError::Conflict.into()),
        Err(rows::SqlError::Statement(error)) if is_constraint(&error) => Err(StoreError::Conflict.into()),
        Err(error) => Err(error),
    }
}

fn new_mail(row: &Row<'_>) -> SqlResult<NewMail> {
    Ok(NewMail {
        uuid: rows::uuid(row, 0)?,
        customer: rows::uuid(row, 1)?,
        auction: rows::uuid(row, 2)?,
        registration: rows::uuid(row, 3)?,
        party: row.get::<_, Option<[u8; 16]>>(4)?.map(Uuid::from_bytes),
        kind: mail_kind(rows::text(row, 5)?)?,
        recipient: row.get(6)?,
        subject: row.get(7)?,
        text: row.get(8)?,
        queued_at: rows::time(row, 9)?,
        unsubscribe: row.get(10)?,
    })
}

fn stored(row: &Row<'_>) -> SqlResult<StoredMail> {
    let mail = new_mail(row)?;
    Ok(StoredMail {
        state: mail_state(row.get(11)?)?,
        tries: row.get(12)?,
        next_at: rows::optional_time(row, 13)?.unwrap_or(mail.queued_at),
        fault: row.get(14)?,
        failing_since: rows::optional_time(row, 15)?,
        ended_at: rows::optional_time(row, 16)?,
        held_since: rows::optional_time(row, 17)?,
        mail,
    })
}

fn reminder(row: &Row<'_>) -> SqlResult<Reminder> {
    Ok(Reminder {
        uuid: rows::uuid(row, 0)?,
        customer: rows::uuid(row, 1)?,
        auction: rows::uuid(row, 2)?,
        actor: row.get(3)?,
        language: language(rows::text(row, 4)?)?,
        text: MailText { subject: row.get(5)?, text: row.get(6)? },
        after: row.get::<_, Option<[u8; 16]>>(7)?.map(Uuid::from_bytes),
        recipients: row.get::<_, i64>(8)?.unsigned_abs(),
        without_email: row.get::<_, i64>(9)?.unsigned_abs(),
        created_at: rows::time(row, 10)?,
        ended_at: rows::optional_time(row, 11)?,
    })
}
