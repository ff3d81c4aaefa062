//! People of accounts, and invitations.

use async_trait::async_trait;
use kit_identity::Digest;
use kit_identity::second_factor::CodeUse;
use kit_identity::user::{Totp, TotpChange};
use kit_runtime::vault::Sealed;
use provider_core::model::Role;
use provider_core::model::{ActivityEntry, Invitation, Person, Profile};
use provider_core::port::{
    AcceptedInvitation, InvitedPerson, Page, PeopleStore, PersonChange, PersonChangeResult, StoreError, StoreResult,
};
use rusqlite::{Connection, Row, params};

use super::rows::{self, SqlResult, ms};
use super::{SqliteStore, accounts, activity, person_sessions};
use crate::codec::{self, PageQuery};

const PERSON: &str = "SELECT id, account, email, name, role, password_hash, created_at, version, signed_in_at, \
     totp_secret, totp_step, totp_confirmed_at FROM people";
const INVITATION: &str =
    "SELECT id, account, role, person, note, created_by, created_at, hash, expires_at, maker FROM invitations";

#[async_trait]
impl PeopleStore for SqliteStore {
    async fn person(&self, id: &str) -> StoreResult<Option<Person>> {
        let id = id.to_owned();
        self.read(move |db| find(db, &id)).await
    }

    async fn person_by_email(&self, email: &str) -> StoreResult<Option<Person>> {
        let email = email.to_owned();
        self.read(move |db| rows::one(db, &format!("{PERSON} WHERE email = ?1"), [email], person)).await
    }

    async fn people(&self, account: &str, page: Page) -> StoreResult<Vec<Person>> {
        let account = account.to_owned();
        let select = format!("{PERSON} WHERE account = $1");
        self.read(move |db| rows::list(db, &select, "id", &account, &PageQuery::new(&page), person)).await
    }

    async fn change_person(&self, change: PersonChange) -> StoreResult<PersonChangeResult> {
        self.write(move |db| change_person(db, &change)).await
    }

    async fn remove_person(&self, person: Person, entry: ActivityEntry) -> StoreResult<PersonChangeResult> {
        self.write(move |db| remove(db, &person, &entry)).await
    }

    async fn use_code(&self, person: &str, code: CodeUse) -> StoreResult<bool> {
        let step = "UPDATE people SET totp_step = ?2 WHERE id = ?1 AND totp_secret IS NOT NULL AND totp_step < ?2";
        let recovery = "DELETE FROM recovery_codes WHERE person = ?1 AND hash = ?2";
        let person = person.to_owned();
        self.write(move |db| {
            let used = match code {
                CodeUse::Step(number) => db.execute(step, (person, number))?,
                CodeUse::Recovery(hash) => db.execute(recovery, (person, hash))?,
            };
            Ok(used == 1)
        })
        .await
    }

    async fn recovery_codes(&self, person: &str) -> StoreResult<usize> {
        let select = "SELECT count(*) FROM recovery_codes WHERE person = ?1";
        let person = person.to_owned();
        Ok(self.read(move |db| rows::one(db, select, [person], |row| rows::count(row, 0))).await?.unwrap_or(0))
    }

    async fn create_invitation(
        &self,
        invitation: Invitation,
        people_max: usize,
        entry: ActivityEntry,
    ) -> StoreResult<()> {
        self.write(move |db| create_invitation(db, &invitation, people_max, &entry)).await
    }

    async fn invitation_by_hash(&self, hash: Digest) -> StoreResult<Option<Invitation>> {
        self.read(move |db| rows::one(db, &format!("{INVITATION} WHERE hash = ?1"), [hash], invitation)).await
    }

    async fn invitations(&self, account: &str, page: Page) -> StoreResult<Vec<Invitation>> {
        let account = account.to_owned();
        let select = format!("{INVITATION} WHERE account = $1");
        self.read(move |db| rows::list(db, &select, "id", &account, &PageQuery::new(&page), invitation)).await
    }

    async fn delete_invitation(&self, account: &str, id: &str, entry: ActivityEntry) -> StoreResult<bool> {
        let (account, id) = (account.to_owned(), id.to_owned());
        self.write(move |db| {
            let deleted = db.execute("DELETE FROM invitations WHERE account = ?1 AND id = ?2", (account, id))? == 1;
            if deleted {
                activity::insert(db, &entry)?;
            }
            Ok(deleted)
        })
        .await
    }

    async fn accept_invitation(&self, accepted: AcceptedInvitation) -> StoreResult<()> {
        self.write(move |db| accept(db, &accepted)).await
    }
}

pub(super) fn find(db: &Connection, id: &str) -> SqlResult<Option<Person>> {
    rows::one(db, &format!("{PERSON} WHERE id = ?1"), [id], person)
}

pub(super) fn at_version(db: &Connection, id: &str, version: i64) -> SqlResult<Person> {
    Ok(find(db, id)?.filter(|person| person.version == version).ok_or(StoreError::Conflict)?)
}

fn person(row: &Row<'_>) -> SqlResult<Person> {
    let secret = rows::optional_text(row, 9)?.map(|secret| Sealed::from_text(secret.to_owned()));
    let (step, confirmed_at) = (row.get(10)?, rows::optional_time(row, 11)?);
    Ok(Person {
        id: rows::id(row, 0)?,
        email: row.get(2)?,
        password_hash: row.get(5)?,
        created_at: rows::time(row, 6)?,
        version: row.get(7)?,
        signed_in_at: rows::optional_time(row, 8)?,
        totp: secret.map(|secret| Totp { secret, step, confirmed_at }),
        disabled_at: None,
        must_change_password: false,
        profile: Profile { account: rows::id(row, 1)?, name: row.get(3)?, role: codec::role(rows::text(row, 4)?)? },
    })
}

fn invitation(row: &Row<'_>) -> SqlResult<Invitation> {
    Ok(Invitation {
        id: rows::id(row, 0)?,
        account: rows::id(row, 1)?,
        role: codec::role(rows::text(row, 2)?)?,
        person: rows::optional_text(row, 3)?.map(Into::into),
        note: row.get(4)?,
        created_by: row.get(5)?,
        created_at: rows::time(row, 6)?,
        hash: row.get(7)?,
        expires_at: rows::time(row, 8)?,
        maker: rows::optional_text(row, 9)?.map(Into::into),
    })
}

fn insert(db: &Connection, person: &Person) -> SqlResult<()> {
    let insert = "INSERT INTO people (id, account, email, name, role, password_hash, created_at, version, signed_in_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING";
    let values = params![
        &*person.id,
        &*person.profile.account,
        person.email,
        person.profile.name,
        person.profile.role.name(),
        person.password_hash,
        ms(person.created_at),
        person.version,
        person.signed_in_at.map(ms)
    ];
    match db.execute(insert, values)? {
        0 => Err(StoreError::Taken("email").into()),
        _ => Ok(()),
    }
}

/// SQLite has one writer, so no call changes the person between the check and the write.
fn change_person(db: &Connection, change: &PersonChange) -> SqlResult<PersonChangeResult> {
    let PersonChange { change, activity } = change;
    let person = &change.user;
    let before = at_version(db, &person.id, change.expected_version)?;
    if codec::ends_admin(before.profile.role, Some(person.profile.role)) && is_last_admin(db, &before)? {
        return Ok(PersonChangeResult::LastAdmin);
    }
    let update = "UPDATE people SET name = ?2, role = ?3, password_hash = ?4, version = version + 1 WHERE id = ?1";
    db.execute(update, (&*person.id, &person.profile.name, person.profile.role.name(), &person.password_hash))?;
    match &change.totp {
        TotpChange::Keep => {}
        TotpChange::Set(totp, codes) => put_totp(db, &person.id, Some(totp), codes)?,
        TotpChange::Remove => put_totp(db, &person.id, None, &[])?,
    }
    person_sessions::end(db, &change.ending)?;
    if codec::ends_admin(before.profile.role, Some(person.profile.role)) {
        db.execute("DELETE FROM invitations WHERE maker = ?1", [&*person.id])?;
    }
    if let Some(entry) = activity {
        activity::insert(db, entry)?;
    }
    Ok(PersonChangeResult::Done)
}

fn put_totp(db: &Connection, person: &str, totp: Option<&Totp>, codes: &[Digest]) -> SqlResult<()> {
    let update = "UPDATE people SET totp_secret = ?2, totp_step = ?3, totp_confirmed_at = ?4 WHERE id = ?1";
    let (secret, step) = (totp.map(|totp| totp.secret.as_str()), totp.map_or(0, |totp| totp.step));
    let confirmed_at = totp.and_then(|totp| totp.confirmed_at).map(ms);
    db.execute(update, (person, secret, step, confirmed_at))?;
    db.execute("DELETE FROM recovery_codes WHERE person = ?1", [person])?;
    for code in codes {
        db.execute("INSERT INTO recovery_codes (person, hash) VALUES (?1, ?2)", (person, code))?;
    }
    Ok(())
}

fn is_last_admin(db: &Connection, person: &Person) -> SqlResult<bool> {
    let select = "SELECT 1 FROM people WHERE account = ?1 AND role = 'admin' AND id <> ?2 LIMIT 1";
    Ok(rows::one(db, select, (&*person.profile.account, &*person.id), |_| Ok(()))?.is_none())
}

fn remove(db: &Connection, person: &Person, entry: &ActivityEntry) -> SqlResult<PersonChangeResult> {
    let before = at_version(db, &person.id, person.version)?;
    if codec::ends_admin(before.profile.role, None) && is_last_admin(db, &before)? {
        return Ok(PersonChangeResult::LastAdmin);
    }
    for delete in [
        "DELETE FROM recovery_codes WHERE person = ?1",
        "DELETE FROM person_sessions WHERE person = ?1",
        "DELETE FROM invitations WHERE person = ?1 OR maker = ?1",
        "DELETE FROM people WHERE id = ?1",
    ] {
        db.execute(delete, [&*person.id])?;
    }
    activity::insert(db, entry)?;
    Ok(PersonChangeResult::Done)
}

fn create_invitation(
    db: &Connection,
    invitation: &Invitation,
    people_max: usize,
    entry: &ActivityEntry,
) -> SqlResult<()> {
    if accounts::find(db, &invitation.account)?.is_none() {
        return Err(StoreError::NotFound.into());
    }
    if let Some(maker) = &invitation.maker
        && find(db, maker)?
            .is_none_or(|maker| maker.profile.role != Role::Admin || maker.profile.account != invitation.account)
    {
        return Err(StoreError::Conflict.into());
    }
    if let Some(person) = &invitation.person {
        db.execute("DELETE FROM invitations WHERE person = ?1", [&**person])?;
    }
    let insert = "INSERT INTO invitations (id, account, role, person, note, created_by, created_at, hash, expires_at, \
         maker) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    db.execute(
        insert,
        params![
            &*invitation.id,
            &*invitation.account,
            invitation.role.name(),
            invitation.person.as_deref(),
            invitation.note,
            invitation.created_by,
            ms(invitation.created_at),
            invitation.hash,
            ms(invitation.expires_at),
            invitation.maker.as_deref()
        ],
    )?;
    let count = "SELECT (SELECT count(*) FROM people WHERE account = ?1) + \
         (SELECT count(*) FROM invitations WHERE account = ?1 AND person IS NULL) WHERE ?2 > 0";
    rows::check_limit(db, count, &invitation.account, people_max)?;
    activity::insert(db, entry)
}

fn accept(db: &Connection, accepted: &AcceptedInvitation) -> SqlResult<()> {
    if db.execute("DELETE FROM invitations WHERE id = ?1", [&accepted.invitation])? == 0 {
        return Err(StoreError::NotFound.into());
    }
    match &accepted.person {
        InvitedPerson::New(person) => insert(db, person)?,
        InvitedPerson::Existing(change) => change_person(db, change).map(drop)?,
    }
    person_sessions::insert(db, &accepted.session)?;
    activity::insert(db, &accepted.activity)
}
