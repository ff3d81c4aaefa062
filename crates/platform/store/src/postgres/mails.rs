//! The queue of mails to bidders, and reminders of sales.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::port::{
    ClaimedMail, HeldCount, HeldMails, MAILS_COUNTED_MAX, MailBacklog, MailCounts, MailResult, MailState, MailStore,
    MailText, NewMail, Page, Reminder, ReminderStep, StoreError, StoreResult, StoredMail,
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec::{corrupt, interval_ms, language, mail_kind, mail_state, mail_state_code, ms};

const MAIL: &str =
    "uuid, customer, auction, registration, party, kind, recipient, subject, body, queued_at_ms, unsubscribe";
const STORED: &str = "state, tries, next_at_ms, fault, failing_since_ms, ended_at_ms, held_since_ms";
const REMINDER: &str = "SELECT uuid, customer, auction, actor, language, subject, body, after, recipients, without_email, \
     created_at_ms, ended_at_ms FROM reminders";

#[async_trait]
impl MailStore for PostgresStore {
    async fn claim_mails(&self, now: Timestamp, until: Timestamp, limit: usize) -> StoreResult<Vec<ClaimedMail>> {
        let claim = "UPDATE mails m SET next_at_ms = $2, tries = tries + 1, fault = NULL FROM \
             (SELECT uuid AS due FROM mails WHERE state = 0 AND next_at_ms <= $1 ORDER BY next_at_ms, uuid LIMIT $3 \
             FOR UPDATE SKIP LOCKED) d WHERE m.uuid = d.due \
             RETURNING uuid, customer, auction, registration, party, kind, recipient, subject, body, queued_at_ms, \
             unsubscribe, tries";
        let claimed = |row: &Row| Ok(ClaimedMail { mail: new_mail(row)?, tries: tries(row, 11)? });
        let values: rows::Values<'_> = &[&ms(now), &ms(until), &rows::limit(limit)];
        Ok(rows::list(&self.client().await?, claim, values, claimed).await?)
    }

    async fn record_mail_result(&self, mail: Uuid, tries: u32, result: MailResult, at: Timestamp) -> StoreResult<bool> {
        Ok(record(&self.client().await?, mail, tries, &result, at).await?)
    }

    async fn hold_mails(&self, now: Timestamp, held: HeldMails, limit: usize) -> StoreResult<usize> {
        let hold = "UPDATE mails m SET fault = $3, next_at_ms = $4 + $5 * d.place, \
             held_since_ms = coalesce(held_since_ms, $2) FROM \
             (SELECT uuid AS due, row_number() OVER (ORDER BY next_at_ms, uuid) AS place FROM \
             (SELECT uuid, next_at_ms FROM mails WHERE customer = $1 AND state = 0 AND next_at_ms <= $2 \
             ORDER BY next_at_ms, uuid LIMIT $6 FOR UPDATE SKIP LOCKED) f) d WHERE m.uuid = d.due";
        let (interval, limit) = (interval_ms(held.interval), rows::limit(limit));
        let values: rows::Values<'_> = &[&held.customer, &ms(now), &held.reason, &ms(held.after), &interval, &limit];
        let held = rows::execute(&self.client().await?, hold, values).await?;
        Ok(usize::try_from(held).unwrap_or(usize::MAX))
    }

    async fn mail(&self, uuid: Uuid) -> StoreResult<Option<StoredMail>> {
        let select = format!("SELECT {MAIL}, {STORED} FROM mails WHERE uuid = $1");
        Ok(rows::one(&self.client().await?, &select, &[&uuid], stored).await?)
    }

    async fn mails(&self, customer: Uuid, state: MailState, page: Page<Uuid>) -> StoreResult<Vec<StoredMail>> {
        let select = format!(
            "SELECT {MAIL}, {STORED} FROM mails WHERE customer = $1 AND state = $2 AND uuid < $3 \
             ORDER BY uuid DESC LIMIT $4"
        );
        let before = page.after.unwrap_or(Uuid::max());
        let values: rows::Values<'_> = &[&customer, &mail_state_code(state), &before, &rows::limit(page.limit)];
        Ok(rows::list(&self.client().await?, &select, values, stored).await?)
    }

    async fn mails_of_registration(&self, registration: Uuid, limit: usize) -> StoreResult<Vec<StoredMail>> {
        let select = format!("SELECT {MAIL}, {STORED} FROM mails WHERE registration = $1 ORDER BY uuid DESC LIMIT $2");
        Ok(rows::list(&self.client().await?, &select, &[&registration, &rows::limit(limit)], stored).await?)
    }

    async fn mail_counts(&self, customer: Uuid) -> StoreResult<MailCounts> {
        let client = self.client().await?;
        let count = "SELECT count(*) FROM (SELECT 1 FROM mails WHERE customer = $1 AND state = $2 LIMIT $3) m";
        let mut counts = MailCounts::default();
        for (state, counted) in [
            (MailState::Waiting, &mut counts.waiting),
            (MailState::Failed, &mut counts.failed),
            (MailState::Sent, &mut counts.sent),
        ] {
            let values: rows::Values<'_> = &[&customer, &mail_state_code(state), &rows::limit(MAILS_COUNTED_MAX)];
            *counted = rows::one(&client, count, values, |row| rows::count(row, 0)).await?.unwrap_or_default();
        }
        Ok(counts)
    }

    async fn release_mails(&self, now: Timestamp) -> StoreResult<usize> {
        let release =
            "UPDATE mails SET next_at_ms = $1 WHERE state = 0 AND tries > 0 AND fault IS NULL AND next_at_ms > $1";
        let released = rows::execute(&self.client().await?, release, &[&ms(now)]).await?;
        Ok(usize::try_from(released).unwrap_or(usize::MAX))
    }

    async fn send_mail_now(&self, uuid: Uuid, tries: u32, recipient: &str, at: Timestamp) -> StoreResult<bool> {
        let update = "UPDATE mails SET next_at_ms = $4, recipient = $3 \
             WHERE uuid = $1 AND state = 0 AND tries = $2 AND fault IS NOT NULL AND next_at_ms > $4";
        let values: rows::Values<'_> = &[&uuid, &i64::from(tries), &recipient, &ms(at)];
        Ok(rows::execute(&self.client().await?, update, values).await? == 1)
    }

    async fn send_mail_again(&self, uuid: Uuid, recipient: &str, at: Timestamp) -> StoreResult<bool> {
        let update = "UPDATE mails SET state = 0, tries = 0, next_at_ms = $3, recipient = $2, fault = NULL, \
             failing_since_ms = NULL, held_since_ms = NULL, ended_at_ms = NULL, queued_at_ms = $3 \
             WHERE uuid = $1 AND state = 2";
        let written = rows::execute(&self.client().await?, update, &[&uuid, &recipient, &ms(at)]).await?;
        Ok(written == 1)
    }

    async fn failed_mails(&self, customer: Option<Uuid>, since: Timestamp) -> StoreResult<Vec<(Uuid, u64)>> {
        let count = "SELECT customer, count(*) FROM mails WHERE state = 2 AND ended_at_ms >= $1 \
             AND ($2::uuid IS NULL OR customer = $2) GROUP BY customer ORDER BY customer";
        let failed = |row: &Row| Ok((rows::get(row, 0)?, rows::count(row, 1)?));
        Ok(rows::list(&self.client().await?, count, &[&ms(since), &customer], failed).await?)
    }

    async fn held_mails(&self, customer: Option<Uuid>) -> StoreResult<Vec<(Uuid, HeldCount)>> {
        let count = "SELECT customer, count(*), min(held_since_ms) FROM mails WHERE state = 0 AND held_since_ms IS NOT NULL \
             AND ($1::uuid IS NULL OR customer = $1) GROUP BY customer ORDER BY customer";
        let of_house = |row: &Row| {
            let count = HeldCount { mails: rows::count(row, 1)?, since: rows::time(row, 2)? };
            Ok((rows::get(row, 0)?, count))
        };
        Ok(rows::list(&self.client().await?, count, &[&customer], of_house).await?)
    }

    async fn release_held_mails(&self, now: Timestamp, limit: usize) -> StoreResult<usize> {
        let release = "UPDATE mails SET next_at_ms = $1 WHERE uuid IN (SELECT uuid FROM mails WHERE state = 0 \
             AND held_since_ms IS NOT NULL AND fault IS NOT NULL AND next_at_ms > $1 ORDER BY uuid LIMIT $2 \
             FOR UPDATE SKIP LOCKED)";
        let released = rows::execute(&self.client().await?, release, &[&ms(now), &rows::limit(limit)]).await?;
        Ok(usize::try_from(released).unwrap_or(usize::MAX))
    }

    async fn waiting_mails(&self, now: Timestamp) -> StoreResult<MailBacklog> {
        let client = self.client().await?;
        let overdue = "FROM mails WHERE state = 0 AND (tries > 0 OR next_at_ms <= $1)";
        let oldest = format!("SELECT queued_at_ms {overdue} ORDER BY queued_at_ms LIMIT 1");
        let count = format!("SELECT count(*) FROM (SELECT 1 {overdue} LIMIT $2) m");
        let values: rows::Values<'_> = &[&ms(now), &rows::limit(MAILS_COUNTED_MAX)];
        let mails = rows::one(&client, &count, values, |row| rows::count(row, 0)).await?.unwrap_or_default();
        let oldest_at = rows::one(&client, &oldest, &[&ms(now)], |row| rows::time(row, 0)).await?;
        Ok(MailBacklog { mails, oldest_at })
    }

    async fn delete_old_mails(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        let delete = "DELETE FROM mails WHERE uuid IN (SELECT uuid FROM mails WHERE ended_at_ms < $1 LIMIT $2)";
        let values: rows::Values<'_> = &[&ms(before), &rows::limit(limit)];
        let deleted = rows::execute(&self.client().await?, delete, values).await?;
        Ok(usize::try_from(deleted).unwrap_or(usize::MAX))
    }

    async fn begin_reminder(&self, reminder: Reminder, seen: Option<Uuid>) -> StoreResult<()> {
        self.write(&(reminder, seen), |db, (reminder, seen)| Box::pin(begin(db, reminder, *seen))).await
    }

    async fn latest_reminder(&self, auction: Uuid) -> StoreResult<Option<Reminder>> {
        let select = format!("{REMINDER} WHERE auction = $1 ORDER BY created_at_ms DESC, uuid DESC LIMIT 1");
        Ok(rows::one(&self.client().await?, &select, &[&auction], reminder).await?)
    }

    async fn open_reminders(&self, limit: usize) -> StoreResult<Vec<Reminder>> {
        let select = format!("{REMINDER} WHERE ended_at_ms IS NULL ORDER BY created_at_ms, uuid LIMIT $1");
        Ok(rows::list(&self.client().await?, &select, &[&rows::limit(limit)], reminder).await?)
    }

    async fn remind(&self, step: ReminderStep) -> StoreResult<()> {
        self.write(&step, |db, step| Box::pin(remind(db, step))).await
    }
}

/// Inserts the mail about a decision in place of those about earlier decisions that wait.
pub(super) async fn put_decision(db: &Transaction<'_>, mail: &NewMail) -> SqlResult<()> {
    let replaced =
        "DELETE FROM mails WHERE registration = $1 AND state = 0 AND kind IN ('approved', 'declined', 'suspended')";
    rows::execute(db, replaced, &[&mail.registration]).await?;
    insert(db, mail).await
}

/// Deletes the mails about registrations, or to a party.
pub(super) async fn erase(db: &Transaction<'_>, registration: Option<Uuid>, party: Option<Uuid>) -> SqlResult<()> {
    let delete = "DELETE FROM mails WHERE registration = $1 OR party = $2";
    rows::execute(db, delete, &[&registration, &party]).await.map(drop)
}

pub(super) async fn insert(db: &impl Connection, mail: &NewMail) -> SqlResult<()> {
    let insert =
        format!("INSERT INTO mails ({MAIL}, next_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $10)");
    let values: rows::Values<'_> = &[
        &mail.uuid,
        &mail.customer,
        &mail.auction,
        &mail.registration,
        &mail.party,
        &mail.kind.name(),
        &mail.recipient,
        &mail.subject,
        &mail.text,
        &ms(mail.queued_at),
        &mail.unsubscribe,
    ];
    rows::execute(db, &insert, values).await.map(drop)
}

async fn record(db: &impl Connection, mail: Uuid, tries: u32, result: &MailResult, at: Timestamp) -> SqlResult<bool> {
    let claimed = "WHERE uuid = $1 AND tries = $2 AND state = 0";
    let (tries, at) = (i64::from(tries), ms(at));
    let written = match result {
        MailResult::Sent => {
            let sql = format!(
                "UPDATE mails SET state = 1, ended_at_ms = $3, next_at_ms = NULL, fault = NULL, \
                 failing_since_ms = NULL, held_since_ms = NULL {claimed}"
            );
            rows::execute(db, &sql, &[&mail, &tries, &at]).await?
        }
        MailResult::Failed(fault) => {
            let sql = format!(
                "UPDATE mails SET state = 2, ended_at_ms = $3, next_at_ms = NULL, fault = $4, \
                 held_since_ms = NULL, failing_since_ms = coalesce(failing_since_ms, $3) {claimed}"
            );
            rows::execute(db, &sql, &[&mail, &tries, &at, &rows::foreign_text(fault)]).await?
        }
        MailResult::Postponed(fault, until) => {
            let sql = format!(
                "UPDATE mails SET next_at_ms = $5, fault = $4, held_since_ms = NULL, \
                 failing_since_ms = coalesce(failing_since_ms, $3) {claimed}"
            );
            rows::execute(db, &sql, &[&mail, &tries, &at, &rows::foreign_text(fault), &ms(*until)]).await?
        }
        MailResult::Held(fault, until) => {
            let sql = format!(
                "UPDATE mails SET next_at_ms = $5, fault = $4, tries = tries - 1, \
                 held_since_ms = coalesce(held_since_ms, $3) {claimed}"
            );
            rows::execute(db, &sql, &[&mail, &tries, &at, &rows::foreign_text(fault), &ms(*until)]).await?
        }
    };
    Ok(written == 1)
}

async fn begin(db: &Transaction<'_>, reminder: &Reminder, seen: Option<Uuid>) -> SqlResult<()> {
    // Of two forms for one auction, the second waits for the first.
    rows::one(db, "SELECT 1 FROM auctions WHERE uuid = $1 FOR NO KEY UPDATE", &[&reminder.auction], |_| Ok(())).await?;
    let exists = "SELECT 1 FROM reminders WHERE uuid = $1";
    if rows::one(db, exists, &[&reminder.uuid], |_| Ok(())).await?.is_some() {
        return Err(StoreError::Taken("reminder").into());
    }
    let latest = "SELECT uuid FROM reminders WHERE auction = $1 ORDER BY created_at_ms DESC, uuid DESC LIMIT 1";
    if rows::one(db, latest, &[&reminder.auction], |row| rows::get::<Uuid>(row, 0)).await? != seen {
        return Err(StoreError::Conflict.into());
    }
    let insert = "INSERT INTO reminders (uuid, customer, auction, actor, language, subject, body, created_at_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let values: rows::Values<'_> = &[
        &reminder.uuid,
        &reminder.customer,
        &reminder.auction,
        &reminder.actor,
        &reminder.language.name(),
        &reminder.text.subject,
        &reminder.text.text,
        &ms(reminder.created_at),
    ];
    rows::execute(db, insert, values).await.map_err(|error| error.or_taken("reminder")).map(drop)
}

async fn remind(db: &Transaction<'_>, step: &ReminderStep) -> SqlResult<()> {
    let before = &step.reminder;
    let update = "UPDATE reminders SET after = coalesce($2, after), recipients = recipients + $3, \
         without_email = without_email + $4, ended_at_ms = $5 \
         WHERE uuid = $1 AND after IS NOT DISTINCT FROM $6 AND ended_at_ms IS NULL";
    let without_email = i64::try_from(step.without_email).unwrap_or(i64::MAX);
    let (mails, ended_at) = (rows::limit(step.mails.len()), step.ended_at.map(ms));
    let values: rows::Values<'_> = &[&before.uuid, &step.through, &mails, &without_email, &ended_at, &before.after];
    if rows::execute(db, update, values).await? != 1 {
        return Err(StoreError::Conflict.into());
    }
    insert_unless_changed(db, &step.mails).await
}

/// Inserts mails, each with the version of the registration that it was written from. `Conflict` when one has another version.
pub(super) async fn insert_unless_changed(db: &Transaction<'_>, mails: &[(NewMail, i64)]) -> SqlResult<()> {
    // An erasure that changes a registration meanwhile waits, and then deletes its mail; or comes first and is found here.
    let lock = "SELECT version FROM registrations WHERE uuid = ANY($1) ORDER BY uuid FOR SHARE";
    let mut in_order: Vec<&(NewMail, i64)> = mails.iter().collect();
    in_order.sort_unstable_by_key(|(mail, _)| mail.registration);
    let registrations: Vec<Uuid> = in_order.iter().map(|(mail, _)| mail.registration).collect();
    let found: Vec<i64> = rows::list(db, lock, &[&registrations], |row| rows::get(row, 0)).await?;
    if !found.iter().eq(in_order.iter().map(|(_, version)| version)) {
        return Err(StoreError::Conflict.into());
    }
    for (mail, _) in in_order {
        insert(db, mail).await?;
    }
    Ok(())
}

fn tries(row: &Row, column: usize) -> SqlResult<u32> {
    Ok(u32::try_from(rows::get::<i64>(row, column)?).map_err(corrupt)?)
}

fn new_mail(row: &Row) -> SqlResult<NewMail> {
    Ok(NewMail {
        uuid: rows::get(row, 0)?,
        customer: rows::get(row, 1)?,
        auction: rows::get(row, 2)?,
        registration: rows::get(row, 3)?,
        party: rows::get(row, 4)?,
        kind: mail_kind(rows::get(row, 5)?)?,
        recipient: rows::get(row, 6)?,
        subject: rows::get(row, 7)?,
        text: rows::get(row, 8)?,
        queued_at: rows::time(row, 9)?,
        unsubscribe: rows::get(row, 10)?,
    })
}

fn stored(row: &Row) -> SqlResult<StoredMail> {
    let mail = new_mail(row)?;
    Ok(StoredMail {
        state: mail_state(rows::get(row, 11)?)?,
        tries: tries(row, 12)?,
        next_at: rows::optional_time(row, 13)?.unwrap_or(mail.queued_at),
        fault: rows::get(row, 14)?,
        failing_since: rows::optional_time(row, 15)?,
        ended_at: rows::optional_time(row, 16)?,
        held_since: rows::optional_time(row, 17)?,
        mail,
    })
}

fn reminder(row: &Row) -> SqlResult<Reminder> {
    Ok(Reminder {
        uuid: rows::get(row, 0)?,
        customer: rows::get(row, 1)?,
        auction: rows::get(row, 2)?,
        actor: rows::get(row, 3)?,
        language: language(rows::get(row, 4)?)?,
        text: MailText { subject: rows::get(row, 5)?, text: rows::get(row, 6)? },
        after: rows::get(row, 7)?,
        recipients: rows::count(row, 8)?,
        without_email: rows::count(row, 9)?,
        created_at: rows::time(row, 10)?,
        ended_at: rows::optional_time(row, 11)?,
    })
}
