//! The state of every page's handler.

use std::sync::Arc;

use kit_design::cookie::{Cookie, Transport};
use kit_design::site::Site;
use platform_core::Platform;
use platform_core::saleroom::Saleroom;
use tokio::sync::{Semaphore, SemaphorePermit};
use url::Url;
use uuid::Uuid;

use crate::SaleroomConfig;

/// The saleroom. Clones share it.
#[derive(Clone)]
pub(crate) struct SaleroomSite(Arc<Inner>);

/// Searches of catalogues at the same time. Each reads up to 2,000 lots, so more of them would delay bids.
const SEARCHES_MAX: usize = 2;

struct Inner {
    searches: Semaphore,
    platform: Platform,
    site: Arc<Site>,
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
        Self(Arc::new(Inner {
            searches: Semaphore::new(SEARCHES_MAX),
            platform,
            site: Arc::new(site),
            public_url,
            transport,
        }))
    }

    pub(crate) fn platform(&self) -> &Platform {
        &self.0.platform
    }

    /// A cookie of a house, named for it. Under HTTPS, no other host and no plain connection can set it.
    pub(crate) fn cookie(&self, purpose: &str, customer: Uuid) -> Cookie {
        let name = match self.0.transport {
            Transport::Secure => format!("__Host-{purpose}-{}", customer.simple()),
            Transport::Any | Transport::Embedded => format!("{purpose}-{}", customer.simple()),
        };
        Cookie { name: name.into(), path: "/".to_owned(), transport: self.0.transport }
    }

    /// The cookie with the language that a visitor chose, for all houses.
    pub(crate) fn language_cookie(&self) -> Cookie {
        let name = if self.0.transport == Transport::Secure { "__Host-language" } else { "language" };
        Cookie { name: name.into(), path: "/".to_owned(), transport: self.0.transport }
    }

    /// Waits for the turn of a search; the turn lasts as long as the permit.
    pub(crate) async fn search_turn(&self) -> Option<SemaphorePermit<'_>> {
        self.0.searches.acquire().await.ok()
    }

    pub(crate) fn site(&self) -> &Site {
        &self.0.site
    }

    pub(crate) fn shared_site(&self) -> Arc<Site> {
        Arc::clone(&self.0.site)
    }

    /// The whole address of a path below that of a house.
    pub(crate) fn house_address(&self, saleroom: &Saleroom, below: &str) -> String {
        let house = saleroom.house.saleroom.address.as_deref().unwrap_or_default();
        self.address(&format!("/{house}{below}"))
    }

    /// The whole address of a path.
    pub(crate) fn address(&self, path: &str) -> String {
        format!("{}{path}", self.0.public_url)
    }
}
