//! A refused form shows all its errors: those that the page finds while it reads the fields, and those of the use case.

use contract::AuctionStatus;
use platform_core::Role;
use testkit::web::{Answer, Browser};

use crate::fixture::{Fixture, PASSWORD};
use crate::sale_fixture::Sale;

/// Fields that the error summary links to. Each is marked, and described by its error.
fn wrong_fields(page: &Answer) -> Vec<&str> {
    let links = page.text.split("<li><a href=\"#").skip(1);
    let fields: Vec<&str> = links.filter_map(|link| link.split('"').next()).collect();
    for field in &fields {
        assert!(page.text.contains(&format!("id=\"{field}-fault\"")), "{field}: {}", page.text);
    }
    assert!(page.text.matches("aria-invalid=\"true\"").count() >= fields.len(), "{}", page.text);
    fields
}

async fn refused<'a>(visitor: &mut Browser, path: &str, fields: &[(&str, &'a str)], kept: &[&'a str]) -> Answer {
    let page = visitor.post(path, fields).await;
    page.is(422).shows("class=\"error-summary\"");
    for value in kept {
        page.shows(value);
    }
    page
}

#[tokio::test]
async fn the_set_up_names_a_wrong_code_beside_the_other_errors() {
    let fixture = Fixture::new();
    let code = fixture.platform.create_setup_code().await.unwrap().unwrap();
    let mut visitor = fixture.visitor();
    let fields = [("code", "lwc_wrong"), ("email", "ann at home"), ("password", "short"), ("repeated", "other")];
    let page = refused(&mut visitor, "/set-up", &fields, &["ann at home"]).await;
    assert_eq!(wrong_fields(&page), ["code", "email", "password", "repeated"]);
    let fields = [("code", "lwc_wrong"), ("email", "a@example.com"), ("password", PASSWORD), ("repeated", PASSWORD)];
    assert_eq!(wrong_fields(&refused(&mut visitor, "/set-up", &fields, &[]).await), ["code"]);
    let fields = [("code", code.expose_str().unwrap()), ("email", ""), ("password", PASSWORD), ("repeated", PASSWORD)];
    assert_eq!(wrong_fields(&refused(&mut visitor, "/set-up", &fields, &[]).await), ["email"]);
}

#[tokio::test]
async fn a_password_form_names_a_wrong_password_and_an_unusable_new_one() {
    let fixture = Fixture::new();
    let mut visitor = fixture.signed_in(Role::Operator).await;
    let fields = [("old", "wrong"), ("new", "short"), ("repeated", "other")];
    let page = refused(&mut visitor, "/account/password", &fields, &[]).await;
    assert_eq!(wrong_fields(&page), ["old", "new", "repeated"]);
    let fields = [("old", PASSWORD), ("new", "short"), ("repeated", "short")];
    assert_eq!(wrong_fields(&refused(&mut visitor, "/account/password", &fields, &[]).await), ["new"]);
    let page = visitor.post("/account/second-factor", &[("password", PASSWORD)]).await;
    page.is(200);
    let page = refused(&mut visitor, "/account/second-factor/confirm", &[("code", "000000")], &[]).await;
    assert_eq!(wrong_fields(&page), ["code"]);
}

#[tokio::test]
async fn forms_of_customers_show_what_the_page_and_the_use_case_refuse() {
    let fixture = Fixture::new();
    let customer = fixture.customer("Hartley & Sons").await.to_string();
    let mut visitor = fixture.signed_in(Role::Support).await;
    let long = "x".repeat(201);
    let auctioneer = [("customer", customer.as_str()), ("name", " "), ("currency", "pounds"), ("line1", &long)];
    let auctioneer = [&auctioneer[..], &[("country", "Narnia")]].concat();
    let page = refused(&mut visitor, "/auctioneers/new", &auctioneer, &["pounds", "Narnia", &long]).await;
    assert_eq!(wrong_fields(&page), ["name", "currency", "line1", "postcode", "country"]);

    let connection = format!("/customers/{customer}/connection");
    let page = refused(
        &mut visitor,
        &connection,
        &[
            ("provider", "address"),
            ("url", ""),
            ("application", "ap_1"),
            ("apiKey", "lw_abc"),
            ("start", "cursor"),
            ("cursor", "first"),
        ],
        &["ap_1", "first"],
    )
    .await;
    assert_eq!(wrong_fields(&page), ["url", "application", "apiKey", "cursor"]);
    let fields = [("provider", "address"), ("url", "https://u:p@x"), ("start", "cursor"), ("cursor", "1000")];
    assert_eq!(wrong_fields(&refused(&mut visitor, &connection, &fields, &["1000"]).await), ["url", "cursor"]);

    let key = [("name", " "), ("customer", ""), ("expires", "31.12.2026")];
    let page = refused(&mut visitor, "/api-keys/new", &key, &["31.12.2026"]).await;
    assert_eq!(wrong_fields(&page), ["name", "customer", "expires", "scopes"]);
    let key = [("name", "Web"), ("customer", customer.as_str()), ("scopes", "odd"), ("expires", "2020-01-01")];
    let page = refused(&mut visitor, "/api-keys/new", &key, &["2020-01-01"]).await;
    assert_eq!(wrong_fields(&page), ["expires", "scopes"]);
    page.shows("does not exist").hides("is empty");
}

#[tokio::test]
async fn forms_of_a_sale_show_what_the_page_and_the_use_case_refuse() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["Candlestick"]).await;
    let fields = [
        ("auctioneer", ""),
        ("kind", "timed"),
        ("title", " "),
        ("currency", "XXQ"),
        ("timeZone", "Mars/Olympus"),
        ("endsAt", "soon"),
        ("staggerSeconds", "9999999"),
        ("extensionSeconds", "many"),
        ("premium", "200"),
        ("increments", "5"),
    ];
    let page = refused(&mut sale.operator, "/auctions/new", &fields, &["Mars/Olympus", "soon", "many"]).await;
    let wrong = [
        "auctioneer",
        "title",
        "currency",
        "timeZone",
        "endsAt",
        "staggerSeconds",
        "extensionSeconds",
        "increments",
        "premium",
    ];
    assert_eq!(wrong_fields(&page), wrong);
    let edit = format!("/auctions/{}/edit", sale.auction);
    let page = refused(&mut sale.operator, &edit, &fields[2..], &["Mars/Olympus", "soon", "many"]).await;
    assert_eq!(wrong_fields(&page), wrong[1..]);

    let long = "9".repeat(33);
    let lot = [("lotNumber", long.as_str()), ("title", " "), ("lowEstimate", "lots"), ("highEstimate", "1")];
    let lot = [&lot[..], &[("reserve", "10"), ("imageUrl", "ftp://x")]].concat();
    let lots = format!("/auctions/{}/lots", sale.auction);
    let page = refused(&mut sale.operator, &format!("{lots}/new"), &lot, &[&long, "lots", "ftp://x"]).await;
    let wrong = ["lotNumber", "title", "lowEstimate", "reserve", "imageUrl"];
    assert_eq!(wrong_fields(&page), wrong);
    let edit = format!("{lots}/{}/edit", sale.items[0].uuid);
    let lot = [&lot[..], &[("endTime", "soon")]].concat();
    let page = refused(&mut sale.operator, &edit, &lot, &[&long, "lots", "ftp://x"]).await;
    assert_eq!(wrong_fields(&page), [&wrong[..], &["endTime"]].concat());
}
