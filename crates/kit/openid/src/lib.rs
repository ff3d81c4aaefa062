//! Single sign-on by OpenID Connect, for the users of both wings: the side that relies on an issuer (the relying party).
//!
//! 1. [`RelyingParty::begin`] returns the address at the issuer, and a sealed text for a cookie of the browser.
//! 2. The issuer sends the browser back. [`RelyingParty::accept`] checks that the answer belongs to the cookie.
//! 3. [`RelyingParty::redeem`] exchanges the code, verifies the ID token, and returns what the issuer says of the person.
//! 4. [`SingleSignOn::admit`] decides which user that is, and which role the groups give. The wing's store commits it.
//!
//! The crate has no table, no page and no role.
//!
//! Guarantees:
//! - Only the browser that began a sign-in can finish it, within ten minutes. The wing takes [`Answer::once`] from its store, so
//!   that no answer counts twice on any node.
//! - An ID token counts only with a signature by a current key of the issuer, for this client, before its expiry, and with the
//!   nonce of the sign-in. Tokens that are signed with the client's secret are refused.
//! - All requests have one deadline and a limit on the answer's bytes. Those to other hosts than the issuer's go to public
//!   addresses only.
//! - No error has a code, a token or a secret in its text.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod admission;
mod claims;
mod error;
mod flow;
mod issuer;
mod issuer_client;
mod metadata;
mod relying_party;
mod settings;
mod token;

pub use admission::{Admission, SingleSignOn};
pub use claims::Person;
pub use error::OpenIdError;
pub use flow::{Answer, FLOW_VALID, NewSingleSignOn};
pub use relying_party::RelyingParty;
pub use settings::{IssuerFault, OpenIdSettings, check_issuer};
