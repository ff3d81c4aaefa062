//! Runs `lotwire resume`: shows what a restored installation would do, and ends its hold.

use kit_engine::OlderTables;
use kit_runtime::hold::Hold;
use platform_core::restores::WorkOnHold;
use serde_json::json;

use super::{ask, pluralise, print, print_json};
use crate::cli::Resume;
use crate::config::{Config, ConfigDuration};
use crate::data_dir::require_key;
use crate::data_dir_lock::lock_installation;
use crate::error::{CommandError, ErrorContext as _};
use crate::hold::{self, InstalledWings};
use crate::node::NodeServices;
use crate::sealing_key::{require_platform_key, require_provider_key};

/// Lots and customers that the list names; the others are counted.
const LISTED_MAX: usize = 20;

pub(super) async fn run(config: &Config, options: &Resume) -> Result<(), CommandError> {
    require_key(config)?;
    let services = NodeServices::new(config)?;
    let installed = InstalledWings::open(OlderTables::Refuse, config, &services).await?;
    let (platform, provider, wings) = (&installed.platform, &installed.provider, installed.wings());
    let Some(hold) = wings.hold().await? else {
        return match options.json {
            true => print_json(&json!({ "wasOnHold": false })),
            false => {
                print("The installation is not on hold.");
                Ok(())
            }
        };
    };
    if let Some(platform) = platform {
        require_platform_key(platform).await?;
    }
    if let Some(provider) = provider {
        require_provider_key(provider).await?;
    }
    let work = match platform {
        Some(platform) => platform.work_on_hold().await.context("reading what would happen")?,
        None => WorkOnHold::default(),
    };
    let deliveries = match provider {
        Some(provider) => provider.waiting_deliveries().await.context("counting deliveries")?,
        None => 0,
    };
    if !options.json {
        print(&list(&hold, &work, deliveries, options.extend_ends));
    }
    let mut extended = None;
    if !options.list {
        // The lots whose ends are extended are those of no running server.
        let _locks = lock_installation(config, services.clock.as_ref()).await?;
        if !options.yes {
            ask(&question(options, &work))?;
        }
        if let (Some(grace), Some(platform)) = (options.extend_ends, platform) {
            extended = Some(platform.extend_passed_ends(grace.get()).await.context("extending ends")?);
        }
        wings.end_hold().await?;
    }
    if options.json {
        return print_json(&json!({
            "wasOnHold": true,
            "isOnHold": options.list,
            "backupAt": hold.backup_at,
            "restoredAt": hold.since,
            "passedEnds": work.passed_ends.iter().map(|end| json!({
                "itemUuid": end.item, "auctionUuid": end.auction, "auction": end.auction_title,
                "lotNumber": end.lot_number, "endedAt": end.at,
            })).collect::<Vec<_>>(),
            "unpublishedEvents": work.unpublished.iter().map(|events| json!({
                "customerUuid": events.customer, "customer": events.name, "count": events.count,
                "oldestAt": events.oldest_at,
            })).collect::<Vec<_>>(),
            "waitingDeliveries": deliveries,
            "waitingMails": work.mails.mails,
            "extendedEnds": extended,
        }));
    }
    if let Some(extended) = extended {
        print(&format!("{} extended.", pluralise(extended, "end was", "ends were")));
    }
    if !options.list {
        print("The hold has ended. Start the server.");
    }
    Ok(())
}

fn question(options: &Resume, work: &WorkOnHold) -> String {
    match (work.passed_ends.len(), options.extend_ends) {
        (0, _) => "Go on?".to_owned(),
        (ended, None) => {
            format!("Go on, and decide {} on the bids of the backup?", pluralise(ended, "passed end", "passed ends"))
        }
        (ended, Some(grace)) => format!("Go on, and end {} {grace} from now?", pluralise(ended, "lot", "lots")),
    }
}

/// What would happen as soon as a server starts.
fn list(hold: &Hold, work: &WorkOnHold, deliveries: u64, extend_ends: Option<ConfigDuration>) -> String {
    let mut lines = vec![hold::sentence(hold), String::new()];
    let ends = &work.passed_ends;
    let (lots, they) = match ends.len() {
        1 => ("1 live lot has passed its end".to_owned(), "It"),
        ended => (format!("{ended} live lots have passed their ends"), "They"),
    };
    lines.push(match extend_ends {
        _ if ends.is_empty() => "No live lot has passed its end.".to_owned(),
        Some(grace) => format!("{lots}. {they} will end {grace} after the command goes on:"),
        None => format!("{lots}. {they} would be sold or passed on the bids that the backup has, and announced:"),
    });
    for end in ends.iter().take(LISTED_MAX) {
        lines.push(format!("  {}: lot {}, ended {}", end.auction_title, end.lot_number, end.at));
    }
    lines.extend(further(ends.len()));
    let events: u64 = work.unpublished.iter().map(|events| events.count).sum();
    lines.push(format!("{} that the backup has would be published.", pluralise(events, "event", "events")));
    for events in work.unpublished.iter().take(LISTED_MAX) {
        lines.push(format!("  {}: {}", events.name, pluralise(events.count, "event", "events")));
    }
    lines.extend(further(work.unpublished.len()));
    lines.push(format!(
        "{} would be sent. Those that were sent after the backup was made would arrive twice, with the same message id.",
        pluralise(deliveries, "waiting delivery", "waiting deliveries")
    ));
    if work.mails.mails > 0 {
        lines.push(format!(
            "{} to bidders would be sent. Those that were sent after the backup was made would arrive twice.",
            pluralise(work.mails.mails, "waiting mail", "waiting mails")
        ));
    }
    if !ends.is_empty() && extend_ends.is_none() {
        lines.push(String::new());
        lines.push("To let bidders return first, add --extend-ends, such as --extend-ends 2h.".to_owned());
    }
    lines.join("\n")
}

fn further(count: usize) -> Option<String> {
    (count > LISTED_MAX).then(|| format!("  and {} more; --json lists all", count - LISTED_MAX))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use platform_core::restores::{PassedEnd, UnpublishedEvents};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_list_says_what_would_happen_and_how_many_more_there_are() {
        let at: Timestamp = "2026-11-26T03:00:00Z".parse().unwrap();
        let end = PassedEnd {
            item: Uuid::nil(),
            auction: Uuid::nil(),
            auction_title: "Old Masters".to_owned(),
            lot_number: "12".to_owned(),
            at,
        };
        let events =
            UnpublishedEvents { customer: Uuid::nil(), name: "Hartley".to_owned(), count: 3, oldest_at: Some(at) };
        let mails = platform_core::port::MailBacklog { mails: 2, oldest_at: Some(at) };
        let work = WorkOnHold { passed_ends: vec![end; 22], unpublished: vec![events], mails };
        let listed = list(&Hold { backup_at: Some(at), since: at }, &work, 1, None);
        for expected in [
            "was restored at 2026-11-26T03:00:00Z from a backup of 2026-11-26T03:00:00Z",
            "22 live lots have passed",
            "  Old Masters: lot 12, ended 2026-11-26T03:00:00Z",
            "and 2 more",
            "3 events that the backup has would be published",
            "1 waiting delivery would be sent",
            "2 waiting mails to bidders would be sent",
            "--extend-ends",
        ] {
            assert!(listed.contains(expected), "{expected}: {listed}");
        }
        let quiet = list(&Hold { backup_at: None, since: at }, &WorkOnHold::default(), 0, None);
        assert!(quiet.contains("No live lot has passed its end.") && !quiet.contains("--extend-ends"), "{quiet}");
    }
}
