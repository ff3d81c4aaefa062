//! The provider's dashboard, where the users of an account manage applications, event types, API keys and each other.
//!
//! Guarantees: a user may do exactly what their role allows. Each request authenticates the session and calls the use case
//! that the API calls; `access` lists the role that each page requires, and a page that is not listed is refused. The session
//! is a token in a cookie that scripts can't read: when it ends, it ends on every node.

mod access;
mod account;
mod activity;
mod alerts;
mod api_keys;
mod applications;
mod checklist;
mod endpoints;
mod event_types;
pub(crate) mod form_errors;
mod messages;
mod operational;
mod ordering;
mod outcomes;
mod payload_check;
mod rights;
mod session;
mod sign_in;
mod tasks;
mod usage;
mod users;

use std::sync::Arc;

use axum::Router;
use axum::response::Redirect;
use kit_design::assets;
use kit_design::cookie::{Cookie, Transport};
use kit_design::error_page::NextLink;
use kit_design::site::{self, Site};
use kit_http::Surface;
use kit_runtime::clock::SharedClock;
use provider_core::Provider;
use url::Url;

use crate::stream_slots::StreamSlots;

pub use event_types::{ReadyEventType, ReadyEventTypes};

/// Path of the dashboard below the provider's public address.
pub const PATH: &str = "/dashboard";

/// State of every page's handler. Clones share it.
#[derive(Clone)]
pub(crate) struct Dashboard(Arc<Inner>);

struct Inner {
    provider: Provider,
    clock: SharedClock,
    site: Arc<Site>,
    cookies: Cookies,
    ready: ReadyEventTypes,
    /// The open streams of live updates. Users without a place see the same pages without them.
    streams: StreamSlots,
}

/// The cookies of the dashboard.
pub(crate) struct Cookies {
    /// Token of the session.
    pub(crate) session: Cookie,
    /// Token of a device that signed in before.
    pub(crate) device: Cookie,
    /// Token of a right password that waits for the code of the second factor.
    pub(crate) code_awaited: Cookie,
    /// Code of the link that the visitor opened.
    pub(crate) join: Cookie,
}

/// Mounts the dashboard of this provider on the surface, below [`PATH`]. It offers the `ready` event types to each account.
pub fn add_to(surface: Surface, provider: Provider, clock: SharedClock, ready: ReadyEventTypes) -> Surface {
    let dashboard = Dashboard::new(provider, clock, ready);
    let site = dashboard.0.site.clone();
    surface.mount(PATH, site::wrap_site(pages().with_state(dashboard), site))
}

/// All pages. Each module lists its own in `router()`, and the role that each requires in `PAGES`.
fn pages() -> Router<Dashboard> {
    Router::new()
        .merge(sign_in::router())
        .merge(users::router())
        .merge(api_keys::router())
        .merge(activity::router())
        .merge(account::router())
        .merge(checklist::router())
        .merge(applications::router())
        .merge(endpoints::router())
        .merge(ordering::router())
        .merge(messages::router())
        .merge(event_types::router())
        .merge(usage::router())
        .merge(operational::router())
        .merge(tasks::router())
        .merge(alerts::router())
        .merge(payload_check::router())
        .merge(assets::routes_with(crate::FILES))
}

impl Dashboard {
    fn new(provider: Provider, clock: SharedClock, ready: ReadyEventTypes) -> Self {
        // The configuration has refused a public address that is not a URL.
        let url = Url::parse(&provider.config().public_url).ok();
        let base_path = url.as_ref().map_or("", |url| url.path().trim_end_matches('/'));
        let base: Arc<str> = format!("{base_path}{PATH}").into();
        let origin = url.as_ref().map_or(String::new(), |url| url.origin().ascii_serialization());
        let has_public_url = provider.config().has_public_url;
        let is_secure = url.as_ref().is_some_and(|url| url.scheme() == "https");
        let transport = if is_secure { Transport::Secure } else { Transport::Any };
        let cookie =
            |name: &'static str, path: &str| Cookie { name: name.into(), path: format!("{base}{path}"), transport };
        let cookies = Cookies {
            session: cookie("lotwire_dashboard", ""),
            device: cookie("lotwire_dashboard_device", "/sign-in"),
            code_awaited: cookie("lotwire_dashboard_code", "/sign-in"),
            join: cookie("lotwire_dashboard_join", "/join"),
        };
        let home = Some(NextLink { words: "Show the first page", path: "/" });
        let site = Arc::new(Site {
            base,
            origin,
            has_public_url,
            name: "Webhook dashboard",
            style: Some(&crate::STYLE),
            home,
        });
        Self(Arc::new(Inner { provider, clock, site, cookies, ready, streams: StreamSlots::default() }))
    }

    pub(crate) fn provider(&self) -> &Provider {
        &self.0.provider
    }

    pub(crate) fn now(&self) -> jiff::Timestamp {
        self.0.clock.now()
    }

    pub(crate) fn clock(&self) -> &SharedClock {
        &self.0.clock
    }

    pub(crate) fn streams(&self) -> &StreamSlots {
        &self.0.streams
    }

    pub(crate) fn ready(&self) -> &ReadyEventTypes {
        &self.0.ready
    }

    pub(crate) fn site(&self) -> &Site {
        &self.0.site
    }

    pub(crate) fn cookies(&self) -> &Cookies {
        &self.0.cookies
    }

    /// 303 to a page of the dashboard.
    pub(crate) fn redirect(&self, path: &str) -> Redirect {
        self.0.site.redirect(path)
    }
}
