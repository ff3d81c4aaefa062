//! Attacks on the tokens of web sites by hand-made requests: foreign sites, houses, addresses and verifiers, codes and tokens used
//! twice or in the wrong place.

use std::process::Command;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::saleroom_attacks::{Answer, PASSWORD, Sender};
use crate::saleroom_sites::SaleOfSites;

const SITE: &str = "https://www.example.com";
const BACK: &str = "https://www.example.com/bids?from=saleroom";
const OTHER_SITE: &str = "https://other.example";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

/// Sends a request with exactly these headers beside `Host`.
fn request(sender: &Sender, method: &str, path: &str, headers: &[&str], body: Option<&str>) -> Answer {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--include", "--path-as-is", "--max-time", "20", "--request", method]);
    curl.args(["--header", &format!("Host: {}", sender.host)]);
    for header in headers {
        curl.args(["--header", header]);
    }
    if let Some(body) = body {
        curl.args(["--data-raw", body]);
    }
    let output = curl.arg(format!("http://127.0.0.1:{}{path}", sender.port)).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (headers, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = headers.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.unwrap_or_else(|| panic!("{method} {path}: {text}"));
    Answer { status, headers: headers.to_owned(), body: body.to_owned() }
}

fn query(fields: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(fields).finish()
}

fn challenge() -> String {
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER))
}

/// The right request for a code, with some fields in place of its own.
fn asking<'a>(challenge: &'a str, changed: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut fields = vec![
        ("response_type", "code"),
        ("client_id", SITE),
        ("redirect_uri", BACK),
        ("state", "a & b"),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
    ];
    for (name, value) in changed {
        fields.retain(|(known, _)| known != name);
        fields.push((name, value));
    }
    fields
}

/// The code that a signed-in bidder allows.
fn code(ann: &Sender) -> String {
    let allowed = ann.post("/hartley/authorize", &asking(&challenge(), &[]));
    assert_eq!(allowed.status, 303, "{}", allowed.body);
    let address = allowed.header("location").to_owned();
    let told = address.strip_prefix(&format!("{BACK}&")).unwrap_or_else(|| panic!("{address}"));
    let told: Vec<(String, String)> = form_urlencoded::parse(told.as_bytes()).into_owned().collect();
    let value = |name: &str| told.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap();
    assert_eq!((value("state"), value("iss")), ("a & b".to_owned(), format!("http://{}/hartley", ann.host)));
    value("code")
}

fn token(sender: &Sender, house: &str, fields: &[(&str, &str)], headers: &[&str]) -> (u16, Value) {
    let answer = request(sender, "POST", &format!("/{house}/token"), headers, Some(&query(fields)));
    assert!(answer.header("cache-control").contains("no-store"), "{}", answer.headers);
    (answer.status, serde_json::from_str(&answer.body).unwrap_or_default())
}

fn redeem(sender: &Sender, house: &str, code: &str, changed: &[(&str, &str)]) -> (u16, Value) {
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("client_id", SITE),
        ("code", code),
        ("redirect_uri", BACK),
        ("code_verifier", VERIFIER),
    ];
    for (name, value) in changed {
        fields.retain(|(known, _)| known != name);
        fields.push((name, value));
    }
    token(sender, house, &fields, &[])
}

fn tokens(ann: &Sender) -> (String, String) {
    let (status, tokens) = redeem(ann, "hartley", &code(ann), &[]);
    assert_eq!(
        (status, &tokens["token_type"], &tokens["expires_in"]),
        (200, &json!("Bearer"), &json!(3_600)),
        "{tokens}"
    );
    let text = |name: &str| tokens[name].as_str().unwrap().to_owned();
    (text("access_token"), text("refresh_token"))
}

fn me(sender: &Sender, house: &str, token: &str, headers: &[&str]) -> u16 {
    let authorization = format!("Authorization: Bearer {token}");
    let headers: Vec<&str> = headers.iter().copied().chain([authorization.as_str()]).collect();
    request(sender, "GET", &format!("/{house}/api/v1/me"), &headers, None).status
}

/// A house that lists a site, another one that lists the same site and another, and a bidder of the first.
async fn houses() -> (SaleOfSites, Sender, String) {
    let mut sale = SaleOfSites::open(None).await;
    let other = sale.house.site.platform.post("/api/v1/customers", &json!({ "name": "Other house" })).await.unwrap();
    let other = other.text("/uuid").unwrap().to_owned();
    sale.house.open_saleroom(&other, "other", "at_once").await;
    let customer = sale.house.site.customer.clone();
    sale.list_sites(&customer, &[BACK]).await;
    sale.list_sites(&other, &[BACK, OTHER_SITE]).await;
    let mut ann = Sender::of(&sale.house);
    ann.open_account(&mut sale.house, "ann@example.com").await;
    (sale, ann, customer)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_reaches_no_site_that_the_house_does_not_list() {
    let (_sale, ann, _) = houses().await;
    let challenge = challenge();
    let page =
        |changed: &[(&str, &str)]| ann.get(&format!("/hartley/authorize?{}", query(&asking(&challenge, changed))));
    let shown = page(&[]);
    assert_eq!(shown.status, 200, "{}", shown.body);
    let policy = shown.header("content-security-policy");
    assert!(
        policy.contains("frame-ancestors 'none'") && policy.contains(&format!("form-action 'self' {SITE};")),
        "{policy}"
    );

    // Site or address are not exactly those of the house: nothing is sent there, whatever else is wrong.
    let untrusted: [&[(&str, &str)]; 13] = [
        &[("client_id", OTHER_SITE)],
        &[("client_id", OTHER_SITE), ("redirect_uri", "https://other.example/")],
        &[("client_id", "https://www.example.com/")],
        &[("client_id", "http://www.example.com")],
        &[("client_id", "")],
        &[("redirect_uri", "")],
        &[("redirect_uri", "https://www.example.com/bids")],
        &[("redirect_uri", "https://www.example.com/x/../bids?from=saleroom")],
        &[("redirect_uri", "https://www.example.com:444/bids?from=saleroom")],
        &[("redirect_uri", "https://www.example.com/bids?from=saleroom#part")],
        &[("redirect_uri", "https://www.example.com.evil.example/bids?from=saleroom")],
        &[("redirect_uri", "https://evil.example/"), ("response_type", "token")],
        &[("redirect_uri", "javascript:alert(1)")],
    ];
    for changed in untrusted {
        for answer in [page(changed), ann.post("/hartley/authorize", &asking(&challenge, changed))] {
            assert_eq!((answer.status, answer.header("location")), (400, ""), "{changed:?}");
        }
    }
    let twice = format!("{}&client_id={OTHER_SITE}", query(&asking(&challenge, &[])));
    assert_eq!(ann.get(&format!("/hartley/authorize?{twice}")).status, 400);

    // Other faults go back to the site, without a code.
    for (changed, error) in [
        (&[("response_type", "token")][..], "unsupported_response_type"),
        (&[("response_type", "")], "unsupported_response_type"),
        (&[("code_challenge_method", "plain")], "invalid_request"),
        (&[("code_challenge_method", "")], "invalid_request"),
        (&[("code_challenge", "")], "invalid_request"),
        (&[("code_challenge", VERIFIER.trim_end_matches('k'))], "invalid_request"),
        (&[("state", &"x".repeat(501))], "invalid_request"),
    ] {
        for answer in [page(changed), ann.post("/hartley/authorize", &asking(&challenge, changed))] {
            let location = answer.header("location");
            assert!(
                answer.status == 303 && location.starts_with(&format!("{BACK}&error={error}")),
                "{changed:?} {location}"
            );
            assert!(!location.contains("code="), "{location}");
        }
    }
    // Another page presses no Allow.
    for headers in
        [["Origin: https://www.example.com", "Sec-Fetch-Site: cross-site"], ["Origin: null", "Sec-Fetch-Site:"]]
    {
        assert_eq!(ann.send("/hartley/authorize", Some(&asking(&challenge, &[])), &headers).status, 403, "{headers:?}");
    }
    // A visitor signs in first, and comes back to the same request.
    let visitor = Sender { cookie: String::new(), port: ann.port, host: ann.host.clone() };
    let asked = visitor.get(&format!("/hartley/authorize?{}", query(&asking(&challenge, &[]))));
    let next = asked.header("location").strip_prefix("/hartley/sign-in?").unwrap().to_owned();
    let (_, next) = form_urlencoded::parse(next.as_bytes()).into_owned().next().unwrap();
    let form = [("email", "ann@example.com"), ("password", PASSWORD), ("next", next.as_str())];
    let signed_in = visitor.post("/hartley/sign-in", &form);
    assert_eq!(signed_in.header("location"), next);
    assert!(
        next.starts_with("/hartley/authorize?response_type=code&client_id=https%3A%2F%2Fwww.example.com&"),
        "{next}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_and_a_token_work_for_their_site_at_their_house_only() {
    let (sale, ann, customer) = houses().await;
    let refused = |(status, body): (u16, Value), error: &str, what: &str| {
        assert_eq!((status, &body["error"]), (400, &json!(error)), "{what}: {body}");
    };
    let wrong_verifier = VERIFIER.replacen('d', "e", 1);
    for (what, house, changed, error) in [
        ("a wrong verifier", "hartley", &[("code_verifier", wrong_verifier.as_str())][..], "invalid_grant"),
        ("another address", "hartley", &[("redirect_uri", "https://www.example.com/bids")], "invalid_grant"),
        ("another house", "other", &[], "invalid_grant"),
        ("another site of that house", "other", &[("client_id", OTHER_SITE)], "invalid_grant"),
    ] {
        let code = code(&ann);
        refused(redeem(&ann, house, &code, changed), error, what);
        refused(redeem(&ann, "hartley", &code, &[]), "invalid_grant", what);
    }
    let unused = code(&ann);
    for (what, changed, error) in [
        ("no verifier", &[("code_verifier", "")][..], "invalid_request"),
        ("a site that is not listed", &[("client_id", OTHER_SITE)], "invalid_client"),
        ("a secret", &[("client_secret", "x")], "invalid_client"),
        ("a password", &[("grant_type", "password")], "unsupported_grant_type"),
        ("no type", &[("grant_type", "")], "invalid_request"),
    ] {
        refused(redeem(&ann, "hartley", &unused, changed), error, what);
    }
    let fields = [
        ("grant_type", "authorization_code"),
        ("client_id", SITE),
        ("code", &unused),
        ("redirect_uri", BACK),
        ("code_verifier", VERIFIER),
    ];
    refused(token(&ann, "hartley", &fields, &["Origin: https://evil.example"]), "invalid_client", "a foreign page");
    refused(token(&ann, "hartley", &fields, &["Content-Type: application/json"]), "invalid_request", "JSON");
    let twice: Vec<(&str, &str)> = fields.iter().copied().chain([("code", "lwg_x")]).collect();
    refused(token(&ann, "hartley", &twice, &[]), "invalid_request", "a field twice");
    let (status, body) = token(&ann, "hartley", &fields, &["Origin: https://www.example.com"]);
    assert_eq!(status, 200, "none of these used the code up: {body}");

    // A second use of a code ends the tokens of the first.
    let given = code(&ann);
    let (_, first) = redeem(&ann, "hartley", &given, &[]);
    let access = first["access_token"].as_str().unwrap();
    assert_eq!(me(&ann, "hartley", access, &[]), 200);
    refused(redeem(&ann, "hartley", &given, &[]), "invalid_grant", "a second use");
    assert_eq!(me(&ann, "hartley", access, &[]), 401);

    // A token works at its house, from pages of its site, and as no cookie; no cookie works in the API.
    let (access, refresh) = tokens(&ann);
    assert_eq!(me(&ann, "hartley", &access, &["Origin: https://www.example.com"]), 200);
    for headers in [&["Origin: https://evil.example"][..], &["Origin: null"], &["Origin: https://other.example"]] {
        assert_eq!(me(&ann, "hartley", &access, headers), 401, "{headers:?}");
    }
    assert_eq!(me(&ann, "other", &access, &[]), 401, "another house");
    assert_eq!(me(&ann, "hartley", &refresh, &[]), 401, "a refresh token");
    let session = ann.cookie.split("; ").find(|cookie| cookie.starts_with("bidder-")).unwrap().to_owned();
    let session_token = session.split_once('=').unwrap().1;
    assert_eq!(me(&ann, "hartley", session_token, &[]), 401, "a session of the pages");
    let cookie = format!("Cookie: {}", ann.cookie);
    let by_cookie = request(&ann, "GET", "/hartley/api/v1/me", &[&cookie], None);
    assert_eq!(by_cookie.status, 401, "a cookie signed in the API");
    let renamed = Sender {
        cookie: format!("bidder-{}={access}", customer.replace('-', "")),
        port: ann.port,
        host: ann.host.clone(),
    };
    assert!(renamed.get("/hartley/my-bids").header("location").starts_with("/hartley/sign-in"));
    let bearer = format!("Authorization: Bearer {access}");
    let page = request(&ann, "GET", "/hartley/my-bids", &[&bearer], None);
    assert!(page.header("location").starts_with("/hartley/sign-in"), "a token signed in a page");
    let platform = request(&ann, "GET", "/api/v1/me", &[&bearer], None);
    assert_eq!(platform.status, 404, "the saleroom's port has no API of the platform");
    let of_platform = sale.house.site.platform.get("/api/v1/customers").await.unwrap();
    assert!(!of_platform.text("/data/0/name").unwrap().is_empty());

    // A used refresh token ends everything that came of the same consent.
    let renew = |refresh: &str| {
        token(&ann, "hartley", &[("grant_type", "refresh_token"), ("client_id", SITE), ("refresh_token", refresh)], &[])
    };
    let (status, renewed) = renew(&refresh);
    assert_eq!(status, 200, "{renewed}");
    let access = renewed["access_token"].as_str().unwrap().to_owned();
    assert_eq!(me(&ann, "hartley", &access, &[]), 200);
    refused(renew(&refresh), "invalid_grant", "a used refresh token");
    assert_eq!(me(&ann, "hartley", &access, &[]), 401);

    // A site that the house does not list any more, and an account that its bidder deletes.
    let (access, _) = tokens(&ann);
    sale.list_sites(&customer, &[OTHER_SITE]).await;
    assert_eq!(me(&ann, "hartley", &access, &[]), 401);
    sale.list_sites(&customer, &[BACK]).await;
    assert_eq!(me(&ann, "hartley", &access, &[]), 200);
    assert_eq!(ann.post("/hartley/account/delete", &[("password", PASSWORD)]).status, 303);
    assert_eq!(me(&ann, "hartley", &access, &[]), 401, "the account is deleted");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_listed_sites_only_read_what_is_public_and_nothing_that_is_not() {
    let (sale, ann, _) = houses().await;
    let allowed = |answer: &Answer| answer.header("access-control-allow-origin").to_owned();
    let preflight = |path: &str, origin: &str| {
        let origin = format!("Origin: {origin}");
        let headers = [
            origin.as_str(),
            "Access-Control-Request-Method: POST",
            "Access-Control-Request-Headers: authorization,idempotency-key",
        ];
        request(&ann, "OPTIONS", path, &headers, None)
    };
    let lot = sale.lot(0);
    for path in ["/hartley/api/v1/sales", &format!("/hartley/api/v1{lot}/bids"), "/hartley/token", "/hartley/revoke"] {
        let answer = preflight(path, SITE);
        assert_eq!((answer.status, allowed(&answer).as_str()), (204, SITE), "{path}");
        assert_eq!(answer.header("access-control-max-age"), "7200");
        for origin in [OTHER_SITE, "null", "https://www.example.com.evil.example", "http://www.example.com"] {
            let answer = preflight(path, origin);
            assert_eq!((answer.status, allowed(&answer).as_str()), (403, ""), "{path} from {origin}");
        }
    }
    let sales = |house: &str, origin: &str| {
        request(&ann, "GET", &format!("/{house}/api/v1/sales"), &[&format!("Origin: {origin}")], None)
    };
    for (house, origin, listed) in
        [("hartley", SITE, true), ("hartley", OTHER_SITE, false), ("other", OTHER_SITE, true)]
    {
        let answer = sales(house, origin);
        assert_eq!(
            (answer.status, allowed(&answer).as_str()),
            (200, if listed { origin } else { "" }),
            "{house} {origin}"
        );
        let headers = answer.headers.to_lowercase();
        assert!(!headers.contains("allow-credentials") && headers.contains("vary: origin"), "{headers}");
    }
    // Pages of the saleroom are read by no other site.
    let page = request(&ann, "GET", "/hartley", &[&format!("Origin: {SITE}")], None);
    assert_eq!((page.status, allowed(&page).as_str()), (200, ""));

    // What does not exist, belongs to another house, or is hidden, is one answer.
    let code_of = |path: &str| {
        let answer = request(&ann, "GET", path, &[], None);
        let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        (answer.status, body["code"].as_str().unwrap_or_default().to_owned())
    };
    let draft = json!({ "kind": "timed", "title": "Secret", "endsAt": sale.house.site.in_ms(3_600_000) });
    let draft = sale.house.site.create_auction(draft).await.unwrap();
    let unknown = "01980000-0000-7000-8000-000000000000";
    let not_found = (404, "not_found".to_owned());
    for path in [
        format!("/other/api/v1/sales/{}", sale.auction),
        format!("/other/api/v1{lot}"),
        format!("/hartley/api/v1/sales/{draft}"),
        format!("/hartley/api/v1/sales/{unknown}"),
        format!("/hartley/api/v1/sales/{}/lots/{unknown}", sale.auction),
        "/hartley/api/v1/sales/x".to_owned(),
        "/nobody/api/v1/sales".to_owned(),
    ] {
        assert_eq!(code_of(&path), not_found, "{path}");
    }
    assert_eq!(code_of("/hartley/api/v1/nothing"), (404, "route_not_found".to_owned()));
    assert_eq!(code_of("/hartley/api/v1/sales?x=1").0, 200);
    assert_eq!(code_of("/hartley/api/v1/past-sales?limit=101"), (400, "query_invalid".to_owned()));
    assert_eq!(request(&ann, "DELETE", "/hartley/api/v1/sales", &[], None).status, 405);
    let elsewhere = Sender { host: "evil.example".to_owned(), port: ann.port, cookie: String::new() };
    for path in [
        "/hartley/api/v1/sales",
        "/hartley/api/openapi.json",
        "/embed.js",
        "/.well-known/oauth-authorization-server/hartley",
    ] {
        assert_eq!(request(&ann, "GET", path, &[], None).status, 200, "{path}");
        assert_eq!(request(&elsewhere, "GET", path, &[], None).status, 404, "{path} at another host");
    }
    // No answer of the token endpoint tells whether a code or token exists elsewhere.
    let (_, unknown) = redeem(&ann, "hartley", "lwg_unknown", &[]);
    let (_, foreign) = redeem(&ann, "other", &code(&ann), &[]);
    assert_eq!(unknown, foreign);
    let document = request(&ann, "GET", "/hartley/api/openapi.json", &[], None);
    let document: Value = serde_json::from_str(&document.body).unwrap();
    assert!(document["paths"]["/{house}/api/v1/sales"].is_object());

    // A site that calls without pause delays its own bidder, and no one else at the address.
    let (access, _) = tokens(&ann);
    let quota_ends = (0..600).any(|_| me(&ann, "hartley", &access, &[]) == 429);
    assert!(quota_ends, "600 calls in a row were answered");
    assert_eq!(code_of("/hartley/api/v1/me"), (401, "authorization_missing".to_owned()));
    assert_eq!(code_of("/hartley/api/v1/sales").0, 200);
}
