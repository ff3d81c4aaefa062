//! `lotwire verify` checks a sale while the server runs, and an exported record without a database.

use testkit::site::{CustomerSite, http_client};

use crate::support::{SMALL_SALE_EVENTS, launch, received, small_sale};

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_verifies_and_its_exported_record_verifies_by_itself() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let _server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    small_sale(&site).await;
    received(&site, SMALL_SALE_EVENTS).await;

    let verified = launch.run_command(&["verify", "--all", "--json"]).unwrap();
    assert_eq!((&verified["holds"], &verified["auctions"], &verified["items"]), (&true.into(), &2.into(), &5.into()));

    // An earlier anchor still holds after further sales.
    let anchor = verified["anchor"].as_str().unwrap();
    small_sale(&site).await;
    let notes = data.path().join("anchors.txt");
    std::fs::write(&notes, format!("# noted every night\n2026-11-21 {anchor}\n")).unwrap();
    let held = launch.run_command(&["verify", "--all", "--anchors-from", notes.to_str().unwrap(), "--json"]).unwrap();
    assert_eq!((&held["holds"], &held["anchorsHeld"]), (&true.into(), &1.into()), "{held}");
    assert_ne!(held["anchor"], verified["anchor"]);
    let alone = launch.run_command(&["verify", "--log", "--anchor", anchor, "--json"]).unwrap();
    for counted in ["anchor", "auctions", "items", "registrations", "entries"] {
        assert_eq!(alone[counted], held[counted], "{counted}");
    }
    let other = anchor.replace(':', ":0").get(..anchor.len()).unwrap().to_owned();
    assert!(launch.run_command(&["verify", "--anchor", &other, "--json"]).is_err());

    let auctions = site.platform.get("/api/v1/auctions").await.unwrap().body;
    let auction = auctions["data"][0]["uuid"].as_str().unwrap();
    let sold = site.items(auction).await.unwrap().remove(0);
    let record = site.platform.get(&format!("/api/v1/items/{}/record", sold["uuid"].as_str().unwrap())).await.unwrap();
    let file = data.path().join("sale.json");
    std::fs::write(&file, record.body.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let checked = launch.run_command(&["verify", "--record", file, "--json"]).unwrap();
    assert_eq!((&checked["holds"], &checked["sale"]["status"]), (&true.into(), &"SOLD".into()));
    assert_eq!(checked["head"], record.body["headHash"]);

    let forged = record.body.to_string().replacen("paddle-1", "paddle-2", 1);
    std::fs::write(file, forged).unwrap();
    assert!(launch.run_command(&["verify", "--record", file, "--json"]).is_err());
}
