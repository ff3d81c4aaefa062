//! The App Portal inside a page of another site, in a real browser.

use http::{Response, StatusCode};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use testkit::browser::{Browser, Page};
use tokio::net::TcpListener;

use crate::portal::{DESK, PortalFixture};

/// A console of the customer, on another site than the portal (`localhost`, not `127.0.0.1`), with the link in a frame.
async fn console(link: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://localhost:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let link = link.clone();
            let answer = service_fn(move |_| {
                let page = format!("<!doctype html><title>Console</title><iframe src='{link}' width=1100 height=800>");
                let answer = Response::builder().status(StatusCode::OK).header("content-type", "text/html");
                async move { answer.body(Full::new(Bytes::from(page))) }
            });
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
        }
    });
    origin
}

/// The account allows the origin in its dashboard.
async fn allow(shop: &PortalFixture, page: &Page, origin: &str) {
    let words = ["provider", "account", "sign-in-code", &shop.account, "--json"];
    let code = shop.launch.run_command(&words).unwrap();
    // The command does not know the port of this server.
    let path = code["url"].as_str().unwrap().split_once("/dashboard").unwrap().1;
    page.open(&format!("{}/dashboard{path}", shop.launch.provider_url())).await.unwrap();
    page.wait_until_at("/dashboard/join/account").await.unwrap();
    for (id, text) in [("name", "Ann"), ("email", "ann@example.com"), ("password", "correct horse battery")] {
        page.fill(id, text).await.unwrap();
    }
    page.click("Join account").await.unwrap();
    page.wait_until("!location.pathname.includes('/join') && document.readyState === 'complete'").await.unwrap();
    page.open(&format!("{}/dashboard/account", shop.launch.provider_url())).await.unwrap();
    page.wait_until_shown("Save App Portal").await.unwrap();
    page.fill("origins", origin).await.unwrap();
    page.fill("colour", "#7a0000").await.unwrap();
    page.click_through("Save App Portal").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_portal_works_in_a_frame_of_a_site_that_the_account_allows_and_in_no_other() {
    let shop = PortalFixture::open().await;
    let (allowed, other) = (console(shop.link().await.0).await, console(shop.link().await.0).await);
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    page.resize(DESK).await.unwrap();
    allow(&shop, &page, &allowed).await;

    // The link signs in by a cookie that is for this frame only, and a form of the portal is accepted.
    page.open(&allowed).await.unwrap();
    let frame = page.frame("/app-portal/").await.unwrap();
    frame.wait_until_at("/app-portal/endpoints").await.unwrap();
    frame.wait_until_shown("Hammer & Sons").await.unwrap();
    frame
        .wait_until("getComputedStyle(document.querySelector('a.button')).backgroundColor === 'rgb(122, 0, 0)'")
        .await
        .unwrap();
    frame.evaluate("document.querySelector('a.button').click()").await.unwrap();
    frame.wait_until_at("/app-portal/endpoints/new").await.unwrap();
    let add = "document.getElementById('url').value = 'https://example.com/'; \
         [...document.querySelectorAll('button')].find((button) => button.textContent === 'Add endpoint').click()";
    frame.evaluate(add).await.unwrap();
    frame.wait_until_shown("The endpoint was added.").await.unwrap();
    assert_eq!(frame.text("document.cookie").await.unwrap(), "", "a script can read the session");
    // Outside the frame there is no session.
    page.open(&format!("{}/app-portal/endpoints", shop.launch.provider_url())).await.unwrap();
    page.wait_until_at("/app-portal/login").await.unwrap();

    // Another site gets the sign-in page, and no page of the application.
    let second = Browser::start().await.unwrap();
    let stranger = second.page().await.unwrap();
    stranger.open(&other).await.unwrap();
    let frame = stranger.frame("").await.unwrap();
    frame.wait_until("!location.pathname.startsWith('/app-portal')").await.unwrap();
    let shown = frame.text("document.body.innerText").await.unwrap();
    assert!(!shown.contains("Hammer & Sons"), "{shown}");
}
