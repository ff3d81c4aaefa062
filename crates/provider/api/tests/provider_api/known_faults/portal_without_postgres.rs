//! A magic link opens the App Portal on this server, and its token gives access to the application, without PostgreSQL.
//! The open-source server has no portal and requires PostgreSQL.

use axum::body::Body;
use base64::Engine as _;
use http::Request;
use http::header::{CONTENT_TYPE, COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use http_body_util::BodyExt as _;
use kit_http::Surface;
use provider_core::ProviderConfig;
use serde_json::Value;
use tower::ServiceExt as _;

use crate::fixture::Fixture;

const PUBLIC_URL: &str = "https://hooks.example";

#[tokio::test]
async fn a_server_on_one_file_gives_a_link_that_opens_its_portal() {
    let directory = tempfile::tempdir().unwrap();
    let store = provider_store::sqlite::open(&directory.path().join("provider.db")).await.unwrap();
    let config = ProviderConfig { public_url: PUBLIC_URL.into(), ..ProviderConfig::default() };
    let fixture = Fixture::on(store, config).await;
    fixture.application("app").await;
    fixture.endpoint().await;
    let access = fixture.post("/auth/app-portal-access/app", "{}").await;
    let url = access.field("url");
    let (page, key) = url.split_once("#key=").expect(&url);
    let decoded = base64::engine::general_purpose::STANDARD.decode(key).unwrap();
    let decoded: Value = serde_json::from_slice(&decoded).unwrap();
    let token = decoded["token"].as_str().unwrap();
    let endpoints = fixture.call_as(Some(token), "GET", "/app/app/endpoint", &[], "").await;
    assert_eq!((endpoints.status, endpoints.json()["data"].as_array().unwrap().len()), (200, 1));

    let api = provider_api::surface(fixture.provider.clone());
    let surface = provider_pages::portal::add_to(api, fixture.provider.clone(), fixture.clock.clone());
    let page = page.strip_prefix(PUBLIC_URL).expect(page);
    let found = call(&surface, Request::get(page).body(Body::empty()).unwrap()).await;
    assert!(found.status() == 200 && found.body().contains("<title>Sign in"), "{found:?}");
    // The page's script sends the link's fragment like this.
    let form = form_urlencoded::Serializer::new(String::new()).append_pair("key", key).finish();
    let form = Request::post(page)
        .header(ORIGIN, PUBLIC_URL)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(form);
    let opened = call(&surface, form.unwrap().map(Body::from)).await;
    assert_eq!(
        (opened.status().as_u16(), &opened.headers()[LOCATION]),
        (303, &"/app-portal/endpoints".parse().unwrap())
    );
    let cookie = opened.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap();
    let list = Request::get("/app-portal/endpoints").header(COOKIE, cookie).body(Body::empty()).unwrap();
    let list = call(&surface, list).await;
    assert!(list.status() == 200 && list.body().contains("https://example.com/hook"), "{list:?}");
    // The API still responds beside the portal.
    let health = call(&surface, Request::get("/api/v1/health").body(Body::empty()).unwrap()).await;
    assert!(health.status().is_success(), "{health:?}");
}

async fn call(surface: &Surface, request: Request<Body>) -> http::Response<String> {
    let (parts, body) = surface.clone().oneshot(request).await.unwrap().into_parts();
    let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    http::Response::from_parts(parts, text)
}
