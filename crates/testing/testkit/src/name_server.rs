//! A name server on a port of its own (Debian's dnsmasq), with text records that a test chooses.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::server::{ServerError, free_address};

/// Time for the server to listen.
const START_MAX: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// A name server for everything below `test`. It ends with the value.
pub struct NameServer {
    /// Its address.
    pub address: SocketAddr,
    process: Option<Child>,
}

impl NameServer {
    /// Starts a server without a record.
    pub fn start() -> Result<Self, ServerError> {
        let mut server = Self { address: free_address()?, process: None };
        server.set(&[])?;
        Ok(server)
    }

    /// Replaces the text records: names with their values, without commas. The server restarts on the same port.
    pub fn set(&mut self, records: &[(&str, &str)]) -> Result<(), ServerError> {
        self.stop();
        let failed = |error: io::Error| ServerError::new(format!("starting dnsmasq: {error}"));
        let mut command = Command::new(program());
        command.args(["--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--local=/test/"]);
        command.args(["--listen-address=127.0.0.1", "--bind-interfaces", "--pid-file=", "--log-facility=/dev/null"]);
        command.arg(format!("--port={}", self.address.port()));
        command.args(records.iter().map(|(name, value)| format!("--txt-record={name},{value}")));
        self.process = Some(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().map_err(failed)?);
        let begin = Instant::now();
        while TcpStream::connect(self.address).is_err() {
            if begin.elapsed() > START_MAX {
                return Err(ServerError::new("dnsmasq does not listen".to_owned()));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Debian has it in a folder that is not in every user's search path.
fn program() -> &'static str {
    let packaged = "/usr/sbin/dnsmasq";
    if std::path::Path::new(packaged).exists() { packaged } else { "dnsmasq" }
}
