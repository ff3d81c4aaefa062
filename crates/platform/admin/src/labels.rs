//! Words of pages for the names of the platform.

use platform_core::Role;

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
