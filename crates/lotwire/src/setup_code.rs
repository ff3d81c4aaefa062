//! The one-time code with which the first administrator of an empty installation is created: shown on a terminal, or
//! else written to a file that only the user of the server can read.

use std::fs::OpenOptions;
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use kit_runtime::vault::Secret;

use crate::config::{Config, LogFormat};
use crate::error::{CommandError, ErrorContext as _};

/// Name of the file in the data directory.
const FILE: &str = "setup-code";

/// Where the operator finds the code.
pub(crate) enum SetupCode {
    /// On the terminal.
    Shown(String),
    /// In this file.
    Written(PathBuf),
}

/// Where the code is to be shown. Output that is not a terminal may be a log that others read.
pub(crate) fn is_on_terminal(config: &Config) -> bool {
    config.log.format == LogFormat::Text && std::io::stdout().is_terminal()
}

/// Publishes the code of an installation without users. Without a code, the file of an earlier start is deleted.
pub(crate) fn publish(
    data_dir: &Path,
    code: Option<&Secret>,
    on_terminal: bool,
) -> Result<Option<SetupCode>, CommandError> {
    let path = data_dir.join(FILE);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).context(format!("deleting {}", path.display()));
        }
        _ => {}
    }
    let Some(code) = code.and_then(Secret::expose_str) else { return Ok(None) };
    if on_terminal {
        return Ok(Some(SetupCode::Shown(code.to_owned())));
    }
    let writing = || format!("writing {}", path.display());
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).context(writing())?;
    writeln!(file, "{code}").context(writing())?;
    Ok(Some(SetupCode::Written(path)))
}

impl SetupCode {
    /// What the operator does with it; `url` is the base URL of the platform.
    pub(crate) fn text(&self, url: &str) -> String {
        let begin = format!("\nNo user exists yet. To create the first administrator, open\n  {url}/admin/set-up\n");
        match self {
            Self::Shown(code) => format!("{begin}and enter this one-time code, which is valid for 72 hours:\n  {code}"),
            Self::Written(path) => {
                format!("{begin}and enter the one-time code that is in this file for 72 hours:\n  {}", path.display())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn without_a_terminal_only_the_owner_of_a_file_reads_the_code() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (Secret::new(b"lwc_first".to_vec()), Secret::new(b"lwc_second".to_vec()));
        publish(dir.path(), Some(&first), false).unwrap();
        let written = publish(dir.path(), Some(&second), false).unwrap().unwrap();
        let path = dir.path().join(FILE);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "lwc_second\n");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let text = written.text("https://auctions.example.com");
        assert!(text.contains("https://auctions.example.com/admin/set-up") && !text.contains("lwc_"), "{text}");
        assert!(publish(dir.path(), None, false).unwrap().is_none());
        assert!(!path.exists(), "an installation with users keeps no file");
    }

    #[test]
    fn on_a_terminal_the_code_is_shown_and_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let shown = publish(dir.path(), Some(&Secret::new(b"lwc_code".to_vec())), true).unwrap().unwrap();
        assert!(shown.text("http://127.0.0.1:8080").ends_with("\n  lwc_code"));
        assert!(!dir.path().join(FILE).exists());
    }
}
