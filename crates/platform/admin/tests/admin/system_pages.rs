//! The audit log, the system page and the test clock.

use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::{Caller, Role};

use crate::fixture::{Fixture, sale};

#[tokio::test]
async fn the_audit_log_names_people_and_is_searched() {
    let fixture = Fixture::new();
    let mut visitor = fixture.signed_in(Role::Administrator).await;
    visitor.post("/users/new", &[("email", "bob@example.com"), ("role", "clerk")]).await.is(200);
    let log = visitor.get("/audit").await;
    log.is(200).shows("User created").shows("Signed in").shows("administrator@example.com").shows("command-line");
    let found = visitor.get("/audit?search=BOB@example").await;
    found.is(200).shows("User created").hides("<b>Signed in</b>");
    visitor.get("/audit?search=nothing+like+this").await.is(200).shows("No entry contains this");
    for number in 0..60 {
        visitor.post("/users/new", &[("email", &format!("u{number}@example.com")), ("role", "viewer")]).await.is(200);
    }
    let page = visitor.get("/audit?search=created").await;
    let older = page.is(200).between("rel=\"next\" href=\"/admin", "\"").replace("&#38;", "&");
    assert_eq!(page.text.matches("User created").count(), 50);
    visitor.get(&older).await.is(200).shows("command-line").hides("rel=\"next\"");
}

#[tokio::test]
async fn the_record_of_a_lot_is_a_file() {
    let fixture = Fixture::new();
    let mut visitor = fixture.signed_in(Role::Administrator).await;
    let (_, lot) = sale(&fixture, |_| {}).await;
    let record = visitor.get(&format!("/audit/record?lot={lot}")).await;
    record.is(200).shows("lotwire.record.1");
    assert!(record.headers["content-disposition"].to_str().unwrap().starts_with("attachment"));
    let refused = visitor.get("/audit/record?lot=12").await;
    refused.is(400).shows("not the id of a lot").shows("href=\"#lot\"").shows("value=\"12\"");
    let unknown = "01a20ffe-0332-7020-bd63-f14308624a7e";
    let refused = visitor.get(&format!("/audit/record?lot={unknown}")).await;
    refused.is(404).shows("the id of no lot").shows(&format!("value=\"{unknown}\""));
}

#[tokio::test]
async fn the_system_page_reports_a_healthy_installation() {
    let fixture = Fixture::new();
    let mut visitor = fixture.signed_in(Role::Support).await;
    let page = visitor.get("/system").await;
    page.is(200).shows("Healthy").shows(env!("CARGO_PKG_VERSION")).shows("http://admin.test").shows("Staging");
}

#[tokio::test]
async fn the_system_page_follows_the_workers_of_this_node() {
    let fixture = Fixture::new();
    let mut visitor = fixture.signed_in(Role::Support).await;
    sale(&fixture, |_| {}).await;
    let row = |page: &str, name: &str| {
        page.split("<tr>").find(|row| row.contains(&format!("<b>{name}</b>"))).unwrap_or_default().to_owned()
    };
    let page = visitor.get("/system").await;
    page.is(200).shows("id=\"workers\" data-live=").shows("http-equiv=\"refresh\"");
    assert!(row(&page.text, "Ends of lots").contains("Not started"), "{}", page.text);
    fixture.clock.advance(std::time::Duration::from_secs(30 * 60));
    ItemEndWorker::new(fixture.platform.clone()).run_once(fixture.platform.now()).await.unwrap();
    let ends = row(&visitor.get("/system").await.text, "Ends of lots");
    assert!(ends.contains("Running") && ends.contains("Nothing"), "{ends}");
    // Nothing runs for a minute, then for a day: the lot's end is overdue.
    fixture.clock.advance(std::time::Duration::from_secs(60));
    assert!(row(&visitor.get("/system").await.text, "Ends of lots").contains("Late"));
    fixture.clock.advance(std::time::Duration::from_secs(24 * 3_600));
    let mut visitor = fixture.signed_in(Role::Viewer).await;
    let ends = row(&visitor.get("/system").await.text, "Ends of lots");
    assert!(ends.contains("Late") && ends.contains("An end is 31 min overdue"), "{ends}");
}

#[tokio::test]
async fn a_test_clock_is_advanced_once_for_what_was_seen() {
    let fixture = Fixture::new();
    let mut visitor = fixture.signed_in(Role::Operator).await;
    visitor.get("/test-clock").await.is(200).shows("No sandbox auctions");
    let (auction, _) = sale(&fixture, |new| new.sale_mode = platform_rules::SaleMode::Sandbox).await;
    let page = visitor.get("/test-clock").await;
    let version = page.is(200).shows("21 Nov 2026, 06:28:03 UTC").between("name=\"version\" value=\"", "\"");
    let path = format!("/test-clock/{auction}");
    let fields = [("version", version.as_str()), ("seconds", "3600")];
    visitor.submit(&path, &fields).await.is(200).shows("The clock was advanced").shows("07:28:03 UTC");
    visitor.post(&path, &fields).await.is(409).shows("Someone else changed it");
    visitor.post(&path, &[("seconds", "soon")]).await.is(400);
    let mut viewer = fixture.signed_in(Role::Viewer).await;
    viewer.post(&path, &[("seconds", "60")]).await.is(403).shows("administrator or operator");
    assert!(fixture.platform.auction(&Caller::command_line(), auction).await.is_ok());
}
