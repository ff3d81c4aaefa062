//! The App Portal, which a magic link opens. A customer's engineers manage their application's endpoints, see each
//! message, attempt and response, and resend messages.
//!
//! Guarantees: a visitor may do exactly what the API allows the link's token to do. Each request authenticates the token
//! and calls the use case that the API calls; `access` lists the capability that each page requires. The session is the
//! token, in a cookie that scripts can't read: when the token ends, the session ends on every node.

mod access;
mod alerts;
pub(crate) mod causes;
mod embedding;
pub(crate) mod endpoints;
pub(crate) mod event_type_choices;
mod event_types;
pub(crate) mod labels;
mod login;
mod messages;
mod notice;
mod one_session;
mod overview;
pub(crate) mod pager;
mod session;
mod theme;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::middleware::from_fn;
use axum::response::Redirect;
use kit_http::Surface;
use kit_http::page_routes::{form, get, post};
use kit_runtime::clock::SharedClock;
use provider_core::Provider;
use url::Url;

use self::embedding::SessionCookies;
use crate::stream_slots::StreamSlots;
use kit_design::assets;
use kit_design::cookie::Transport;
use kit_design::error_page::NextLink;
use kit_design::site::{self, Site};

/// Path of the portal below the provider's public address. Magic links point there.
pub const PATH: &str = "/app-portal";

/// State of every page's handler. Clones share it.
#[derive(Clone)]
pub(crate) struct Portal(Arc<Inner>);

struct Inner {
    provider: Provider,
    clock: SharedClock,
    site: Arc<Site>,
    cookies: SessionCookies,
    /// The open streams of live updates. Visitors without a place see the same pages without them.
    streams: StreamSlots,
}

/// Mounts the portal of this provider on the surface, below [`PATH`].
pub fn add_to(surface: Surface, provider: Provider, clock: SharedClock) -> Surface {
    let portal = Portal::new(provider, clock);
    let site = portal.0.site.clone();
    surface.mount(PATH, site::wrap_site(pages().with_state(portal), site))
}

/// All pages. [`access`] lists the capability that each requires.
fn pages() -> Router<Portal> {
    Router::new()
        .route("/", get(home))
        .route("/login", form(login::page, login::log_in))
        .route("/logout", post(login::log_out))
        .route("/overview", get(overview::page))
        .route("/endpoints", get(endpoints::list::page))
        .route("/endpoints/new", form(endpoints::new::page, endpoints::new::create))
        .route("/endpoints/check-url", post(endpoints::new::check_url))
        .route("/endpoints/{endpoint}", get(endpoints::deliveries::page))
        .route("/endpoints/{endpoint}/live", get(endpoints::deliveries::live))
        .route("/endpoints/{endpoint}/settings", form(endpoints::settings::page, endpoints::settings::save))
        .route("/endpoints/{endpoint}/settings/check-url", post(endpoints::settings::check_url))
        .route("/endpoints/{endpoint}/enable", post(endpoints::enable_disable::enable))
        .route(
            "/endpoints/{endpoint}/disable",
            form(endpoints::enable_disable::page, endpoints::enable_disable::disable),
        )
        .route("/endpoints/{endpoint}/delete", form(endpoints::delete::page, endpoints::delete::delete))
        .route("/endpoints/{endpoint}/secret", get(endpoints::secret::page))
        .route("/endpoints/{endpoint}/secret/reveal", post(endpoints::secret::reveal))
        .route("/endpoints/{endpoint}/secret/rotate", post(endpoints::secret::rotate))
        .route("/endpoints/{endpoint}/verify", form(endpoints::verify::page, endpoints::verify::check))
        .route("/endpoints/{endpoint}/verify/reveal", post(endpoints::verify::reveal))
        .route("/endpoints/{endpoint}/headers", form(endpoints::headers::page, endpoints::headers::set))
        .route("/endpoints/{endpoint}/headers/remove", post(endpoints::headers::remove))
        .route("/endpoints/{endpoint}/example", form(endpoints::example::page, endpoints::example::send))
        .route("/endpoints/{endpoint}/replay", form(endpoints::replay::page, endpoints::replay::start))
        .route("/endpoints/{endpoint}/replay/confirm", get(endpoints::replay::confirm))
        .route("/endpoints/{endpoint}/replay/stop", post(endpoints::replay::stop))
        .route("/endpoints/{endpoint}/ordering", form(endpoints::ordering::page, endpoints::ordering::skip))
        .route("/endpoints/{endpoint}/ordering/skip", get(endpoints::ordering::question))
        .route("/endpoints/{endpoint}/ordering/retry", post(endpoints::ordering::retry))
        .route("/messages", get(messages::list))
        .route("/messages/live", get(messages::live))
        .route("/messages/{message}", get(messages::detail))
        .route("/messages/{message}/payload", get(messages::payload))
        .route("/messages/{message}/attempts/{attempt}/response", get(messages::response))
        .route("/messages/{message}/resend", post(messages::resend))
        .route("/messages/{message}/sign", post(messages::sign))
        .route("/alerts", form(alerts::page, alerts::submit))
        .route("/alerts/confirm", form(alerts::confirm_page, alerts::confirm))
        .route("/event-types", get(event_types::list))
        .route("/event-types/{name}", get(event_types::detail))
        .route("/logo/{version}", get(theme::logo))
        .layer(from_fn(one_session::middleware))
        .layer(from_fn(embedding::middleware))
        .route(kit_design::theme::ROUTE, get(kit_design::theme::style))
        .merge(assets::routes_with(crate::FILES))
}

async fn home(State(portal): State<Portal>) -> Redirect {
    portal.redirect("/endpoints")
}

impl Portal {
    fn new(provider: Provider, clock: SharedClock) -> Self {
        // The configuration has refused a public address that is not a URL.
        let url = Url::parse(&provider.config().public_url).ok();
        let base_path = url.as_ref().map_or("", |url| url.path().trim_end_matches('/'));
        let base: Arc<str> = format!("{base_path}{PATH}").into();
        let origin = url.as_ref().map_or(String::new(), |url| url.origin().ascii_serialization());
        let has_public_url = provider.config().has_public_url;
        let is_secure = url.as_ref().is_some_and(|url| url.scheme() == "https");
        let transport = if is_secure { Transport::Secure } else { Transport::Any };
        let cookies = SessionCookies::new(&base, transport);
        let home = Some(NextLink { words: "Show endpoints", path: "/endpoints" });
        let site = Arc::new(Site { base, origin, has_public_url, name: "Webhooks", style: Some(&crate::STYLE), home });
        Self(Arc::new(Inner { provider, clock, site, cookies, streams: StreamSlots::default() }))
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

    fn streams(&self) -> &StreamSlots {
        &self.0.streams
    }

    pub(crate) fn site(&self) -> &Site {
        &self.0.site
    }

    pub(crate) fn cookies(&self) -> &SessionCookies {
        &self.0.cookies
    }

    /// 303 to a page of the portal.
    pub(crate) fn redirect(&self, path: &str) -> Redirect {
        self.0.site.redirect(path)
    }
}
