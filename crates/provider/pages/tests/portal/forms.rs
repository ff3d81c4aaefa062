//! The forms of endpoints: errors are shown beside their field, and the form keeps the entered values.

use kit_outbound::AddressPolicy;
use provider_core::{DeliveryOrder, EndpointAddressPolicy, EndpointInput, PageRequest, ProviderConfig};

use crate::fixture::{Fixture, at};

#[tokio::test]
async fn an_endpoint_is_added_with_all_fields() {
    let fixture = Fixture::new().await;
    for (name, description) in [("invoice.paid", "It was paid."), ("invoice.sent", "It went out."), ("PING", "")] {
        fixture.event_type(name, description, None).await;
    }
    let mut visitor = fixture.visitor().await;
    visitor.get("/endpoints/new").await.is(200).shows("<legend>invoice</legend>").shows("It was paid.").shows("PING");
    let form = [
        ("url", " https://example.com/hook "),
        ("description", "Two\r\nlines"),
        ("types", "some"),
        ("eventTypes", "invoice.paid"),
        ("eventTypes", "PING"),
        ("channels", "north, south"),
        ("throttleRate", "10"),
        ("ordering", "key"),
    ];
    let page = visitor.submit("/endpoints/new", &form).await;
    page.is(200).shows("The endpoint was added").shows("https://example.com/hook").shows("Send example");
    let made =
        fixture.provider.list_endpoints(&fixture.account, &fixture.app.id, &PageRequest::default()).await.unwrap().data;
    assert_eq!(made.len(), 1);
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    assert_eq!((made[0].url.as_str(), made[0].description.as_str()), ("https://example.com/hook", "Two\nlines"));
    assert_eq!(made[0].filter_types, words(&["PING", "invoice.paid"]));
    assert_eq!(made[0].channels, words(&["north", "south"]));
    assert_eq!((made[0].throttle_rate, made[0].ordering), (Some(10), DeliveryOrder::PerKey));
    let list = visitor.get("/endpoints").await;
    list.shows("<code>PING</code>, <code>invoice.paid</code>").shows("Enabled");
}

#[tokio::test]
async fn errors_are_shown_beside_their_field_and_entered_values_stay() {
    let address_policy =
        EndpointAddressPolicy { policy: AddressPolicy::public_only(Vec::new()), ..EndpointAddressPolicy::default() };
    let fixture = Fixture::with(ProviderConfig { endpoints_max: 1, address_policy, ..ProviderConfig::default() }).await;
    fixture.event_type("invoice.paid", "d", None).await;
    let mut visitor = fixture.visitor().await;
    for (field, form, said) in [
        ("url", &[("url", "")][..], "aria-describedby=\"url-hint url-fault\""),
        ("url", &[("url", "ftp://example.com")], "id=\"url-fault\""),
        ("url", &[("url", "http://10.0.0.1/")], "id=\"url-fault\""),
        ("types", &[("url", "https://kept.example/"), ("types", "some")], "choose at least one"),
        (
            "types",
            &[("url", "https://kept.example/"), ("types", "some"), ("eventTypes", "no.such")],
            "there is no event type no.such",
        ),
        ("channels", &[("url", "https://kept.example/"), ("channels", "a, b!")], "id=\"channels-fault\""),
        ("throttleRate", &[("url", "https://kept.example/"), ("throttleRate", "many")], "must be a whole number"),
        ("throttleRate", &[("url", "https://kept.example/"), ("throttleRate", "70000")], "must be a whole number"),
        ("throttleRate", &[("url", "https://kept.example/"), ("throttleRate", "0")], "must be a whole number"),
    ] {
        let form: Vec<_> = form.iter().copied().chain([("description", "what was typed")]).collect();
        let page = visitor.post("/endpoints/new", &form).await;
        page.is(422).shows(said).shows(&format!("id=\"{field}-fault\"")).shows(">what was typed</textarea>");
        for (name, value) in form {
            if !["eventTypes", "types", "description"].contains(&name) {
                page.shows(&format!("value=\"{value}\""));
            }
        }
    }
    // All errors in one form.
    let form = [("url", "ftp://x"), ("types", "some"), ("channels", "a!"), ("throttleRate", "many")];
    let page = visitor.post("/endpoints/new", &form).await;
    for field in ["url", "types", "channels", "throttleRate"] {
        page.shows(&format!("id=\"{field}-fault\""));
    }
    // The form keeps a chosen event type that the catalogue does not have.
    let form = [("url", "ftp://x"), ("types", "some"), ("eventTypes", "no.such"), ("eventTypes", "invoice.paid")];
    visitor.post("/endpoints/new", &form).await.shows("value=\"no.such\" checked").shows("\"invoice.paid\" checked");
    let one = visitor.submit("/endpoints/new", &[("url", "https://example.com/")]).await;
    one.is(200);
    let another = visitor.post("/endpoints/new", &[("url", "https://example.com/")]).await;
    another.is(400).shows("at most 1 endpoints").shows("role=\"alert\"");
}

#[tokio::test]
async fn a_form_that_is_too_large_or_of_another_content_type_is_refused() {
    let fixture = Fixture::new().await;
    let mut visitor = fixture.visitor().await;
    let long = "x".repeat(600 * 1_024);
    visitor.post("/endpoints/new", &[("url", &long)]).await.is(413).shows("The form was not accepted");
    let many = vec![("eventTypes", "a"); 3_000];
    visitor.post("/endpoints/new", &many).await.is(400).shows("at most 2048 fields");
    visitor.call(http::Method::PUT, "/endpoints", "", Vec::new()).await.is(405);
}

#[tokio::test]
async fn an_endpoint_is_changed_disabled_enabled_and_deleted() {
    let fixture = Fixture::new().await;
    fixture.event_type("invoice.paid", "d", None).await;
    let endpoint = fixture
        .endpoint(EndpointInput { filter_types: Some(vec!["invoice.paid".into()]), ..at("https://example.com/") })
        .await;
    let path = |page: &str| format!("/endpoints/{}{page}", endpoint.id);
    let mut visitor = fixture.visitor().await;
    // A deleted event type does not block other changes.
    fixture.provider.expunge_event_type(&fixture.account, "invoice.paid").await.unwrap();
    let page = visitor.get(&path("/settings")).await;
    page.is(200)
        .shows("value=\"https://example.com/\"")
        .shows("not in the catalogue")
        .shows("\"invoice.paid\" checked");
    let form =
        [("url", "https://example.com/"), ("types", "some"), ("eventTypes", "invoice.paid"), ("description", "Two")];
    visitor.submit(&path("/settings"), &form).await.is(200).shows("The endpoint was saved.").shows("Two");
    let form = [("url", "https://example.org/"), ("types", "all")];
    visitor.submit(&path("/settings"), &form).await.is(200).shows("https://example.org/");
    let changed = fixture.provider.endpoint(&fixture.account, &fixture.app.id, &endpoint.id).await.unwrap();
    assert_eq!((changed.filter_types, changed.description.as_str()), (None, ""));
    visitor.post(&path("/settings"), &[("url", "nothing")]).await.is(422).shows("value=\"nothing\"");

    visitor.get(&path("")).await.shows("/disable\">Disable endpoint</a>");
    let question = visitor.get(&path("/disable")).await;
    question.is(200).shows("Disable this endpoint?").shows("Keep it enabled");
    let enabled = fixture.provider.endpoint(&fixture.account, &fixture.app.id, &endpoint.id).await.unwrap();
    assert!(!enabled.disabled, "opening the question disabled the endpoint");
    visitor.submit(&path("/disable"), &[]).await.shows("Disabled").shows("receives nothing");
    visitor.get(&path("/disable")).await.is(303);
    visitor.get("/endpoints").await.shows("Disabled");
    visitor.get(&path("/example")).await.shows("enable the endpoint first");
    visitor.post(&path("/example"), &[("eventType", "svix.ping")]).await.is(400).shows("The endpoint is disabled");
    visitor.submit(&path("/enable"), &[]).await.shows("Enabled");

    visitor.get(&path("/delete")).await.is(200).shows("Delete this endpoint?").shows("Keep endpoint");
    visitor.get("/endpoints").await.shows("https://example.org/");
    visitor.submit(&path("/delete"), &[]).await.is(200).shows("The endpoint was deleted.").shows("No endpoints yet");
    visitor.get(&path("")).await.is(404);
}

#[tokio::test]
async fn headers_are_set_and_removed_and_sensitive_values_are_hidden() {
    let fixture = Fixture::new().await;
    let endpoint = fixture.endpoint(at("https://example.com/")).await;
    let path = format!("/endpoints/{}/headers", endpoint.id);
    let mut visitor = fixture.visitor().await;
    visitor.get(&path).await.is(200).shows("No headers yet");
    visitor.submit(&path, &[("name", "X-Tenant"), ("value", "hartley")]).await.shows("<code>hartley</code>");
    let page = visitor.submit(&path, &[("name", "Authorization"), ("value", "Bearer hidden-word")]).await;
    page.shows("Authorization").hides("hidden-word");
    visitor.submit(&path, &[("name", "x-tenant"), ("value", "sons")]).await.shows(">sons<").hides("hartley");
    for (name, value) in [("host", "x"), ("svix-id", "x"), ("two words", "x"), ("", "x"), ("x-a", "b\r\nx-c: d")] {
        visitor.post(&path, &[("name", name), ("value", value)]).await.is(422).shows("role=\"alert\"");
    }
    let page = visitor.post(&path, &[("name", "authorization"), ("value", "line\nhidden-word")]).await;
    page.is(422).hides("hidden-word").shows("value=\"authorization\"");
    visitor
        .submit(&format!("{path}/remove"), &[("name", "x-tenant")])
        .await
        .is(200)
        .hides(">sons<")
        .shows("Authorization");
}

#[tokio::test]
async fn a_secret_is_hidden_until_it_is_revealed_and_can_be_rotated() {
    let fixture = Fixture::new().await;
    let endpoint = fixture.endpoint(at("https://example.com/")).await;
    let path = |page: &str| format!("/endpoints/{}/secret{page}", endpoint.id);
    let secret =
        async || fixture.provider.endpoint_secret(&fixture.account, &fixture.app.id, &endpoint.id).await.unwrap();
    let mut visitor = fixture.visitor().await;
    let first = secret().await;
    visitor.get(&path("")).await.is(200).hides(&first).shows("Reveal").shows("whsec_").shows("whsk_");
    let revealed = visitor.post(&path("/reveal"), &[]).await;
    revealed.is(200).shows(&first);
    assert_eq!(revealed.headers["cache-control"], "no-store");

    let rotated = visitor.submit(&path("/rotate"), &[("gracePeriodSeconds", "3600"), ("key", "")]).await;
    rotated
        .is(200)
        .shows("has a new signing secret")
        .shows("An old secret also signs")
        .shows("in 1 hour")
        .hides(&first);
    assert_ne!(secret().await, first);
    let own = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let at_once = [("gracePeriodSeconds", "86400"), ("at_once", "yes"), ("key", own)];
    visitor.submit(&path("/rotate"), &at_once).await.is(200).hides(own);
    assert_eq!(secret().await, own);
    let refused = visitor.post(&path("/rotate"), &[("gracePeriodSeconds", "0"), ("key", "whsec_short")]).await;
    refused.is(422).shows("id=\"own-key-fault\"").hides("whsec_short");
    visitor.post(&path("/rotate"), &[("gracePeriodSeconds", "604801")]).await.is(422).shows("id=\"grace-fault\"");
    visitor.post(&path("/rotate"), &[("gracePeriodSeconds", "soon")]).await.is(400);
    assert_eq!(secret().await, own);
}
