//! Scopes of API keys and users, and the roles that bundle them.

/// A permission of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Read auctions, items and bids.
    AuctionsRead,
    /// Create and change auctions and items, import catalogues.
    AuctionsWrite,
    /// Bid on items of timed auctions.
    BidsWrite,
    /// Give the clerk's commands in a webcast.
    RingWrite,
    /// Read announced events and histories.
    EventsRead,
    /// Read customers, auctioneers and the state of connections.
    CustomersRead,
    /// Create customers and auctioneers, connect them to their provider.
    CustomersWrite,
    /// Create and revoke API keys.
    KeysWrite,
    /// Advance the clocks of sandbox auctions.
    SandboxWrite,
    /// Read registrations of bidders, with what is private in them.
    BiddersRead,
    /// Register bidders; approve, refuse and suspend them; set their limits.
    BiddersWrite,
    /// List API keys, without the keys themselves.
    KeysRead,
    /// List users and their sessions.
    UsersRead,
    /// Create, change and disable users, and end their sessions.
    UsersWrite,
    /// Read the register of bidders and consignors.
    PartiesRead,
    /// Enter and change bidders and consignors in the register; block them.
    PartiesWrite,
}

impl Scope {
    /// All scopes, in the order of lists.
    pub const ALL: [Self; 16] = [
        Self::AuctionsRead,
        Self::AuctionsWrite,
        Self::BidsWrite,
        Self::RingWrite,
        Self::EventsRead,
        Self::CustomersRead,
        Self::CustomersWrite,
        Self::KeysWrite,
        Self::SandboxWrite,
        Self::BiddersRead,
        Self::BiddersWrite,
        Self::KeysRead,
        Self::UsersRead,
        Self::UsersWrite,
        Self::PartiesRead,
        Self::PartiesWrite,
    ];

    /// The name in keys and in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::AuctionsRead => "auctions:read",
            Self::AuctionsWrite => "auctions:write",
            Self::BidsWrite => "bids:write",
            Self::RingWrite => "ring:write",
            Self::EventsRead => "events:read",
            Self::CustomersRead => "customers:read",
            Self::CustomersWrite => "customers:write",
            Self::KeysWrite => "keys:write",
            Self::SandboxWrite => "sandbox:write",
            Self::BiddersRead => "bidders:read",
            Self::BiddersWrite => "bidders:write",
            Self::KeysRead => "keys:read",
            Self::UsersRead => "users:read",
            Self::UsersWrite => "users:write",
            Self::PartiesRead => "parties:read",
            Self::PartiesWrite => "parties:write",
        }
    }

    /// The scope of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// A set of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes(u16);

impl Scopes {
    /// Every scope.
    pub fn all() -> Self {
        Scope::ALL.into_iter().collect()
    }

    /// True when it has the scope.
    pub fn contains(self, scope: Scope) -> bool {
        self.0 & bit(scope) != 0
    }

    /// True when it has every scope of `other`.
    pub fn covers(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Its scopes, in the listed order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | bit(scope)))
    }
}

fn bit(scope: Scope) -> u16 {
    1 << scope as u16
}

/// The role of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// May do everything.
    Administrator,
    /// Runs auctions.
    Operator,
    /// Gives the clerk's commands in assigned webcasts.
    Clerk,
    /// Looks after customers and their provider credentials.
    Support,
    /// Only reads.
    Viewer,
}

impl Role {
    /// All roles, the most powerful first.
    pub const ALL: [Self; 5] = [Self::Administrator, Self::Operator, Self::Clerk, Self::Support, Self::Viewer];

    /// The name in the store and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Administrator => "administrator",
            Self::Operator => "operator",
            Self::Clerk => "clerk",
            Self::Support => "support",
            Self::Viewer => "viewer",
        }
    }

    /// The role of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// The scopes of the role.
    pub fn scopes(self) -> Scopes {
        use Scope::{
            AuctionsRead, AuctionsWrite, BiddersRead, BiddersWrite, BidsWrite, CustomersRead, CustomersWrite,
            EventsRead, KeysRead, KeysWrite, PartiesRead, PartiesWrite, RingWrite, SandboxWrite,
        };
        let scopes: &[Scope] = match self {
            Self::Administrator => &Scope::ALL,
            Self::Operator => &[
                AuctionsRead,
                AuctionsWrite,
                BidsWrite,
                RingWrite,
                EventsRead,
                CustomersRead,
                SandboxWrite,
                BiddersRead,
                BiddersWrite,
                PartiesRead,
                PartiesWrite,
            ],
            Self::Clerk => &[AuctionsRead, RingWrite, BiddersRead],
            Self::Support => {
                &[AuctionsRead, EventsRead, CustomersRead, CustomersWrite, KeysRead, KeysWrite, PartiesRead]
            }
            Self::Viewer => &[AuctionsRead, EventsRead, CustomersRead],
        };
        scopes.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_scopes_and_roles_are_read_back() {
        assert!(Scope::ALL.into_iter().all(|scope| Scope::parse(scope.name()) == Some(scope)));
        assert!(Role::ALL.into_iter().all(|role| Role::parse(role.name()) == Some(role)));
        assert_eq!(Scope::parse("auctions"), None);
    }

    #[test]
    fn a_role_has_its_own_scopes_and_no_others() {
        assert!(Role::Clerk.scopes().contains(Scope::RingWrite));
        assert!(!Role::Clerk.scopes().contains(Scope::CustomersWrite));
        assert!(!Role::Viewer.scopes().iter().any(|scope| scope.name().ends_with(":write")));
        assert!(Role::ALL.into_iter().all(|role| Role::Administrator.scopes().covers(role.scopes())));
    }
}
