//! The App Portal: where a magic link leads. A customer's engineers look after their application's endpoints, see what was
//! sent to them and what they answered, and have it sent again.
//!
//! Guarantees: a visitor sees and does what the API would let the link's token see and do, and nothing else: each page asks
//! the provider who it is and calls the use case that the API calls; `access` says what a token needs for which page. The
//! session is the token, in a cookie that scripts can't read, so it ends with it: on every node, at once.

mod access;
mod endpoints;
mod event_type_choices;
mod event_types;
mod labels;
mod login;
mod messages;
mod notice;
mod session;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Redirect;
use axum::routing::{get, post};
use kit_http::Surface;
use kit_runtime::clock::SharedClock;
use provider_core::Provider;
use url::{Position, Url};

use crate::shared::assets;
use crate::shared::cookie::{Cookie, Transport};
use crate::shared::error_page::NextLink;
use crate::shared::site::{self, Site};

/// Where the portal is, below the provider's public address: where magic links lead.
pub const PATH: &str = "/app-portal";

/// What every page works with. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Portal(Arc<Inner>);

struct Inner {
    provider: Provider,
    clock: SharedClock,
    site: Arc<Site>,
    cookie: Cookie,
}

/// The surface with the portal of this provider beside it, below [`PATH`].
pub fn add_to(surface: Surface, provider: Provider, clock: SharedClock) -> Surface {
    let portal = Portal::new(provider, clock);
    let site = portal.0.site.clone();
    surface.mount(PATH, site::wrap_site(pages().with_state(portal), site))
}

/// Every page, as one readable list. What each needs stands in [`access`].
fn pages() -> Router<Portal> {
    Router::new()
        .route("/", get(home))
        .route("/login", get(login::page).post(login::log_in))
        .route("/logout", post(login::log_out))
        .route("/endpoints", get(endpoints::list::page))
        .route("/endpoints/new", get(endpoints::new::page).post(endpoints::new::create))
        .route("/endpoints/{endpoint}", get(endpoints::deliveries::page))
        .route("/endpoints/{endpoint}/settings", get(endpoints::settings::page).post(endpoints::settings::save))
        .route("/endpoints/{endpoint}/enable", post(endpoints::enable_disable::enable))
        .route("/endpoints/{endpoint}/disable", post(endpoints::enable_disable::disable))
        .route("/endpoints/{endpoint}/delete", get(endpoints::delete::page).post(endpoints::delete::delete))
        .route("/endpoints/{endpoint}/secret", get(endpoints::secret::page))
        .route("/endpoints/{endpoint}/secret/reveal", post(endpoints::secret::reveal))
        .route("/endpoints/{endpoint}/secret/rotate", post(endpoints::secret::rotate))
        .route("/endpoints/{endpoint}/headers", get(endpoints::headers::page).post(endpoints::headers::set))
        .route("/endpoints/{endpoint}/headers/remove", post(endpoints::headers::remove))
        .route("/endpoints/{endpoint}/example", get(endpoints::example::page).post(endpoints::example::send))
        .route("/endpoints/{endpoint}/replay", get(endpoints::replay::page).post(endpoints::replay::start))
        .route("/endpoints/{endpoint}/ordering", get(endpoints::ordering::page).post(endpoints::ordering::skip))
        .route("/messages", get(messages::list::page))
        .route("/messages/{message}", get(messages::detail::page))
        .route("/messages/{message}/payload", get(messages::detail::payload))
        .route("/messages/{message}/resend", post(messages::detail::resend))
        .route("/event-types", get(event_types::list))
        .route("/event-types/{name}", get(event_types::detail))
        .merge(assets::routes())
}

async fn home(State(portal): State<Portal>) -> Redirect {
    portal.redirect("/endpoints")
}

impl Portal {
    fn new(provider: Provider, clock: SharedClock) -> Self {
        // A public address that can't be read was refused by the configuration.
        let url = Url::parse(&provider.config().public_url).ok();
        let before = url.as_ref().map_or("", |url| url.path().trim_end_matches('/'));
        let base: Arc<str> = format!("{before}{PATH}").into();
        let origin = url.as_ref().map_or("", |url| &url[..Position::BeforePath]).to_owned();
        let is_secure = url.as_ref().is_some_and(|url| url.scheme() == "https");
        let transport = if is_secure { Transport::Secure } else { Transport::Any };
        let cookie = Cookie { name: "lotwire_app_portal", path: base.to_string(), transport };
        let home = NextLink { words: "To the endpoints", path: "/endpoints" };
        let site = Arc::new(Site { base, origin, name: "Webhooks", home });
        Self(Arc::new(Inner { provider, clock, site, cookie }))
    }

    pub(crate) fn provider(&self) -> &Provider {
        &self.0.provider
    }

    pub(crate) fn now(&self) -> jiff::Timestamp {
        self.0.clock.now()
    }

    pub(crate) fn site(&self) -> &Site {
        &self.0.site
    }

    pub(crate) fn cookie(&self) -> &Cookie {
        &self.0.cookie
    }

    /// 303 to a page of the portal.
    pub(crate) fn redirect(&self, path: &str) -> Redirect {
        Redirect::to(&format!("{}{path}", self.0.site.base))
    }
}
