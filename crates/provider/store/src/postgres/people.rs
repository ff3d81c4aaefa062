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
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::rows::{self, Client, SqlResult};
use super::{PostgresStore, activity, person_sessions};
use crate::codec::{self, PageQuery};

const PERSON: &str = "SELECT id, account, email, name, role, password_hash, created_at, version, signed_in_at, \
     totp_secret, totp_step, totp_confirmed_at FROM people";
const INVITATION: &str =
    "SELECT id, account, role, person, note, created_by, created_at, hash, expires_at, maker FROM invitations";

#[async_trait]
impl PeopleStore for PostgresStore {
    async fn person(&self, id: &str) -> StoreResult<Option<Person>> {
        let client = self.client().await?;
        Ok(find(&client, id).await?)
    }

    async fn person_by_email(&self, email: &str) -> StoreResult<Option<Person>> {
        let client = self.client().await?;
        Ok(rows::one(&client, &format!("{PERSON} WHERE email = $1"), &[&email], person).await?)
    }

    async fn people(&self, account: &str, page: Page) -> StoreResult<Vec<Person>> {
        let client = self.client().await?;
        let select = format!("{PERSON} WHERE account = $1");
        Ok(rows::list(&client, &select, "id", account, &PageQuery::new(&page), person).await?)
    }

    async fn change_person(&self, change: PersonChange) -> StoreResult<PersonChangeResult> {
        self.transaction(&(&change,), |db, &(change,)| Box::pin(change_person(db, change))).await
    }

    async fn remove_person(&self, person: Person, entry: ActivityEntry) -> StoreResult<PersonChangeResult> {
        self.transaction(&(&person, &entry), |db, &(person, entry)| Box::pin(remove(db, person, entry))).await
    }

    async fn use_code(&self, person: &str, code: CodeUse) -> StoreResult<bool> {
        let step = "UPDATE people SET totp_step = $2 WHERE id = $1 AND totp_secret IS NOT NULL AND totp_step < $2";
        let recovery = "DELETE FROM recovery_codes WHERE person = $1 AND hash = $2";
        let client = self.client().await?;
        let used = match code {
            CodeUse::Step(number) => rows::write(&client, step, &[&person, &number]).await?,
            CodeUse::Recovery(hash) => rows::write(&client, recovery, &[&person, &hash.as_slice()]).await?,
        };
        Ok(used == 1)
    }

    async fn recovery_codes(&self, person: &str) -> StoreResult<usize> {
        let client = self.client().await?;
        let select = "SELECT count(*) FROM recovery_codes WHERE person = $1";
        let count = rows::one(&client, select, &[&person], |row| rows::get::<i64>(row, 0)).await?;
        Ok(count.and_then(|count| usize::try_from(count).ok()).unwrap_or(0))
    }

    async fn create_invitation(
        &self,
        invitation: Invitation,
        people_max: usize,
        entry: ActivityEntry,
    ) -> StoreResult<()> {
        let input = (&invitation, people_max, &entry);
        self.transaction(&input, |db, &(invitation, max, entry)| {
            Box::pin(create_invitation(db, invitation, max, entry))
        })
        .await
    }

    async fn invitation_by_hash(&self, hash: Digest) -> StoreResult<Option<Invitation>> {
        let client = self.client().await?;
        let select = format!("{INVITATION} WHERE hash = $1");
        Ok(rows::one(&client, &select, &[&hash.as_slice()], invitation).await?)
    }

    async fn invitations(&self, account: &str, page: Page) -> StoreResult<Vec<Invitation>> {
        let client = self.client().await?;
        let select = format!("{INVITATION} WHERE account = $1");
        Ok(rows::list(&client, &select, "id", account, &PageQuery::new(&page), invitation).await?)
    }

    async fn delete_invitation(&self, account: &str, id: &str, entry: ActivityEntry) -> StoreResult<bool> {
        self.transaction(&(account, id, &entry), |db, &(account, id, entry)| {
            Box::pin(async move {
                let delete = "DELETE FROM invitations WHERE account = $1 AND id = $2";
                let deleted = rows::write(db, delete, &[&account, &id]).await? == 1;
                if deleted {
                    activity::insert(db, entry).await?;
                }
                Ok(deleted)
            })
        })
        .await
    }

    async fn accept_invitation(&self, accepted: AcceptedInvitation) -> StoreResult<()> {
        self.transaction(&(&accepted,), |db, &(accepted,)| Box::pin(accept(db, accepted))).await
    }
}

pub(super) async fn find(db: &impl Client, id: &str) -> SqlResult<Option<Person>> {
    rows::one(db, &format!("{PERSON} WHERE id = $1"), &[&id], person).await
}

fn person(row: &Row) -> StoreResult<Person> {
    let secret = rows::get::<Option<String>>(row, 9)?.map(Sealed::from_text);
    let (step, confirmed_at) = (rows::get(row, 10)?, rows::get(row, 11)?);
    Ok(Person {
        id: rows::id(row, 0)?,
        email: rows::get(row, 2)?,
        password_hash: rows::get(row, 5)?,
        created_at: rows::get(row, 6)?,
        version: rows::get(row, 7)?,
        signed_in_at: rows::get(row, 8)?,
        totp: secret.map(|secret| Totp { secret, step, confirmed_at }),
        disabled_at: None,
        must_change_password: false,
        profile: Profile {
            account: rows::id(row, 1)?,
            name: rows::get(row, 3)?,
            role: codec::role(rows::get(row, 4)?)?,
        },
    })
}

fn invitation(row: &Row) -> StoreResult<Invitation> {
    Ok(Invitation {
        id: rows::id(row, 0)?,
        account: rows::id(row, 1)?,
        role: codec::role(rows::get(row, 2)?)?,
        person: rows::get::<Option<&str>>(row, 3)?.map(Into::into),
        note: rows::get(row, 4)?,
        created_by: rows::get(row, 5)?,
        created_at: rows::get(row, 6)?,
        hash: rows::bytes(row, 7)?,
        expires_at: rows::get(row, 8)?,
        maker: rows::get::<Option<&str>>(row, 9)?.map(Into::into),
    })
}

async fn insert(db: &impl Client, person: &Person) -> SqlResult<()> {
    let insert = "INSERT INTO people (id, account, email, name, role, password_hash, created_at, version, signed_in_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";
    let values: [&(dyn ToSql + Sync); 9] = [
        &&*person.id,
        &&*person.profile.account,
        &person.email,
        &person.profile.name,
        &person.profile.role.name(),
        &person.password_hash,
        &person.created_at,
        &person.version,
        &person.signed_in_at,
    ];
    match rows::write(db, insert, &values).await? {
        0 => Err(StoreError::Taken("email").into()),
        _ => Ok(()),
    }
}

/// The person, if the stored version is the expected one. Locks the account, so that two Admins can't remove each other
/// at the same time.
async fn locked(db: &impl Client, person: &Person, version: i64) -> SqlResult<Person> {
    lock_account(db, &person.profile.account).await?;
    let found = find(db, &person.id).await?.filter(|found| found.version == version);
    Ok(found.ok_or(StoreError::Conflict)?)
}

async fn lock_account(db: &impl Client, account: &str) -> SqlResult<()> {
    let lock = "SELECT id FROM accounts WHERE id = $1 FOR UPDATE";
    let found = rows::one(db, lock, &[&account], |row| rows::id(row, 0)).await?;
    Ok(found.map(drop).ok_or(StoreError::NotFound)?)
}

async fn change_person(db: &impl Client, change: &PersonChange) -> SqlResult<PersonChangeResult> {
    let PersonChange { change, activity } = change;
    let person = &change.user;
    let before = locked(db, person, change.expected_version).await?;
    if codec::ends_admin(before.profile.role, Some(person.profile.role)) && is_last_admin(db, &before).await? {
        return Ok(PersonChangeResult::LastAdmin);
    }
    let update = "UPDATE people SET name = $2, role = $3, password_hash = $4, version = version + 1 WHERE id = $1";
    let role = person.profile.role.name();
    rows::write(db, update, &[&&*person.id, &person.profile.name, &role, &person.password_hash]).await?;
    match &change.totp {
        TotpChange::Keep => {}
        TotpChange::Set(totp, codes) => put_totp(db, &person.id, Some(totp), codes).await?,
        TotpChange::Remove => put_totp(db, &person.id, None, &[]).await?,
    }
    person_sessions::end(db, &change.ending).await?;
    if codec::ends_admin(before.profile.role, Some(person.profile.role)) {
        rows::write(db, "DELETE FROM invitations WHERE maker = $1", &[&&*person.id]).await?;
    }
    if let Some(entry) = activity {
        activity::insert(db, entry).await?;
    }
    Ok(PersonChangeResult::Done)
}

async fn put_totp(db: &impl Client, person: &str, totp: Option<&Totp>, codes: &[Digest]) -> SqlResult<()> {
    let update = "UPDATE people SET totp_secret = $2, totp_step = $3, totp_confirmed_at = $4 WHERE id = $1";
    let (secret, step) = (totp.map(|totp| totp.secret.as_str()), totp.map_or(0, |totp| totp.step));
    let confirmed_at = totp.and_then(|totp| totp.confirmed_at);
    rows::write(db, update, &[&person, &secret, &step, &confirmed_at]).await?;
    rows::write(db, "DELETE FROM recovery_codes WHERE person = $1", &[&person]).await?;
    for code in codes {
        let insert = "INSERT INTO recovery_codes (person, hash) VALUES ($1, $2)";
        rows::write(db, insert, &[&person, &code.as_slice()]).await?;
    }
    Ok(())
}

async fn is_last_admin(db: &impl Client, person: &Person) -> SqlResult<bool> {
    let select = "SELECT id FROM people WHERE account = $1 AND role = 'admin' AND id <> $2 LIMIT 1";
    let other = rows::one(db, select, &[&&*person.profile.account, &&*person.id], |row| rows::id(row, 0)).await?;
    Ok(other.is_none())
}

async fn remove(db: &impl Client, person: &Person, entry: &ActivityEntry) -> SqlResult<PersonChangeResult> {
    let before = locked(db, person, person.version).await?;
    if codec::ends_admin(before.profile.role, None) && is_last_admin(db, &before).await? {
        return Ok(PersonChangeResult::LastAdmin);
    }
    // The row of the person is deleted first. A concurrent sign-in either waits for this row and then conflicts, or has
    // committed a session that this transaction deletes.
    for delete in [
        "DELETE FROM people WHERE id = $1",
        "DELETE FROM recovery_codes WHERE person = $1",
        "DELETE FROM person_sessions WHERE person = $1",
        "DELETE FROM invitations WHERE person = $1 OR maker = $1",
    ] {
        rows::write(db, delete, &[&&*person.id]).await?;
    }
    activity::insert(db, entry).await?;
    Ok(PersonChangeResult::Done)
}

async fn create_invitation(
    db: &impl Client,
    invitation: &Invitation,
    people_max: usize,
    entry: &ActivityEntry,
) -> SqlResult<()> {
    // Changes of people wait for this lock, so the role of the maker can't change before the commit.
    lock_account(db, &invitation.account).await?;
    let maker = invitation.maker.as_deref();
    if let Some(maker) = maker
        && find(db, maker)
            .await?
            .is_none_or(|maker| maker.profile.role != Role::Admin || maker.profile.account != invitation.account)
    {
        return Err(StoreError::Conflict.into());
    }
    let person = invitation.person.as_deref();
    if let Some(person) = person {
        rows::write(db, "DELETE FROM invitations WHERE person = $1", &[&person]).await?;
    }
    let insert = "INSERT INTO invitations (id, account, role, person, note, created_by, created_at, hash, expires_at, \
         maker) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let values: [&(dyn ToSql + Sync); 10] = [
        &&*invitation.id,
        &&*invitation.account,
        &invitation.role.name(),
        &person,
        &invitation.note,
        &invitation.created_by,
        &invitation.created_at,
        &invitation.hash.as_slice(),
        &invitation.expires_at,
        &maker,
    ];
    rows::write(db, insert, &values).await?;
    let count = "SELECT (SELECT count(*) FROM people WHERE account = $1) + \
         (SELECT count(*) FROM invitations WHERE account = $1 AND person IS NULL) WHERE $2::BIGINT > 0";
    rows::check_limit(db, count, &invitation.account, people_max).await?;
    activity::insert(db, entry).await
}

async fn accept(db: &impl Client, accepted: &AcceptedInvitation) -> SqlResult<()> {
    if rows::write(db, "DELETE FROM invitations WHERE id = $1", &[&accepted.invitation]).await? == 0 {
        return Err(StoreError::NotFound.into());
    }
    match &accepted.person {
        InvitedPerson::New(person) => insert(db, person).await?,
        InvitedPerson::Existing(change) => change_person(db, change).await.map(drop)?,
    }
    person_sessions::insert(db, &accepted.session).await?;
    activity::insert(db, &accepted.activity).await
}
