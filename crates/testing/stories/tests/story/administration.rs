//! Shared by the stories of the administration: an empty installation, its first administrator, and a browser.

use std::time::{Duration, Instant};

use testkit::browser::{Browser, Page};
use testkit::server::{Launch, Server};
use testkit::site::http_client;

use crate::support::{WAIT_MAX, launch};

/// E-mail address and password of the first administrator.
pub const EMAIL: &str = "ann@hartley.example";
pub const PASSWORD: &str = "correct horse battery";
/// CSS pixels across phones and a tablet.
const SMALL: [u32; 3] = [320, 390, 768];
const DESK: u32 = 1_280;

/// Finds faults that hinder use on a phone, by keyboard or with a screen reader.
const FAULTS: &str = r#"(() => {
    const found = [], all = (selector) => [...document.querySelectorAll(selector)];
    const ids = all("[id]").map((element) => element.id);
    found.push(...ids.filter((id, place) => ids.indexOf(id) !== place).map((id) => "twice: " + id));
    const fields = all("input:not([type=hidden]), select, textarea");
    const unnamed = fields.filter((field) => field.labels.length === 0 && !field.getAttribute("aria-label"));
    found.push(...unnamed.map((field) => "without label: " + field.name));
    const described = all("[aria-describedby]").flatMap((field) => field.getAttribute("aria-describedby").split(" "));
    found.push(...described.filter((id) => !ids.includes(id)).map((id) => "not there: " + id));
    if (all("h1").length !== 1) found.push(all("h1").length + " main headings");
    const width = document.documentElement.scrollWidth;
    if (width > innerWidth) found.push(width + " pixels wide");
    return found.join("; ");
})()"#;

/// A running installation without customers and users.
pub struct Administration {
    pub launch: Launch,
    pub data: tempfile::TempDir,
    pub browser: Browser,
    pub server: Server,
}

impl Administration {
    pub async fn open() -> Self {
        let data = tempfile::tempdir().unwrap();
        let launch = launch(data.path()).set("PROVIDER__ALLOW_SUBNETS", "127.0.0.0/8");
        Self::open_on(launch, data).await
    }

    /// Starts the node of `launch`, whose data directory is `data`.
    pub async fn open_on(launch: Launch, data: tempfile::TempDir) -> Self {
        let server = launch.start(&http_client()).await.unwrap();
        Self { launch, data, browser: Browser::start().await.unwrap(), server }
    }

    /// Kills the server with SIGKILL and starts it again. The browser stays open.
    pub async fn kill_and_restart(self) -> Self {
        self.server.kill();
        let server = self.launch.start(&http_client()).await.unwrap();
        Self { launch: self.launch, data: self.data, browser: self.browser, server }
    }

    /// Process id of the server.
    pub fn server_id(&self) -> u32 {
        self.server.id()
    }

    /// An address of the administration.
    pub fn url(&self, path: &str) -> String {
        format!("{}/admin{path}", self.launch.platform_url())
    }

    /// The one-time code, from the file that the server has written.
    pub async fn setup_code(&self) -> String {
        let path = self.data.path().join("setup-code");
        let deadline = Instant::now() + WAIT_MAX;
        loop {
            match std::fs::read_to_string(&path) {
                Ok(code) if code.ends_with('\n') => return code,
                _ if Instant::now() > deadline => panic!("{} does not appear", path.display()),
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    /// Sets up the first administrator. The page is signed in as this user afterwards.
    pub async fn set_up(&self, page: &Page) {
        page.open(&self.url("/")).await.unwrap();
        page.wait_until_at("/admin/sign-in").await.unwrap();
        page.click("Set up the first administrator").await.unwrap();
        page.wait_until_at("/admin/set-up").await.unwrap();
        page.fill("code", self.setup_code().await.trim()).await.unwrap();
        page.fill("email", EMAIL).await.unwrap();
        page.fill("password", PASSWORD).await.unwrap();
        page.fill("repeated", PASSWORD).await.unwrap();
        page.click("Create administrator").await.unwrap();
        page.wait_until_at("/admin/").await.unwrap();
    }

    /// Signs in as another user.
    pub async fn sign_in(&self, page: &Page, email: &str, password: &str) {
        self.begin_sign_in(page, email, password).await;
        page.wait_until_at("/admin/").await.unwrap();
    }

    /// Sends the form of the sign-in page.
    pub async fn begin_sign_in(&self, page: &Page, email: &str, password: &str) {
        page.open(&self.url("/sign-in")).await.unwrap();
        page.wait_until_at("/admin/sign-in").await.unwrap();
        page.fill("email", email).await.unwrap();
        page.fill("password", password).await.unwrap();
        page.click("Sign in").await.unwrap();
    }
}

/// A new page with the width of a desktop window.
pub async fn desk_page(browser: &Browser) -> Page {
    let page = browser.page().await.unwrap();
    page.resize(DESK).await.unwrap();
    page
}

/// Asserts that the page has no fault at any width.
pub async fn assert_accessible(page: &Page) {
    for width in SMALL {
        page.resize(width).await.unwrap();
        page.wait_until(&format!("innerWidth === {width}")).await.unwrap();
        let faults = page.text(FAULTS).await.unwrap();
        assert_eq!(faults, "", "{width}: {}", page.text("location.href").await.unwrap());
    }
    page.resize(DESK).await.unwrap();
    page.wait_until(&format!("innerWidth === {DESK}")).await.unwrap();
}
