//! The check of a receiver's address before it is saved.

use axum::Router;
use axum::response::Redirect;
use axum::routing::any;
use kit_http::serve::{Limits, serve};
use kit_outbound::AddressPolicy;
use provider_core::{EndpointAddressPolicy, ProviderConfig};
use tokio::net::TcpListener;

use crate::fixture::{Fixture, at, receiver};

/// Starts a server that redirects every request to this address. Returns the server's address.
async fn redirect_to(target: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/old", any(async move || Redirect::permanent(&target)));
    tokio::spawn(serve(listener, kit_http::finish(router), std::future::pending(), Limits::default()));
    format!("http://{address}/old")
}

#[tokio::test]
async fn an_address_is_checked_before_it_is_saved_and_the_target_of_a_redirect_proposed() {
    let fixture = Fixture::new().await;
    let mut visitor = fixture.visitor().await;
    let good = receiver(200, "secret answer").await;
    let form = |url: &str| vec![("url", url.to_owned()), ("description", "kept".to_owned())];
    let check = async |visitor: &mut testkit::web::Browser, fields: Vec<(&str, String)>| {
        // An application can make two checks in a second.
        fixture.clock.advance(std::time::Duration::from_secs(1));
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        visitor.post("/endpoints/check-url", &fields).await
    };
    let page = check(&mut visitor, form(&good)).await;
    page.is(200).shows("The server can be reached").hides("127.0.0.1 is 127.0.0.1").shows("Not encrypted");
    page.shows(">kept</textarea>").shows("It answered 405").hides("secret answer");

    let old = redirect_to(good.clone()).await;
    let page = check(&mut visitor, form(&old)).await;
    page.is(200).shows("This address redirects.").shows(&format!("name=\"use\" value=\"{good}\""));
    let mut fields = form(&old);
    fields.push(("use", good.clone()));
    check(&mut visitor, fields).await.is(200).shows(&format!("type=\"url\" value=\"{good}\"")).shows("can be reached");

    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    check(&mut visitor, form(&format!("http://{closed}/"))).await.shows("Messages would not arrive").shows("refused");
    check(&mut visitor, form("ftp://example.com")).await.shows("This address can&#39;t be used.");
    let own = check(&mut visitor, form(&format!("{}/api/v1/app/x/msg", fixture.server))).await;
    own.is(200).shows("This is the provider itself.").hides("It answered");
    let own = check(&mut visitor, form(&format!("{}/x", fixture.server.replace("127.0.0.1", "localhost")))).await;
    own.is(200).shows("This seems to be the provider itself.").shows("unless a proxy passes this path");
    let mut fields = form(&good);
    fields.push(("part", "verdict".to_owned()));
    check(&mut visitor, fields).await.is(200).shows("can be reached").hides("<html");

    // The check saved nothing. The settings of an endpoint have the same check.
    visitor.get("/endpoints").await.shows("No endpoints yet");
    let endpoint = fixture.endpoint(at(&good)).await;
    fixture.clock.advance(std::time::Duration::from_secs(1));
    let path = format!("/endpoints/{}/settings/check-url", endpoint.id);
    visitor.post(&path, &[("url", &old)]).await.is(200).shows("This address redirects.").shows("Delete endpoint");
    let mut reader = fixture.visitor_who_may(&[]).await;
    reader.post("/endpoints/check-url", &[("url", &good)]).await.is(403);
    reader.post(&path, &[("url", &good)]).await.is(403);
}

#[tokio::test]
async fn private_addresses_are_not_contacted_and_checks_are_limited() {
    let address_policy =
        EndpointAddressPolicy { policy: AddressPolicy::public_only(Vec::new()), ..EndpointAddressPolicy::default() };
    let fixture = Fixture::with(ProviderConfig { address_policy, ..ProviderConfig::default() }).await;
    let mut visitor = fixture.visitor().await;
    let good = receiver(200, "").await;
    let page = visitor.post("/endpoints/check-url", &[("url", &good)]).await;
    page.is(200).shows("This address can&#39;t be used.").shows("provider.allow_subnets").hides("It answered");

    let fixture = Fixture::new().await;
    let mut visitor = fixture.visitor().await;
    for _ in 0..2 {
        visitor.post("/endpoints/check-url", &[("url", &good)]).await.is(200).shows("can be reached");
    }
    visitor.post("/endpoints/check-url", &[("url", &good)]).await.is(200).shows("too many checks at once");
}
