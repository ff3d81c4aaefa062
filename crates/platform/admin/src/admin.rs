//! The state of every page's handler.

use std::sync::Arc;
use std::time::Instant;

use axum::response::Redirect;
use jiff::Timestamp;
use kit_design::cookie::{Cookie, Transport};
use kit_design::error_page::NextLink;
use kit_design::site::Site;
use kit_runtime::clock::SharedClock;
use platform_core::Platform;
use url::Url;

use crate::PATH;

/// Settings of the administration.
#[derive(Debug, Clone, Default)]
pub struct AdminConfig {
    /// Base URL at which people reach the platform.
    pub public_url: String,
    /// The operator set that URL; otherwise it is where the server listens, and people may use other names of the host.
    pub has_public_url: bool,
    /// Base URL of the saleroom, without a slash at its end; empty without one.
    pub saleroom_url: String,
    /// Name of an installation that is not for production, such as "Staging"; empty for production.
    pub environment: String,
}

/// The administration. Clones share it.
#[derive(Clone)]
pub(crate) struct Admin(Arc<Inner>);

struct Inner {
    platform: Platform,
    clock: SharedClock,
    config: AdminConfig,
    site: Arc<Site>,
    session_cookie: Cookie,
    device_cookie: Cookie,
    columns_cookie: Cookie,
}

impl Admin {
    pub(crate) fn new(platform: Platform, clock: SharedClock, config: AdminConfig) -> Self {
        // The configuration has refused a public address that is not a URL.
        let url = Url::parse(&config.public_url).ok();
        let base_path = url.as_ref().map_or("", |url| url.path().trim_end_matches('/'));
        let base: Arc<str> = format!("{base_path}{PATH}").into();
        let origin = url.as_ref().map_or(String::new(), |url| url.origin().ascii_serialization());
        let is_secure = url.as_ref().is_some_and(|url| url.scheme() == "https");
        let transport = if is_secure { Transport::Secure } else { Transport::Any };
        let cookie = |name: &'static str| Cookie { name: name.into(), path: base.to_string(), transport };
        let (session_cookie, device_cookie) = (cookie("lotwire_admin"), cookie("lotwire_admin_device"));
        let columns_cookie = cookie("lotwire_admin_columns");
        let home = Some(NextLink { words: "Go to the start page", path: "/" });
        let site = Arc::new(Site {
            base,
            origin,
            has_public_url: config.has_public_url,
            name: "Lotwire",
            style: Some(&crate::assets::STYLE),
            home,
        });
        Self(Arc::new(Inner { platform, clock, config, site, session_cookie, device_cookie, columns_cookie }))
    }

    pub(crate) fn platform(&self) -> &Platform {
        &self.0.platform
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    pub(crate) fn clock(&self) -> &SharedClock {
        &self.0.clock
    }

    /// The moment, for durations.
    pub(crate) fn monotonic(&self) -> Instant {
        self.0.clock.monotonic()
    }

    pub(crate) fn config(&self) -> &AdminConfig {
        &self.0.config
    }

    pub(crate) fn site(&self) -> &Site {
        &self.0.site
    }

    pub(crate) fn shared_site(&self) -> Arc<Site> {
        Arc::clone(&self.0.site)
    }

    /// The cookie with the session token.
    pub(crate) fn session_cookie(&self) -> &Cookie {
        &self.0.session_cookie
    }

    /// The cookie with the token of a device that signed in before.
    pub(crate) fn device_cookie(&self) -> &Cookie {
        &self.0.device_cookie
    }

    /// The cookie with the columns of the grid of lots.
    pub(crate) fn columns_cookie(&self) -> &Cookie {
        &self.0.columns_cookie
    }

    /// 303 to a page of the administration.
    pub(crate) fn redirect(&self, path: &str) -> Redirect {
        self.0.site.redirect(path)
    }
}
