//! Attacks on the saleroom's port by hand-made requests: forged forms, foreign hosts, sessions and links of another house, addresses
//! that have an account, and ways out of the house after a sign-in.

use std::process::Command;

use serde_json::json;

use crate::open_saleroom::OpenHouse;
use crate::support::WAIT_MAX;

pub const PASSWORD: &str = "three green lamps";

/// An answer of the server.
pub struct Answer {
    pub status: u16,
    pub headers: String,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        let line = self
            .headers
            .lines()
            .find_map(|line| line.split_once(": ").filter(|(found, _)| found.eq_ignore_ascii_case(name)));
        line.map_or("", |(_, value)| value)
    }
}

/// Sends requests to the saleroom as its own pages do. A header without a value is left out.
pub struct Sender {
    pub port: u16,
    pub host: String,
    pub cookie: String,
}

impl Sender {
    pub fn of(house: &OpenHouse) -> Self {
        let port = house.host.rsplit_once(':').unwrap().1.parse().unwrap();
        Self { port, host: house.host.clone(), cookie: String::new() }
    }

    pub fn send(&self, path: &str, form: Option<&[(&str, &str)]>, replaced: &[&str]) -> Answer {
        let mut headers = vec![
            format!("Host: {}", self.host),
            format!("Origin: http://{}", self.host),
            "Sec-Fetch-Site: same-origin".to_owned(),
        ];
        if !self.cookie.is_empty() {
            headers.push(format!("Cookie: {}", self.cookie));
        }
        for header in replaced {
            let (name, value) = header.split_once(':').unwrap();
            headers.retain(|other| !other.starts_with(&format!("{name}:")));
            if !value.is_empty() {
                headers.push((*header).to_owned());
            }
        }
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--include", "--path-as-is"]);
        for header in &headers {
            curl.args(["--header", header]);
        }
        for (name, value) in form.into_iter().flatten() {
            curl.args(["--data-urlencode", &format!("{name}={value}")]);
        }
        let output = curl.arg(format!("http://127.0.0.1:{}{path}", self.port)).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (headers, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = headers.split(' ').nth(1).and_then(|status| status.parse().ok());
        Answer {
            status: status.unwrap_or_else(|| panic!("{path}: {text}")),
            headers: headers.to_owned(),
            body: body.to_owned(),
        }
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send(path, None, &[])
    }

    pub fn post(&self, path: &str, form: &[(&str, &str)]) -> Answer {
        self.send(path, Some(form), &[])
    }

    /// Opens an account and keeps its session. Returns the path with the link's code, which is used up.
    pub async fn open_account(&mut self, house: &mut OpenHouse, email: &str) -> String {
        assert_eq!(self.post("/hartley/sign-up", &[("email", email)]).status, 200);
        let mail = tokio::time::timeout(WAIT_MAX, house.mails.next()).await.expect("no mail arrived").unwrap();
        let link = mail.text.lines().find(|line| line.starts_with("http")).unwrap().to_owned();
        let (_, key) = link.split_once("?key=").unwrap();
        let opened = self.post("/hartley/sign-up/account", &[("key", key), ("name", "Ann"), ("password", PASSWORD)]);
        assert_eq!(opened.status, 303, "{}", opened.body);
        self.keep_cookies(&opened);
        key.to_owned()
    }

    /// Sends the cookies of an answer from now on.
    pub fn keep_cookies(&mut self, answer: &Answer) {
        let cookies = answer.headers.lines().filter_map(|line| line.strip_prefix("set-cookie: "));
        let cookies: Vec<&str> = cookies.map(|cookie| cookie.split(';').next().unwrap()).collect();
        self.cookie = cookies.join("; ");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_saleroom_takes_forms_sessions_and_links_of_its_own_pages_only() {
    let mut house = OpenHouse::on(None, "at_once").await;
    let other = house.site.platform.post("/api/v1/customers", &json!({ "name": "Other house" })).await.unwrap();
    house.open_saleroom(other.text("/uuid").unwrap(), "other", "at_once").await;
    let items = json!([{ "lotNumber": "1", "title": "Clock", "status": "LIVE", "openingBid": 50_000 }]);
    let sale = json!({ "kind": "timed", "title": "Clocks", "status": "LIVE", "endsAt": house.site.in_ms(3_600_000), "items": items });
    let auction = house.site.create_auction(sale).await.unwrap();
    let lot = house.site.items(&auction).await.unwrap()[0]["uuid"].as_str().unwrap().to_owned();
    let lot = format!("/hartley/sales/{auction}/lots/{lot}");
    let mut ann = Sender::of(&house);
    let used_key = ann.open_account(&mut house, "ann@example.com").await;
    assert_eq!(ann.post(&format!("/hartley/sales/{auction}/register"), &[("accepted", "")]).status, 303);

    // A form of another page does nothing, whatever it says of where it is from.
    let bid = [("kind", "next"), ("amount", "50000"), ("key", "k"), ("rates", "0-0-0"), ("confirmed", "yes")];
    let forms: [(&str, &[(&str, &str)]); 9] = [
        ("/hartley/sign-in", &[("email", "ann@example.com"), ("password", PASSWORD)]),
        ("/hartley/sign-up", &[("email", "ann@example.com")]),
        ("/hartley/sign-up/account", &[("key", &used_key), ("password", PASSWORD)]),
        ("/hartley/account", &[("name", "Mallory")]),
        ("/hartley/account/delete", &[("password", PASSWORD)]),
        ("/hartley/sign-out", &[("a", "b")]),
        (&format!("/hartley/sales/{auction}/register"), &[("accepted", "")]),
        (&format!("{lot}/bid"), &bid),
        (&format!("{lot}/watch"), &[("watch", "yes")]),
    ];
    let sub_host = format!("Origin: http://evil.{}", ann.host);
    let other_port = format!("Origin: http://saleroom.localhost:{}", ann.port + 1);
    let over_https = format!("Origin: https://{}", ann.host);
    for (path, form) in forms {
        for origin in ["Origin: http://evil.example", "Origin: null", &sub_host, &other_port, &over_https] {
            let forged = ann.send(path, Some(form), &[origin, "Sec-Fetch-Site: cross-site"]);
            assert_eq!(forged.status, 403, "{path} from {origin}");
            let forged = ann.send(path, Some(form), &[origin, "Sec-Fetch-Site:"]);
            assert_eq!(forged.status, 403, "{path} from {origin} without Sec-Fetch-Site");
        }
        for host in ["Host: localhost", "Host: evil.example", "Host: 127.0.0.1"] {
            assert_eq!(ann.send(path, Some(form), &[host]).status, 404, "{path} at {host}");
        }
        assert_eq!(
            ann.send(path, Some(form), &["Sec-Fetch-Site: same-site"]).status,
            403,
            "{path} from another host of the site"
        );
    }
    let items = house.site.items(&auction).await.unwrap();
    assert_eq!(items[0]["bidCount"], json!(0), "a forged form placed a bid");
    assert_eq!(ann.get("/hartley/my-bids").status, 200, "a forged form signed the bidder out");

    // A session and a link belong to one house, also under the cookie's name of the other.
    assert!(ann.get("/other/my-bids").header("location").starts_with("/other/sign-in"));
    let value = ann.cookie.split("; ").find(|cookie| cookie.starts_with("bidder-")).unwrap().split_once('=').unwrap().1;
    let customer = other.text("/uuid").unwrap().replace('-', "");
    let renamed = Sender { cookie: format!("bidder-{customer}={value}"), ..Sender::of(&house) };
    assert!(renamed.get("/other/my-bids").header("location").starts_with("/other/sign-in"));
    assert!(renamed.get("/hartley/my-bids").header("location").starts_with("/hartley/sign-in"));
    let visitor = Sender::of(&house);
    assert_eq!(visitor.post("/hartley/sign-up", &[("email", "bo@example.com")]).status, 200);
    let mail = loop {
        let mail = tokio::time::timeout(WAIT_MAX, house.mails.next()).await.expect("no mail arrived").unwrap();
        if mail.to == "bo@example.com" {
            break mail;
        }
    };
    let (_, key) = mail.text.lines().find(|line| line.starts_with("http")).unwrap().split_once("?key=").unwrap();
    assert_eq!(visitor.get(&format!("/other/sign-up/account?key={key}")).status, 410);
    assert_eq!(visitor.get(&format!("/hartley/sign-up/account?key={used_key}")).status, 410, "it was used");
    assert_eq!(visitor.get(&format!("/hartley/sign-up/account?key={key}")).status, 200);

    // No answer tells whether an address has an account.
    let answer = |path: &str, email: &str| {
        let found = visitor.post(path, &[("email", email), ("password", "wrong horse battery")]);
        (found.status, found.body.replace(email, "x@example.com"))
    };
    for path in ["/hartley/sign-in", "/hartley/sign-up"] {
        assert_eq!(answer(path, "ann@example.com"), answer(path, "cy@example.com"), "{path}");
    }

    // A sign-in leads back into the house only.
    for next in [
        "//evil.example",
        "http://evil.example",
        "/other/my-bids",
        "/hartley/../other/my-bids",
        "/hartley/%2e%2e/other",
        "/hartley//evil.example",
        "\\\\evil.example",
        "/hartley/sign-out",
    ] {
        let signed_in =
            visitor.post("/hartley/sign-in", &[("email", "ann@example.com"), ("password", PASSWORD), ("next", next)]);
        assert_eq!((signed_in.status, signed_in.header("location")), (303, "/hartley/my-bids"), "{next}");
        let cookie = signed_in.headers.to_lowercase();
        assert!(cookie.contains("httponly; samesite=lax"), "{cookie}");
    }
    let kept =
        visitor.post("/hartley/sign-in", &[("email", "ann@example.com"), ("password", PASSWORD), ("next", &lot)]);
    assert_eq!(kept.header("location"), lot);
}
