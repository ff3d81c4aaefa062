//! Mails to bidders when the process is killed: between the mail server's taking a mail and the record of it, and before. No mail
//! is lost, none is sent more than twice for one kill, and a copy has the same `Message-ID`.

use std::collections::BTreeMap;

use serde_json::json;
use testkit::mail_server::{MailServer, ReceivedMail};
use testkit::site::CustomerSite;

use crate::administration::{Administration, desk_page};
use crate::support::{WAIT_MAX, launch};

const BIDDERS: usize = 12;

async fn next(server: &mut MailServer) -> ReceivedMail {
    tokio::time::timeout(WAIT_MAX, server.next()).await.expect("no mail arrived").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_loses_no_mail_and_sends_none_more_than_twice() {
    let mut server = MailServer::start().await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path())
        .set("PROVIDER__ALLOW_SUBNETS", "127.0.0.0/8")
        .set("MAIL__SMTP_URL", &server.url)
        .set("MAIL__FROM", "Lotwire <mails@example.org>");
    let administration = Administration::open_on(launch, data).await;
    let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;
    page.open(&administration.url(&format!("/customers/{}/mails/texts", site.customer))).await.unwrap();
    page.wait_until_shown("Texts and language").await.unwrap();
    page.click("Write to bidders when their registration is approved, declined or suspended").await.unwrap();
    page.click_through("Save texts").await.unwrap();
    page.wait_until_shown("The texts were saved").await.unwrap();
    let item = json!({ "lotNumber": "1", "title": "A bureau", "openingBid": 10_000 });
    let auction = json!({ "kind": "timed", "title": "Silver", "status": "PREVIEW", "startsAt": site.in_ms(3_600_000),
        "endsAt": site.in_ms(7_200_000), "items": [item] });
    let auction = site.create_auction(auction).await.unwrap();
    let registrations = format!("/api/v1/auctions/{auction}/registrations");
    let register = async |number: usize| {
        let body = json!({ "paddle": number.to_string(), "name": "Ann", "email": format!("b{number}@example.com"),
            "status": "approved" });
        site.platform.post(&registrations, &body).await.unwrap();
    };

    // The mail server takes mails and does not answer, so the platform does not learn that they arrived. Those that are queued
    // meanwhile wait.
    server.set_silent(true);
    for number in 1..=BIDDERS {
        register(number).await;
    }
    let mut arrived = vec![next(&mut server).await];
    // New sessions are answered; the sender of the first mail still has no answer when it is killed.
    server.set_silent(false);
    let administration = administration.kill_and_restart().await;

    // All arrive after the restart, without a wait for the claim of the dead process.
    let mut copies: BTreeMap<String, usize> = BTreeMap::new();
    while copies.len() < BIDDERS {
        arrived.push(next(&mut server).await);
        copies = BTreeMap::new();
        for mail in &arrived {
            *copies.entry(mail.id.clone()).or_default() += 1;
        }
    }
    register(BIDDERS + 1).await;
    // The page shows each mail once, as sent: nothing is on its way any more.
    page.open(&administration.url(&format!("/customers/{}/mails?state=sent", site.customer))).await.unwrap();
    let shown = async {
        while !page.text("document.body?.innerText ?? ''").await.unwrap().contains(&format!("Sent {}", BIDDERS + 1)) {
            page.reload().await.unwrap();
        }
    };
    tokio::time::timeout(WAIT_MAX, shown).await.expect("not all mails are recorded as sent");
    arrived.extend(server.arrived());
    copies = BTreeMap::new();
    for mail in &arrived {
        *copies.entry(mail.id.clone()).or_default() += 1;
    }
    assert_eq!(copies.len(), BIDDERS + 1);
    assert!(copies.values().all(|count| (1..=2).contains(count)), "{copies:?}");
    let twice = copies.values().filter(|count| **count == 2).count();
    assert!((1..=8).contains(&twice), "those whose answer the kill cut off have a copy: {copies:?}");
    for mail in &arrived {
        let first = arrived.iter().find(|first| first.id == mail.id).unwrap();
        assert_eq!(mail, first, "a copy is the same mail");
    }
}
