//! A minimal HTTP server, for receivers and providers that a test scripts itself.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// Serves `respond` on a free port of this machine until the test ends. Returns the base URL, without a slash at its
/// end. An error of `respond` closes the connection without a response.
pub async fn serve<F>(respond: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static) -> String
where
    F: Future<Output = Result<Response<Full<Bytes>>, std::io::Error>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let connection = hyper::server::conn::http1::Builder::new();
            tokio::spawn(connection.serve_connection(TokioIo::new(stream), service_fn(respond.clone())));
        }
    });
    url
}
