//! Mails to bidders in a browser, with a real mail server: texts with their preview, a test mail, a decision, a refused address,
//! and a reminder.

use serde_json::{Value, json};
use testkit::browser::Page;
use testkit::mail_server::{MailServer, ReceivedMail};
use testkit::site::CustomerSite;

use crate::administration::{Administration, assert_accessible, desk_page};
use crate::support::{WAIT_MAX, launch};

const JOERG: &str = "joerg@example.com";
const ADA: &str = "ada@example.com";
/// The mailbox of Jörg.
const DEE: &str = "joerg+dee@example.com";

async fn next(server: &mut MailServer) -> ReceivedMail {
    tokio::time::timeout(WAIT_MAX, server.next()).await.expect("no mail arrived").unwrap()
}

/// Loads the page again until it shows the text.
async fn reload_until_shown(page: &Page, text: &str) {
    let found = async {
        while !page.text("document.body?.innerText ?? ''").await.unwrap().contains(text) {
            page.reload().await.unwrap();
        }
    };
    tokio::time::timeout(WAIT_MAX, found).await.unwrap_or_else(|_| panic!("the page never shows {text}"));
}

async fn bidders_receive_mails(database: Option<String>) {
    let mut server = MailServer::start().await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let mut launch = launch(data.path())
        .set("PROVIDER__ALLOW_SUBNETS", "127.0.0.0/8")
        .set("MAIL__SMTP_URL", &server.url)
        .set("MAIL__FROM", "Lotwire <mails@example.org>");
    if let Some(database) = &database {
        launch = launch.database(database);
    }
    let administration = Administration::open_on(launch, data).await;
    let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;

    // The texts of the house: a wrong placeholder is named, and the preview shows what is typed.
    page.open(&administration.url(&format!("/customers/{}", site.customer))).await.unwrap();
    page.wait_until_shown("Mails to bidders").await.unwrap();
    page.click_through("Mails to bidders").await.unwrap();
    page.wait_until_shown("No mail was sent").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Texts and language").await.unwrap();
    page.evaluate("document.getElementById('language').value = 'german'").await.unwrap();
    page.click("Write to bidders when their registration is approved, declined or suspended").await.unwrap();
    page.click_through("Show preview").await.unwrap();
    page.wait_until_shown("Guten Tag Ann Hartley,").await.unwrap();
    page.fill("suspendedText", "Guten Tag {bider}").await.unwrap();
    page.click_through("Save texts").await.unwrap();
    page.wait_until_shown("has {bider}, which is no placeholder: write one of {bidder}, {paddle}").await.unwrap();
    page.fill("suspendedText", "Guten Tag {bidder}, Ihre Nummer {paddle} ruht.").await.unwrap();
    page.click_through("Show preview").await.unwrap();
    page.wait_until_shown("Guten Tag Ann Hartley, Ihre Nummer 12 ruht.").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Save texts").await.unwrap();
    page.wait_until_shown("The texts were saved").await.unwrap();

    // A test mail shows what the server answers.
    page.fill("address", "nobody@example.com").await.unwrap();
    server.set_refused("nobody@example.com", true);
    page.click_through("Send test mail").await.unwrap();
    page.wait_until_shown("The mail server refused the mail to nobody@example.com.").await.unwrap();
    page.wait_until_shown("no such user here").await.unwrap();
    page.fill("address", "ann@example.com").await.unwrap();
    page.click_through("Send test mail").await.unwrap();
    page.wait_until_shown("taken as 4711").await.unwrap();
    assert_accessible(&page).await;
    let test = next(&mut server).await;
    assert_eq!(test.to, "ann@example.com");
    assert!(test.subject.starts_with("Testmail von Site"), "{}", test.subject);

    // An approval reaches the bidder, in the language of the house.
    let item = json!({ "lotNumber": "1", "title": "A bureau", "openingBid": 10_000 });
    let auction = json!({ "kind": "timed", "title": "Silber", "status": "PREVIEW", "startsAt": site.in_ms(3_600_000),
        "endsAt": site.in_ms(7_200_000), "items": [item] });
    let auction = site.create_auction(auction).await.unwrap();
    let registrations = format!("/api/v1/auctions/{auction}/registrations");
    let register = async |paddle: &str, name: &str, email: Option<&str>, status: &str| -> Value {
        let body = json!({ "paddle": paddle, "name": name, "email": email, "status": status });
        site.platform.post(&registrations, &body).await.unwrap().body
    };
    register("12", "Jörg Bieter", Some(JOERG), "pending").await;
    let list = format!("/auctions/{auction}/registrations");
    page.open(&administration.url(&list)).await.unwrap();
    page.wait_until_shown("Jörg Bieter").await.unwrap();
    page.click_through("Approve paddle 12").await.unwrap();
    let mail = next(&mut server).await;
    assert_eq!((&*mail.to, &*mail.subject), (JOERG, "Ihre Registrierung zur Auktion Silber: Bieternummer 12"));
    assert!(mail.text.contains("Guten Tag Jörg Bieter,"), "{}", mail.text);

    // A refused address is shown with what the server answered, and the mail sent again.
    server.set_refused(ADA, true);
    register("13", "Ada", Some(ADA), "approved").await;
    register("14", "Cy", None, "approved").await;
    page.open(&administration.url(&format!("/customers/{}/mails", site.customer))).await.unwrap();
    reload_until_shown(&page, "no such user here").await;
    page.wait_until_shown("Ada, paddle 13").await.unwrap();
    assert_accessible(&page).await;
    page.open(&administration.url("/")).await.unwrap();
    page.wait_until_shown("mail to a bidder failed in the last 7 days").await.unwrap();
    page.open(&administration.url(&format!("/customers/{}/mails?state=failed", site.customer))).await.unwrap();
    page.wait_until_shown(ADA).await.unwrap();
    page.click_through(ADA).await.unwrap();
    page.wait_until_shown("Ihre Bieternummer lautet 13.").await.unwrap();
    assert_accessible(&page).await;
    server.set_refused(ADA, false);
    page.click_through("Send again").await.unwrap();
    page.wait_until_shown("The mail waits to be sent again.").await.unwrap();
    assert_eq!(next(&mut server).await.to, ADA);

    // A mail that a busy server did not take waits for its next try, and is sent now.
    server.set_busy(true);
    register("15", "Dee", Some(DEE), "approved").await;
    page.open(&administration.url(&format!("/customers/{}/mails?state=waiting", site.customer))).await.unwrap();
    reload_until_shown(&page, "the mailbox is busy").await;
    page.wait_until_shown("Dee, paddle 15").await.unwrap();
    assert_accessible(&page).await;
    server.set_busy(false);
    page.click_through(&format!("Send now to {DEE}")).await.unwrap();
    page.wait_until_shown("The mail is due now.").await.unwrap();
    assert_eq!(next(&mut server).await.to, DEE);
    reload_until_shown(&page, "Sent").await;

    // A reminder: how many mailboxes and mails, the first mail, one button.
    page.open(&administration.url(&format!("/auctions/{auction}"))).await.unwrap();
    page.wait_until_shown("Remind bidders").await.unwrap();
    page.click_through("Remind bidders").await.unwrap();
    page.wait_until_shown("The first mail: paddle 12, to joerg@example.com").await.unwrap();
    page.wait_until_shown("Guten Tag Jörg Bieter,").await.unwrap();
    assert_accessible(&page).await;
    page.wait_until_shown("Mails, one for each bidder").await.unwrap();
    page.click_through("Send 3 mails to 2 mailboxes").await.unwrap();
    page.wait_until_shown("3 mails queued").await.unwrap();
    let mut reminded = [next(&mut server).await, next(&mut server).await, next(&mut server).await];
    reminded.sort_by_key(|mail| mail.to.clone());
    assert_eq!(reminded.each_ref().map(|mail| &*mail.to), [ADA, DEE, JOERG]);
    assert!(reminded.iter().all(|mail| mail.subject == "Zur Erinnerung: Auktion Silber"));
    reload_until_shown(&page, "to 3 bidders.").await;
    assert_accessible(&page).await;
    page.click_through("Remind bidders").await.unwrap();
    page.wait_until_shown("A reminder was queued").await.unwrap();
    page.wait_until_shown("Another one reaches the same bidders again.").await.unwrap();
    assert_eq!(server.arrived(), [], "nothing more was sent");

    // Nothing of a bidder is in the events, and who looked at the mails is in the access log.
    let events = site.platform.get(&format!("/api/v1/events?customer={}&limit=250", site.customer)).await.unwrap();
    let events = events.body.to_string();
    assert!(events.contains(&auction) && !events.contains("example.com") && !events.contains("Bieter"), "{events}");
    page.open(&administration.url("/audit")).await.unwrap();
    for event in ["Mails listed", "Mail viewed", "Reminder previewed"] {
        page.wait_until_shown(event).await.unwrap();
    }
    // The browser logs the one form that was refused.
    let errors = page.console_errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains("status of 422") && errors[0].contains("/mails/texts"), "{errors:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bidders_receive_mails_on_sqlite() {
    bidders_receive_mails(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bidders_receive_mails_on_postgres() {
    bidders_receive_mails(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}
