//! Where a response ends, which responses are refused because they could be read in two ways, and the limits.

use super::*;

/// The smallest limit of heads that a client can have.
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// The responses to two requests, one after the other, and the connections that they took.
struct Outcome {
    responses: Vec<Result<Response, TransportError>>,
    connections: usize,
}

impl Outcome {
    fn codes(&self) -> Vec<Result<u16, &'static str>> {
        let code = |outcome: &Result<Response, TransportError>| match outcome {
            Ok(response) => Ok(response.status.as_u16()),
            Err(error) => Err(error.code()),
        };
        self.responses.iter().map(code).collect()
    }
}

/// Sends two requests to a server that writes `answer` in pieces of `piece` bytes. It closes the connection after an
/// answer if `closes`.
async fn two_answers(method: &Method, answer: &str, piece: usize, closes: bool) -> Outcome {
    let answer: Arc<[u8]> = answer.as_bytes().into();
    let (address, taken) = server(move |mut stream| {
        let answer = Arc::clone(&answer);
        async move {
            stream.set_nodelay(true).unwrap();
            while !read_head(&mut stream).await.is_empty() {
                for piece in answer.chunks(piece) {
                    if stream.write_all(piece).await.is_err() {
                        return;
                    }
                    tokio::task::yield_now().await;
                }
                if closes {
                    return;
                }
            }
        }
    })
    .await;
    let config = ClientConfig {
        policy: AddressPolicy::any(),
        response_header_bytes_max: HEAD_BYTES_MAX,
        ..ClientConfig::default()
    };
    let client = Client::new(config);
    let mut responses = Vec::new();
    for _ in 0..2 {
        let request =
            Request { method: method.clone(), response_bytes_max: 6, ..get(format_args!("http://{address}/")) };
        responses.push(client.send(request).await);
        settle().await;
    }
    Outcome { responses, connections: taken.load(Ordering::SeqCst) }
}

#[tokio::test]
async fn a_response_ends_where_its_head_says_and_the_connection_is_reused_only_if_that_is_certain() {
    for (answer, status, body, closes, is_reused) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfive", 200, "five", false, true),
        ("HTTP/1.1 200 OK\ncontent-length: 4\n\nfive", 200, "five", false, true),
        ("HTTP/1.1 200 OK\r\ncontent-length: 4\r\nContent-Length: 4\r\n\r\nfive", 200, "five", false, true),
        ("HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nfive", 200, "five", false, false),
        ("HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: x, Close\r\n\r\nfive", 200, "five", false, false),
        ("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", 200, "", false, true),
        ("HTTP/1.1 500 No\r\n\r\nfive", 500, "five", true, false),
        ("HTTP/1.1 299\r\n\r\nfive", 299, "five", true, false),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204, "", false, true),
        ("HTTP/1.1 304 Not Modified\r\ncontent-length: 12\r\n\r\n", 304, "", false, true),
        ("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n", 101, "", false, false),
        ("HTTP/1.1 100 x\r\n\r\nHTTP/1.1 103 x\r\na: b\r\n\r\nHTTP/1.1 204 x\r\n\r\n", 204, "", false, true),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nfive\r\n0\r\n\r\n", 200, "five", false, true),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, Chunked\r\n\r\n4\r\nfive\r\n0\r\n\r\n", 200, "five", false, true),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, gzip\r\n\r\nfive", 200, "five", true, false),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;a=b\r\nfi\r\n02 \r\nve\r\n00\r\na: b\r\nc: d\r\n\r\n",
            200,
            "five",
            false,
            true,
        ),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n4\r\nfive\r\n0\r\n\r\n",
            200,
            "five",
            false,
            false,
        ),
        ("HTTP/1.0 200 OK\r\ncontent-length: 4\r\n\r\nfive", 200, "five", false, false),
        ("HTTP/1.0 200 OK\r\ncontent-length: 4\r\nconnection: keep-alive\r\n\r\nfive", 200, "five", false, true),
        ("HTTP/1.0 200 OK\r\n\r\nfive", 200, "five", true, false),
    ] {
        for piece in [1, 7, answer.len()] {
            let outcome = two_answers(&Method::GET, answer, piece, closes).await;
            for response in &outcome.responses {
                let response = response.as_ref().unwrap_or_else(|error| panic!("{answer:?} by {piece}: {error}"));
                assert_eq!((response.status.as_u16(), &response.body[..]), (status, body.as_bytes()), "{answer:?}");
                assert!(!response.truncated, "{answer:?}");
            }
            assert_eq!(outcome.connections == 1, is_reused, "{answer:?} by {piece}");
        }
    }
}

#[tokio::test]
async fn a_response_to_head_has_no_body() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n";
    let outcome = two_answers(&Method::HEAD, answer, answer.len(), false).await;
    assert_eq!((outcome.codes(), outcome.connections), (vec![Ok(200); 2], 1));
}

/// Otherwise a server could leave the beginning of the response to a request that is not sent yet.
#[tokio::test]
async fn a_connection_with_bytes_after_the_response_is_not_reused() {
    for answer in [
        "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\ncontent-length: 4\r\n\r\nevil",
        "HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n\r\n",
    ] {
        let outcome = two_answers(&Method::GET, answer, answer.len(), false).await;
        assert_eq!(outcome.connections, 2, "{answer:?}");
        for response in outcome.responses {
            assert_ne!(response.unwrap().body, "evil", "{answer:?}");
        }
    }
    // The response to HEAD has no body, whatever the server sends.
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil";
    let outcome = two_answers(&Method::HEAD, answer, answer.len(), false).await;
    assert_eq!((outcome.codes(), outcome.connections), (vec![Ok(200); 2], 2));
}

#[tokio::test]
async fn a_response_that_could_be_read_in_two_ways_is_refused() {
    for lines in [
        "HTTP/1.1 200 OK\ncontent-length: 4\ncontent-length: 2",
        "HTTP/1.1 200 OK\ncontent-length: 4, 2",
        "HTTP/1.1 200 OK\ncontent-length: ",
        "HTTP/1.1 200 OK\ncontent-length: -1",
        "HTTP/1.1 200 OK\ncontent-length: +4",
        "HTTP/1.1 200 OK\ncontent-length: 0x4",
        "HTTP/1.1 200 OK\ncontent-length: 99999999999999999999",
        "HTTP/1.1 200 OK\ntransfer-encoding: chunked\ncontent-length: 4, 2",
        "HTTP/1.1 204 No Content\ncontent-length: 4\ncontent-length: 2",
        "HTTP/1.1 200 OK\ncontent-length : 4",
        "HTTP/1.1 200 OK\ntransfer-encoding : chunked",
        "HTTP/1.1 200 OK\na: b\n folded: c",
        "HTTP/1.1 200 OK\na: b\n\tcontent-length: 4",
        "HTTP/1.1 200 OK\na\0: b",
        "HTTP/1.1 020 OK",
        "HTTP/1.1 2000 OK",
        "HTTP/2 200 OK",
        "ICY 200 OK",
    ] {
        let answer = format!("{}\r\n\r\nfive", lines.replace('\n', "\r\n"));
        let outcome = two_answers(&Method::GET, &answer, answer.len(), true).await;
        assert_eq!(outcome.codes(), [Err("invalid"); 2], "{lines:?}");
        assert_eq!(outcome.connections, 2, "{lines:?}");
    }
}

/// HTTP/1.0 has no Transfer-Encoding: the framing is faulty, whatever else the head says (RFC 9112, section 6.1).
#[tokio::test]
async fn a_response_of_http_1_0_with_transfer_encoding_is_refused_and_its_connection_is_not_reused() {
    for lines in [
        "transfer-encoding: chunked",
        "transfer-encoding: chunked\r\nconnection: keep-alive",
        "transfer-encoding: chunked\r\nconnection: keep-alive\r\ncontent-length: 14",
        "transfer-encoding: gzip\r\nconnection: keep-alive\r\ncontent-length: 14",
    ] {
        let answer = format!("HTTP/1.0 200 OK\r\n{lines}\r\n\r\n4\r\nfive\r\n0\r\n\r\n");
        let outcome = two_answers(&Method::GET, &answer, answer.len(), false).await;
        assert_eq!(outcome.connections, 2, "{lines:?}");
        for response in outcome.responses {
            let error = response.unwrap_err();
            assert_eq!((&error, error.code()), (&TransportError::InvalidResponse, "invalid"), "{lines:?}");
            assert_eq!(error.to_string(), "the response is not valid HTTP", "{lines:?}");
        }
    }
    // A response that has no body is complete. Its connection is closed all the same.
    let answer = "HTTP/1.0 204 No Content\r\ntransfer-encoding: chunked\r\nconnection: keep-alive\r\n\r\n";
    let outcome = two_answers(&Method::GET, answer, answer.len(), false).await;
    assert_eq!((outcome.codes(), outcome.connections), (vec![Ok(204); 2], 2));
}

#[tokio::test]
async fn a_body_is_cut_at_the_limit_however_its_end_is_marked() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let until_close = "HTTP/1.1 200 OK\r\n\r\n";
    let length = "HTTP/1.1 200 OK\r\ncontent-length: ";
    for (answer, closes, truncated) in [
        (format!("{length}6\r\n\r\nsixsix"), false, false),
        (format!("{length}7\r\n\r\nsixsix7"), false, true),
        // The rest does not arrive. The client does not wait for it.
        (format!("{length}7\r\n\r\nsixsix"), false, true),
        (format!("{length}{}\r\n\r\nsixsix7", u64::MAX - 2), false, true),
        (format!("{chunked}6\r\nsixsix\r\n0\r\n\r\n"), false, false),
        (format!("{chunked}6\r\nsixsix\r\n1\r\n7\r\n0\r\n\r\n"), false, true),
        (format!("{chunked}7\r\nsixsix7\r\n0\r\n\r\n"), false, true),
        (format!("{until_close}sixsix"), true, false),
        (format!("{until_close}sixsix7"), true, true),
    ] {
        for piece in [1, 7, answer.len()] {
            let outcome = two_answers(&Method::GET, &answer, piece, closes).await;
            for response in &outcome.responses {
                let response = response.as_ref().unwrap_or_else(|error| panic!("{answer:?} by {piece}: {error}"));
                assert_eq!((&response.body[..], response.truncated), (&b"sixsix"[..], truncated), "{answer:?}");
            }
            assert_eq!(outcome.connections == 1, !closes && !truncated, "{answer:?} by {piece}");
        }
    }
}

#[tokio::test]
async fn a_malformed_chunk_is_refused() {
    for chunks in [
        "x\r\n",
        "-1\r\n",
        "+1\r\na\r\n",
        "\r\n",
        "11111111111111111\r\n",
        "1\r\nab\r\n",
        "0x1\r\na\r\n",
        " 1\r\na\r\n",
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{chunks}0\r\n\r\n");
        let outcome = two_answers(&Method::GET, &answer, answer.len(), false).await;
        assert_eq!((outcome.codes(), outcome.connections), (vec![Err("invalid"); 2], 2), "{chunks:?}");
    }
}

#[tokio::test]
async fn heads_are_limited_in_bytes_and_in_lines() {
    let last = "HTTP/1.1 204 x\r\n\r\n";
    let lines = |count: usize| format!("HTTP/1.1 204 x\r\n{}\r\n", "a: b\r\n".repeat(count));
    let long = |bytes: usize| format!("HTTP/1.1 204 x\r\na: {}\r\n\r\n", "b".repeat(bytes));
    let hints = |bytes: usize| format!("HTTP/1.1 103 x\r\na: {}\r\n\r\n{last}", "b".repeat(bytes));
    let many_hints = |count: usize| format!("{}{last}", "HTTP/1.1 103 x\r\n\r\n".repeat(count));
    let full = HEAD_BYTES_MAX - long(0).len();
    let full_hints = HEAD_BYTES_MAX - hints(0).len();
    for (answer, expected) in [
        (lines(100), Ok(204)),
        (lines(101), Err("header_too_large")),
        (long(full), Ok(204)),
        (long(full + 1), Err("header_too_large")),
        (hints(full_hints), Ok(204)),
        (hints(full_hints + 1), Err("header_too_large")),
        (many_hints(32), Ok(204)),
        (many_hints(33), Err("invalid")),
    ] {
        for piece in [1_000, answer.len()] {
            let outcome = two_answers(&Method::GET, &answer, piece, false).await;
            assert_eq!(outcome.codes(), [expected; 2], "{} bytes by {piece}", answer.len());
            assert_eq!(outcome.connections == 1, expected.is_ok(), "{} bytes by {piece}", answer.len());
        }
    }
}

/// Trailers have the limits of a head, in bytes and in lines.
#[tokio::test]
async fn chunk_extensions_and_trailers_are_limited() {
    let line = "a: b\r\n";
    let long = |bytes: usize| format!("0\r\na: {}\r\n", "b".repeat(bytes));
    for (chunks, expected) in [
        (format!("1;{}\r\na\r\n", "a".repeat(16 * 1024 - 1)), Ok(200)),
        (format!("1;{}\r\na\r\n", "a".repeat(16 * 1024)), Err("invalid")),
        (format!("1;{}\r\na\r\n", "a".repeat(5_000)).repeat(3), Ok(200)),
        (format!("1;{}\r\na\r\n", "a".repeat(6_000)).repeat(3), Err("invalid")),
        (format!("0\r\n{}", line.repeat(100)), Ok(200)),
        (format!("0\r\n{}", line.repeat(101)), Err("invalid")),
        (long(HEAD_BYTES_MAX - 20), Ok(200)),
        (long(HEAD_BYTES_MAX), Err("invalid")),
        (format!("0\r\n{}", "a".repeat(HEAD_BYTES_MAX + 1)), Err("invalid")),
    ] {
        let end = if chunks.starts_with('0') { "\r\n" } else { "0\r\n\r\n" };
        let answer = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{chunks}{end}");
        for piece in [1_000, answer.len()] {
            let outcome = two_answers(&Method::GET, &answer, piece, false).await;
            assert_eq!(outcome.codes(), [expected; 2], "{} bytes by {piece}", answer.len());
        }
    }
}
