//! Colour and logo of the App Portal of an account's applications, and the sites that may embed it.

use kit_colour::Colour;
use sha2::{Digest as _, Sha256};

use crate::accounts::logo;
use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::model::Role;
use crate::model::{PortalLogo, PortalSettings};
use crate::port::LogoChange;
use crate::provider::Provider;
use crate::validation::FieldErrors;

/// Origins that may embed the portal.
const ORIGINS_MAX: usize = 20;
const ORIGIN_BYTES_MAX: usize = 255;
/// Bytes of the logo's hash in the logo's address.
const VERSION_BYTES: usize = 8;

/// New settings of the portal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortalSettingsInput {
    /// `#` and six hexadecimal digits; the provider's own colour when empty.
    pub colour: String,
    /// Origins that may embed the portal, such as `https://console.example.com`.
    pub embed_origins: Vec<String>,
    /// The logo.
    pub logo: LogoInput,
}

/// Change of the logo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LogoInput {
    /// Keep the current logo.
    #[default]
    Keep,
    /// Remove the logo.
    Remove,
    /// Replace the logo with this PNG, JPEG or WebP file.
    File(Vec<u8>),
}

impl Provider {
    /// The portal's settings of an account; the defaults when nothing is set.
    pub async fn portal_settings(&self, account: &str) -> ProviderResult<PortalSettings> {
        Ok(self.store().portal_settings(account).await?.unwrap_or_default())
    }

    /// The logo of an account's portal, if it has one. Serve it with its media type and `nosniff`.
    pub async fn portal_logo(&self, account: &str) -> ProviderResult<Option<PortalLogo>> {
        Ok(self.store().portal_logo(account).await?)
    }

    /// Changes the portal's settings of the caller's account. 403, 422.
    pub async fn change_portal_settings(
        &self,
        caller: &Caller,
        input: PortalSettingsInput,
    ) -> ProviderResult<PortalSettings> {
        caller.require_role(Role::Admin)?;
        let account = self.account(&caller.account).await?;
        let old = self.portal_settings(&caller.account).await?;
        let (checked, logo) = input.check().await?;
        let (logo_type, logo_version) = match &logo {
            LogoChange::Keep => (old.logo_type, old.logo_version.clone()),
            LogoChange::Remove => (None, None),
            LogoChange::Set(logo) => (Some(logo.media_type), Some(version(&logo.bytes))),
        };
        let new = PortalSettings { logo_type, logo_version, ..checked };
        let colour = |settings: &PortalSettings| settings.colour.map(|colour| colour.to_string());
        let origins = |settings: &PortalSettings| Some(settings.embed_origins.join(", ")).filter(|all| !all.is_empty());
        let logo_of = |settings: &PortalSettings| {
            let logo = settings.logo_type.zip(settings.logo_version.as_ref());
            logo.map(|(logo_type, version)| format!("{} {version}", logo_type.media_type()))
        };
        let values = ChangedValues::default()
            .value("colour", colour(&old).as_deref(), colour(&new).as_deref())
            .value("embedding origins", origins(&old).as_deref(), origins(&new).as_deref())
            .value("logo", logo_of(&old).as_deref(), logo_of(&new).as_deref());
        if values.is_empty() {
            return Ok(new);
        }
        let subject = Subject { id: &account.id, name: &account.name };
        let entry = self.activity_entry(&Actor::of_caller(caller), Action::PortalSettings, subject, values);
        self.store().put_portal_settings(&caller.account, new.clone(), logo, entry).await?;
        Ok(new)
    }
}

/// The version of a logo: the beginning of its hash.
fn version(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().take(VERSION_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

impl PortalSettingsInput {
    async fn check(self) -> ProviderResult<(PortalSettings, LogoChange)> {
        let mut errors = FieldErrors::default();
        let colour = match self.colour.trim() {
            "" => None,
            text => match Colour::readable(text) {
                Ok(colour) => Some(colour),
                Err(fault) => {
                    errors.fault("colour", fault);
                    None
                }
            },
        };
        let mut embed_origins = Vec::new();
        for text in self.embed_origins.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
            match origin(text) {
                Some(origin) if embed_origins.contains(&origin) => {}
                Some(origin) => embed_origins.push(origin),
                None => errors.fault(
                    "embedOrigins",
                    format!(
                        "{text:?} is not an origin: write https:// and a host, such as https://console.example.com"
                    ),
                ),
            }
        }
        if embed_origins.len() > ORIGINS_MAX {
            errors.fault("embedOrigins", format!("must have at most {ORIGINS_MAX} entries"));
        }
        let logo = match self.logo {
            LogoInput::Keep => LogoChange::Keep,
            LogoInput::Remove => LogoChange::Remove,
            LogoInput::File(bytes) => match logo::check(bytes).await? {
                Ok(logo) => LogoChange::Set(logo),
                Err(fault) => {
                    errors.fault("logo", fault);
                    LogoChange::Keep
                }
            },
        };
        errors.finish()?;
        Ok((PortalSettings { colour, embed_origins, logo_type: None, logo_version: None }, logo))
    }
}

/// An origin in the form of a content security policy. HTTP is allowed for this computer only.
fn origin(text: &str) -> Option<String> {
    let uri: http::Uri = text.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    let is_bare = uri.path() == "/" && uri.query().is_none() && !text.contains(['#', '?']);
    let host = uri.host()?.to_ascii_lowercase();
    let is_name = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    let is_local = matches!(host.as_str(), "localhost" | "127.0.0.1");
    let is_secure = scheme == "https" || (scheme == "http" && is_local);
    if !(is_bare && is_name && is_secure) || text.len() > ORIGIN_BYTES_MAX || authority.as_str().contains('@') {
        return None;
    }
    match (authority.port(), authority.port_u16()) {
        (None, _) => Some(format!("{scheme}://{host}")),
        (Some(_), Some(port)) => Some(format!("{scheme}://{host}:{port}")),
        (Some(_), None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_scheme_a_host_and_perhaps_a_port() {
        for (text, expected) in [
            ("https://Console.Example.com", Some("https://console.example.com")),
            ("https://console.example.com/", Some("https://console.example.com")),
            ("https://console.example.com:8443", Some("https://console.example.com:8443")),
            ("http://localhost:3000", Some("http://localhost:3000")),
            ("http://console.example.com", None),
            ("https://console.example.com/path", None),
            ("https://console.example.com?x", None),
            ("https://user@console.example.com", None),
            ("https://*.example.com", None),
            ("https://a.example; script-src *", None),
            ("https://a.example 'unsafe-inline'", None),
            ("console.example.com", None),
            ("*", None),
            ("'self'", None),
        ] {
            assert_eq!(origin(text).as_deref(), expected, "{text}");
        }
    }
}
