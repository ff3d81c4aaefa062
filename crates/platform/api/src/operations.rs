//! The access that each operation requires. One list serves the [request guard](crate::request_guard), the security
//! section of the OpenAPI document, and the test that calls every route. The guard refuses an operation that is missing
//! from the list.

use http::Method;
use platform_core::{Caller, PlatformError, Scope};

use Scope::{
    AuctionsRead, AuctionsWrite, BiddersRead, BiddersWrite, BidsWrite, CustomersRead, CustomersWrite, EventsRead,
    KeysRead, KeysWrite, RingWrite, SandboxWrite, UsersRead, UsersWrite,
};

/// Path of all operations.
pub(crate) const PREFIX: &str = "/api/v1";

/// Path of the change of one's own password, below the prefix.
pub(crate) const OWN_PASSWORD: &str = "/me/password";

/// Who may call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Every caller, without a key.
    Public,
    /// Every API key and every user.
    AnyKey,
    /// Signed-in users; no API keys.
    User,
    /// An API key or user with one of these scopes.
    OneOf(&'static [Scope]),
}

/// `(method, path below the prefix, who may call it)`, in the order of the router.
#[rustfmt::skip]
const OPERATIONS: &[(Method, &str, Access)] = &[
    (Method::GET,  "/health",                                Access::Public),

    (Method::POST, "/customers",                             Access::OneOf(&[CustomersWrite])),
    (Method::GET,  "/customers",                             Access::OneOf(&[CustomersRead])),
    (Method::GET,  "/customers/{uuid}",                      Access::OneOf(&[CustomersRead])),
    (Method::PUT,  "/customers/{uuid}/consumer",             Access::OneOf(&[CustomersWrite])),
    (Method::GET,  "/customers/{uuid}/consumer",             Access::OneOf(&[CustomersRead])),
    (Method::POST, "/customers/{uuid}/consumer/event-types", Access::OneOf(&[CustomersWrite])),
    (Method::POST, "/customers/{uuid}/consumer/resume",      Access::OneOf(&[CustomersWrite])),
    (Method::GET,  "/customers/{uuid}/consumer/quarantine",  Access::OneOf(&[CustomersRead])),
    (Method::DELETE, "/customers/{uuid}/consumer",           Access::OneOf(&[CustomersWrite])),
    (Method::POST, "/customers/{uuid}/consumer/quarantine/send", Access::OneOf(&[CustomersWrite])),
    (Method::POST, "/customers/{uuid}/consumer/quarantine/drop", Access::OneOf(&[CustomersWrite])),
    (Method::POST, "/api-keys",                              Access::OneOf(&[KeysWrite])),
    (Method::GET,  "/api-keys",                              Access::OneOf(&[KeysRead, KeysWrite])),
    (Method::GET,  "/api-keys/{uuid}",                       Access::OneOf(&[KeysRead, KeysWrite])),
    (Method::DELETE, "/api-keys/{uuid}",                     Access::OneOf(&[KeysWrite])),
    (Method::GET,  "/access-log",                            Access::OneOf(&[UsersRead])),
    (Method::POST, "/sessions",                              Access::Public),
    (Method::GET,  "/sessions",                              Access::User),
    (Method::DELETE, "/sessions",                            Access::User),
    (Method::DELETE, "/sessions/{uuid}",                     Access::User),
    (Method::GET,  "/me",                                    Access::User),
    (Method::GET,  "/me/webcasts",                           Access::User),
    (Method::POST, OWN_PASSWORD,                             Access::User),
    (Method::POST, "/me/second-factor",                      Access::User),
    (Method::POST, "/me/second-factor/confirm",              Access::User),
    (Method::POST, "/me/second-factor/off",                  Access::User),
    (Method::POST, "/users",                                 Access::OneOf(&[UsersWrite])),
    (Method::GET,  "/users",                                 Access::OneOf(&[UsersRead, UsersWrite])),
    (Method::GET,  "/users/{uuid}",                          Access::OneOf(&[UsersRead, UsersWrite])),
    (Method::PATCH, "/users/{uuid}",                         Access::OneOf(&[UsersWrite])),
    (Method::DELETE, "/users/{uuid}",                        Access::OneOf(&[UsersWrite])),
    (Method::POST, "/users/{uuid}/password",                 Access::OneOf(&[UsersWrite])),
    (Method::POST, "/users/{uuid}/second-factor/off",        Access::OneOf(&[UsersWrite])),
    (Method::GET,  "/users/{uuid}/sessions",                 Access::OneOf(&[UsersRead, UsersWrite])),
    (Method::DELETE, "/users/{uuid}/sessions",               Access::OneOf(&[UsersWrite])),
    (Method::POST, "/auctioneers",                           Access::OneOf(&[CustomersWrite])),
    (Method::GET,  "/auctioneers",                           Access::OneOf(&[CustomersRead, AuctionsRead])),
    (Method::GET,  "/auctioneers/{uuid}",                    Access::OneOf(&[CustomersRead, AuctionsRead])),
    (Method::PATCH, "/auctioneers/{uuid}",                   Access::OneOf(&[CustomersWrite])),

    (Method::POST, "/auctions",                              Access::OneOf(&[AuctionsWrite])),
    (Method::GET,  "/auctions",                              Access::OneOf(&[AuctionsRead])),
    (Method::GET,  "/auctions/{uuid}",                       Access::OneOf(&[AuctionsRead])),
    (Method::POST, "/auctions/{uuid}/status",                Access::OneOf(&[AuctionsWrite])),
    (Method::PATCH, "/auctions/{uuid}",                      Access::OneOf(&[AuctionsWrite])),
    (Method::POST, "/auctions/{uuid}/ends",                  Access::OneOf(&[AuctionsWrite])),
    (Method::POST, "/auctions/{uuid}/clone",                 Access::OneOf(&[AuctionsWrite])),
    (Method::GET,  "/auctions/{uuid}/results",               Access::OneOf(&[AuctionsRead])),
    (Method::GET,  "/auctions/{uuid}/results/items",         Access::OneOf(&[AuctionsRead])),
    (Method::GET,  "/auctions/{uuid}/results.csv",           Access::OneOf(&[AuctionsRead])),
    (Method::GET,  "/auctions/{uuid}/history",               Access::OneOf(&[EventsRead])),
    (Method::POST, "/auctions/{uuid}/items",                 Access::OneOf(&[AuctionsWrite])),
    (Method::GET,  "/auctions/{uuid}/items",                 Access::OneOf(&[AuctionsRead])),
    (Method::POST, "/auctions/{uuid}/catalogue",             Access::OneOf(&[AuctionsWrite])),
    (Method::GET,  "/auctions/{uuid}/catalogue",             Access::OneOf(&[AuctionsRead])),
    (Method::POST, "/auctions/{uuid}/catalogue/merge",       Access::OneOf(&[AuctionsWrite])),
    (Method::POST, "/auctions/{uuid}/catalogue/mapping",     Access::OneOf(&[AuctionsWrite])),
    (Method::POST, "/auctions/{uuid}/items/changes",         Access::OneOf(&[AuctionsWrite])),
    (Method::POST, "/auctions/{uuid}/relist",                Access::OneOf(&[AuctionsWrite])),
    (Method::PATCH, "/items/{uuid}",                         Access::OneOf(&[AuctionsWrite])),
    (Method::GET,  "/items/{uuid}",                          Access::OneOf(&[AuctionsRead, RingWrite])),
    (Method::POST, "/items/{uuid}/status",                   Access::OneOf(&[AuctionsWrite, RingWrite])),
    (Method::GET,  "/items/{uuid}/history",                  Access::OneOf(&[EventsRead])),
    (Method::POST, "/items/{uuid}/buyer",                    Access::OneOf(&[AuctionsWrite, RingWrite])),
    (Method::POST, "/items/{uuid}/hammer-price",             Access::OneOf(&[AuctionsWrite, RingWrite])),
    (Method::POST, "/auctions/{uuid}/unpaid",                Access::OneOf(&[AuctionsWrite])),
    (Method::POST, "/items/{uuid}/offer",                    Access::OneOf(&[AuctionsWrite])),
    (Method::PUT,  "/items/{uuid}/images/{image}",           Access::OneOf(&[AuctionsWrite])),
    (Method::GET,  "/items/{uuid}/images",                   Access::OneOf(&[AuctionsRead])),
    (Method::POST, "/items/{uuid}/images/order",             Access::OneOf(&[AuctionsWrite])),
    (Method::DELETE, "/images/{uuid}",                       Access::OneOf(&[AuctionsWrite])),
    (Method::GET,  "/images/{uuid}/{variant}",               Access::Public),
    (Method::GET,  "/items/{uuid}/record",                   Access::OneOf(&[AuctionsRead])),
    (Method::POST, "/items/{uuid}/bids",                     Access::OneOf(&[BidsWrite])),
    (Method::GET,  "/items/{uuid}/bids",                     Access::OneOf(&[AuctionsRead])),
    (Method::POST, "/items/{uuid}/absentee-bids",            Access::OneOf(&[BidsWrite, RingWrite])),
    (Method::POST, "/items/{uuid}/absentee-bids/withdraw",   Access::OneOf(&[BidsWrite, RingWrite])),
    (Method::GET,  "/auctions/{uuid}/telephone-bookings",    Access::OneOf(&[RingWrite])),
    (Method::PUT,  "/items/{uuid}/telephone-bookings/{paddle}", Access::OneOf(&[RingWrite])),
    (Method::DELETE, "/items/{uuid}/telephone-bookings/{paddle}", Access::OneOf(&[RingWrite])),
    (Method::POST, "/items/{uuid}/buy-now",                  Access::OneOf(&[BidsWrite])),
    (Method::POST, "/items/{uuid}/bids/{bid}/cancel",        Access::OneOf(&[AuctionsWrite])),
    (Method::POST, "/items/{uuid}/end",                      Access::OneOf(&[AuctionsWrite])),

    (Method::POST, "/auctions/{uuid}/registrations",         Access::OneOf(&[BiddersWrite])),
    (Method::GET,  "/auctions/{uuid}/registrations",         Access::OneOf(&[BiddersRead])),
    (Method::GET,  "/auctions/{uuid}/registrations/{registration}", Access::OneOf(&[BiddersRead])),
    (Method::PATCH, "/auctions/{uuid}/registrations/{registration}", Access::OneOf(&[BiddersWrite])),
    (Method::POST, "/auctions/{uuid}/registrations/{registration}/status", Access::OneOf(&[BiddersWrite])),

    (Method::GET,  "/auctions/{uuid}/clerks",                Access::OneOf(&[AuctionsWrite])),
    (Method::PUT,  "/auctions/{uuid}/clerks/{user}",         Access::OneOf(&[AuctionsWrite])),
    (Method::DELETE, "/auctions/{uuid}/clerks/{user}",       Access::OneOf(&[AuctionsWrite])),
    (Method::GET,  "/clerks",                                Access::OneOf(&[AuctionsWrite])),
    (Method::GET,  "/auctions/{uuid}/ring",                  Access::OneOf(&[AuctionsRead, RingWrite])),
    (Method::GET,  "/auctions/{uuid}/ring/messages",         Access::OneOf(&[RingWrite])),
    (Method::PUT,  "/auctions/{uuid}/ring/message",          Access::OneOf(&[RingWrite])),
    (Method::DELETE, "/auctions/{uuid}/ring/message",        Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/begin",            Access::OneOf(&[RingWrite])),
    (Method::GET,  "/items/{uuid}/live",                     Access::OneOf(&[AuctionsRead])),
    (Method::GET,  "/auctions/{uuid}/live",                  Access::OneOf(&[AuctionsRead])),

    (Method::POST, "/auctions/{uuid}/ring/send",             Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/asking-price",     Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/bid",              Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/accept",           Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/commission-bid",   Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/undo",             Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/retract",          Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/fair-warning",     Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/pause",            Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/resume",           Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/sell",             Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/pass",             Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/remove",           Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/offer-again",      Access::OneOf(&[RingWrite])),
    (Method::POST, "/auctions/{uuid}/ring/reopen",           Access::OneOf(&[RingWrite])),
    (Method::POST, "/items/{uuid}/internet-bids",            Access::OneOf(&[BidsWrite])),
    (Method::GET,  "/items/{uuid}/internet-bids/{bid}",      Access::OneOf(&[BidsWrite])),

    (Method::POST, "/auctions/{uuid}/clock/advance",         Access::OneOf(&[SandboxWrite])),
    (Method::GET,  "/auctions/{uuid}/clock",                 Access::OneOf(&[AuctionsRead, SandboxWrite])),

    (Method::GET,  "/events",                                Access::OneOf(&[EventsRead])),
    (Method::GET,  "/reference-data/countries",              Access::AnyKey),
    (Method::GET,  "/reference-data/currencies",             Access::AnyKey),
    (Method::GET,  "/reference-data/item-statuses",          Access::AnyKey),
    (Method::GET,  "/reference-data/auction-statuses",       Access::AnyKey),
    (Method::GET,  "/reference-data/event-types",            Access::AnyKey),
    (Method::GET,  "/reference/auctioneers/{id}",            Access::OneOf(&[CustomersRead, AuctionsRead])),
    (Method::GET,  "/reference/addresses/{id}",              Access::OneOf(&[CustomersRead, AuctionsRead])),
    (Method::GET,  "/reference/countries/{id}",              Access::AnyKey),
    (Method::GET,  "/reference/currencies/{id}",             Access::AnyKey),
];

/// Who may call an operation; `None` if it is not in the list. HEAD counts as GET.
pub(crate) fn access(method: &Method, path: &str) -> Option<Access> {
    let method = if *method == Method::HEAD { &Method::GET } else { method };
    let path = path.strip_prefix(PREFIX)?;
    OPERATIONS
        .iter()
        .find(|(of_method, of_path, _)| *of_path == path && of_method == method)
        .map(|(_, _, access)| *access)
}

impl Access {
    /// `Forbidden` unless the caller may call the operation.
    pub(crate) fn check(self, caller: &Caller) -> Result<(), PlatformError> {
        match self {
            Access::OneOf(scopes) => caller.require_one_of(scopes),
            Access::User if caller.session.is_none() => {
                let detail = "this operation is for signed-in users, not for API keys; sign in with POST /sessions";
                Err(PlatformError::Forbidden(detail.to_owned()))
            }
            Access::Public | Access::AnyKey | Access::User => Ok(()),
        }
    }
}

#[cfg(test)]
pub(crate) fn all() -> impl Iterator<Item = (&'static Method, String)> {
    OPERATIONS.iter().map(|(method, path, _)| (method, format!("{PREFIX}{path}")))
}
