//! Settings of the App Portal of accounts.

use async_trait::async_trait;

use super::StoreResult;
use crate::model::{ActivityEntry, PortalLogo, PortalSettings};

/// A change of a logo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogoChange {
    /// No change.
    Keep,
    /// The logo is removed.
    Remove,
    /// This logo replaces the current one.
    Set(PortalLogo),
}

/// Settings of the App Portal of accounts.
#[async_trait]
pub trait PortalSettingsStore: Send + Sync {
    /// The settings of an account, without the logo itself; none when nothing was set.
    async fn portal_settings(&self, account: &str) -> StoreResult<Option<PortalSettings>>;
    /// The logo of an account.
    async fn portal_logo(&self, account: &str) -> StoreResult<Option<PortalLogo>>;
    /// Replaces the settings of an account. Error: `NotFound` (account).
    async fn put_portal_settings(
        &self,
        account: &str,
        settings: PortalSettings,
        logo: LogoChange,
        activity: ActivityEntry,
    ) -> StoreResult<()>;
}
