//! The page at `/` of each port: what the server is, and where a visitor finds the rest.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use kit_design::assets;
use kit_design::error_page::{ErrorPage, NextLink};
use kit_design::frame::{Frame, render_page};
use kit_design::site::{self, Site};
use kit_http::Surface;

use crate::config::{Config, Role};

/// Where the page and its files are mounted.
const PATH: &str = "/home";
const NAME: &str = "Lotwire";

/// A link of the page.
#[derive(Debug, Clone, Copy)]
struct Place {
    title: &'static str,
    path: &'static str,
    text: &'static str,
}

#[derive(Debug, Clone, Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: Frame,
    /// Path before every link.
    prefix: Arc<str>,
    purpose: &'static str,
    places: &'static [Place],
    /// When the health check succeeds.
    health: &'static str,
}

const PLATFORM: &[Place] = &[
    Place {
        title: "Administration",
        path: platform_admin::PATH,
        text: "Auctions, lots, customers and their webhooks, users. Sign in with your e-mail address and password.",
    },
    Place {
        title: "API documentation",
        path: "/docs",
        text: "Every operation with its scopes, fields and errors, and how to send an API key.",
    },
    Place { title: "OpenAPI document", path: "/api/v1/openapi.json", text: "The same as JSON, for client generators." },
    Place {
        title: "AsyncAPI document",
        path: "/api/v1/asyncapi.json",
        text: "The two event types that customers receive by webhook, with their schemas.",
    },
];
const PROVIDER: &[Place] = &[
    Place {
        title: "Dashboard",
        path: provider_pages::dashboard::PATH,
        text: "Applications, event types, API keys and users of an account. An Admin of the account invites you.",
    },
    Place {
        title: "App Portal",
        path: provider_pages::portal::PATH,
        text: "Endpoints, signing secrets and deliveries of one application. To sign in, use the link that you received \
               from the service that sends you webhooks.",
    },
    Place {
        title: "API documentation",
        path: "/docs",
        text: "Every operation with its fields and errors, and how to send an API key. Svix client libraries work with it.",
    },
    Place { title: "OpenAPI document", path: "/api/v1/openapi.json", text: "The same as JSON, for client generators." },
];

/// Adds the page to the surface of a role.
pub(crate) fn add_to(surface: Surface, role: Role, config: &Config) -> Surface {
    let url = url::Url::parse(&config.public_url(role)).ok();
    let prefix: Arc<str> = url.as_ref().map_or("", |url| url.path().trim_end_matches('/')).into();
    let (title, purpose, places, health) = match role {
        Role::Platform => (
            "Auction platform",
            "This server runs timed auctions and webcasts. It notifies each customer of every status change.",
            PLATFORM,
            "responds with 200 while the platform can read and write its database",
        ),
        Role::Provider => (
            "Webhook delivery provider",
            "This server accepts events and delivers each one as a signed webhook to the endpoints of its application.",
            PROVIDER,
            "responds with 204 while the provider accepts messages",
        ),
    };
    let base: Arc<str> = format!("{prefix}{PATH}").into();
    let origin = url.map_or(String::new(), |url| url.origin().ascii_serialization());
    let home = Some(NextLink { words: "Show the first page", path: "/" });
    let site = Site { base, origin, has_public_url: config.has_public_url(role), name: NAME, style: None, home };
    let page = HomePage { frame: Frame::signed_out(title, &site, NAME), prefix, purpose, places, health };
    let show = async move || -> Result<Response, ErrorPage> { render_page(&page) };
    let pages = Router::new().route("/", get(show)).merge(assets::routes());
    surface.mount_home(PATH, site::wrap_site(pages, Arc::new(site)))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http::Request;

    use super::*;

    async fn get_page(role: Role, public_url: &str, path: &str) -> (http::response::Parts, String) {
        let mut config = Config::default();
        (config.platform.public_url, config.provider.public_url) = (public_url.to_owned(), public_url.to_owned());
        let surface = add_to(kit_http::finish(Router::new()), role, &config);
        let request = Request::builder().uri(path).header("accept", "text/html").body(Body::empty()).unwrap();
        let (parts, body) = surface.answer(request).await.into_parts();
        let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        (parts, String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn the_page_names_the_server_links_its_documents_and_loads_only_files_of_the_server() {
        for (role, title, link) in [
            (Role::Platform, "Auction platform", "href=\"/api/v1/asyncapi.json\""),
            (Role::Provider, "Webhook delivery provider", "href=\"/app-portal\""),
        ] {
            let (parts, page) = get_page(role, "http://127.0.0.1:8080", "/").await;
            assert!(page.contains(title) && page.contains(link) && page.contains("href=\"/docs\""), "{page}");
            assert!(page.contains("/api/v1/health"), "{page}");
            let policy = parts.headers["content-security-policy"].to_str().unwrap();
            assert!(policy.starts_with("default-src 'none'"), "{policy}");
            assert!(!page.contains("style=") && !page.contains("<script>") && !page.contains("://"), "{page}");
            let files = page.split('"').filter(|text| text.contains("/static/"));
            for file in files {
                let (parts, _) = get_page(role, "http://127.0.0.1:8080", file).await;
                assert_eq!(parts.status, 200, "{file}");
            }
        }
    }

    #[tokio::test]
    async fn links_keep_the_path_of_the_public_url() {
        let (_, page) = get_page(Role::Provider, "https://example.com/hooks/", "/").await;
        assert!(page.contains("href=\"/hooks/docs\"") && page.contains("href=\"/hooks/home/static/"), "{page}");
    }
}
