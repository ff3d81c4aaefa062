//! Settings of the App Portal of accounts.

use async_trait::async_trait;
use provider_core::model::{ActivityEntry, PortalLogo, PortalSettings};
use provider_core::port::{LogoChange, PortalSettingsStore, StoreError, StoreResult};
use rusqlite::{Connection, Row, params};

use super::rows::{self, SqlResult};
use super::{SqliteStore, accounts, activity};
use crate::codec;

#[async_trait]
impl PortalSettingsStore for SqliteStore {
    async fn portal_settings(&self, account: &str) -> StoreResult<Option<PortalSettings>> {
        let account = account.to_owned();
        let select = "SELECT colour, embed_origins, logo_type, logo_version FROM portal_settings WHERE account = ?1";
        self.read(move |db| rows::one(db, select, [account], settings)).await
    }

    async fn portal_logo(&self, account: &str) -> StoreResult<Option<PortalLogo>> {
        let account = account.to_owned();
        let select = "SELECT logo_type, logo FROM portal_settings WHERE account = ?1 AND logo IS NOT NULL";
        self.read(move |db| rows::one(db, select, [account], logo)).await
    }

    async fn put_portal_settings(
        &self,
        account: &str,
        settings: PortalSettings,
        logo: LogoChange,
        entry: ActivityEntry,
    ) -> StoreResult<()> {
        let account = account.to_owned();
        self.write(move |db| put(db, &account, &settings, &logo, &entry)).await
    }
}

fn settings(row: &Row<'_>) -> SqlResult<PortalSettings> {
    Ok(PortalSettings {
        colour: rows::optional_text(row, 0)?.map(codec::colour).transpose()?,
        embed_origins: codec::from_json(rows::text(row, 1)?)?,
        logo_type: rows::optional_text(row, 2)?.map(codec::logo_type).transpose()?,
        logo_version: row.get(3)?,
    })
}

fn logo(row: &Row<'_>) -> SqlResult<PortalLogo> {
    Ok(PortalLogo { media_type: codec::logo_type(rows::text(row, 0)?)?, bytes: row.get(1)? })
}

fn put(
    db: &Connection,
    account: &str,
    settings: &PortalSettings,
    logo: &LogoChange,
    entry: &ActivityEntry,
) -> SqlResult<()> {
    if accounts::find(db, account)?.is_none() {
        return Err(StoreError::NotFound.into());
    }
    let put = "INSERT INTO portal_settings (account, colour, embed_origins, logo_type, logo_version) \
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (account) DO UPDATE SET colour = excluded.colour, \
         embed_origins = excluded.embed_origins, logo_type = excluded.logo_type, logo_version = excluded.logo_version";
    db.execute(
        put,
        params![
            account,
            settings.colour.map(|colour| colour.to_string()),
            codec::to_json(&settings.embed_origins)?,
            settings.logo_type.map(|logo_type| logo_type.media_type()),
            settings.logo_version
        ],
    )?;
    let update = "UPDATE portal_settings SET logo = ?2 WHERE account = ?1";
    match logo {
        LogoChange::Keep => {}
        LogoChange::Remove => drop(db.execute(update, (account, None::<&[u8]>))?),
        LogoChange::Set(logo) => drop(db.execute(update, (account, logo.bytes.as_slice()))?),
    }
    activity::insert(db, entry)
}
