//! Settings of single sign-on, for the platform's users and for those of the provider's dashboard.

use kit_openid::{OpenIdSettings, check_issuer};
use kit_outbound::RootCertStore;
use kit_runtime::vault::Secret;
use serde::{Deserialize, Serialize};

use super::refusal;

/// Characters of the name on the button.
const NAME_CHARS_MAX: usize = 40;

/// A client of an issuer of OpenID Connect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct OpenId {
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    pub(crate) client_secret: String,
    pub(crate) name: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) groups_claim: String,
    /// Entries `group=role`.
    pub(crate) roles: Vec<String>,
    pub(crate) create_users: bool,
    pub(crate) tls_roots: String,
}

/// The client for the dashboard.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ProviderOpenId {
    #[serde(flatten)]
    pub(crate) client: OpenId,
    /// The account whose users sign in with it; of every account when empty.
    pub(crate) account: String,
}

impl Default for OpenId {
    fn default() -> Self {
        Self {
            issuer: String::new(),
            client_id: String::new(),
            client_secret: String::new(),
            name: String::new(),
            scopes: vec!["email".to_owned(), "profile".to_owned()],
            groups_claim: "groups".to_owned(),
            roles: Vec::new(),
            create_users: false,
            tls_roots: String::new(),
        }
    }
}

impl OpenId {
    pub(crate) fn is_on(&self) -> bool {
        !self.issuer.is_empty()
    }

    /// Groups with the role that each gives. The mistakes were reported before.
    pub(crate) fn roles<R>(&self, parse: impl Fn(&str) -> Option<R>) -> Vec<(String, R)> {
        let entries = self.roles.iter().filter_map(|entry| entry.rsplit_once('='));
        entries.filter_map(|(group, role)| Some((group.to_owned(), parse(role)?))).collect()
    }

    /// The settings of the relying party that the issuer sends back to this address.
    pub(crate) fn relying_party(&self, redirect_uri: String) -> Result<OpenIdSettings, String> {
        let secret = Some(&self.client_secret).filter(|secret| !secret.is_empty());
        Ok(OpenIdSettings {
            issuer: self.issuer.clone(),
            client_id: self.client_id.clone(),
            client_secret: secret.map(|secret| Secret::new(secret.clone().into_bytes())),
            redirect_uri,
            scopes: self.scopes.clone(),
            groups_claim: self.groups_claim.clone(),
            name: self.name.clone(),
            extra_roots: self.roots()?,
        })
    }

    fn roots(&self) -> Result<RootCertStore, String> {
        let file = &self.tls_roots;
        if file.is_empty() {
            return Ok(RootCertStore::empty());
        }
        let pem = std::fs::read(file).map_err(|error| format!("can't read {file}: {error}"))?;
        kit_outbound::roots_from_pem(&pem).map_err(|error| format!("{file}: {error}"))
    }

    /// The mistakes of one section, as `setting: reason`.
    pub(super) fn mistakes(&self, section: &str, is_role: impl Fn(&str) -> bool) -> Vec<String> {
        let mut mistakes = Vec::new();
        let mut refuse = |key: &str, why: String| mistakes.push(format!("{section}.{key}: {why}"));
        for (key, text) in [("client_id", &self.client_id), ("client_secret", &self.client_secret)] {
            if text.trim() != text {
                refuse(key, "it begins or ends with a space".to_owned());
            }
        }
        if self.name.chars().count() > NAME_CHARS_MAX || self.name.chars().any(char::is_control) {
            refuse("name", "it is longer than 40 characters, or has control characters".to_owned());
        }
        if let Some(scope) = self.scopes.iter().find(|scope| scope.is_empty() || scope.contains(char::is_whitespace)) {
            refuse("scopes", format!("entry {scope:?} is empty or has a space"));
        }
        if self.groups_claim.is_empty() {
            refuse("groups_claim", "it is empty".to_owned());
        }
        for entry in &self.roles {
            match entry.rsplit_once('=') {
                Some((group, role)) if !group.is_empty() && is_role(role) => {}
                Some((group, role)) if !group.is_empty() => {
                    refuse("roles", format!("entry {entry:?}: {role:?} is not a role"));
                }
                _ => refuse("roles", format!("entry {entry:?} is not a group and a role")),
            }
        }
        if let Err(error) = self.roots() {
            refuse("tls_roots", error);
        }
        if !self.is_on() {
            return mistakes;
        }
        if let Some(mistake) = refusal(&format!("{section}.issuer"), check_issuer(&self.issuer)) {
            // What an issuer needs is said when there is one.
            mistakes.push(mistake);
            return mistakes;
        }
        if self.client_id.is_empty() {
            mistakes.push(format!("{section}.client_id: it is needed with {section}.issuer"));
        }
        if self.create_users && self.roles.is_empty() {
            let why = format!("it needs {section}.roles, which gives a new user a role");
            mistakes.push(format!("{section}.create_users: {why}"));
        }
        mistakes
    }
}

impl ProviderOpenId {
    /// The mistakes of the section, as `setting: reason`.
    pub(super) fn mistakes(&self, section: &str, is_role: impl Fn(&str) -> bool) -> Vec<String> {
        let mut mistakes = self.client.mistakes(section, is_role);
        if !self.account.is_empty() && !self.account.starts_with("org_") {
            mistakes.push(format!("{section}.account: it is not the id of an account"));
        }
        let needs_account = !self.client.roles.is_empty() || self.client.create_users;
        if self.client.is_on() && needs_account && self.account.is_empty() {
            mistakes.push(format!(
                "{section}.account: it is needed with {section}.roles: groups give roles in one account"
            ));
        }
        mistakes
    }
}
