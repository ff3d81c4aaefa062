//! Endpoints across applications and of one application: those that fail first, and every one within reach.

use provider_core::EndpointInput;
use provider_core::model::Role;

use crate::workplace::{HOSTILE, Workplace, at, receiver};

#[tokio::test]
async fn every_endpoint_of_an_application_is_reached_and_a_link_lands_on_its_row() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Viewer).await;
    ann.get("/endpoints").await.is(200).shows("No endpoints yet").shows("Show applications");
    let app = place.application("North").await;
    let mut all = Vec::new();
    for number in 1..=102 {
        let channels = Some(vec!["others".to_owned()]);
        let input = EndpointInput { channels, ..at(&format!("https://example.com/{number}/")) };
        all.push(place.endpoint(&app.id, input).await);
    }
    let bad = place.endpoint(&app.id, at(&receiver(500, "boom").await)).await;
    let disabled = EndpointInput { disabled: true, ..at("https://example.com/off/") };
    let disabled = place.endpoint(&app.id, disabled).await;
    place.send_to(&app.id, vec!["north".to_owned()]).await;

    let row = |id: &str| format!("<tr id=\"{id}\">");
    for path in ["/endpoints".to_owned(), format!("/applications/{}", app.id)] {
        let page = ann.until_shown(&path, "Failing 1").await;
        page.shows("All 104").shows("Disabled 1").shows("Enabled 102").shows("Endpoints 1 to 50 of 104");
        // The failing endpoint and the disabled one, which were added last, are listed first.
        let places = [&bad, &disabled, &all[0], &all[1]].map(|endpoint| page.text.find(&row(&endpoint.id)));
        assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
        page.shows("rel=\"next\"").hides("rel=\"prev\"").hides(&row(&all[101].id));
        let third = ann.get(&format!("{path}?page=3")).await;
        third.is(200).shows("Endpoints 101 to 104 of 104").shows(&row(&all[101].id)).hides("rel=\"next\"");
        third.shows("?page=2");
        ann.get(&format!("{path}?page=99")).await.is(200).shows("Endpoints 101 to 104 of 104");
        // A link in a mail names the endpoint.
        let linked = ann.get(&format!("{path}?endpoint={}", all[101].id)).await;
        linked.is(200).shows("Endpoints 101 to 104 of 104").shows(&row(&all[101].id));
        let failing = ann.get(&format!("{path}?state=failing")).await;
        failing.is(200).shows("Endpoint 1 of 1").shows(&row(&bad.id)).hides(&row(&disabled.id));
        failing.shows("state=undelivered");
        ann.get(&format!("{path}?state=odd&page=odd&endpoint=odd")).await.is(200).shows("All 104");
    }
    let page = ann.get(&format!("/applications/{}?page=2", app.id)).await;
    page.is(200).shows("Recent failures").shows("500: The receiver");
    let page = ann.get(&format!("/applications/{}?q=nothing", app.id)).await;
    page.is(200).shows("No matching endpoints").shows("Show all endpoints");
}

#[tokio::test]
async fn endpoints_are_found_by_what_names_them_and_show_what_they_receive() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Viewer).await;
    let (north, south) = (place.application("North <b>").await, place.application("South").await);
    let names: Vec<String> = (1..=6).map(|number| format!("lot.sold.{number}")).collect();
    let own = EndpointInput {
        description: format!("Tower bridge {HOSTILE}"),
        uid: Some("tower".into()),
        filter_types: Some(names.clone()),
        channels: Some(vec!["london".into(), "paris".into()]),
        ..at("https://north.example/in")
    };
    for name in &names {
        place.event_type(name).await;
    }
    let own = place.endpoint(&north.id, own).await;
    let other = place.endpoint(&south.id, at("https://south.example/in")).await;
    let page = ann.get("/endpoints").await;
    page.is(200).hides("<script>alert").shows("North &#60;b&#62;").shows("All event types");
    page.shows("<code>lot.sold.3</code>").shows("<summary>3 more</summary>").shows("<code>lot.sold.6</code>");
    page.shows("<code>london</code>, <code>paris</code>");
    page.shows(&format!("/applications/{}?endpoint={1}#{1}", north.id, own.id));
    for (text, found, hidden) in [
        ("NORTH.example", &own, &other),
        ("tower+bridge", &own, &other),
        ("tower", &own, &other),
        (&*own.id, &own, &other),
        ("north+%3Cb", &own, &other),
        ("South", &other, &own),
        (&*south.id, &other, &own),
    ] {
        let page = ann.get(&format!("/endpoints?q={text}")).await;
        page.is(200).shows(&format!("<tr id=\"{}\">", found.id)).hides(&format!("<tr id=\"{}\">", hidden.id));
        page.shows("All 1<").shows("Clear search");
    }
    let hostile: String = form_urlencoded::byte_serialize(HOSTILE.as_bytes()).collect();
    ann.get(&format!("/endpoints?q={hostile}")).await.is(200).hides("<script>alert").shows("All 1<");
    for field in ["state", "page", "endpoint"] {
        ann.get(&format!("/endpoints?{field}={hostile}")).await.is(200).hides("<script>alert");
    }
}

#[tokio::test]
async fn the_messages_of_an_endpoint_say_what_holds_them_back() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Viewer).await;
    let app = place.application("North").await;
    let input = EndpointInput { throttle_rate: Some(2), ..at(&receiver(200, "").await) };
    let endpoint = place.endpoint(&app.id, input).await;
    let path = format!("/messages?application={}&endpoint={}", app.id, endpoint.id);
    ann.get(&path).await.is(200).hides("id=\"held\"");
    for _ in 0..3 {
        place.send(&app.id, "a.b", "{}").await;
    }
    let held = "Held to the endpoint&#39;s rate limit of 2 messages a second.</strong> 2 messages wait.";
    ann.until_shown(&path, held).await;
    ann.get("/messages").await.is(200).hides("id=\"held\"");
}
