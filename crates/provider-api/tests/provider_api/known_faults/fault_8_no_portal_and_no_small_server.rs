//! The link that an application gets leads to this server, and its token opens that application; all of it without PostgreSQL.

use base64::Engine as _;
use provider::ProviderConfig;
use serde_json::Value;

use crate::stage::Stage;

#[tokio::test]
async fn a_server_on_one_file_gives_a_link_to_itself() {
    let directory = tempfile::tempdir().unwrap();
    let store = store::sqlite::open_provider(&directory.path().join("provider.db")).await.unwrap();
    let config = ProviderConfig { public_url: "https://hooks.example".into(), ..ProviderConfig::default() };
    let stage = Stage::on(store, config).await;
    stage.application("app").await;
    stage.endpoint().await;
    let access = stage.post("/auth/app-portal-access/app", "{}").await;
    let url = access.field("url");
    let key = url.strip_prefix("https://hooks.example/app-portal/login#key=").expect(&url);
    let key: Value = serde_json::from_slice(&base64::engine::general_purpose::STANDARD.decode(key).unwrap()).unwrap();
    let token = key["token"].as_str().unwrap();
    let endpoints = stage.call_as(Some(token), "GET", "/app/app/endpoint", &[], "").await;
    assert_eq!((endpoints.status, endpoints.json()["data"].as_array().unwrap().len()), (200, 1));
}
