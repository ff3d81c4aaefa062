//! Addresses that an attacker may enter to reach the operator's network. None may be accepted as an endpoint or, if
//! only the resolved address shows it, be connected to.

use super::*;
use crate::url::parse_endpoint_url;

#[path = "hostile_addresses.rs"]
mod addresses;
use addresses::HOSTILE;

#[test]
fn no_hostile_address_becomes_an_endpoint() {
    let policy = AddressPolicy::public_only(vec![]);
    assert!(HOSTILE.len() >= 100);
    for text in HOSTILE {
        if let Ok(url) = parse_endpoint_url(text) {
            assert!(policy.check_literal(&url).is_err(), "{text} is taken for {}", url.as_str());
        }
    }
}

#[test]
fn ordinary_addresses_become_endpoints() {
    let policy = AddressPolicy::public_only(vec![]);
    for text in [
        "https://example.com/",
        "https://hooks.example.com:8443/a/b?c=d",
        "http://8.8.8.8/",
        "http://[2606:4700::1111]/",
        "https://localhost.example.com/",
        "https://10.example.com/",
        "https://example.com/http://127.0.0.1/",
        // The fragment is not sent, and the host is what stands before it.
        "http://example.com#@127.0.0.1/",
        "https://example.com/?to=http://user@127.0.0.1/",
    ] {
        policy.check_literal(&parse_endpoint_url(text).unwrap()).unwrap();
    }
}

/// The client also checks a URI that was not validated as an endpoint URL.
#[tokio::test]
async fn no_hostile_uri_is_connected_to() {
    let client = client(AddressPolicy::public_only(vec![]));
    let mut sent = 0;
    for text in HOSTILE {
        let (Ok(to), Ok(endpoint)) = (text.parse::<Destination>(), parse_endpoint_url(text)) else {
            continue;
        };
        // Any other host could be a name, and resolving it would need a network.
        let numeric = |c: char| c.is_ascii_hexdigit() || matches!(c, '.' | 'x' | 'X' | ':' | '[' | ']');
        let host = to.uri().host().unwrap_or_default();
        if endpoint.literal_address().is_none() || !host.chars().all(numeric) || host.ends_with('.') {
            continue;
        }
        let error = client.send(get(text)).await.unwrap_err();
        assert_eq!(error.code(), "refused_address", "{text}: {error}");
        sent += 1;
    }
    assert!(sent >= 80, "{sent}");
}

#[tokio::test]
async fn responses_of_many_small_or_endless_chunk_lines_are_bounded() {
    for (then, expected) in [(&b"3\r\nabc\r\n"[..], Ok(true)), (&[b'0'; 1_000], Err("invalid"))] {
        let pushed = Arc::new(AtomicUsize::new(0));
        let counter = pushed.clone();
        let (address, _) = server(move |mut stream| {
            let counter = counter.clone();
            async move {
                read_head(&mut stream).await;
                stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await.unwrap();
                while stream.write_all(then).await.is_ok() {
                    counter.fetch_add(then.len(), Ordering::SeqCst);
                }
            }
        })
        .await;
        let request = Request { response_bytes_max: 20_000, ..get(format_args!("http://{address}/")) };
        let outcome = client(AddressPolicy::any()).send(request).await;
        assert!(pushed.load(Ordering::SeqCst) < 32 << 20);
        assert_eq!(outcome.map(|response| response.truncated).map_err(|error| error.code()), expected);
    }
}
