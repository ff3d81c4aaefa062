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
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::rows::{self, Client, SqlResult};
use super::{PostgresStore, activity, app_tokens, removed_users, user_sessions};
use crate::codec::{self, PageQuery};

const USER: &str = "SELECT id, account, email, name, role, password_hash, created_at, version, signed_in_at, \
     totp_secret, totp_step, totp_confirmed_at, openid_issuer, openid_subject, email_confirmed FROM users";
const INVITATION: &str =
    "SELECT id, account, role, user_id, note, created_by, created_at, hash, expires_at, maker FROM invitations";
/// Users and open invitations of an account.
const COUNT: &str = "SELECT (SELECT count(*) FROM users WHERE account = $1) + \
     (SELECT count(*) FROM invitations WHERE account = $1 AND user_id IS NULL) WHERE $2::BIGINT > 0";

#[async_trait]
impl UserStore for PostgresStore {
    async fn user(&self, id: &str) -> StoreResult<Option<User>> {
        let client = self.client().await?;
        Ok(find(&client, id).await?)
    }

    async fn user_by_email(&self, email: &str) -> StoreResult<Option<User>> {
        let client = self.client().await?;
        Ok(rows::one(&client, &format!("{USER} WHERE email = $1"), &[&email], user).await?)
    }

    async fn user_by_openid(&self, identity: &OpenIdentity) -> StoreResult<Option<User>> {
        let client = self.client().await?;
        Ok(find_by_openid(&client, identity).await?)
    }

    async fn create_user(&self, user: User, users_max: usize, entry: ActivityEntry) -> StoreResult<UserCreationResult> {
        let input = (&user, users_max, &entry);
        self.transaction(&input, |db, &(user, users_max, entry)| Box::pin(create(db, user, users_max, entry))).await
    }

    async fn users(&self, account: &str, page: Page) -> StoreResult<Vec<User>> {
        let client = self.client().await?;
        let select = format!("{USER} WHERE account = $1");
        Ok(rows::list(&client, &select, "id", account, &PageQuery::new(&page), user).await?)
    }

    async fn change_user(&self, change: UserChange) -> StoreResult<UserChangeResult> {
        self.transaction(&(&change,), |db, &(change,)| Box::pin(change_user(db, change))).await
    }

    async fn remove_user(&self, user: User, removed_max: usize, entry: ActivityEntry) -> StoreResult<UserChangeResult> {
        let input = (&user, removed_max, &entry);
        self.transaction(&input, |db, &(user, max, entry)| Box::pin(remove(db, user, max, entry))).await
    }

    async fn use_code(&self, user: &str, code: CodeUse) -> StoreResult<bool> {
        let step = "UPDATE users SET totp_step = $2 WHERE id = $1 AND totp_secret IS NOT NULL AND totp_step < $2";
        let recovery = "DELETE FROM recovery_codes WHERE user_id = $1 AND hash = $2";
        let client = self.client().await?;
        let used = match code {
            CodeUse::Step(number) => rows::write(&client, step, &[&user, &number]).await?,
            CodeUse::Recovery(hash) => rows::write(&client, recovery, &[&user, &hash.as_slice()]).await?,
        };
        Ok(used == 1)
    }

    async fn recovery_codes(&self, user: &str) -> StoreResult<usize> {
        let client = self.client().await?;
        let select = "SELECT count(*) FROM recovery_codes WHERE user_id = $1";
        let count = rows::one(&client, select, &[&user], |row| rows::get::<i64>(row, 0)).await?;
        Ok(count.and_then(|count| usize::try_from(count).ok()).unwrap_or(0))
    }

    async fn create_invitation(
        &self,
        invitation: Invitation,
        users_max: usize,
        entry: ActivityEntry,
    ) -> StoreResult<()> {
        let input = (&invitation, users_max, &entry);
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

pub(super) async fn find(db: &impl Client, id: &str) -> SqlResult<Option<User>> {
    rows::one(db, &format!("{USER} WHERE id = $1"), &[&id], user).await
}

async fn find_by_openid(db: &impl Client, identity: &OpenIdentity) -> SqlResult<Option<User>> {
    let OpenIdentity { issuer, subject } = identity;
    // PostgreSQL rejects texts with a NUL, so no user has such an identity.
    if issuer.contains('\0') || subject.contains('\0') {
        return Ok(None);
    }
    let select = format!("{USER} WHERE openid_issuer = $1 AND openid_subject = $2");
    rows::one(db, &select, &[issuer, subject], user).await
}

pub(super) fn openid_columns(user: &User) -> (Option<&str>, Option<&str>) {
    user.openid.as_ref().map(|identity| (identity.issuer.as_str(), identity.subject.as_str())).unzip()
}

fn user(row: &Row) -> StoreResult<User> {
    let secret = rows::get::<Option<String>>(row, 9)?.map(Sealed::from_text);
    let (step, confirmed_at) = (rows::get(row, 10)?, rows::get(row, 11)?);
    let (issuer, subject) = (rows::get::<Option<String>>(row, 12)?, rows::get::<Option<String>>(row, 13)?);
    Ok(User {
        id: rows::id(row, 0)?,
        email: rows::get(row, 2)?,
        password_hash: rows::get(row, 5)?,
        created_at: rows::get(row, 6)?,
        version: rows::get(row, 7)?,
        signed_in_at: rows::get(row, 8)?,
        totp: secret.map(|secret| Totp { secret, step, confirmed_at }),
        disabled_at: None,
        must_change_password: false,
        openid: issuer.zip(subject).map(|(issuer, subject)| OpenIdentity { issuer, subject }),
        profile: Profile {
            account: rows::id(row, 1)?,
            name: rows::get(row, 3)?,
            role: codec::role(rows::get(row, 4)?)?,
            is_email_confirmed: rows::get(row, 14)?,
        },
    })
}

fn invitation(row: &Row) -> StoreResult<Invitation> {
    Ok(Invitation {
        id: rows::id(row, 0)?,
        account: rows::id(row, 1)?,
        role: codec::role(rows::get(row, 2)?)?,
        user: rows::get::<Option<&str>>(row, 3)?.map(Into::into),
        note: rows::get(row, 4)?,
        created_by: rows::get(row, 5)?,
        created_at: rows::get(row, 6)?,
        hash: rows::bytes(row, 7)?,
        expires_at: rows::get(row, 8)?,
        maker: rows::get::<Option<&str>>(row, 9)?.map(Into::into),
    })
}

async fn insert(db: &impl Client, user: &User) -> SqlResult<()> {
    let insert = "INSERT INTO users (id, account, email, name, role, password_hash, created_at, version, signed_in_at, \
         openid_issuer, openid_subject, email_confirmed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
         ON CONFLICT DO NOTHING";
    let (issuer, subject) = openid_columns(user);
    let values: [&(dyn ToSql + Sync); 12] = [
        &&*user.id,
        &&*user.profile.account,
        &user.email,
        &user.profile.name,
        &user.profile.role.name(),
        &user.password_hash,
        &user.created_at,
        &user.version,
        &user.signed_in_at,
        &issuer,
        &subject,
        &user.profile.is_email_confirmed,
    ];
    match rows::write(db, insert, &values).await? {
        0 => Err(StoreError::Taken("email").into()),
        _ => Ok(()),
    }
}

async fn create(
    db: &impl Client,
    user: &User,
    users_max: usize,
    entry: &ActivityEntry,
) -> SqlResult<UserCreationResult> {
    lock_account(db, &user.profile.account).await?;
    if removed_users::has(db, user).await? {
        return Ok(UserCreationResult::Removed);
    }
    insert(db, user).await?;
    rows::check_limit(db, COUNT, &user.profile.account, users_max).await?;
    activity::insert(db, entry).await?;
    Ok(UserCreationResult::Done)
}

/// The user, if the stored version is the expected one. Locks the account, so that two Admins can't remove each other
/// at the same time.
async fn locked(db: &impl Client, user: &User, version: i64) -> SqlResult<User> {
    lock_account(db, &user.profile.account).await?;
    let found = find(db, &user.id).await?.filter(|found| found.version == version);
    Ok(found.ok_or(StoreError::Conflict)?)
}

pub(super) async fn lock_account(db: &impl Client, account: &str) -> SqlResult<()> {
    let lock = "SELECT id FROM accounts WHERE id = $1 FOR UPDATE";
    let found = rows::one(db, lock, &[&account], |row| rows::id(row, 0)).await?;
    Ok(found.map(drop).ok_or(StoreError::NotFound)?)
}

async fn change_user(db: &impl Client, change: &UserChange) -> SqlResult<UserChangeResult> {
    let UserChange { change, activity } = change;
    let user = &change.user;
    let before = locked(db, user, change.expected_version).await?;
    if codec::ends_admin(before.profile.role, Some(user.profile.role)) && is_last_admin(db, &before).await? {
        return Ok(UserChangeResult::LastAdmin);
    }
    if let Some(identity) = &user.openid
        && find_by_openid(db, identity).await?.is_some_and(|other| other.id != user.id)
    {
        return Err(StoreError::Taken("openid").into());
    }
    let update = "UPDATE users SET name = $2, role = $3, password_hash = $4, openid_issuer = $5, openid_subject = $6, \
         email_confirmed = $7, version = version + 1 WHERE id = $1";
    let (role, (issuer, subject)) = (user.profile.role.name(), openid_columns(user));
    let (name, is_confirmed) = (&user.profile.name, &user.profile.is_email_confirmed);
    let values: [&(dyn ToSql + Sync); 7] =
        [&&*user.id, name, &role, &user.password_hash, &issuer, &subject, is_confirmed];
    rows::write(db, update, &values).await?;
    match &change.totp {
        TotpChange::Keep => {}
        TotpChange::Set(totp, codes) => put_totp(db, &user.id, Some(totp), codes).await?,
        TotpChange::Remove => put_totp(db, &user.id, None, &[]).await?,
    }
    user_sessions::end(db, &change.ending).await?;
    if codec::ends_admin(before.profile.role, Some(user.profile.role)) {
        rows::write(db, "DELETE FROM invitations WHERE maker = $1", &[&&*user.id]).await?;
    }
    if user.profile.role < before.profile.role {
        app_tokens::end_of_user(db, &user.id).await?;
    }
    if let Some(entry) = activity {
        activity::insert(db, entry).await?;
    }
    Ok(UserChangeResult::Done)
}

async fn put_totp(db: &impl Client, user: &str, totp: Option<&Totp>, codes: &[Digest]) -> SqlResult<()> {
    let update = "UPDATE users SET totp_secret = $2, totp_step = $3, totp_confirmed_at = $4 WHERE id = $1";
    let (secret, step) = (totp.map(|totp| totp.secret.as_str()), totp.map_or(0, |totp| totp.step));
    let confirmed_at = totp.and_then(|totp| totp.confirmed_at);
    rows::write(db, update, &[&user, &secret, &step, &confirmed_at]).await?;
    rows::write(db, "DELETE FROM recovery_codes WHERE user_id = $1", &[&user]).await?;
    for code in codes {
        let insert = "INSERT INTO recovery_codes (user_id, hash) VALUES ($1, $2)";
        rows::write(db, insert, &[&user, &code.as_slice()]).await?;
    }
    Ok(())
}

async fn is_last_admin(db: &impl Client, user: &User) -> SqlResult<bool> {
    let select = "SELECT id FROM users WHERE account = $1 AND role = 'admin' AND id <> $2 LIMIT 1";
    let other = rows::one(db, select, &[&&*user.profile.account, &&*user.id], |row| rows::id(row, 0)).await?;
    Ok(other.is_none())
}

async fn remove(
    db: &impl Client,
    user: &User,
    removed_max: usize,
    entry: &ActivityEntry,
) -> SqlResult<UserChangeResult> {
    let before = locked(db, user, user.version).await?;
    if codec::ends_admin(before.profile.role, None) && is_last_admin(db, &before).await? {
        return Ok(UserChangeResult::LastAdmin);
    }
    // The row of the user is deleted first. A concurrent sign-in either waits for this row and then conflicts, or has
    // committed a session that this transaction deletes.
    for delete in [
        "DELETE FROM users WHERE id = $1",
        "DELETE FROM recovery_codes WHERE user_id = $1",
        "DELETE FROM user_sessions WHERE user_id = $1",
        "DELETE FROM invitations WHERE user_id = $1 OR maker = $1",
    ] {
        rows::write(db, delete, &[&&*user.id]).await?;
    }
    app_tokens::end_of_user(db, &user.id).await?;
    removed_users::insert(db, &before, removed_max, entry.at).await?;
    activity::insert(db, entry).await?;
    Ok(UserChangeResult::Done)
}

async fn create_invitation(
    db: &impl Client,
    invitation: &Invitation,
    users_max: usize,
    entry: &ActivityEntry,
) -> SqlResult<()> {
    // Changes of users wait for this lock, so the role of the maker can't change before the commit.
    lock_account(db, &invitation.account).await?;
    let maker = invitation.maker.as_deref();
    if let Some(maker) = maker
        && find(db, maker)
            .await?
            .is_none_or(|maker| maker.profile.role != Role::Admin || maker.profile.account != invitation.account)
    {
        return Err(StoreError::Conflict.into());
    }
    let user = invitation.user.as_deref();
    if let Some(user) = user {
        rows::write(db, "DELETE FROM invitations WHERE user_id = $1", &[&user]).await?;
    }
    let insert = "INSERT INTO invitations (id, account, role, user_id, note, created_by, created_at, hash, expires_at, \
         maker) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let values: [&(dyn ToSql + Sync); 10] = [
        &&*invitation.id,
        &&*invitation.account,
        &invitation.role.name(),
        &user,
        &invitation.note,
        &invitation.created_by,
        &invitation.created_at,
        &invitation.hash.as_slice(),
        &invitation.expires_at,
        &maker,
    ];
    rows::write(db, insert, &values).await?;
    rows::check_limit(db, COUNT, &invitation.account, users_max).await?;
    activity::insert(db, entry).await
}

async fn accept(db: &impl Client, accepted: &AcceptedInvitation) -> SqlResult<()> {
    if rows::write(db, "DELETE FROM invitations WHERE id = $1", &[&accepted.invitation]).await? == 0 {
        return Err(StoreError::NotFound.into());
    }
    match &accepted.user {
        InvitedUser::New(user) => {
            insert(db, user).await?;
            removed_users::forget(db, user).await?;
        }
        InvitedUser::Existing(change) => change_user(db, change).await.map(drop)?,
    }
    user_sessions::insert(db, &accepted.session).await?;
    activity::insert(db, &accepted.activity).await
}
