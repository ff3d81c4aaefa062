//! The portal inside a frame of another site: which sites may show it, and the session's cookie there.
//!
//! A response may be shown by the sites that the visitor's account allows. The sign-in page is shown before an account is
//! known, and shows nothing of any: every site may show it, over HTTPS. The session that begins in a frame is in a
//! partitioned cookie, which the browser sends in frames of the same other site only.

use std::sync::{Arc, OnceLock};

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, HeaderName};
use kit_design::cookie::{Cookie, Transport};
use kit_design::site::FrameAncestors;

const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
/// Sites that may show the sign-in page.
const ANY_SITE: [&str; 3] = ["https:", "http://localhost:*", "http://127.0.0.1:*"];

/// The sites that may show the response: a place in the request's extensions that a handler fills.
#[derive(Debug, Clone, Default)]
pub(super) struct AllowedSites(Arc<OnceLock<Vec<String>>>);

impl AllowedSites {
    /// Allows these sites.
    pub(super) fn allow(&self, origins: Vec<String>) {
        // The first handler decides; there is one for each request.
        let _ = self.0.set(origins);
    }

    /// Allows every site, for a page that shows nothing of an account.
    pub(super) fn allow_any(&self) {
        self.allow(any_site().0);
    }
}

/// Puts an [`AllowedSites`] into the request, and what it gets into the response.
pub(super) async fn middleware(mut request: Request, next: Next) -> Response {
    let allowed = AllowedSites::default();
    request.extensions_mut().insert(allowed.clone());
    let mut response = next.run(request).await;
    if let Some(origins) = allowed.0.get() {
        response.extensions_mut().insert(FrameAncestors(origins.clone()));
    }
    response
}

/// The sites that may show the sign-in page.
pub(super) fn any_site() -> FrameAncestors {
    FrameAncestors(ANY_SITE.map(str::to_owned).to_vec())
}

/// The request loads a page into a frame.
pub(super) fn is_framed(headers: &HeaderMap) -> bool {
    headers.get(SEC_FETCH_DEST).is_some_and(|dest| dest == "iframe" || dest == "frame")
}

/// The cookies of a session: one for pages of their own, one for pages in frames.
#[derive(Debug)]
pub(crate) struct SessionCookies {
    pub(super) own: Cookie,
    pub(super) framed: Cookie,
}

impl SessionCookies {
    pub(super) fn new(path: &str, transport: Transport) -> Self {
        let cookie = |name: &'static str, transport| Cookie { name: name.into(), path: path.to_owned(), transport };
        Self {
            own: cookie("lotwire_app_portal", transport),
            framed: cookie("lotwire_app_portal_frame", Transport::Embedded),
        }
    }

    /// The token of the session that the request belongs to. A browser that shows a page of its own may also have the cookie of
    /// a frame, if both sites are parts of one.
    pub(super) fn read<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let (own, framed) = (self.own.read(headers), self.framed.read(headers));
        let is_own_page = headers.get(SEC_FETCH_DEST).is_none_or(|dest| dest == "document");
        if is_own_page { own.or(framed) } else { framed.or(own) }
    }

    /// The cookie that a session begins with, for the request that signs in.
    pub(super) fn for_request(&self, headers: &HeaderMap) -> &Cookie {
        if is_framed(headers) { &self.framed } else { &self.own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_in_a_frame_belongs_to_the_session_of_the_frame() {
        let cookies = SessionCookies::new("/app-portal", Transport::Secure);
        let read = |dest: &'static str, cookie: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(SEC_FETCH_DEST, dest.parse().unwrap());
            headers.insert(http::header::COOKIE, cookie.parse().unwrap());
            cookies.read(&headers).map(str::to_owned)
        };
        let both = "lotwire_app_portal=own; lotwire_app_portal_frame=framed";
        for (dest, session) in [("document", "own"), ("iframe", "framed"), ("empty", "framed"), ("image", "framed")] {
            assert_eq!(read(dest, both).as_deref(), Some(session), "{dest}");
        }
        assert_eq!(read("iframe", "lotwire_app_portal=own").as_deref(), Some("own"));
        assert_eq!(read("empty", "other=1"), None);
    }
}
