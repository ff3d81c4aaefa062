//! Shared by the stories of the saleroom: a house whose saleroom is open, with a mail server.

use testkit::browser::Page;
use testkit::mail_server::{MailServer, ReceivedMail};
use testkit::site::CustomerSite;

use crate::administration::{Administration, desk_page};
use crate::page_checks::PageChecks;
use crate::support::{WAIT_MAX, launch};

/// A running installation with one house, whose saleroom is open at `/hartley`.
pub struct OpenHouse {
    pub administration: Administration,
    pub site: CustomerSite,
    pub mails: MailServer,
    /// The staff's page, signed in as the administrator.
    pub staff: Page,
    /// Host and port of the saleroom.
    pub host: String,
    /// The mails that arrived and were not asked for yet. Mails are sent at the same time, so they arrive in any order.
    pub inbox: Vec<ReceivedMail>,
    pub checks: PageChecks,
}

impl OpenHouse {
    /// With a rule of who may register: `closed`, `by_staff` or `at_once`.
    pub async fn on(database: Option<String>, rule: &str) -> Self {
        Self::with(database, rule, &[]).await
    }

    /// With further settings, which come before those that every saleroom has here.
    pub async fn with(database: Option<String>, rule: &str, settings: &[(&str, &str)]) -> Self {
        let house = Self::closed(database, settings).await;
        house.open_saleroom(&house.site.customer, "hartley", rule).await;
        house
    }

    /// The installation and the house before its saleroom is opened.
    pub async fn closed(database: Option<String>, settings: &[(&str, &str)]) -> Self {
        let checks = PageChecks::of_story_on(database.as_ref());
        let mails = MailServer::start().await.unwrap();
        let data = tempfile::tempdir().unwrap();
        let mut launch = launch(data.path())
            .set("PROVIDER__ALLOW_SUBNETS", "127.0.0.0/8")
            // Push services of tests.
            .set("SALEROOM__PUSH_NETWORKS", "127.0.0.0/8")
            .set("MAIL__SMTP_URL", &mails.url)
            .set("MAIL__FROM", "Lotwire <mails@example.org>");
        if let Some(database) = &database {
            launch = launch.database(database);
        }
        let listen = launch.second_node().unwrap().platform;
        let host = format!("saleroom.localhost:{}", listen.port());
        launch =
            launch.set("SALEROOM__LISTEN", &listen.to_string()).set("SALEROOM__PUBLIC_URL", &format!("http://{host}"));
        launch = settings.iter().fold(launch, |launch, (key, value)| launch.set(key, value));
        let administration = Administration::open_on(launch, data).await;
        let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
        let staff = desk_page(&administration.browser).await;
        administration.set_up(&staff).await;
        Self { administration, site, mails, staff, host, inbox: Vec::new(), checks }
    }

    /// The mail to an address with this subject.
    pub async fn mail(&mut self, to: &str, subject: &str) -> ReceivedMail {
        let wanted = async {
            loop {
                if let Some(place) = self.inbox.iter().position(|mail| mail.to == to && mail.subject == subject) {
                    return self.inbox.remove(place);
                }
                self.inbox.push(self.mails.next().await.unwrap());
            }
        };
        let found = tokio::time::timeout(WAIT_MAX, wanted).await;
        found.unwrap_or_else(|_| {
            let others: Vec<_> = self.inbox.iter().map(|mail| (&mail.to, &mail.subject)).collect();
            panic!("no mail “{subject}” to {to}: {others:?}")
        })
    }

    /// Opens the saleroom of a customer at an address.
    pub async fn open_saleroom(&self, customer: &str, address: &str, rule: &str) {
        let staff = &self.staff;
        staff.open(&self.administration.url(&format!("/customers/{customer}/saleroom"))).await.unwrap();
        staff.wait_until_shown("Who may bid online").await.unwrap();
        staff.fill("address", address).await.unwrap();
        let rule = format!("[name=registration][value={rule}]");
        for choice in [rule.as_str(), "[name=outageEnds][value=at_their_time]", "[name=open]"] {
            staff.evaluate(&format!("document.querySelector('{choice}').click()")).await.unwrap();
        }
        staff.click("Save saleroom").await.unwrap();
        staff.wait_until_shown("The saleroom was saved.").await.unwrap();
    }

    /// Address of the house's pages.
    pub fn url(&self) -> String {
        format!("http://{}/hartley", self.host)
    }
}
