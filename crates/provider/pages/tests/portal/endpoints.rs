//! The list of the application's endpoints.

use provider_core::{EndpointInput, Payload};

use crate::fixture::{Fixture, application, at, receiver};

#[tokio::test]
async fn failing_endpoints_are_listed_first_and_every_endpoint_is_found() {
    let fixture = Fixture::new().await;
    let mut visitor = fixture.visitor_who_may(&[]).await;
    visitor.get("/endpoints").await.is(200).shows("No endpoints yet").hides("Add endpoint");
    let mut all = Vec::new();
    for number in 1..=51 {
        let channels = Some(vec!["others".to_owned()]);
        all.push(fixture.endpoint(EndpointInput { channels, ..at(&format!("https://example.com/{number}/")) }).await);
    }
    let channels = Some(vec!["london".to_owned()]);
    let bad = EndpointInput { channels, description: "Tower bridge".into(), ..at(&receiver(500, "boom").await) };
    let bad = fixture.endpoint(bad).await;
    let theirs = application(&fixture.provider, &fixture.account, "Theirs").await;
    let input = at("https://theirs.example/");
    fixture.provider.create_endpoint(&fixture.account, &theirs.id, input, None, |_| String::new()).await.unwrap();
    let payload = Payload::from_text("{}".into()).unwrap();
    fixture.send_to("a.b", payload, None, Some(vec!["london".to_owned()])).await;

    let page = visitor.until_shown("/endpoints", "Failing 1").await;
    page.shows("All 52").shows("Endpoints 1 to 50 of 52").shows("in the channel <code>london</code>");
    let row = |id: &str| format!("<tr id=\"{id}\">");
    assert!(page.text.find(&row(&bad.id)) < page.text.find(&row(&all[0].id)));
    page.shows(&format!("href=\"/app-portal/endpoints/{}\"", bad.id)).hides("theirs.example");
    visitor.get("/endpoints?page=2").await.shows("Endpoints 51 to 52 of 52").shows(&row(&all[50].id));
    visitor.get(&format!("/endpoints?endpoint={}", all[50].id)).await.shows("Endpoints 51 to 52 of 52");
    let found = visitor.get("/endpoints?q=tower&state=failing").await;
    found.is(200).shows(&row(&bad.id)).shows("Endpoint 1 of 1").hides(&row(&all[0].id));
    visitor.get("/endpoints?q=theirs").await.shows("No matching endpoints").hides("theirs.example");
    visitor.get(&format!("/endpoints?q={}", all[7].id)).await.shows("Endpoint 1 of 1").shows(&row(&all[7].id));
}
