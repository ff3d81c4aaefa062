//! Runs `lotwire support-bundle`: writes what a support request needs into one archive, from a fixed list, after the operator has
//! seen it.
//!
//! Nothing is taken from the databases but sizes and numbers of rows: no message, no bid, no name. Settings that are secret are left
//! out. The report of `doctor` and the logs name customers, endpoints and users, so the list says so.

mod parts;

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use self::parts::Part;
use super::print;
use crate::cli::SupportBundle;
use crate::config::Resolved;
use crate::error::{CommandError, ErrorContext as _};

pub(super) async fn run(resolved: &Resolved, options: &SupportBundle) -> Result<(), CommandError> {
    if options.file.exists() {
        return Err(CommandError::new(format!("{} exists. Name a new file", options.file.display())));
    }
    let parts = parts::collect(resolved, &options.log).await?;
    print("The bundle has:");
    for part in &parts {
        print(&format!("  {:<16} {:>9}  {}", part.name, size(part.content.len()), part.about));
    }
    options.confirmation.ask(|| format!("Write {}?", options.file.display()))?;
    write(&options.file, &parts).context(format!("writing {}", options.file.display()))?;
    print(&format!("{} is written. Look through it before you send it.", options.file.display()));
    Ok(())
}

fn size(bytes: usize) -> String {
    if bytes < 10_000 { format!("{bytes} B") } else { format!("{} kB", bytes.div_ceil(1_000)) }
}

/// Writes the archive, which only its owner can read.
fn write(path: &Path, parts: &[Part]) -> std::io::Result<()> {
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let mut archive = ZipWriter::new(file);
    for part in parts {
        archive.start_file(&part.name, SimpleFileOptions::default().unix_permissions(0o600))?;
        archive.write_all(&part.content)?;
    }
    archive.finish()?.sync_all()
}
