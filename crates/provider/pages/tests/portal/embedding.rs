//! The portal inside a frame of another site, and the account's colour and logo.

use http::HeaderMap;
use provider_core::{LogoInput, PortalSettingsInput};

use crate::fixture::{Fixture, visitor_of};

const CONSOLE: &str = "https://console.example.com";
const LOGO: &[u8] = include_bytes!("../logo.png");

async fn set_up(fixture: &Fixture, origins: &[&str], logo: LogoInput) {
    let input = PortalSettingsInput {
        colour: "#7a0000".to_owned(),
        embed_origins: origins.iter().map(|origin| (*origin).to_owned()).collect(),
        logo,
    };
    fixture.provider.change_portal_settings(&fixture.account, input).await.unwrap();
}

fn ancestors(headers: &HeaderMap) -> String {
    let policy = headers["content-security-policy"].to_str().unwrap();
    policy.split_once("frame-ancestors ").unwrap().1.to_owned()
}

#[tokio::test]
async fn only_sites_that_the_account_allows_show_the_portal_in_a_frame() {
    let fixture = Fixture::new().await;
    let mut visitor = fixture.visitor().await;
    let page = visitor.get("/endpoints").await;
    assert_eq!(ancestors(&page.headers), "'none'");
    assert_eq!(page.headers["cross-origin-resource-policy"], "same-origin");
    set_up(&fixture, &[CONSOLE], LogoInput::Keep).await;
    for path in ["/endpoints", "/messages", "/endpoints/ep_1", "/overview"] {
        let page = visitor.get(path).await;
        assert_eq!(ancestors(&page.headers), CONSOLE, "{path}");
        assert_eq!(page.headers["cross-origin-resource-policy"], "cross-origin");
    }
    // Pages that belong to no account.
    let mut stranger = visitor_of(&fixture.server);
    let login = stranger.get("/login").await;
    assert!(ancestors(&login.headers).starts_with("https: "), "{}", ancestors(&login.headers));
    assert_eq!(ancestors(&stranger.get("/nowhere").await.headers), "'none'");
}

#[tokio::test]
async fn a_session_that_begins_in_a_frame_is_in_a_partitioned_cookie() {
    let fixture = Fixture::new().await;
    set_up(&fixture, &[CONSOLE], LogoInput::Keep).await;
    let link = fixture.link(provider_core::PortalAccessInput::default()).await;
    let key = link.url.split_once("#key=").unwrap().1;
    let mut visitor = visitor_of(&fixture.server);
    visitor.dest = Some("iframe");
    visitor.get("/endpoints").await.is(303);
    visitor.get("/login?framed=yes").await.is(200).shows("Open in a new tab").shows("keeps no session");
    let answer = visitor.post("/login", &[("key", key)]).await;
    let cookie = answer.is(303).headers["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with("lotwire_app_portal_frame="), "{cookie}");
    assert!(cookie.ends_with("; HttpOnly; SameSite=None; Secure; Partitioned"), "{cookie}");
    visitor.get("/endpoints").await.is(200).shows("No endpoints yet");
    // A form of the frame is the portal's own; a form of the site around it is not.
    visitor.post("/endpoints/new", &[("url", "https://example.com/")]).await.is(303);
    visitor.origin = Some(CONSOLE.to_owned());
    visitor.post("/endpoints/new", &[("url", "https://example.com/")]).await.is(403);
}

#[tokio::test]
async fn pages_have_the_accounts_colour_and_logo() {
    let fixture = Fixture::new().await;
    let mut visitor = fixture.visitor().await;
    visitor.get("/endpoints").await.hides("/theme/").hides("/logo/");
    set_up(&fixture, &[], LogoInput::File(LOGO.to_vec())).await;
    let page = visitor.get("/endpoints").await;
    page.shows("href=\"/app-portal/theme/7a0000.css\"");
    let (_, logo) = page.text.split_once("src=\"/app-portal/logo/").unwrap();
    let logo = logo.split_once('"').unwrap().0;
    let mut stranger = visitor_of(&fixture.server);
    let style = stranger.get("/theme/7a0000.css").await;
    style.is(200).shows("--accent: light-dark(#7a0000, #");
    for name in ["7a0000", "red.css", "7a00000.css", "%7B%7D.css", "7a000;.css"] {
        stranger.get(&format!("/theme/{name}")).await.is(404);
    }
    stranger.get(&format!("/logo/{logo}")).await.is(303);
    let image = visitor.get(&format!("/logo/{logo}")).await;
    assert_eq!((image.status, image.header("content-type").unwrap(), &image.bytes[..]), (200, "image/png", LOGO));
    assert_eq!(image.headers["x-content-type-options"], "nosniff");
}
