//! Auctioneers and their addresses.

use platform_core::Role;

use crate::fixture::Fixture;

#[tokio::test]
async fn an_auctioneer_gets_an_address_and_loses_it_again() {
    let fixture = Fixture::new();
    let customer = fixture.customer("Hartley & Sons").await.to_string();
    let mut visitor = fixture.signed_in(Role::Support).await;
    visitor.get("/auctioneers").await.is(200).shows("No auctioneers yet");
    let new = [("customer", customer.as_str()), ("name", "Hartley Silver"), ("currency", "gbp")];
    visitor.post("/auctioneers/new", &[new[0], new[1], ("currency", "pounds")]).await.is(422).shows("three letters");
    visitor
        .post("/auctioneers/new", &[new[0], new[1], ("line1", "1 High Street")])
        .await
        .is(422)
        .shows("postcode-fault");
    visitor.submit("/auctioneers/new", &new).await.is(200).shows("The auctioneer was created.").shows("GBP");
    visitor.post("/auctioneers/new", &new).await.is(409).shows("already taken");
    let id = visitor.get("/auctioneers").await.between("href=\"/admin/auctioneers/0", "\"");
    let path = format!("/auctioneers/0{id}");
    let form = visitor.get(&path).await;
    let version = form.is(200).between("name=\"version\" value=\"", "\"");
    let address = [
        ("line1", "1 High Street"),
        ("line2", "Old Town"),
        ("postcode", "AB1 2CD"),
        ("city", "Leeds"),
        ("country", "GB"),
    ];
    let fields = |version| {
        [&[("version", version), ("name", "Hartley Silver & Gold"), ("currency", "EUR")][..], &address].concat()
    };
    visitor
        .submit(&path, &fields(&version))
        .await
        .is(200)
        .shows("Hartley Silver &#38; Gold")
        .shows("entered")
        .shows("EUR");
    visitor.get(&path).await.is(200).shows("1 High Street").shows("value=\"GB\"").shows("Leeds");
    visitor.post(&path, &fields(&version)).await.is(409).shows("Someone else changed it");
    visitor.submit(&path, &[("name", "Hartley Silver")]).await.is(200).hides("entered");
    let mut viewer = fixture.signed_in(Role::Viewer).await;
    viewer.get("/auctioneers").await.is(200).shows("Hartley Silver").hides("Create auctioneer");
    viewer.get(&path).await.is(403);
}
