//! A web site of a house for tests: pages and scripts on an origin of their own, with a content security policy.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Bytes of the longest head of a request.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// A file of the site.
#[derive(Debug, Clone)]
struct File {
    media_type: &'static str,
    content: String,
}

/// A web site on a port of its own.
pub struct WebSite {
    /// Scheme, host and port.
    pub origin: String,
    files: Arc<Mutex<BTreeMap<String, File>>>,
    policy: Arc<Mutex<String>>,
}

impl WebSite {
    /// Starts an empty site under a name, such as `shop.localhost`, which browsers look up on this machine.
    ///
    /// Errors: when no port is free.
    pub async fn start(name: &str) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let origin = format!("http://{name}:{}", listener.local_addr()?.port());
        let site = Self { origin, files: Arc::default(), policy: Arc::default() };
        let (files, policy) = (Arc::clone(&site.files), Arc::clone(&site.policy));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (files, policy) = (Arc::clone(&files), Arc::clone(&policy));
                // A browser that goes away reads no answer; the test sees what it shows.
                tokio::spawn(async move { respond(stream, &files, &policy).await });
            }
        });
        Ok(site)
    }

    /// Puts a file at a path, such as `/` or `/shop.js`.
    pub fn put(&self, path: &str, media_type: &'static str, content: impl Into<String>) {
        let file = File { media_type, content: content.into() };
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), file);
    }

    /// Sets the content security policy of all its pages.
    pub fn set_policy(&self, policy: impl Into<String>) {
        *self.policy.lock().unwrap_or_else(PoisonError::into_inner) = policy.into();
    }
}

async fn respond(
    mut stream: TcpStream,
    files: &Mutex<BTreeMap<String, File>>,
    policy: &Mutex<String>,
) -> io::Result<()> {
    let (read, mut write) = stream.split();
    let mut lines = BufReader::new(read).lines();
    let Some(first) = lines.next_line().await? else { return Ok(()) };
    let mut bytes = 0;
    while let Some(line) = lines.next_line().await?.filter(|line| !line.is_empty()) {
        bytes += line.len();
        if bytes > HEAD_BYTES_MAX {
            return Ok(());
        }
    }
    let target = first.split(' ').nth(1).unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default();
    let found = files.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
    let policy = policy.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let (status, file) = match found {
        Some(file) => ("200 OK", file),
        None => ("404 Not Found", File { media_type: "text/plain", content: "not here\n".to_owned() }),
    };
    let policy = if policy.is_empty() { policy } else { format!("Content-Security-Policy: {policy}\r\n") };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\n{policy}Connection: close\r\n\r\n",
        file.media_type,
        file.content.len()
    );
    write.write_all(head.as_bytes()).await?;
    write.write_all(file.content.as_bytes()).await?;
    write.shutdown().await
}
