//! The figures of a run as a table and as JSON, and whether it passed.

use serde_json::{Value, json};

use super::observer::Observed;
use super::setup::Replication;

/// Changes of roles in the output.
const CHANGES_MAX: usize = 200;

/// Patroni's own issue about several primaries.
const TWO_PRIMARIES: &str = "https://github.com/patroni/patroni/issues/3194";

/// A fault of the run.
pub(super) struct Event {
    pub(super) at_s: u64,
    pub(super) what: String,
}

/// Everything that a run recorded.
pub(super) struct Verdict {
    pub(super) replication: Replication,
    pub(super) seed: u64,
    pub(super) minutes: u64,
    pub(super) cycles: u64,
    pub(super) events: Vec<Event>,
    /// Seconds after a heal until the cluster was healthy, the longest.
    pub(super) heal_longest_s: u64,
    /// Machines that became the primary although they lacked acknowledged changes.
    pub(super) stale_primaries: u64,
    /// Replicas that could not follow a new primary, and were built anew.
    pub(super) replicas_rebuilt: u64,
    pub(super) observed: Observed,
    /// The figures of the load.
    pub(super) load: Value,
}

impl Verdict {
    fn figure(&self, name: &str) -> i64 {
        self.load[name].as_i64().unwrap_or(0)
    }

    /// Acknowledged changes that are gone.
    fn lost(&self) -> i64 {
        self.figure("bids_lost") + self.figure("acknowledged_missing")
    }

    /// Why the run failed; none if it passed. The control has to lose, or the test would see no loss.
    pub(super) fn failure(&self) -> Option<String> {
        if self.replication == Replication::Asynchronous {
            return (self.lost() == 0).then(|| "the asynchronous control lost nothing: the test is blind".to_owned());
        }
        let wrong = ["missing", "phantom", "invalid", "out_of_order", "bids_unexpected", "ends_missing", "ends_late"];
        let mut wrong: Vec<String> = wrong
            .into_iter()
            .filter(|name| self.figure(name) != 0)
            .map(|name| format!("{name}: {}", self.figure(name)))
            .collect();
        if self.lost() != 0 {
            wrong.push(format!("{} acknowledged changes are lost", self.lost()));
        }
        if self.stale_primaries != 0 {
            wrong.push("a stale replica became the primary".to_owned());
        }
        if self.load["broken"].as_array().is_none_or(|broken| !broken.is_empty()) {
            wrong.push(format!("the audit log is broken: {}", self.load["broken"]));
        }
        (!wrong.is_empty()).then(|| wrong.join("; "))
    }

    /// The table, and after a loss the timeline of the primaries.
    pub(super) fn describe(&self) -> String {
        let seconds = |name: &str| format!("{:.1} s", self.figure(name) as f64 / 1_000.0);
        let rows = [
            ("faults", self.events.len().to_string()),
            ("failovers and switchovers", self.observed.failovers.to_string()),
            ("seconds with two primaries", self.observed.seconds_with_two_primaries.to_string()),
            ("acknowledged bids", self.figure("bids_acknowledged").to_string()),
            ("acknowledged sales and passes", self.figure("acknowledged").to_string()),
            ("refused bids", self.figure("bids_refused").to_string()),
            ("calls with unknown effect", self.figure("calls_unknown").to_string()),
            ("acknowledged, lost", self.lost().to_string()),
            ("refused, but stored", self.figure("bids_unexpected").to_string()),
            ("events in the journal", self.figure("committed").to_string()),
            ("events that did not arrive", self.figure("missing").to_string()),
            ("phantoms: delivered, not in the journal", self.figure("phantom").to_string()),
            ("duplicates", self.figure("duplicated").to_string()),
            ("items with events out of order", self.figure("out_of_order").to_string()),
            ("longest pause", format!("{} from {}", seconds("pause_longest_ms"), self.load["pause_longest_at"])),
            ("ended lots", self.figure("ends").to_string()),
            ("ends without an event", self.figure("ends_missing").to_string()),
            ("late ends while bids were accepted", self.figure("ends_late").to_string()),
            ("latest end, outages included", seconds("end_latest_ms")),
            ("longest recovery after a heal", format!("{} s", self.heal_longest_s)),
            ("replicas that were built anew", self.replicas_rebuilt.to_string()),
            ("anchors that held", self.figure("anchors").to_string()),
        ];
        let mut text = String::new();
        for (name, value) in rows {
            text.push_str(&format!("  {name:<42}{value}\n"));
        }
        if self.lost() + self.figure("phantom") != 0 {
            text.push_str("\n  The first lost bids: time of the response, lot, bidder\n");
            for lost in self.load["lost"].as_array().into_iter().flatten() {
                text.push_str(&format!("    {}\n", lost.as_str().unwrap_or_default()));
            }
            text.push_str("\n  Faults, in seconds since 1970\n");
            self.events.iter().for_each(|event| text.push_str(&format!("    {} {}\n", event.at_s, event.what)));
            if self.observed.seconds_with_two_primaries != 0 {
                text.push_str(&format!("\n  Two primaries at a time are a known fault of Patroni: {TWO_PRIMARIES}\n"));
            }
            text.push_str("\n  Roles of the servers, in seconds since 1970\n");
            let changes = self.observed.changes.iter().take(CHANGES_MAX);
            changes.for_each(|change| text.push_str(&format!("    {change}\n")));
        }
        text
    }

    /// All figures as one object.
    pub(super) fn to_json(&self) -> Value {
        let events: Vec<Value> =
            self.events.iter().map(|event| json!({ "at": event.at_s, "what": event.what })).collect();
        json!({
            "replication": format!("{:?}", self.replication).to_lowercase(),
            "seed": self.seed,
            "minutes": self.minutes,
            "cycles": self.cycles,
            "faults": events,
            "failovers": self.observed.failovers,
            "seconds_with_two_primaries": self.observed.seconds_with_two_primaries,
            "stale_primaries": self.stale_primaries,
            "heal_longest_s": self.heal_longest_s,
            "replicas_rebuilt": self.replicas_rebuilt,
            "load": self.load,
            "roles": self.observed.changes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(replication: Replication, load: Value) -> Verdict {
        let observed = Observed { seconds_with_two_primaries: 0, failovers: 0, changes: Vec::new() };
        Verdict {
            replication,
            seed: 1,
            minutes: 3,
            cycles: 1,
            events: Vec::new(),
            heal_longest_s: 0,
            replicas_rebuilt: 0,
            stale_primaries: 0,
            observed,
            load,
        }
    }

    #[test]
    fn a_loss_fails_a_run_and_is_what_the_control_needs() {
        let load = |lost: u64| json!({ "bids_lost": lost, "acknowledged_missing": 0, "broken": [] });
        assert_eq!(verdict(Replication::Synchronous, load(0)).failure(), None);
        assert_eq!(verdict(Replication::Asynchronous, load(2)).failure(), None);
        let failure = verdict(Replication::Synchronous, load(2)).failure().unwrap();
        assert_eq!(failure, "2 acknowledged changes are lost");
        assert!(verdict(Replication::Asynchronous, load(0)).failure().unwrap().contains("blind"));
    }

    #[test]
    fn phantoms_late_ends_and_a_broken_log_fail_a_run() {
        let load = json!({ "phantom": 1, "ends_late": 2, "broken": ["x"] });
        let failure = verdict(Replication::Synchronous, load).failure().unwrap();
        assert_eq!(failure, "phantom: 1; ends_late: 2; the audit log is broken: [\"x\"]");
    }
}
