//! Tests of requests through proxies, which get the checked IP address and never the name.

use super::rebinding::ScriptedResolver;
use super::*;
use crate::proxy::Proxy;

/// Starts an HTTP proxy that responds to CONNECT with `answer`, opens the tunnel, and sends the request to `seen`.
async fn http_proxy(answer: &'static str, seen: mpsc::UnboundedSender<String>) -> SocketAddr {
    let serve = move |mut stream: TcpStream| {
        let seen = seen.clone();
        async move {
            let head = String::from_utf8(read_head(&mut stream).await).unwrap();
            let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
            seen.send(head).unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
            if let Ok(mut onward) = TcpStream::connect(&target).await {
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut onward).await;
            }
        }
    };
    server(serve).await.0
}

async fn socks_proxy(reply: u8, seen: mpsc::UnboundedSender<Vec<u8>>) -> SocketAddr {
    let serve = move |mut stream: TcpStream| {
        let seen = seen.clone();
        async move {
            let mut hello = [0; 3];
            stream.read_exact(&mut hello).await.unwrap();
            stream.write_all(&[5, hello[2]]).await.unwrap();
            if hello[2] == 2 {
                let mut pair = [0; 11];
                stream.read_exact(&mut pair).await.unwrap();
                seen.send(pair.to_vec()).unwrap();
                stream.write_all(&[1, 0]).await.unwrap();
            }
            let mut request = [0; 10];
            stream.read_exact(&mut request).await.unwrap();
            seen.send(request.to_vec()).unwrap();
            stream.write_all(&[5, reply, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
            let target = SocketAddr::from(([127, 0, 0, 1], u16::from_be_bytes([request[8], request[9]])));
            if let Ok(mut onward) = TcpStream::connect(target).await {
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut onward).await;
            }
        }
    };
    server(serve).await.0
}

fn through(proxy: &str, allowed: &str, name: &[&str]) -> Client {
    let policy = AddressPolicy::public_only(vec![allowed.parse().unwrap()]);
    let proxy = Some(proxy.parse::<Proxy>().unwrap());
    Client::new(ClientConfig { policy, proxy, resolver: ScriptedResolver::new(&[name]), ..ClientConfig::default() })
}

#[tokio::test]
async fn an_http_proxy_gets_the_checked_address() {
    let (target, _) = answering(OK, 9).await;
    let (seen, mut heads) = mpsc::unbounded_channel();
    let proxy = http_proxy("HTTP/1.1 200 Fine\r\nx: y\r\n\r\n", seen).await;
    let client = through(&format!("http://us%65r:pass%3Aword@{proxy}"), "127.0.0.1/32", &["127.0.0.1"]);
    let response = client.send(get(format_args!("http://receiver.example:{}/", target.port()))).await.unwrap();
    assert_eq!(&response.body[..], b"ok");
    let head = heads.recv().await.unwrap();
    assert!(head.starts_with(&format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n")), "{head}");
    assert!(head.contains("Proxy-Authorization: Basic dXNlcjpwYXNzOndvcmQ=\r\n"), "{head}");
}

#[tokio::test]
async fn a_socks_proxy_gets_the_checked_address() {
    let (target, _) = answering(OK, 9).await;
    for credentials in ["", "user:pass@"] {
        let (seen, mut asked) = mpsc::unbounded_channel();
        let proxy = socks_proxy(0, seen).await;
        let client = through(&format!("socks5://{credentials}{proxy}"), "127.0.0.1/32", &["127.0.0.1"]);
        let response = client.send(get(format_args!("http://receiver.example:{}/", target.port()))).await.unwrap();
        assert_eq!(&response.body[..], b"ok");
        if !credentials.is_empty() {
            assert_eq!(asked.recv().await.unwrap(), b"\x01\x04user\x04pass");
        }
        let port = target.port().to_be_bytes();
        assert_eq!(asked.recv().await.unwrap(), [5, 1, 0, 1, 127, 0, 0, 1, port[0], port[1]]);
    }
}

#[tokio::test]
async fn a_refused_address_does_not_reach_the_proxy() {
    let (seen, mut heads) = mpsc::unbounded_channel();
    let proxy = http_proxy("HTTP/1.1 200 Fine\r\n\r\n", seen).await;
    for (uri, name) in [("http://private.example/", "10.0.0.1"), ("http://127.0.0.1:1/", "8.8.8.8")] {
        let error = through(&format!("http://{proxy}"), "192.168.0.0/32", &[name]).send(get(uri)).await.unwrap_err();
        assert_eq!(error.code(), "refused_address", "{error}");
    }
    assert!(heads.try_recv().is_err());
}

#[tokio::test]
async fn errors_of_a_proxy_differ_and_do_not_contain_its_address() {
    let (seen, _heads) = mpsc::unbounded_channel();
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (socks_seen, _asked) = mpsc::unbounded_channel();
    for (proxy, part) in [
        (
            format!("http://{}", http_proxy("HTTP/1.1 403 No\r\n\r\n", seen.clone()).await),
            "the proxy responded with \
        403",
        ),
        (format!("http://{}", http_proxy("SSH-2.0-x\r\n\r\n", seen.clone()).await), "not HTTP"),
        (format!("socks5://{}", socks_proxy(5, socks_seen).await), "connection refused"),
        (format!("http://{}", answering(OK, 0).await.0), "broke"),
        (format!("socks5://{closed}"), "can't be reached"),
    ] {
        let error =
            through(&proxy, "8.8.8.8/32", &["8.8.8.8"]).send(get("http://receiver.example/")).await.unwrap_err();
        assert_eq!(error.code(), "proxy", "{error}");
        assert!(error.to_string().contains(part), "{error}");
        assert!(!error.to_string().contains("127.0.0.1"), "{error}");
    }
}

#[test]
fn a_proxy_is_parsed_from_a_url_and_shown_without_its_password() {
    for text in [
        "",
        "proxy:3128",
        "https://proxy:1",
        "socks4://proxy",
        "http://proxy/path",
        "http://proxy?x",
        "http://%zz@proxy",
    ] {
        assert!(text.parse::<Proxy>().is_err(), "{text}");
    }
    let proxy: Proxy = "socks5://user:secret@[2001:db8::1]".parse().unwrap();
    assert_eq!(format!("{proxy:?}"), "Proxy(Socks5 2001:db8::1:1080)");
}
