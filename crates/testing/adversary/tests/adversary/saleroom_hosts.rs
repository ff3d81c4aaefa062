//! Requests to the salerooms' port that name hosts in every place where a request can: two houses, one of them with a domain of its
//! own, over HTTP/1.1 and HTTP/2.

use std::net::SocketAddr;

use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use testkit::name_server::NameServer;
use tokio::net::TcpStream;

use crate::raw::exchange;
use crate::salerooms::{HOUSES, Salerooms};

/// The domain of the first house.
const DOMAIN: &str = "bid.hartley.test";

/// Sends a GET with these lines after its first one; returns the whole answer.
async fn get(address: SocketAddr, target: &str, lines: &[String]) -> String {
    let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    exchange(address, format!("GET {target} HTTP/1.1\r\n{lines}Connection: close\r\n\r\n").as_bytes()).await
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

/// Sends a GET over HTTP/2 with this authority and these headers `Host`; none when the server refuses the request itself.
async fn get_over_http2(address: SocketAddr, authority: &str, path: &str, hosts: &[&str]) -> Option<(u16, String)> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    let mut request = http::Request::get(format!("http://{authority}{path}"));
    for host in hosts {
        request = request.header("host", *host);
    }
    let answer = sender.send_request(request.body(Empty::<bytes::Bytes>::new()).unwrap()).await.ok();
    let found = match answer {
        Some(answer) => {
            let status = answer.status().as_u16();
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            Some((status, String::from_utf8_lossy(&body).into_owned()))
        }
        None => None,
    };
    drop(sender);
    let _ = connection.await;
    found
}

/// Both salerooms; the first house has proven its domain. The name server has to outlive the test.
async fn salerooms() -> (Salerooms, NameServer) {
    let mut names = NameServer::start().unwrap();
    let servers = names.address.to_string();
    let salerooms = Salerooms::open(&[("SALEROOM__DNS_SERVERS", &servers)]).await;
    let mut staff = salerooms.staff.clone();
    let path = format!("/customers/{}/domain", salerooms.customers[0]);
    assert_eq!(staff.post(&path, &[("domain", DOMAIN), ("version", "0")]).await.status, 303);
    let page = staff.get(&path).await.body;
    let (_, value) = page.split_once("id=\"record-value\">").unwrap();
    let (value, _) = value.split_once('<').unwrap();
    names.set(&[(&format!("_lotwire.{DOMAIN}"), value)]).unwrap();
    assert_eq!(staff.post(&format!("{path}/check"), &[("a", "b")]).await.status, 303);
    (salerooms, names)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_stands_at_its_own_host_whatever_else_a_request_names() {
    let (salerooms, _names) = salerooms().await;
    let (address, port) = (salerooms.port, salerooms.port.port());
    let shared = salerooms.host.clone();
    let own = format!("{DOMAIN}:{port}");
    let host = |host: &str| format!("Host: {host}");
    let platform = salerooms.running.launch.platform.to_string();
    let foreign =
        ["evil.example", &format!("evil.example:{port}"), "localhost", &format!("127.0.0.1:{port}"), &platform];
    let mut refused = 0;
    // Each page at its host; at any other one there is nothing.
    for (right, wrong, path) in [(&own, &shared, "/hartley"), (&shared, &own, "/other")] {
        assert_eq!(status(&get(address, path, &[host(right)]).await), 200, "{right}{path}");
        assert_eq!(status(&get(address, &format!("http://{right}{path}"), &[host(right)]).await), 200);
        let near = [
            format!("{right}0"),
            format!("{right}."),
            right.replace(':', ".:"),
            format!("evil.{right}"),
            format!("{right}.evil.example"),
            format!("user@{right}"),
            format!("{right}@evil.example"),
            format!("{right}/"),
            format!("{right},evil.example"),
            format!("{right} evil.example"),
            right.split(':').next().unwrap().to_owned(),
        ];
        let names = foreign.iter().map(|name| (*name).to_owned()).chain(near);
        for name in names {
            for (target, lines) in [
                (path.to_owned(), vec![host(&name)]),
                (format!("http://{name}{path}"), vec![host(right)]),
                (format!("http://{right}{path}"), vec![host(&name)]),
            ] {
                let answer = get(address, &target, &lines).await;
                assert!(matches!(status(&answer), 0 | 400..=404), "{target} {lines:?}: {answer}");
                refused += 1;
            }
        }
        // Both hosts exist, but a request has one.
        for target in [format!("http://{wrong}{path}"), format!("https://{wrong}{path}")] {
            assert_eq!(status(&get(address, &target, &[host(right)]).await), 404, "{target}");
        }
        // What only a proxy could say decides nothing, and shows nowhere.
        for line in [
            format!("X-Forwarded-Host: {wrong}"),
            "X-Forwarded-Host: evil.example".to_owned(),
            "Forwarded: host=evil.example;proto=https".to_owned(),
            "X-Forwarded-Proto: https\r\nX-Forwarded-Port: 1".to_owned(),
            "X-Original-Host: evil.example\r\nX-Host: evil.example\r\nX-Rewrite-URL: /other\r\nX-Original-URL: /other"
                .to_owned(),
            format!("X-HTTP-Host-Override: {wrong}\r\nVia: 1.1 evil.example\r\nTrue-Client-IP: evil.example"),
        ] {
            let answer = get(address, path, &[host(right), line.clone()]).await;
            assert_eq!(status(&answer), 200, "{line}");
            let canonical = format!("rel=\"canonical\" href=\"http://{right}{path}\"");
            assert!(answer.contains(&canonical) && !answer.contains("evil.example"), "{line}: {answer}");
        }
    }
    // A house has no page at the domain of another one, in whatever spelling.
    let other_sale = salerooms.sale(1).await.0;
    for path in [
        "/other",
        "/other/",
        "//other",
        "/./other",
        "/hartley/../other",
        "/%6fther",
        "/other%2f",
        "/OTHER",
        "/hartley%2f..%2fother",
        "/hartley/sales/../../other",
        "/other/api/v1/sales",
        "/other/logo/019a0000-0000-7000-8000-000000000000",
        "/-",
        &other_sale,
        &other_sale.replace("/other/", "/hartley/"),
        &format!("{other_sale}/live"),
    ] {
        let answer = get(address, path, &[host(&own)]).await;
        assert!(matches!(status(&answer), 400 | 404), "{path}: {answer}");
        refused += 1;
    }
    // The way to the domain never leads elsewhere.
    for path in [
        "/hartley",
        "/hartley//evil.example",
        "/hartley/@evil.example",
        "/hartley?next=//evil.example",
        "/hartley/%0d%0aSet-Cookie:a=b",
    ] {
        let answer = get(address, path, &[host(&shared)]).await;
        assert_eq!(status(&answer), 308, "{path}: {answer}");
        let location = answer.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
        assert_eq!(location, format!("http://{own}{path}"));
    }
    println!("saleroom_hosts: {refused} requests with other hosts, or for another house, refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http2_the_authority_and_every_host_are_the_same() {
    let (salerooms, _names) = salerooms().await;
    let address = salerooms.port;
    let (shared, own) = (salerooms.host.as_str(), format!("{DOMAIN}:{}", address.port()));
    for (right, path) in [(own.as_str(), "/hartley"), (shared, "/other")] {
        for hosts in [&[][..], &[right]] {
            let (status, body) = get_over_http2(address, right, path, hosts).await.unwrap();
            assert!(status == 200 && body.contains(&format!("http://{right}{path}\"")), "{right} {hosts:?}: {status}");
        }
    }
    let mut refused = 0;
    for path in HOUSES.map(|house| format!("/{house}")) {
        for (authority, hosts) in [
            (shared, &[own.as_str()][..]),
            (&own, &[shared]),
            (shared, &["evil.example"]),
            (&own, &["evil.example"]),
            ("evil.example", &[shared]),
            ("evil.example", &[own.as_str()]),
            ("evil.example", &[]),
            (shared, &[shared, "evil.example"]),
            (&own, &[own.as_str(), shared]),
        ] {
            let answer = get_over_http2(address, authority, &path, hosts).await;
            assert!(
                answer.as_ref().is_none_or(|(status, _)| matches!(status, 400 | 404)),
                "{authority} {hosts:?}: {answer:?}"
            );
            refused += 1;
        }
    }
    println!("saleroom_hosts: {refused} requests over HTTP/2 with two hosts refused");
}
