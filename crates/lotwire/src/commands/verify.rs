//! Runs `lotwire verify`: checks the audit log against the stored rows, or an exported record by itself.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use platform_core::audit::LogKind;
use platform_core::verification::{Anchor, CheckedRecord, Finding, Record, VerifyReport, check_records};
use serde_json::json;

use super::{pluralise, print, print_json, require_database};
use crate::cli::Verify;
use crate::config::Config;
use crate::error::{CommandError, ErrorContext as _};
use crate::node::{NodeServices, open_platform};

pub(super) async fn run(config: &Config, options: &Verify) -> Result<ExitCode, CommandError> {
    if !options.record.is_empty() {
        return record(&options.record, options.json);
    }
    let anchors = anchors(options)?;
    require_database(config, "platform.db")?;
    let platform = open_platform(config, &NodeServices::new(config)?).await?;
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    let progress = |so_far: &VerifyReport| bar.set_message(counted(so_far));
    let verified = match (options.item, options.auction) {
        (Some(item), _) => platform.verify_item(item).await,
        (None, Some(auction)) => platform.verify_auction(auction, &progress).await,
        (None, None) if options.all => platform.verify_all(&anchors, &progress).await,
        (None, None) => platform.verify_log(&anchors, &progress).await,
    };
    bar.finish_and_clear();
    let mut verified = verified.context("verifying")?;
    if !options.access_anchor.is_empty() && verified.broken.is_empty() {
        let mut again = VerifyReport::default();
        platform.verify_access(&options.access_anchor, &mut again).await.context("verifying the access log")?;
        verified.anchors_held += again.anchors_held;
        verified.broken = again.broken;
    }
    if options.json {
        print_json(&json!({
            "holds": verified.broken.is_empty(),
            "auctions": verified.auctions, "items": verified.items,
            "registrations": verified.registrations, "parties": verified.parties, "entries": verified.entries,
            "heads": (!options.log && verified.entries > 0).then_some(verified.heads),
            "anchor": verified.anchor.map(|anchor| anchor.to_string()),
            "anchorsHeld": verified.anchors_held,
            "accessEntries": options.all.then_some(verified.access_entries),
            "accessAnchor": verified.access_anchor.map(|anchor| anchor.to_string()),
            "broken": verified.broken.iter().map(|broken| json!({
                "subject": broken.subject, "kind": kind(broken), "entry": broken.entry, "detail": broken.what,
            })).collect::<Vec<_>>(),
        }))?;
    } else {
        for broken in &verified.broken {
            let entry = broken.entry.map_or(String::new(), |entry| format!(", entry {entry}"));
            let subject = broken.subject.map_or(String::new(), |subject| format!(" {subject}"));
            print(&format!("BROKEN  {}{subject}{entry}: {}", kind(broken), broken.what));
        }
        print(&verdict(&verified));
    }
    Ok(if verified.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn verdict(verified: &VerifyReport) -> String {
    match verified.broken.len() {
        0 => format!("{}: everything holds{}.\n{}", counted(verified), held(verified), token(verified)),
        1 => format!("{}: 1 is broken.", counted(verified)),
        broken => format!("{}: {broken} are broken.", counted(verified)),
    }
}

fn held(verified: &VerifyReport) -> String {
    match verified.anchors_held {
        0 => String::new(),
        1 => ", and so does the anchor".to_owned(),
        held => format!(", and so do {held} anchors"),
    }
}

/// The anchors or heads, which the operator keeps outside the database.
fn token(verified: &VerifyReport) -> String {
    let anchor =
        verified.anchor.map_or_else(|| format!("Heads {}", verified.heads), |anchor| format!("Anchor {anchor}"));
    match verified.access_anchor {
        Some(access) => format!("{anchor}\nAccess anchor {access}, {}", entries(verified.access_entries)),
        None => anchor,
    }
}

/// The anchors from flags and from the file.
fn anchors(options: &Verify) -> Result<Vec<Anchor>, CommandError> {
    let mut anchors = options.anchor.clone();
    let Some(path) = &options.anchors_from else { return Ok(anchors) };
    let text = std::fs::read_to_string(path).context(format!("reading {}", path.display()))?;
    let before = anchors.len();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim_start().starts_with('#')) {
        let Some(word) = line.split_whitespace().last() else { continue };
        anchors.push(word.parse().context(format!("{}, line {number}: {word}", path.display()))?);
    }
    if anchors.len() == before {
        return Err(CommandError::new(format!("{} contains no anchors", path.display())));
    }
    Ok(anchors)
}

fn counted(report: &VerifyReport) -> String {
    if report.auctions + report.items + report.registrations + report.parties == 0 {
        return format!("{} of the log", entries(report.log_entries));
    }
    [
        pluralise(report.auctions, "auction", "auctions"),
        pluralise(report.items, "item", "items"),
        pluralise(report.registrations, "registration", "registrations"),
        pluralise(report.parties, "party", "parties"),
        entries(report.entries),
    ]
    .join(", ")
}

fn entries(count: u64) -> String {
    pluralise(count, "entry", "entries")
}

fn kind(broken: &Finding) -> &'static str {
    let otherwise = if broken.subject.is_some() { "log" } else { "books" };
    broken.kind.map_or(otherwise, LogKind::as_str)
}

fn record(files: &[PathBuf], as_json: bool) -> Result<ExitCode, CommandError> {
    let mut parts = Vec::with_capacity(files.len());
    for file in files {
        let opened = File::open(file).context(format!("opening {}", file.display()))?;
        let part: Record = serde_json::from_reader(BufReader::new(opened))
            .context(format!("{} is not an exported record of a sale", file.display()))?;
        parts.push(part);
    }
    match check_records(&parts) {
        Ok(CheckedRecord { item, head, summary }) => {
            if as_json {
                print_json(
                    &json!({ "holds": true, "item": item, "entries": head.number, "head": head.hash, "sale": summary }),
                )?;
            } else {
                let leader = summary.leader.as_deref().unwrap_or("no leading bidder");
                let price = summary.price.map_or("no price".to_owned(), |price| format!("{price} minor units"));
                print(&format!(
                    "Lot {}, {}: {}, {price}, {leader}.",
                    summary.lot_number,
                    summary.title,
                    summary.status.name()
                ));
                let entries = pluralise(head.number, "entry", "entries");
                print(&format!("{entries} of item {item}: the record holds.\nHead {}", head.hash));
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(reason) => {
            if as_json {
                print_json(&json!({ "holds": false, "detail": reason }))?;
            } else {
                print(&format!("BROKEN  {reason}"));
            }
            Ok(ExitCode::FAILURE)
        }
    }
}
