//! Settings of the App Portal of accounts.

use async_trait::async_trait;
use provider_core::model::{ActivityEntry, PortalLogo, PortalSettings};
use provider_core::port::{LogoChange, PortalSettingsStore, StoreError, StoreResult};
use tokio_postgres::Row;

use super::rows::{self, Client, SqlResult};
use super::{PostgresStore, accounts, activity};
use crate::codec;

#[async_trait]
impl PortalSettingsStore for PostgresStore {
    async fn portal_settings(&self, account: &str) -> StoreResult<Option<PortalSettings>> {
        let client = self.client().await?;
        let select = "SELECT colour, embed_origins, logo_type, logo_version FROM portal_settings WHERE account = $1";
        Ok(rows::one(&client, select, &[&account], settings).await?)
    }

    async fn portal_logo(&self, account: &str) -> StoreResult<Option<PortalLogo>> {
        let client = self.client().await?;
        let select = "SELECT logo_type, logo FROM portal_settings WHERE account = $1 AND logo IS NOT NULL";
        Ok(rows::one(&client, select, &[&account], logo).await?)
    }

    async fn put_portal_settings(
        &self,
        account: &str,
        settings: PortalSettings,
        logo: LogoChange,
        entry: ActivityEntry,
    ) -> StoreResult<()> {
        let input = (account, &settings, &logo, &entry);
        self.transaction(&input, |db, &(account, settings, logo, entry)| {
            Box::pin(put(db, account, settings, logo, entry))
        })
        .await
    }
}

fn settings(row: &Row) -> StoreResult<PortalSettings> {
    Ok(PortalSettings {
        colour: rows::get::<Option<&str>>(row, 0)?.map(codec::colour).transpose()?,
        embed_origins: codec::from_json(rows::get(row, 1)?)?,
        logo_type: rows::get::<Option<&str>>(row, 2)?.map(codec::logo_type).transpose()?,
        logo_version: rows::get(row, 3)?,
    })
}

fn logo(row: &Row) -> StoreResult<PortalLogo> {
    Ok(PortalLogo { media_type: codec::logo_type(rows::get(row, 0)?)?, bytes: rows::get(row, 1)? })
}

async fn put(
    db: &impl Client,
    account: &str,
    settings: &PortalSettings,
    logo: &LogoChange,
    entry: &ActivityEntry,
) -> SqlResult<()> {
    if accounts::find(db, account).await?.is_none() {
        return Err(StoreError::NotFound.into());
    }
    let put = "INSERT INTO portal_settings (account, colour, embed_origins, logo_type, logo_version) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (account) DO UPDATE SET colour = excluded.colour, \
         embed_origins = excluded.embed_origins, logo_type = excluded.logo_type, logo_version = excluded.logo_version";
    let colour = settings.colour.map(|colour| colour.to_string());
    let origins = codec::to_json(&settings.embed_origins)?;
    let logo_type = settings.logo_type.map(|logo_type| logo_type.media_type());
    rows::write(db, put, &[&account, &colour, &origins, &logo_type, &settings.logo_version]).await?;
    let update = "UPDATE portal_settings SET logo = $2 WHERE account = $1";
    match logo {
        LogoChange::Keep => {}
        LogoChange::Remove => drop(rows::write(db, update, &[&account, &None::<&[u8]>]).await?),
        LogoChange::Set(logo) => drop(rows::write(db, update, &[&account, &logo.bytes.as_slice()]).await?),
    }
    activity::insert(db, entry).await
}
