//! Bidders of two houses, and visitors who look for accounts: sessions and forms in the wrong house, addresses that have an account,
//! claimed IP addresses.

use std::time::{Duration, Instant};

use crate::browser::Browser;
use crate::salerooms::{HOUSES, Salerooms, shown};

/// Sign-ins of each kind whose time is measured.
const TIMED: usize = 9;
/// By how much the times of two kinds of sign-in may differ. The check of a password takes at least 20 times as long as a look-up.
const FACTOR_MAX: u32 = 4;
/// Links that one IP address asks for in 15 minutes.
const LINKS_MAX: usize = 100;
const LINKS_ASKED: usize = 130;

#[tokio::test(flavor = "multi_thread")]
async fn a_bidder_of_one_house_is_a_visitor_of_the_other() {
    let mut salerooms = Salerooms::open(&[]).await;
    let bidders =
        [salerooms.bidder(HOUSES[0], "ann@example.com").await, salerooms.bidder(HOUSES[1], "bo@example.com").await];
    let sales = [salerooms.sale(0).await, salerooms.sale(1).await];
    let mut refused = 0;
    for (own, other) in [(0, 1), (1, 0)] {
        let (house, foreign) = (HOUSES[own], HOUSES[other]);
        let mut bidder = bidders[own].clone();
        assert_eq!(bidder.get(&format!("/{house}/my-bids")).await.status, 200);
        // The cookie under its own name, and under that of the other house.
        let mut renamed = salerooms.visitor();
        let customer = salerooms.customers[other].replace('-', "");
        renamed.set_cookie(&format!("bidder-{customer}"), &bidder.cookie("bidder-"));
        for browser in [&mut bidder, &mut renamed] {
            for page in ["my-bids", "account", "notices", "account/notices", "account/sites"] {
                let page = browser.get(&format!("/{foreign}/{page}")).await;
                let leads = page.header("location").starts_with(&format!("/{foreign}/sign-in"));
                assert!(page.status == 303 && leads, "{}", page.header("location"));
                refused += 1;
            }
            let (sale, lot) = &sales[other];
            let bid = [("kind", "next"), ("amount", "50000"), ("key", "k"), ("rates", "0-0-0"), ("confirmed", "yes")];
            for (path, form) in [
                (format!("{lot}/bid"), &bid[..]),
                (format!("{lot}/watch"), &[("watch", "yes")]),
                (format!("{sale}/register"), &[("accepted", "")]),
                (format!("{sale}/limit"), &[("amount", "1000"), ("words", "")]),
                (format!("/{foreign}/account"), &[("name", "Mallory")]),
                (format!("/{foreign}/account/export"), &[("a", "b")]),
                (format!("/{foreign}/push"), &[("endpoint", "https://push.example/1")]),
            ] {
                let page = browser.post(&path, form).await;
                let leads = page.header("location").starts_with(&format!("/{foreign}/sign-in"));
                assert!(
                    leads || matches!(page.status, 401..=409),
                    "{path}: {} {}",
                    page.status,
                    page.header("location")
                );
                refused += 1;
            }
            // A session is no token of the API.
            assert_eq!(browser.get(&format!("/{foreign}/api/v1/me")).await.status, 401);
        }
        // A lot of the other house has no page in this one.
        for path in [&sales[other].0, &sales[other].1] {
            let path = path.replace(&format!("/{foreign}/"), &format!("/{house}/"));
            assert_eq!(bidder.get(&path).await.status, 404, "{path}");
            assert_eq!(
                bidder
                    .post(&format!("{path}/bid"), &[("kind", "next"), ("amount", "50000"), ("key", "k")])
                    .await
                    .status,
                404
            );
            refused += 2;
        }
    }
    println!("saleroom_accounts: {refused} requests of bidders at another house refused");
}

async fn sign_in(browser: &mut Browser, email: &str) -> ((u16, String), Duration) {
    let begin = Instant::now();
    let page = browser.post("/hartley/sign-in", &[("email", email), ("password", "wrong horse battery")]).await;
    (shown(&page, email), begin.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_an_answer_nor_its_time_tells_whether_an_address_has_an_account() {
    let mut salerooms = Salerooms::open(&[]).await;
    for number in 0..TIMED {
        salerooms.bidder("hartley", &format!("ann{number}@example.com")).await;
    }
    let mut visitor = salerooms.visitor();
    let mut times = [Vec::new(), Vec::new()];
    for number in 0..TIMED {
        let (known, of_known) = sign_in(&mut visitor, &format!("ann{number}@example.com")).await;
        let (unknown, of_unknown) = sign_in(&mut visitor, &format!("cyn{number}@example.com")).await;
        assert_eq!(known, unknown);
        assert_eq!(known.0, 401);
        times[0].push(of_known);
        times[1].push(of_unknown);
    }
    let [known, unknown] = times.map(|mut times| {
        times.sort();
        times[TIMED / 2]
    });
    assert!(
        known < unknown * FACTOR_MAX && unknown < known * FACTOR_MAX,
        "{known:?} with an account, {unknown:?} without"
    );
    let mut answers = Vec::new();
    for email in ["ann0@example.com", "cyn0@example.com"] {
        let page = visitor.post("/hartley/sign-up", &[("email", email)]).await;
        answers.push(shown(&page, email));
    }
    assert_eq!(answers[0], answers[1]);
    println!("saleroom_accounts: {} sign-ins; {known:?} with an account, {unknown:?} without", 2 * TIMED);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claimed_ip_address_has_no_quota_of_its_own() {
    let salerooms = Salerooms::open(&[]).await;
    let mut statuses = Vec::new();
    for number in 0..LINKS_ASKED {
        let mut visitor = salerooms.visitor();
        visitor.lines = format!(
            "X-Forwarded-For: 198.51.100.{number}\r\nForwarded: for=203.0.113.{number}\r\nX-Real-IP: 192.0.2.{number}\r\n"
        );
        let page = visitor.post("/hartley/sign-up", &[("email", &format!("visitor{number}@example.com"))]).await;
        statuses.push(page.status);
    }
    let refused = statuses.iter().filter(|status| **status == 429).count();
    assert!(statuses[..LINKS_MAX].iter().all(|status| *status == 200), "{statuses:?}");
    // The quota refills by one link in nine seconds.
    assert!(refused > (LINKS_ASKED - LINKS_MAX) / 2, "{statuses:?}");
    println!("saleroom_accounts: {LINKS_ASKED} links for claimed addresses, {refused} refused");
}
