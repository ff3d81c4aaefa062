//! The phases of a request: their times, and the one in which the time limit was reached.

use super::*;
use crate::resolver::ResolveFuture;

/// Shorter than the connect timeout.
const LIMIT: Duration = Duration::from_millis(60);

/// Resolves no name: the name servers are silent.
#[derive(Debug)]
struct SilentNames;

impl Resolve for SilentNames {
    fn resolve<'a>(&'a self, _: &'a str, _: u16) -> ResolveFuture<'a> {
        Box::pin(std::future::pending())
    }
}

/// The error of a request whose deadline is reached before the connect timeout.
async fn late(to: String, body: usize) -> TransportError {
    timed_out(to, body).await.outcome.unwrap_err()
}

async fn timed_out(to: String, body: usize) -> Exchange {
    let resolver = Arc::new(SilentNames);
    let config = ClientConfig { policy: AddressPolicy::any(), resolver, ..ClientConfig::default() };
    let request = Request { method: Method::POST, body: Bytes::from(vec![b'x'; body]), deadline: LIMIT, ..get(to) };
    Client::new(config).send_timed(request).await
}

#[tokio::test]
async fn a_deadline_before_the_connect_timeout_says_in_which_step_it_was_reached() {
    let limit_ms = LIMIT.as_millis() as u64;
    let (silent, _) = server(|mut stream| async move {
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    })
    .await;
    let (unread, _) = server(|mut stream| async move {
        read_head(&mut stream).await;
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let (started, _) = server(|mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 500 E\r\ncontent-length: 9\r\n\r\nboom").await;
        std::future::pending::<()>().await;
    })
    .await;
    let names =
        TransportError::NameServers { host: "a.example".to_owned(), reason: "no answer within 60 ms".to_owned() };
    assert_eq!(late("http://a.example/".to_owned(), 1).await, names);
    assert_eq!(late(format!("https://{silent}/"), 1).await, TransportError::TlsTimeout { limit_ms });
    assert_eq!(late(format!("http://{unread}/"), 20_000_000).await, TransportError::SendTimeout { limit_ms });
    assert_eq!(late(format!("http://{silent}/"), 1).await, TransportError::Timeout { limit_ms });
    let TransportError::Incomplete { response, fault } = late(format!("http://{started}/"), 1).await else { panic!() };
    assert_eq!((response.status.as_u16(), &response.body[..]), (500, &b"boom"[..]));
    assert_eq!(fault, BodyFault::Timeout { limit_ms });
}

#[tokio::test]
async fn a_connection_that_is_not_accepted_before_the_deadline_says_so() {
    // A listener whose queue is full leaves further connections unanswered.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut fillers = Vec::new();
    while let Ok(stream) = tokio::time::timeout(Duration::from_millis(20), TcpStream::connect(address)).await {
        fillers.push(stream.unwrap());
    }
    let error = late(format!("https://{address}/"), 1).await;
    let limit_ms = LIMIT.as_millis() as u64;
    assert_eq!(error, TransportError::ConnectTimeout { address: address.to_string(), limit_ms });
}

#[tokio::test]
async fn a_failed_request_has_the_times_of_the_phases_that_began() {
    let (silent, _) = server(|mut stream| async move {
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    })
    .await;
    let (started, _) = server(|mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n").await;
        std::future::pending::<()>().await;
    })
    .await;
    let names = timed_out("http://a.example/".to_owned(), 1).await.times;
    assert_eq!(names, PhaseTimes { dns: names.dns, ..PhaseTimes::default() });
    assert!(names.dns.unwrap() >= LIMIT, "{names:?}");
    let tls = timed_out(format!("https://{silent}/"), 1).await.times;
    assert_eq!(tls, PhaseTimes { connect: tls.connect, tls: tls.tls, ..PhaseTimes::default() });
    assert!(tls.connect.unwrap() + tls.tls.unwrap() > LIMIT / 2, "{tls:?}");
    let wait = timed_out(format!("http://{silent}/"), 1).await.times;
    assert_eq!(wait, PhaseTimes { connect: wait.connect, wait: wait.wait, ..PhaseTimes::default() });
    assert!(wait.connect.unwrap() + wait.wait.unwrap() > LIMIT / 2, "{wait:?}");
    let receive = timed_out(format!("http://{started}/"), 1).await.times;
    assert!(receive.wait.is_some() && receive.receive.is_some(), "{receive:?}");
}

#[tokio::test]
async fn a_request_on_a_pooled_connection_has_no_time_of_connecting() {
    let (address, _) = answering(OK, 2).await;
    let client = client(AddressPolicy::any());
    let times = async || client.send_timed(get(format_args!("http://{address}/"))).await.times;
    let first = times().await;
    assert!(first.connect.is_some() && first.wait.is_some() && first.receive.is_some(), "{first:?}");
    assert_eq!((first.dns, first.tls), (None, None), "an IP address, and no TLS");
    let second = times().await;
    assert_eq!(second, PhaseTimes { wait: second.wait, receive: second.receive, ..PhaseTimes::default() });
    assert!(second.wait.is_some() && second.receive.is_some(), "{second:?}");
}
