//! A browser for tests: Debian's Chromium without a window, driven over a pipe with the DevTools protocol.
//!
//! Pages are mostly opened in Chromium's headless shell, if it is installed: the same engine without the parts of the browser
//! around the pages, which take more than half of the processor time of a test. [`Browser::with_windows`] starts the whole
//! browser.
//!
//! Commands are JSON texts, each followed by a zero byte; no driver and no port is needed. Each browser has a temporary
//! profile. It ends when this process ends, because then the pipe closes. Input goes through the browser like a user's:
//! a click hits the position of the element, and fails if another element covers it.

mod accessibility;
mod connection;
mod layout;
mod page;
mod walk;

use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

pub use accessibility::Accessibility;
pub use connection::BrowserError;
use connection::Connection;
pub use layout::layout_faults;
pub use page::{ColorScheme, Page};
pub use walk::{Walk, kind_of};

/// Names of the programs in Debian.
const CHROMIUM: &str = "chromium";
const HEADLESS_SHELL: &str = "chromium-headless-shell";
/// The browser reads commands from file descriptor 3 and answers on 4. Redirecting them takes a shell.
const START: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null";
/// Maximum number of checks whether the browser has ended, [`END_PAUSE`] apart.
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
    // Chromium does so by itself, its headless shell does not: a frame of another site is a page of its own.
    "--site-per-process",
    // A process that waits for the next page takes processor time: a tenth of a walk through all pages.
    "--disable-features=SpareRendererForSitePerProcess",
];

/// The browser of one visitor: its pages share cookies and storage.
pub struct Browser {
    process: Arc<Process>,
    /// The visitor's context in the browser; none for the first visitor.
    context: Option<String>,
}

/// A running browser. It is stopped when the last of its visitors is dropped.
struct Process {
    child: Child,
    connection: Connection,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser whose pages are all visible: Chromium's headless shell, or Chromium where that is not installed.
    pub async fn start() -> Result<Self, BrowserError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let has_shell = std::env::split_paths(&path).any(|folder| folder.join(HEADLESS_SHELL).is_file());
        Self::start_program(if has_shell { HEADLESS_SHELL } else { CHROMIUM }).await
    }

    /// Starts Chromium, in whose windows one tab hides another.
    pub async fn with_windows() -> Result<Self, BrowserError> {
        Self::start_program(CHROMIUM).await
    }

    async fn start_program(program: &str) -> Result<Self, BrowserError> {
        let profile = tempfile::tempdir().map_err(|error| BrowserError::new("creating a profile", error))?;
        let mut command = Command::new("sh");
        command.args(["-c", START, program]).args(ARGUMENTS);
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
        let process = Process { child, connection, _profile: profile };
        let version = process.connection.call(None, "Browser.getVersion", json!({})).await;
        version.map_err(|error| {
            BrowserError::new(format!("starting {program} (is Debian's package `{program}` installed?)"), error)
        })?;
        Ok(Browser { process: Arc::new(process), context: None })
    }

    /// Another visitor, who shares neither cookies nor storage with the others.
    pub async fn other_visitor(&self) -> Result<Self, BrowserError> {
        let created = self.process.connection.call(None, "Target.createBrowserContext", json!({})).await?;
        let Some(context) = created["browserContextId"].as_str() else {
            return Err(BrowserError::new("adding a visitor", created));
        };
        Ok(Browser { process: self.process.clone(), context: Some(context.to_owned()) })
    }

    /// Opens an empty page in a window of its own, so that it is visible whatever else is opened.
    pub async fn page(&self) -> Result<Page, BrowserError> {
        self.new_page(true).await
    }

    /// Opens an empty page as a tab of the last window. It hides the other tabs of that window if the browser
    /// [has windows](Self::with_windows).
    pub async fn tab(&self) -> Result<Page, BrowserError> {
        self.new_page(false).await
    }

    async fn new_page(&self, in_own_window: bool) -> Result<Page, BrowserError> {
        Page::new(self.process.connection.clone(), self.context.as_deref(), in_own_window).await
    }

    /// The page whose address contains this text, in a tab that another page opened.
    pub async fn opened(&self, part: &str) -> Result<Page, BrowserError> {
        let page = Page::attach(self.process.connection.clone(), "page", part).await?;
        page.show().await?;
        Ok(page)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.connection.close();
        // The browser writes to the profile until it ends. It gets time to end before it is killed.
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
