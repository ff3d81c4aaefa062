//! Users of accounts, and invitations.

use async_trait::async_trait;
use kit_identity::Digest;
use kit_identity::second_factor::CodeUse;
use kit_identity::user::{OpenIdentity, Totp, TotpChange};
use kit_runtime::vault::Sealed;
use provider_core::model::Role;
use provider_core::model::{ActivityEntry, Invitation, Profile, User};
use provider_core::port::{
    AcceptedInvitation, InvitedUser, Page, StoreError, StoreResult, UserChange, UserChangeResult, UserCreationResult,
    UserStore,
};
use rusqlite::{Connection, Row, params};

use super::rows::{self, SqlResult, ms};
use super::{SqliteStore, accounts, activity, app_tokens, removed_users, user_sessions};
use crate::codec::{self, PageQuery};

const USER: &str = "SELECT id, account, email, name, role, password_hash, created_at, version, signed_in_at, \
     totp_secret, totp_step, totp_confirmed_at, openid_issuer, openid_subject, email_confirmed FROM users";
const INVITATION: &str =
    "SELECT id, account, role, user_id, note, created_by, created_at, hash, expires_at, maker FROM invitations";
/// Users and open invitations of an account.
const COUNT: &str = "SELECT (SELECT count(*) FROM users WHERE account = ?1) + \
     (SELECT count(*) FROM invitations WHERE account = ?1 AND user_id IS NULL) WHERE ?2 > 0";

#[async_trait]
impl UserStore for SqliteStore {
    async fn user(&self, id: &str) -> StoreResult<Option<User>> {
        let id = id.to_owned();
        self.read(move |db| find(db, &id)).await
    }

    async fn user_by_email(&self, email: &str) -> StoreResult<Option<User>> {
        let email = email.to_owned();
        self.read(move |db| rows::one(db, &format!("{USER} WHERE email = ?1"), [email], user)).await
    }

    async fn user_by_openid(&self, identity: &OpenIdentity) -> StoreResult<Option<User>> {
        let identity = identity.clone();
        self.read(move |db| find_by_openid(db, &identity)).await
    }

    async fn create_user(&self, user: User, users_max: usize, entry: ActivityEntry) -> StoreResult<UserCreationResult> {
        self.write(move |db| create(db, &user, users_max, &entry)).await
    }

    async fn users(&self, account: &str, page: Page) -> StoreResult<Vec<User>> {
        let account = account.to_owned();
        let select = format!("{USER} WHERE account = $1");
        self.read(move |db| rows::list(db, &select, "id", &account, &PageQuery::new(&page), user)).await
    }

    async fn change_user(&self, change: UserChange) -> StoreResult<UserChangeResult> {
        self.write(move |db| change_user(db, &change)).await
    }

    async fn remove_user(&self, user: User, removed_max: usize, entry: ActivityEntry) -> StoreResult<UserChangeResult> {
        self.write(move |db| remove(db, &user, removed_max, &entry)).await
    }

    async fn use_code(&self, user: &str, code: CodeUse) -> StoreResult<bool> {
        let step = "UPDATE users SET totp_step = ?2 WHERE id = ?1 AND totp_secret IS NOT NULL AND totp_step < ?2";
        let recovery = "DELETE FROM recovery_codes WHERE user_id = ?1 AND hash = ?2";
        let user = user.to_owned();
        self.write(move |db| {
            let used = match code {
                CodeUse::Step(number) => db.execute(step, (user, number))?,
                CodeUse::Recovery(hash) => db.execute(recovery, (user, hash))?,
            };
            Ok(used == 1)
        })
        .await
    }

    async fn recovery_codes(&self, user: &str) -> StoreResult<usize> {
        let select = "SELECT count(*) FROM recovery_codes WHERE user_id = ?1";
        let user = user.to_owned();
        Ok(self.read(move |db| rows::one(db, select, [user], |row| rows::count(row, 0))).await?.unwrap_or(0))
    }

    async fn create_invitation(
        &self,
        invitation: Invitation,
        users_max: usize,
        entry: ActivityEntry,
    ) -> StoreResult<()> {
        self.write(move |db| create_invitation(db, &invitation, users_max, &entry)).await
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

pub(super) fn find(db: &Connection, id: &str) -> SqlResult<Option<User>> {
    rows::one(db, &format!("{USER} WHERE id = ?1"), [id], user)
}

fn find_by_openid(db: &Connection, identity: &OpenIdentity) -> SqlResult<Option<User>> {
    let select = format!("{USER} WHERE openid_issuer = ?1 AND openid_subject = ?2");
    rows::one(db, &select, (&identity.issuer, &identity.subject), user)
}

pub(super) fn at_version(db: &Connection, id: &str, version: i64) -> SqlResult<User> {
    Ok(find(db, id)?.filter(|user| user.version == version).ok_or(StoreError::Conflict)?)
}

fn user(row: &Row<'_>) -> SqlResult<User> {
    let secret = rows::optional_text(row, 9)?.map(|secret| Sealed::from_text(secret.to_owned()));
    let (step, confirmed_at) = (row.get(10)?, rows::optional_time(row, 11)?);
    let (issuer, subject) = (row.get::<_, Option<String>>(12)?, row.get::<_, Option<String>>(13)?);
    Ok(User {
        id: rows::id(row, 0)?,
        email: row.get(2)?,
        password_hash: row.get(5)?,
        created_at: rows::time(row, 6)?,
        version: row.get(7)?,
        signed_in_at: rows::optional_time(row, 8)?,
        totp: secret.map(|secret| Totp { secret, step, confirmed_at }),
        disabled_at: None,
        must_change_password: false,
        openid: issuer.zip(subject).map(|(issuer, subject)| OpenIdentity { issuer, subject }),
        profile: Profile {
            account: rows::id(row, 1)?,
            name: row.get(3)?,
            role: codec::role(rows::text(row, 4)?)?,
            is_email_confirmed: row.get(14)?,
        },
    })
}

fn invitation(row: &Row<'_>) -> SqlResult<Invitation> {
    Ok(Invitation {
        id: rows::id(row, 0)?,
        account: rows::id(row, 1)?,
        role: codec::role(rows::text(row, 2)?)?,
        user: rows::optional_text(row, 3)?.map(Into::into),
        note: row.get(4)?,
        created_by: row.get(5)?,
        created_at: rows::time(row, 6)?,
        hash: row.get(7)?,
        expires_at: rows::time(row, 8)?,
        maker: rows::optional_text(row, 9)?.map(Into::into),
    })
}

fn insert(db: &Connection, user: &User) -> SqlResult<()> {
    let insert = "INSERT INTO users (id, account, email, name, role, password_hash, created_at, version, signed_in_at, \
         openid_issuer, openid_subject, email_confirmed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
         ON CONFLICT DO NOTHING";
    let values = params![
        &*user.id,
        &*user.profile.account,
        user.email,
        user.profile.name,
        user.profile.role.name(),
        user.password_hash,
        ms(user.created_at),
        user.version,
        user.signed_in_at.map(ms),
        user.openid.as_ref().map(|identity| &identity.issuer),
        user.openid.as_ref().map(|identity| &identity.subject),
        user.profile.is_email_confirmed
    ];
    match db.execute(insert, values)? {
        0 => Err(StoreError::Taken("email").into()),
        _ => Ok(()),
    }
}

fn create(db: &Connection, user: &User, users_max: usize, entry: &ActivityEntry) -> SqlResult<UserCreationResult> {
    let account = &user.profile.account;
    if accounts::find(db, account)?.is_none() {
        return Err(StoreError::NotFound.into());
    }
    if removed_users::has(db, user)? {
        return Ok(UserCreationResult::Removed);
    }
    insert(db, user)?;
    rows::check_limit(db, COUNT, account, users_max)?;
    activity::insert(db, entry)?;
    Ok(UserCreationResult::Done)
}

/// SQLite has one writer, so no call changes the user between the check and the write.
fn change_user(db: &Connection, change: &UserChange) -> SqlResult<UserChangeResult> {
    let UserChange { change, activity } = change;
    let user = &change.user;
    let before = at_version(db, &user.id, change.expected_version)?;
    if codec::ends_admin(before.profile.role, Some(user.profile.role)) && is_last_admin(db, &before)? {
        return Ok(UserChangeResult::LastAdmin);
    }
    if let Some(identity) = &user.openid
        && find_by_openid(db, identity)?.is_some_and(|other| other.id != user.id)
    {
        return Err(StoreError::Taken("openid").into());
    }
    let update = "UPDATE users SET name = ?2, role = ?3, password_hash = ?4, openid_issuer = ?5, openid_subject = ?6, \
         email_confirmed = ?7, version = version + 1 WHERE id = ?1";
    let values = params![
        &*user.id,
        user.profile.name,
        user.profile.role.name(),
        user.password_hash,
        user.openid.as_ref().map(|identity| &identity.issuer),
        user.openid.as_ref().map(|identity| &identity.subject),
        user.profile.is_email_confirmed
    ];
    db.execute(update, values)?;
    match &change.totp {
        TotpChange::Keep => {}
        TotpChange::Set(totp, codes) => put_totp(db, &user.id, Some(totp), codes)?,
        TotpChange::Remove => put_totp(db, &user.id, None, &[])?,
    }
    user_sessions::end(db, &change.ending)?;
    if codec::ends_admin(before.profile.role, Some(user.profile.role)) {
        db.execute("DELETE FROM invitations WHERE maker = ?1", [&*user.id])?;
    }
    if user.profile.role < before.profile.role {
        app_tokens::end_of_user(db, &user.id)?;
    }
    if let Some(entry) = activity {
        activity::insert(db, entry)?;
    }
    Ok(UserChangeResult::Done)
}

fn put_totp(db: &Connection, user: &str, totp: Option<&Totp>, codes: &[Digest]) -> SqlResult<()> {
    let update = "UPDATE users SET totp_secret = ?2, totp_step = ?3, totp_confirmed_at = ?4 WHERE id = ?1";
    let (secret, step) = (totp.map(|totp| totp.secret.as_str()), totp.map_or(0, |totp| totp.step));
    let confirmed_at = totp.and_then(|totp| totp.confirmed_at).map(ms);
    db.execute(update, (user, secret, step, confirmed_at))?;
    db.execute("DELETE FROM recovery_codes WHERE user_id = ?1", [user])?;
    for code in codes {
        db.execute("INSERT INTO recovery_codes (user_id, hash) VALUES (?1, ?2)", (user, code))?;
    }
    Ok(())
}

fn is_last_admin(db: &Connection, user: &User) -> SqlResult<bool> {
    let select = "SELECT 1 FROM users WHERE account = ?1 AND role = 'admin' AND id <> ?2 LIMIT 1";
    Ok(rows::one(db, select, (&*user.profile.account, &*user.id), |_| Ok(()))?.is_none())
}

fn remove(db: &Connection, user: &User, removed_max: usize, entry: &ActivityEntry) -> SqlResult<UserChangeResult> {
    let before = at_version(db, &user.id, user.version)?;
    if codec::ends_admin(before.profile.role, None) && is_last_admin(db, &before)? {
        return Ok(UserChangeResult::LastAdmin);
    }
    for delete in [
        "DELETE FROM recovery_codes WHERE user_id = ?1",
        "DELETE FROM user_sessions WHERE user_id = ?1",
        "DELETE FROM invitations WHERE user_id = ?1 OR maker = ?1",
        "DELETE FROM users WHERE id = ?1",
    ] {
        db.execute(delete, [&*user.id])?;
    }
    app_tokens::end_of_user(db, &user.id)?;
    removed_users::insert(db, &before, removed_max, entry.at)?;
    activity::insert(db, entry)?;
    Ok(UserChangeResult::Done)
}

fn create_invitation(
    db: &Connection,
    invitation: &Invitation,
    users_max: usize,
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
    if let Some(user) = &invitation.user {
        db.execute("DELETE FROM invitations WHERE user_id = ?1", [&**user])?;
    }
    let insert = "INSERT INTO invitations (id, account, role, user_id, note, created_by, created_at, hash, expires_at, \
         maker) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    db.execute(
        insert,
        params![
            &*invitation.id,
            &*invitation.account,
            invitation.role.name(),
            invitation.user.as_deref(),
            invitation.note,
            invitation.created_by,
            ms(invitation.created_at),
            invitation.hash,
            ms(invitation.expires_at),
            invitation.maker.as_deref()
        ],
    )?;
    rows::check_limit(db, COUNT, &invitation.account, users_max)?;
    activity::insert(db, entry)
}

fn accept(db: &Connection, accepted: &AcceptedInvitation) -> SqlResult<()> {
    if db.execute("DELETE FROM invitations WHERE id = ?1", [&accepted.invitation])? == 0 {
        return Err(StoreError::NotFound.into());
    }
    match &accepted.user {
        InvitedUser::New(user) => {
            insert(db, user)?;
            removed_users::forget(db, user)?;
        }
        InvitedUser::Existing(change) => change_user(db, change).map(drop)?,
    }
    user_sessions::insert(db, &accepted.session)?;
    activity::insert(db, &accepted.activity)
}
