//! Reports: one mail about the alerts of an application. Decides when a report is due, and writes its text. Pure
//! functions.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};
use kit_mail::plain_name;

use super::notice::{Audience, Notice, stop_line};
use super::transition::Transition;
use crate::model::Application;
use crate::port::WaitingReport;

/// Alerts about the endpoints of an application are collected for this long. One outage usually stops several endpoints
/// within a minute.
const COLLECTED_FOR: SignedDuration = SignedDuration::from_mins(1);
/// Interval between two reports about failures of the same application. Recoveries wait as long while another endpoint of
/// the application fails.
const INTERVAL: SignedDuration = SignedDuration::from_mins(30);
/// Endpoints that a mail lists. Further ones are counted.
pub(super) const LISTED_MAX: usize = 50;
/// Characters of an endpoint's address in a list.
const ADDRESS_CHARS_MAX: usize = 100;

/// Whether the notices of an application are reported now.
pub(super) fn is_due(report: &WaitingReport, now: Timestamp) -> bool {
    let Some(oldest) = report.notices.iter().map(|notice| notice.noted_at).min() else { return false };
    let has_failures = report.notices.iter().any(|notice| notice.stage.is_some());
    // All endpoints of the application work again.
    let is_end = !has_failures && !report.is_failing;
    let collected_for = if has_failures || is_end { COLLECTED_FOR } else { INTERVAL };
    now.duration_since(oldest) >= collected_for
        && (is_end || report.reported_at.is_none_or(|at| now.duration_since(at) >= INTERVAL))
}

/// A mail about several endpoints of an application.
pub(super) struct Report<'a> {
    /// The application.
    pub(super) application: &'a Application,
    /// The endpoints that are listed.
    pub(super) notices: Vec<Notice<'a>>,
    /// The number of endpoints by transition, including those that are not listed.
    pub(super) counts: BTreeMap<Transition, usize>,
    /// Whether an endpoint of the application fails now.
    pub(super) any_fails: bool,
    /// Base address of the provider's pages.
    pub(super) public_url: &'a str,
}

impl Report<'_> {
    pub(super) fn subject(&self) -> String {
        let application = plain_name(&self.application.name);
        match (&self.notices[..], self.counts.iter().collect::<Vec<_>>().as_slice()) {
            ([notice], [(_, 1)]) => notice.subject(),
            (_, [(transition, count)]) => match transition {
                Transition::Failing => format!("Webhooks to {} fail ({application})", endpoints(**count)),
                Transition::DisablingSoon => {
                    format!("{} will be disabled in 24 hours ({application})", endpoints(**count))
                }
                Transition::Disabled => format!("{} disabled ({application})", endpoints(**count)),
                Transition::Recovered => format!("Webhooks to {} arrive again ({application})", endpoints(**count)),
            },
            (_, counts) => {
                let parts: Vec<String> = counts
                    .iter()
                    .map(|(transition, count)| match transition {
                        Transition::Disabled => format!("{count} disabled"),
                        Transition::DisablingSoon => format!("{count} disabled in 24 hours"),
                        Transition::Failing => format!("{count} failing"),
                        Transition::Recovered => format!("{count} working again"),
                    })
                    .collect();
                format!("Endpoints of {application}: {}", parts.join(", "))
            }
        }
    }

    pub(super) fn text(&self, audience: Audience) -> String {
        let mut parts = match &self.notices[..] {
            [notice] if self.counts.values().sum::<usize>() == 1 => notice.paragraphs(audience),
            _ => self.tables(audience),
        };
        if self.counts.contains_key(&Transition::Recovered) && !self.any_fails {
            parts.push(format!("No endpoint of {} fails now.", plain_name(&self.application.name)));
        }
        parts.push(stop_line(self.public_url, audience));
        parts.join("\n\n") + "\n"
    }

    /// A table for each transition, and the causes.
    fn tables(&self, audience: Audience) -> Vec<String> {
        let application = plain_name(&self.application.name);
        let mut parts = vec![format!("About webhooks of {application}. All times are in UTC.")];
        for (transition, &count) in &self.counts {
            let listed: Vec<&Notice<'_>> =
                self.notices.iter().filter(|notice| notice.transition == *transition).collect();
            let count_text = endpoints(count);
            let (opening, closing) = match transition {
                Transition::Disabled => (
                    format!("{count_text} disabled, because deliveries failed:"),
                    Some(
                        "Messages are not sent to a disabled endpoint until you enable it. Repair the receiver, enable \
                          the endpoint, and recover the messages that failed.",
                    ),
                ),
                Transition::DisablingSoon => {
                    (format!("{count_text} will be disabled within 24 hours, unless a message is delivered:"), None)
                }
                Transition::Failing => (
                    format!("No webhook has been delivered to {count_text}:"),
                    Some("If no message is delivered until the time in \"Disabled on\", the endpoint is disabled."),
                ),
                Transition::Recovered => (
                    format!("Webhooks are delivered again to {count_text}:"),
                    Some("To send failed messages again, recover them."),
                ),
            };
            parts.push(opening);
            parts.push(table(*transition, &listed, count - listed.len().min(count), audience));
            parts.extend(closing.map(str::to_owned));
        }
        parts.extend(self.causes());
        parts
    }

    /// Each cause with its remedy, and the number of listed endpoints that have it; the most frequent first.
    fn causes(&self) -> Option<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for why in self.notices.iter().filter_map(Notice::why) {
            *counts.entry(why).or_default() += 1;
        }
        let mut causes: Vec<(String, usize)> = counts.into_iter().collect();
        causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let lines = causes.iter().map(|(why, count)| format!("- {}: {why}", endpoints(*count)));
        let lines: Vec<String> = lines.collect();
        (!lines.is_empty()).then(|| format!("Why:\n{}", lines.join("\n")))
    }
}

/// The mail about all endpoints that fail, to an address that was just confirmed.
pub(super) fn what_fails(reports: &[Report<'_>], audience: Audience, public_url: &str) -> String {
    let mut parts = vec!["Your address receives alerts from now on. These endpoints fail already:".to_owned()];
    parts.extend(reports.iter().flat_map(|report| report.tables(audience)));
    parts.push(stop_line(public_url, audience));
    parts.join("\n\n") + "\n"
}

pub(super) fn what_fails_subject(count: usize) -> String {
    format!("{} of your webhooks fail{} now", endpoints(count), if count == 1 { "s" } else { "" })
}

/// A table of endpoints, with the widest column last, and the link of each endpoint below it.
fn table(transition: Transition, listed: &[&Notice<'_>], unlisted: usize, audience: Audience) -> String {
    let shows_end = matches!(transition, Transition::Failing | Transition::DisablingSoon);
    let mut text = String::from("Failing since     ");
    if shows_end {
        text.push_str("Disabled on       ");
    }
    text.push_str("Failed attempts  Endpoint");
    for notice in listed {
        let _ = write!(text, "\n{}  ", minute(notice.since));
        if shows_end {
            let _ = write!(text, "{:<16}  ", notice.disabled_at().map(minute).unwrap_or_default());
        }
        let _ =
            write!(text, "{:>15}  {}\n    {}", notice.failures.count, short(&notice.address()), notice.link(audience));
    }
    if unlisted > 0 {
        let _ = write!(text, "\nand {} more", endpoints(unlisted));
    }
    text
}

fn endpoints(count: usize) -> String {
    format!("{count} endpoint{}", if count == 1 { "" } else { "s" })
}

fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

fn short(address: &str) -> String {
    match address.char_indices().nth(ADDRESS_CHARS_MAX) {
        Some((end, _)) => format!("{}...", address.get(..end).unwrap_or_default()),
        None => address.to_owned(),
    }
}
