//! The official client's authentication calls, with the account's API key and with an application token.

use std::sync::Arc;

use kit_runtime::clock::SystemClock;
use provider_core::ProviderConfig;
use svix::api::*;
use svix::error::Error;
use svix::models::*;

use crate::{fixture, official};

#[tokio::test]
async fn the_official_client_gives_access_uses_it_and_ends_it() {
    let provider = fixture::provider(
        provider_store::sqlite::open_temporary().unwrap(),
        Arc::new(SystemClock),
        ProviderConfig::default(),
    );
    let key = fixture::key(&provider, "customer").await;
    let server_url = official::start(provider_api::surface(provider)).await;
    let client = |key: String| {
        Svix::new(key, Some(SvixOptions { server_url: Some(server_url.clone()), ..SvixOptions::default() }))
    };
    let svix = client(key);

    let inline = ApplicationIn { uid: Some("house".into()), ..ApplicationIn::new("Hammer & Sons".into()) };
    let access = |session: &str| AppPortalAccessIn {
        application: Some(inline.clone()),
        expiry: Some(3_600),
        feature_flags: Some(["beta".to_owned()].into()),
        session_id: Some(session.into()),
        ..AppPortalAccessIn::new()
    };
    let full = svix.authentication().app_portal_access("house".into(), access("ann"), None).await.unwrap();
    let reader = AppPortalAccessIn { capabilities: Some([AppPortalCapability::ViewBase].into()), ..access("bob") };
    let reader = svix.authentication().app_portal_access("house".into(), reader, None).await.unwrap();
    let (full, reader) = (client(full.token), client(reader.token));

    let application = svix.application().get("house".into()).await.unwrap().id;
    let whoami = full.authentication().whoami().await.unwrap();
    assert_eq!((whoami.app_id, whoami.session_id), (Some(application), Some("ann".into())));
    assert_eq!(svix.authentication().whoami().await.unwrap().app_id, None);

    let endpoint = EndpointIn::new("https://example.com/hook".into());
    let made = full.endpoint().create("house".into(), endpoint.clone(), None).await.unwrap();
    full.endpoint().get_secret("house".into(), made.id.clone()).await.unwrap();
    assert_eq!(reader.endpoint().list("house".into(), None).await.unwrap().data.len(), 1);
    assert_refused(403, reader.endpoint().create("house".into(), endpoint, None).await);
    assert_refused(403, reader.endpoint().get_secret("house".into(), made.id).await);
    let message = MessageIn::new("a.b".into(), serde_json::json!({}));
    assert_refused(403, full.message().create("house".into(), message, None).await);

    let bobs = ApplicationTokenExpireIn { session_ids: Some(vec!["bob".into()]), ..Default::default() };
    svix.authentication().expire_all("house".into(), bobs, None).await.unwrap();
    assert_refused(401, reader.endpoint().list("house".into(), None).await);
    full.authentication().logout(None).await.unwrap();
    assert_refused(401, full.endpoint().list("house".into(), None).await);
    svix.endpoint().list("house".into(), None).await.unwrap();
}

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(status: u16, result: Result<T, Error>) {
    match result.unwrap_err() {
        Error::Http(error) => assert_eq!((error.status.as_u16(), error.payload.is_some()), (status, true)),
        other => panic!("{other:?}"),
    }
}
