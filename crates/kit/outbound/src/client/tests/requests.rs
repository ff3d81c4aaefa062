//! The bytes of requests.

use super::*;

/// Starts a server that reports what it reads up to `end`, and responds to it with `answer`.
async fn reporting(answer: &'static [u8], end: &'static str) -> (SocketAddr, mpsc::UnboundedReceiver<String>) {
    let (requests, received) = mpsc::unbounded_channel();
    let (address, _) = server(move |mut stream| {
        let requests = requests.clone();
        async move {
            let mut request = Vec::new();
            while let Ok(byte) = stream.read_u8().await {
                request.push(byte);
                if request.ends_with(end.as_bytes()) {
                    let text = std::mem::take(&mut request).iter().copied().map(char::from).collect();
                    requests.send(text).unwrap();
                    stream.write_all(answer).await.unwrap();
                }
            }
        }
    })
    .await;
    (address, received)
}

#[tokio::test]
async fn a_request_has_its_host_and_length_and_its_headers_in_order() {
    let large = format!("{}$", "x".repeat(99_999));
    for (path, method, body, line, length) in [
        ("", Method::GET, "", "GET /", ""),
        ("?q", Method::HEAD, "", "HEAD /?q", ""),
        ("/a%20b?c=/d", Method::POST, "", "POST /a%20b?c=/d", "content-length: 0\r\n"),
        ("/", Method::PUT, "body$", "PUT /", "content-length: 5\r\n"),
        ("/", Method::GET, "body$", "GET /", "content-length: 5\r\n"),
        ("//a//?", Method::POST, &large, "POST //a//?", "content-length: 100000\r\n"),
    ] {
        let (address, mut received) = reporting(OK, if body.is_empty() { "\r\n\r\n" } else { "$" }).await;
        let mut request = get(format_args!("http://{address}{path}"));
        (request.method, request.body) = (method, Bytes::from(body.to_owned()));
        for (name, value) in [("x-z", &b"1"[..]), ("x-a", b"2"), ("x-z", b"3 \xe9"), ("accept", b"*/*"), ("x-a", b"")] {
            request.headers.add(&HeaderName::from_static(name), value);
        }
        client(AddressPolicy::any()).send(request).await.unwrap();
        // A name stands where it was added first; the values of one name keep their order.
        let headers = "x-z: 1\r\nx-z: 3 \u{e9}\r\nx-a: 2\r\nx-a: \r\naccept: */*\r\n";
        let expected = format!("{line} HTTP/1.1\r\nhost: {address}\r\n{headers}{length}\r\n{body}");
        assert_eq!(received.recv().await.unwrap(), expected);
    }
}

/// hyper speaks the version of the server's last response on the same connection.
#[tokio::test]
async fn a_server_of_http_1_0_that_keeps_the_connection_receives_the_same_headers_and_body() {
    const KEPT: &[u8] = b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok";
    let (address, mut received) = reporting(KEPT, "$").await;
    let client = client(AddressPolicy::any());
    for (version, connection) in [("1.1", ""), ("1.0", "connection: keep-alive\r\n")] {
        let mut request = get(format_args!("http://{address}/"));
        (request.method, request.body) = (Method::POST, Bytes::from_static(b"body$"));
        request.headers.add(&HeaderName::from_static("svix-id"), b"msg_1");
        assert_eq!(client.send(request).await.unwrap().body, "ok");
        settle().await;
        let headers = format!("host: {address}\r\nsvix-id: msg_1\r\ncontent-length: 5\r\n{connection}");
        assert_eq!(received.recv().await.unwrap(), format!("POST / HTTP/{version}\r\n{headers}\r\nbody$"));
    }
}
