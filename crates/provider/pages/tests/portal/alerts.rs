//! Contacts of an application: an address is added, confirmed by its owner, and removed.

use provider_core::model::Capability;

use crate::fixture::{Fixture, visitor_of};

#[tokio::test]
async fn an_engineer_adds_an_address_and_its_owner_confirms_it_with_the_link_of_the_mail() {
    let fixture = Fixture::with_mail().await;
    let mut ann = fixture.visitor().await;
    ann.get("/alerts").await.is(200).shows("No addresses yet").shows("All attempts failed for 10 minutes");
    ann.post("/alerts", &[("do", "add"), ("address", "no address")]).await.is(422).shows("id=\"address-fault\"");
    let page = ann.submit("/alerts", &[("do", "add"), ("address", "ops+1@example.com")]).await;
    page.is(200).shows("A code was sent").shows("ops+1@example.com").shows("Not confirmed").shows("Send new code");

    let mail = fixture.mail().await;
    assert!(mail.contains("this application fail:\n\"Hammer & script alert('name') script\"\n"), "{mail}");
    let link = mail.lines().find(|line| line.contains("/app-portal/alerts/confirm?code=")).unwrap();
    let path = link.strip_prefix(&format!("{}/app-portal", fixture.server)).unwrap();
    // The owner of the address has no session.
    let mut owner = visitor_of(&fixture.server);
    let code = path.split_once("code=").unwrap().1;
    owner.get(path).await.is(200).shows(&format!("value=\"{code}\"")).hides("ops+1@example.com");
    ann.get("/alerts").await.shows("Not confirmed");
    owner.post("/alerts/confirm", &[("code", "wrong")]).await.is(422).shows("No address has this code");
    owner.post("/alerts/confirm", &[("code", code)]).await.is(200).shows("ops+1@example.com receives alerts");
    ann.get("/alerts").await.shows("Confirmed").hides("Send new code");
    ann.post("/alerts", &[("do", "add"), ("address", "ops+1@example.com")]).await.is(409);

    let page = ann.submit("/alerts", &[("do", "remove"), ("address", "ops+1@example.com")]).await;
    page.is(200).shows("was removed").shows("No addresses yet");
    ann.submit("/alerts", &[("do", "remove"), ("address", "ops+1@example.com")]).await.is(200);
}

#[tokio::test]
async fn the_code_can_be_entered_by_the_engineer_and_is_refused_when_it_is_wrong() {
    let fixture = Fixture::with_mail().await;
    let mut ann = fixture.visitor().await;
    ann.submit("/alerts", &[("do", "add"), ("address", "ops@example.com")]).await.shows("Confirm address");
    let mail = fixture.mail().await;
    let code = mail.split("on the page Alerts: ").nth(1).unwrap().split_whitespace().next().unwrap();
    ann.post("/alerts", &[("do", "confirm"), ("code", "odd")]).await.is(422).shows("id=\"code-fault\"");
    ann.submit("/alerts", &[("do", "confirm"), ("code", code)])
        .await
        .shows("is confirmed")
        .hides("Confirm address</h2>");
}

#[tokio::test]
async fn without_a_mail_server_the_page_names_the_setting() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.visitor().await;
    ann.get("/alerts").await.is(200).shows("<code>mail.smtp_url</code>").hides("Send code");
    let refused = ann.post("/alerts", &[("do", "add"), ("address", "ops@example.com")]).await;
    refused.is(422).shows("mail.smtp_url");
}

#[tokio::test]
async fn only_a_link_that_manages_endpoints_shows_and_changes_contacts() {
    let fixture = Fixture::with_mail().await;
    let mut reader = fixture.visitor_who_may(&[Capability::CreateAttempts]).await;
    reader.get("/endpoints").await.is(200).hides("/app-portal/alerts");
    reader.get("/alerts").await.is(403);
    reader.post("/alerts", &[("do", "add"), ("address", "ops@example.com")]).await.is(403);
    fixture.visitor_who_may(&[Capability::ManageEndpoint]).await.get("/endpoints").await.shows("/app-portal/alerts");
}
