//! API access: keys are created, used, expired and revoked.

use provider_core::ProviderError;
use provider_core::model::KeyScope;

use crate::fixture::Fixture;

#[tokio::test]
async fn a_key_is_shown_once_and_works_until_it_is_revoked() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    ann.get("/api-access").await.is(200).shows("https://hooks.example").shows("platform");
    let fields = |name, expiry| [("name", name), ("access", "full"), ("expiry", expiry)];
    ann.post("/api-access/new", &fields("", "never")).await.is(422).shows("must not be empty");
    let long = "n".repeat(257);
    ann.post("/api-access/new", &fields(&long, "never")).await.is(422).shows("at most 256 characters").shows(&long);
    let none = [("name", " "), ("expiry", "sometime"), ("access", "limited")];
    let page = ann.post("/api-access/new", &none).await;
    page.is(422)
        .shows("href=\"#name\"")
        .shows("href=\"#access\"")
        .shows("href=\"#expiry\"")
        .shows("at least one scope");
    page.shows("role=\"radiogroup\"");
    ann.post("/api-access/new", &fields("Shop", "soon")).await.is(422).shows("Choose when");
    let page = ann.post("/api-access/new", &fields("Shop <b>", "never")).await;
    page.is(200).shows("is shown only now").shows("Shop &#60;b&#62;").shows("It does not expire.");
    let key = page.text_of("key");
    let list = ann.get("/api-access").await;
    list.is(200).shows("Shop &#60;b&#62;").hides(&key);

    let from = "192.0.2.7".parse().ok();
    let caller = fixture.provider.authenticate_from(Some(&key), from).await.unwrap();
    assert_eq!(caller.account, fixture.account.id);
    ann.get("/api-access").await.is(200).shows("192.0.2.7");

    let path = format!("/api-access/{}", caller.key);
    ann.get(&format!("{path}/revoke")).await.is(200).shows("are refused from now on").shows("192.0.2.7");
    ann.submit(&format!("{path}/revoke"), &[]).await.is(200).shows("The key was revoked.");
    assert!(matches!(fixture.provider.authenticate(&key).await, Err(ProviderError::Unauthenticated)));
    ann.get(&format!("{path}/expiry")).await.is(404);
}

#[tokio::test]
async fn a_key_can_be_given_an_expiry_and_the_expiry_can_be_removed() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let fields = [("name", "Shop"), ("access", "full"), ("expiry", "week")];
    let page = ann.post("/api-access/new", &fields).await;
    let key = page.is(200).shows("It expires").text_of("key");
    let caller = fixture.provider.authenticate(&key).await.unwrap();
    let path = format!("/api-access/{}/expiry", caller.key);
    ann.get(&path).await.is(200).shows("in 7 days");
    ann.post(&path, &[("expiry", "soon")]).await.leads_to(&path);
    ann.submit(&path, &[("expiry", "hour")]).await.is(200).shows("The key&#39;s expiry was changed.");
    fixture.clock.advance(std::time::Duration::from_secs(1_800));
    fixture.provider.authenticate(&key).await.unwrap();
    ann.submit(&path, &[("expiry", "never")]).await.is(200);
    fixture.clock.advance(std::time::Duration::from_secs(1_800));
    fixture.provider.authenticate(&key).await.unwrap();
    ann.submit(&path, &[("expiry", "hour")]).await.is(200);
    fixture.clock.advance(std::time::Duration::from_secs(3_600));
    assert!(fixture.provider.authenticate(&key).await.is_err());
}

#[tokio::test]
async fn keys_of_another_account_do_not_exist() {
    let fixture = Fixture::new().await;
    let other = fixture.provider.create_account("Other").await.unwrap();
    let key = fixture.provider.create_api_key(&other.id, "other").await.unwrap();
    let mut ann = fixture.admin().await;
    for action in ["expiry", "revoke"] {
        ann.get(&format!("/api-access/{}/{action}", key.key.id)).await.is(404);
        ann.post(&format!("/api-access/{}/{action}", key.key.id), &[("expiry", "hour")]).await.is(404);
    }
    fixture.provider.authenticate(&key.text).await.unwrap();
}

#[tokio::test]
async fn a_key_has_the_scopes_that_were_chosen() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    ann.get("/api-access/new").await.is(200).shows("value=\"full\" checked").shows("Sends messages, and creates");
    let none = [("name", "Shop"), ("expiry", "never"), ("access", "limited")];
    ann.post("/api-access/new", &none)
        .await
        .is(422)
        .shows("must have at least one scope")
        .shows("value=\"limited\" checked");
    let fields = [&none[..], &[("scope", "send"), ("scope", "read")]].concat();
    let page = ann.post("/api-access/new", &fields).await;
    let key = page.is(200).shows("Scopes: Read, Send messages.").text_of("key");
    let caller = fixture.provider.authenticate(&key).await.unwrap();
    let scopes: Vec<_> = KeyScope::ALL.into_iter().filter(|scope| caller.has_key_scope(*scope)).collect();
    assert_eq!(scopes, [KeyScope::Read, KeyScope::Send]);
    // A key from before scopes existed has full access.
    assert!(KeyScope::ALL.into_iter().all(|scope| fixture.key_caller.has_key_scope(scope)));
    ann.get("/api-access").await.shows("Read, Send messages").shows("Full access");
}

#[tokio::test]
async fn all_errors_of_a_new_key_are_named_at_once() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let page = ann.post("/api-access/new", &[("name", ""), ("access", "limited"), ("expiry", "soon")]).await;
    for field in ["name", "access", "expiry"] {
        page.is(422).shows(&format!("id=\"{field}-fault\"")).shows(&format!("<li><a href=\"#{field}\">"));
    }
}

#[tokio::test]
async fn a_key_is_created_only_with_valid_scopes() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let common = [("name", "Shop"), ("expiry", "never")];
    let hostile: &[&[(&str, &str)]] = &[
        &[],
        &[("scope", "read")],
        &[("scope", "read"), ("access", "")],
        &[("scope", "read"), ("access", "Limited")],
        &[("scope", "read"), ("access", "limitd")],
        &[("scope", "read"), ("access", "full")],
        &[("scope", "read"), ("access", "limited"), ("access", "full")],
        &[("scope", "read"), ("scope", "odd"), ("access", "limited")],
    ];
    for fields in hostile {
        let page = ann.post("/api-access/new", &[&common[..], fields].concat()).await;
        page.is(422).shows("Choose").shows("value=\"limited\" checked").hides("lwp_");
        assert_eq!(page.text.contains("value=\"read\" checked"), !fields.is_empty(), "{fields:?}");
    }
    ann.get("/api-access").await.is(200).hides("Shop");
}
