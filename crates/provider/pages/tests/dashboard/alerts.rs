//! Alerts by e-mail: the account's addresses and an application's contacts.

use kit_mail::Mailer;
use provider_core::ProviderConfig;
use provider_core::model::Role;

use crate::workplace::{HOSTILE, Workplace};

async fn with_mail() -> Workplace {
    let mailer = Some(Mailer::new("smtp://127.0.0.1:9", "alerts@example.org").unwrap());
    Workplace::open_with(ProviderConfig { mailer, ..ProviderConfig::default() }).await
}

#[tokio::test]
async fn addresses_of_the_account_and_contacts_of_an_application_are_kept_apart() {
    let place = with_mail().await;
    let app = place.application(HOSTILE).await;
    let mut ann = place.user(Role::Member).await;
    ann.get("/alerts").await.is(200).shows("No addresses yet").shows("All attempts failed for 5 days");
    ann.submit("/alerts", &[("do", "add"), ("address", "ops@example.com")])
        .await
        .shows("A code was sent")
        .shows("Not confirmed");
    let contacts = format!("/applications/{}/alerts", app.id);
    ann.get(&contacts).await.is(200).shows("No addresses yet").hides("<script>alert").hides("ops@example.com");
    ann.submit(&contacts, &[("do", "add"), ("address", "engineer@example.com")]).await.shows("Not confirmed");
    ann.get("/alerts").await.hides("engineer@example.com");
    let page = ann.get(&format!("/applications/{}", app.id)).await;
    page.is(200).shows("engineer@example.com").shows("Manage alert contacts");
    ann.post(&contacts, &[("do", "confirm"), ("code", "x")]).await.is(422).shows("No address has this code");
    ann.submit("/alerts", &[("do", "remove"), ("address", "ops@example.com")]).await.shows("was removed");
    ann.get(&contacts).await.shows("engineer@example.com");
    ann.get("/applications/app_1srOrx2ZWZBpBUvZwXKQmoEYga2/alerts").await.is(404);
    ann.get("/activity").await.shows("Added the alert recipient").shows("Removed the alert recipient");
}

#[tokio::test]
async fn an_invitation_can_be_mailed_where_mail_is_sent() {
    let mut admin = with_mail().await.user(Role::Admin).await;
    admin.get("/users/invite").await.is(200).shows("Mail the link to").shows("It can be mailed to the user");
    let invite = |email: &'static str| [("note", "Bob"), ("role", "member"), ("email", email)];
    let page = admin.post("/users/invite", &invite("bob")).await;
    page.is(422).shows("Must be an e-mail address").shows("value=\"bob\"").shows("href=\"#email\"");
    let page = admin.post("/users/invite", &invite(" bob@example.com ")).await;
    page.is(200).shows("The link is mailed to bob@example.com, too.").shows("lwpi_");
    admin.post("/users/invite", &invite("")).await.is(200).hides("is mailed to").shows("lwpi_");

    let mut admin = Workplace::open().await.user(Role::Admin).await;
    admin.get("/users/invite").await.is(200).hides("Mail the link to");
    admin.post("/users/invite", &invite("bob@example.com")).await.is(422).shows("mail.smtp_url");
}

#[tokio::test]
async fn a_viewer_reads_and_a_page_without_a_mail_server_names_the_setting() {
    let place = Workplace::open().await;
    let mut viewer = place.user(Role::Viewer).await;
    let page = viewer.get("/alerts").await;
    page.is(200).shows("sends no e-mail").shows("<code>mail.smtp_url</code>").shows("/dashboard/operational-webhooks");
    viewer.post("/alerts", &[("do", "add"), ("address", "ops@example.com")]).await.is(403);
    let mut member = place.user(Role::Member).await;
    member.post("/alerts", &[("do", "add"), ("address", "ops@example.com")]).await.is(422).shows("mail.smtp_url");
}
