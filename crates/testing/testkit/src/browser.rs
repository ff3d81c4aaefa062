//! A real browser: Debian's Chromium without a window, driven over a pipe by its DevTools protocol.
//!
//! No driver, no port and no library stand in between: commands are JSON with a zero byte after each. It has a profile of
//! its own, which goes with it, and it ends when this process does, because then the pipe closes. What is done is what a
//! person does: a click goes to where the element is, and fails when something else is in front of it.

mod connection;
mod page;

use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;

pub use connection::BrowserError;
use connection::Connection;
pub use page::Page;

/// Debian's name of the program.
const PROGRAM: &str = "chromium";
/// The browser reads commands from file descriptor 3 and answers on 4. Redirecting them takes a shell.
const START: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null";
/// How often it is asked whether it has ended.
const END_TRIES_MAX: usize = 500;
const END_PAUSE: Duration = Duration::from_millis(10);
const ARGUMENTS: &[&str] = &[
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--disable-gpu",
    // Containers have little shared memory.
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// A running browser. It is stopped when it is dropped.
pub struct Browser {
    child: Child,
    connection: Connection,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts one.
    pub async fn start() -> Result<Self, BrowserError> {
        let profile = tempfile::tempdir().map_err(|error| BrowserError::new("making a profile", error))?;
        let mut command = Command::new("sh");
        command.args(["-c", START, PROGRAM]).args(ARGUMENTS);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        // The sandbox needs a user who is not root.
        if std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
            command.arg("--no-sandbox");
        }
        command.arg("about:blank").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| BrowserError::new("starting Chromium", error))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(BrowserError::new("starting Chromium", "it has no pipes"));
        };
        let connection = Connection::new(input, output);
        let browser = Browser { child, connection, _profile: profile };
        let version = browser.connection.call(None, "Browser.getVersion", json!({})).await;
        version.map_err(|error| {
            BrowserError::new("starting Chromium (is Debian's package `chromium` installed?)", error)
        })?;
        Ok(browser)
    }

    /// An empty page.
    pub async fn page(&self) -> Result<Page, BrowserError> {
        Page::new(self.connection.clone()).await
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.connection.close();
        // Its processes write to the profile until they end, so it is let end by itself, if it does.
        for _ in 0..END_TRIES_MAX {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(END_PAUSE);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
