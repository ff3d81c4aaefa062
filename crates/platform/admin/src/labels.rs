//! Words of pages for the names of the platform.

use platform_core::{Role, Scope};

/// A role with a capital letter.
pub(crate) fn role(role: Role) -> &'static str {
    match role {
        Role::Administrator => "Administrator",
        Role::Operator => "Operator",
        Role::Clerk => "Clerk",
        Role::Support => "Support",
        Role::Viewer => "Viewer",
    }
}

/// What a role may do, in a sentence.
pub(crate) fn role_meaning(role: Role) -> &'static str {
    match role {
        Role::Administrator => "May do everything, users and API keys included.",
        Role::Operator => "Runs auctions: lots, registrations, the desk, results.",
        Role::Clerk => "Works at the desk of the webcasts that they are assigned to.",
        Role::Support => "Looks after customers: connections, webhooks, API keys.",
        Role::Viewer => "Reads auctions, events and customers, and changes nothing.",
    }
}

/// The scopes of a key.
pub(crate) fn scopes(names: &[String]) -> String {
    if names.len() == Scope::ALL.len() { "All scopes".to_owned() } else { names.join(", ") }
}

/// What a scope allows, in a sentence.
pub(crate) fn scope_meaning(scope: Scope) -> &'static str {
    match scope {
        Scope::AuctionsRead => "Read auctions, lots and bids.",
        Scope::AuctionsWrite => "Create and change auctions and lots, import catalogues.",
        Scope::BidsWrite => "Bid on lots of timed auctions.",
        Scope::RingWrite => "Give the clerk's commands in a webcast.",
        Scope::EventsRead => "Read announced events and histories.",
        Scope::CustomersRead => "Read customers, auctioneers and connections.",
        Scope::CustomersWrite => "Create customers and auctioneers, connect them to their provider.",
        Scope::KeysRead => "List API keys, without the keys themselves.",
        Scope::KeysWrite => "Create and revoke API keys.",
        Scope::SandboxWrite => "Advance the clocks of sandbox auctions.",
        Scope::BiddersRead => "Read registrations of bidders, private details included.",
        Scope::BiddersWrite => "Register, approve, decline and suspend bidders, set their limits.",
        Scope::PartiesRead => "Read the register of bidders and consignors, private details included.",
        Scope::PartiesWrite => "Enter, change and block bidders and consignors in the register.",
        Scope::UsersRead => "List users and their sessions.",
        Scope::UsersWrite => "Create, change and disable users, end their sessions.",
    }
}
