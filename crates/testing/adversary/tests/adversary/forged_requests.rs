//! Return addresses after a sign-in, and forms of other origins, at the pages of both wings.

use crate::browser::{Browser, PASSWORD, dashboard_user};
use crate::support::Running;

/// Return addresses of other sites. After each, a sign-in leads to the first page instead.
const ELSEWHERE: [&str; 12] = [
    "/\u{1}",
    "/a\u{7f}",
    "/a\r\nSet-Cookie: a=b",
    "/a\tb",
    "/a b",
    "/ä",
    "/\u{202e}",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https://evil.example",
    "",
];

const PUBLIC_URL: &str = "https://lotwire.example";

/// Signed-out browsers of a user of the administration and of a user of the dashboard, with their e-mail addresses.
async fn signed_out(running: &Running) -> [(Browser, &'static str); 2] {
    let mut command = running.launch.command();
    command.args(["user", "create", "ann@example.com", "--role", "operator", "--password-stdin"]);
    let mut child = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), PASSWORD.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let account = running.launch.create_provider_account("forged").unwrap();
    let (_, email) = dashboard_user(running, &account).await;
    let browser = |server, base| Browser::new(server, base);
    [
        (browser(running.launch.platform, "/admin"), "ann@example.com"),
        (browser(running.launch.provider, "/dashboard"), email),
    ]
}

async fn sign_in(browser: &mut Browser, email: &str, next: &str) -> crate::browser::Page {
    browser.post("/sign-in", &[("email", email), ("password", PASSWORD), ("next", next)]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_leads_to_a_page_of_the_site() {
    let running = Running::new(&[]).await;
    for (browser, email) in signed_out(&running).await {
        let base = browser.base();
        for next in ELSEWHERE {
            let page = sign_in(&mut browser.clone(), email, next).await;
            assert_eq!((page.status, page.header("location")), (303, &*format!("{base}/")), "{next:?}: {}", page.body);
            assert!(!page.header("set-cookie").contains("a=b"));
            let form = browser.clone().get(&format!("/sign-in?next={}", crate::browser::encoded(next))).await;
            assert_eq!(form.status, 200, "{next:?}");
        }
        let page = sign_in(&mut browser.clone(), email, "/activity?a=1").await;
        assert_eq!((page.status, page.header("location")), (303, &*format!("{base}/activity?a=1")));
    }
    println!("forged_requests: {} addresses after a sign-in, at two sites", ELSEWHERE.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_public_url_only_forms_of_its_origin_are_accepted() {
    let running = Running::new(&[]).await;
    let users = signed_out(&running).await;
    // Without a public URL, the server trusts the `Host` of the browser.
    for (browser, email) in &users {
        let mut browser = browser.clone();
        (browser.origin, browser.host) = ("http://lots.internal".to_owned(), "lots.internal".to_owned());
        assert_eq!(sign_in(&mut browser, email, "/").await.status, 303);
    }
    let settings = [("PLATFORM__PUBLIC_URL", PUBLIC_URL), ("PROVIDER__PUBLIC_URL", PUBLIC_URL)];
    let _running = running.restarted(&settings).await;
    let mut refused = 0;
    for (browser, email) in &users {
        // The attacker's name leads to this server: the browser calls the page by that name, in each header.
        for (origin, host, fetch_site) in [
            ("http://evil.example", "evil.example", ""),
            ("http://evil.example", "evil.example", "same-origin"),
            ("https://evil.example", "lotwire.example", "same-origin"),
            ("https://lotwire.example.evil.example", "lotwire.example", ""),
            ("http://lotwire.example", "lotwire.example", ""),
            ("null", "lotwire.example", "same-origin"),
            (PUBLIC_URL, "lotwire.example", "cross-site"),
        ] {
            let mut browser = browser.clone();
            (browser.origin, browser.host, browser.fetch_site) = (origin.to_owned(), host.to_owned(), fetch_site);
            let page = sign_in(&mut browser, email, "/").await;
            assert_eq!(page.status, 403, "{origin} {host} {fetch_site}");
            assert!(page.body.contains(PUBLIC_URL), "the page says where it is: {}", page.body);
            refused += 1;
        }
        // A proxy may send any `Host`.
        for (host, fetch_site) in [("lotwire.example", "same-origin"), ("127.0.0.1:8080", "")] {
            let mut browser = browser.clone();
            (browser.origin, browser.host, browser.fetch_site) = (PUBLIC_URL.to_owned(), host.to_owned(), fetch_site);
            assert_eq!(sign_in(&mut browser, email, "/").await.status, 303, "{host} {fetch_site}");
        }
    }
    println!("forged_requests: {refused} forms of another origin refused");
}
