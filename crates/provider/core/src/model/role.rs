//! Roles of an account's users.

/// A user's role in the account. Each role includes the roles before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Reads everything except secrets.
    Viewer,
    /// Opens the App Portal of applications, to help their engineers.
    Support,
    /// Changes applications, event types and endpoints, and sends and resends messages.
    Member,
    /// Manages users, API keys and the account's settings.
    Admin,
}

impl Role {
    /// All roles, from the least to the most powerful.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Support, Self::Member, Self::Admin];

    /// The stable name in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Support => "support",
            Self::Member => "member",
            Self::Admin => "admin",
        }
    }

    /// Name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Viewer => "Viewer",
            Self::Support => "Support",
            Self::Member => "Member",
            Self::Admin => "Admin",
        }
    }

    /// The permissions of the role, in one sentence.
    pub fn description(self) -> &'static str {
        match self {
            Self::Viewer => "Reads everything except secrets.",
            Self::Support => "Also opens the App Portal of applications.",
            Self::Member => "Also changes applications, event types and endpoints, and sends and resends messages.",
            Self::Admin => "Also manages users, API keys and the account's settings.",
        }
    }

    /// The role with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_ordered_and_an_error_names_the_role() {
        assert!(Role::ALL.is_sorted());
        for role in Role::ALL {
            assert_eq!(Role::parse(role.name()), Some(role));
            assert!(role.needed().to_string().contains(role.title()));
        }
        assert_eq!(Role::parse("Admin"), None);
    }
}
