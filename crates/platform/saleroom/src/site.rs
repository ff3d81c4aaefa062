//! The state of every page's handler.

use std::sync::Arc;

use http::Extensions;
use kit_design::cookie::{Cookie, Transport};
use kit_design::site::Site;
use kit_http::one_host::OneHost;
use platform_core::Platform;
use platform_core::customers::domains::base_at;
use platform_core::saleroom::Saleroom;
use tokio::sync::{Semaphore, SemaphorePermit};
use url::Url;
use uuid::Uuid;

use crate::SaleroomConfig;

/// The saleroom. Clones share it.
#[derive(Clone)]
pub(crate) struct SaleroomSite {
    inner: Arc<Inner>,
    /// With the origin of the request.
    site: Arc<Site>,
}

/// Searches of catalogues at the same time. Each reads up to 2,000 lots, so more of them would delay bids.
const SEARCHES_MAX: usize = 2;

struct Inner {
    searches: Semaphore,
    platform: Platform,
    host: OneHost,
    /// Base URL of the pages, without a slash at its end.
    public_url: String,
    transport: Transport,
}

impl SaleroomSite {
    pub(crate) fn new(platform: Platform, config: &SaleroomConfig) -> Self {
        // The configuration has refused a public address that is not a URL.
        let url = Url::parse(&config.public_url).ok();
        let base = url.as_ref().map_or("", |url| url.path().trim_end_matches('/'));
        let site = Site {
            base: base.into(),
            origin: url.as_ref().map_or(String::new(), |url| url.origin().ascii_serialization()),
            has_public_url: true,
            name: "Saleroom",
            style: Some(&crate::files::STYLE),
            home: None,
        };
        let is_secure = url.as_ref().is_some_and(|url| url.scheme() == "https");
        let transport = if is_secure { Transport::Secure } else { Transport::Any };
        let public_url = config.public_url.trim_end_matches('/').to_owned();
        let (searches, host) = (Semaphore::new(SEARCHES_MAX), OneHost::of(&config.public_url));
        let inner = Inner { searches, platform, host, public_url, transport };
        Self { inner: Arc::new(inner), site: Arc::new(site) }
    }

    /// The saleroom at the origin of a request with these extensions.
    pub(crate) fn of_request(&self, extensions: &Extensions) -> Self {
        Self { inner: Arc::clone(&self.inner), site: Site::of_request(&self.site, extensions) }
    }

    /// The host that all houses share.
    pub(crate) fn host(&self) -> &OneHost {
        &self.inner.host
    }

    /// Base URL of the pages at the shared host, without a slash at its end.
    pub(crate) fn public_url(&self) -> &str {
        &self.inner.public_url
    }

    pub(crate) fn platform(&self) -> &Platform {
        &self.inner.platform
    }

    /// A cookie of a house, named for it. Under HTTPS, no other host and no plain connection can set it.
    pub(crate) fn cookie(&self, purpose: &str, customer: Uuid) -> Cookie {
        let name = match self.inner.transport {
            Transport::Secure => format!("__Host-{purpose}-{}", customer.simple()),
            Transport::Any | Transport::Embedded => format!("{purpose}-{}", customer.simple()),
        };
        Cookie { name: name.into(), path: "/".to_owned(), transport: self.inner.transport }
    }

    /// The cookie with the language that a visitor chose, for all houses.
    pub(crate) fn language_cookie(&self) -> Cookie {
        let name = if self.inner.transport == Transport::Secure { "__Host-language" } else { "language" };
        Cookie { name: name.into(), path: "/".to_owned(), transport: self.inner.transport }
    }

    /// Waits for the turn of a search; the turn lasts as long as the permit.
    pub(crate) async fn search_turn(&self) -> Option<SemaphorePermit<'_>> {
        self.inner.searches.acquire().await.ok()
    }

    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    pub(crate) fn shared_site(&self) -> Arc<Site> {
        Arc::clone(&self.site)
    }

    /// The whole address of a path below that of a house: at its own domain if it has one.
    pub(crate) fn house_address(&self, saleroom: &Saleroom, below: &str) -> String {
        let house = saleroom.house.saleroom.address.as_deref().unwrap_or_default();
        match saleroom.domain.as_deref() {
            Some(domain) => format!("{}/{house}{below}", base_at(&self.inner.public_url, domain)),
            None => self.address(&format!("/{house}{below}")),
        }
    }

    /// The whole address of a path at the shared host.
    pub(crate) fn address(&self, path: &str) -> String {
        format!("{}{path}", self.inner.public_url)
    }
}
