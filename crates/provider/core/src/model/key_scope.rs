//! Scopes of API keys.

use std::collections::BTreeSet;

/// A scope: a group of operations of the API. A key without scopes allows everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyScope {
    /// Read everything except signing secrets and custom headers.
    Read,
    /// Send messages.
    Send,
    /// Send messages and examples to endpoints again.
    Resend,
    /// Create, change and delete everything, including secrets.
    Configure,
    /// Give access to the App Portal of applications, and end it.
    Portal,
}

impl KeyScope {
    /// All scopes.
    pub const ALL: [Self; 5] = [Self::Read, Self::Send, Self::Resend, Self::Configure, Self::Portal];

    /// The stable name in the store and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Send => "send",
            Self::Resend => "resend",
            Self::Configure => "configure",
            Self::Portal => "portal",
        }
    }

    /// Name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Read => "Read",
            Self::Send => "Send messages",
            Self::Resend => "Resend and replay",
            Self::Configure => "Configure",
            Self::Portal => "Open App Portals",
        }
    }

    /// The allowed operations, in one sentence.
    pub fn description(self) -> &'static str {
        match self {
            Self::Read => "Reads everything except signing secrets and custom headers.",
            Self::Send => "Sends messages, and creates the application of a message that names a new one.",
            Self::Resend => "Resends, recovers and replays messages, and sends examples.",
            Self::Configure => {
                "Creates, changes and deletes applications, endpoints, event types and settings, reads signing \
                 secrets, and expunges payloads."
            }
            Self::Portal => "Creates links to App Portals, with any capability, and ends them.",
        }
    }

    /// The scope with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }

    /// Names of scopes, separated by commas, for the store.
    pub fn list(scopes: &BTreeSet<Self>) -> String {
        let names: Vec<&str> = scopes.iter().map(|scope| scope.name()).collect();
        names.join(",")
    }

    /// Parses a list of scopes. None when a name is unknown.
    pub fn parse_list(list: &str) -> Option<BTreeSet<Self>> {
        list.split(',').filter(|name| !name.is_empty()).map(Self::parse).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_scopes_is_read_back() {
        let all: BTreeSet<_> = KeyScope::ALL.into();
        assert_eq!(KeyScope::parse_list(&KeyScope::list(&all)), Some(all));
        assert_eq!(KeyScope::parse_list(""), Some(BTreeSet::new()));
        assert_eq!(KeyScope::parse_list("read,odd"), None);
    }
}
