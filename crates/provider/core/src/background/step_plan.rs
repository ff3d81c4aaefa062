//! Selects the messages of the next step of a task.

use super::position_at;
use crate::dispatcher::target::Target;
use crate::messages::TEST_TAG;
use crate::model::{AttemptStatus, BackgroundTask, Id, Selection, TaskKind};
use crate::port::{FailedAttempt, ReplayCandidate, Store, StoreResult};

/// Maximum number of attempts or messages that one step reads.
const SCANNED_MAX: usize = 500;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StepPlan {
    /// Position of the task after the step.
    pub(super) to: Id,
    pub(super) found: u64,
    /// The selected messages that the step enqueues.
    pub(super) messages: Vec<Id>,
    /// Whether this is the task's last step.
    pub(super) last: bool,
}

/// A row that a task read.
struct Candidate {
    position: Id,
    /// The message; none when the task does not select it.
    message: Option<Id>,
    /// Whether a delivery of the message already waits, so that none is enqueued.
    waits: bool,
}

/// Reads rows after the task's position, and selects at most `batch` messages.
pub(super) async fn plan_step(
    store: &dyn Store,
    task: &BackgroundTask,
    target: &Target,
    batch: usize,
) -> StoreResult<StepPlan> {
    let (application, endpoint, after) = (&task.application, &task.endpoint, &task.progress.position);
    let end = position_at(task.kind, task.selection.until);
    let candidates: Vec<Candidate> = match task.kind {
        // A purge sends no messages.
        TaskKind::PurgeContent => Vec::new(),
        TaskKind::Recover => {
            let failures = store.failed_attempts(application, endpoint, after, &end, SCANNED_MAX).await?;
            let candidate = |row: FailedAttempt| Candidate {
                position: row.attempt,
                message: row.recoverable,
                waits: row.is_under_way,
            };
            failures.into_iter().map(candidate).collect()
        }
        TaskKind::ReplayMissing | TaskKind::BulkReplay => {
            let sent = store.replay_candidates(application, endpoint, after, &end, SCANNED_MAX).await?;
            let candidates = sent.into_iter().map(|row| {
                let selected = match task.kind {
                    TaskKind::BulkReplay => task.selection.matches(&row),
                    // An example was sent to one endpoint, so no other endpoint misses it.
                    _ => {
                        let is_example = row.tags.iter().flatten().any(|tag| tag == TEST_TAG);
                        let is_wanted = target.subscribes_to(&row.event_type, row.channels.as_deref());
                        row.latest.is_none() && is_wanted && !is_example
                    }
                };
                let message = (selected && row.payload_kept).then(|| row.message.clone());
                Candidate { position: row.message, message, waits: row.waits && !task.kind.makes_retries_due() }
            });
            candidates.collect()
        }
    };
    Ok(take_batch(candidates, batch, end))
}

fn take_batch(candidates: Vec<Candidate>, batch: usize, end: Id) -> StepPlan {
    let exhausted = candidates.len() < SCANNED_MAX;
    let mut plan = StepPlan::default();
    for Candidate { position, message, waits } in candidates {
        if plan.messages.len() >= batch {
            return plan;
        }
        plan.to = position;
        if let Some(message) = message {
            plan.found += 1;
            if !waits {
                plan.messages.push(message);
            }
        }
    }
    if exhausted {
        plan.to = end;
        plan.last = true;
    }
    plan
}

impl Selection {
    /// Whether the endpoint received an attempt of the message, and the message matches the filters.
    fn matches(&self, row: &ReplayCandidate) -> bool {
        let Some((status, code)) = row.latest else { return false };
        let is_or_has = |asked: &Option<String>, has: &Option<Vec<String>>| {
            asked.as_ref().is_none_or(|asked| has.iter().flatten().any(|has| has == asked))
        };
        self.event_types.as_ref().is_none_or(|types| types.contains(&row.event_type))
            && is_or_has(&self.channel, &row.channels)
            && is_or_has(&self.tag, &row.tags)
            && self.status.is_none_or(|asked| asked == self.status_of(row, status))
            && self.status_code_class.is_none_or(|class| class == code / 100 * 100)
    }

    /// A message that waits for another attempt counts as being sent.
    fn status_of(&self, row: &ReplayCandidate, latest: AttemptStatus) -> AttemptStatus {
        if row.waits && latest == AttemptStatus::Fail { AttemptStatus::Sending } else { latest }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn seen(count: usize, message: bool) -> Vec<Candidate> {
        let one = |number| Candidate {
            position: format!("{number:04}").into(),
            message: message.then(|| format!("m{number}").into()),
            waits: number % 2 == 1,
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn a_step_ends_with_its_batch_or_with_the_scanned_rows() {
        let plan = take_batch(seen(10, true), 2, "end".into());
        assert_eq!((&*plan.to, plan.found, plan.messages.len(), plan.last), ("0002", 3, 2, false));
        let plan = take_batch(seen(10, true), 100, "end".into());
        assert_eq!((&*plan.to, plan.found, plan.messages.len(), plan.last), ("end", 10, 5, true));
        let plan = take_batch(seen(SCANNED_MAX, false), 100, "end".into());
        assert_eq!((&*plan.to, plan.found, plan.last), ("0499", 0, false), "there may be more");
        assert!(take_batch(Vec::new(), 1, "end".into()).last);
    }

    #[test]
    fn filters_match_the_message_and_its_latest_attempt() {
        let all = Selection {
            since: Timestamp::MIN,
            until: Timestamp::MAX,
            event_types: None,
            channel: None,
            tag: None,
            status: None,
            status_code_class: None,
        };
        let row = ReplayCandidate {
            message: "m".into(),
            event_type: "a.b".into(),
            channels: Some(vec!["c".into()]),
            tags: Some(vec!["t".into()]),
            payload_kept: true,
            latest: Some((AttemptStatus::Fail, 503)),
            waits: false,
        };
        let word = |word: &str| Some(word.to_owned());
        for (selection, expected) in [
            (all.clone(), true),
            (Selection { event_types: Some(vec!["x".into(), "a.b".into()]), ..all.clone() }, true),
            (Selection { event_types: Some(vec!["x".into()]), ..all.clone() }, false),
            (Selection { channel: word("c"), ..all.clone() }, true),
            (Selection { channel: word("t"), ..all.clone() }, false),
            (Selection { tag: word("t"), ..all.clone() }, true),
            (Selection { tag: word("c"), ..all.clone() }, false),
            (Selection { status: Some(AttemptStatus::Fail), ..all.clone() }, true),
            (Selection { status: Some(AttemptStatus::Success), ..all.clone() }, false),
            (Selection { status_code_class: Some(500), ..all.clone() }, true),
            (Selection { status_code_class: Some(0), ..all.clone() }, false),
        ] {
            assert_eq!(selection.matches(&row), expected, "{selection:?}");
        }
        assert!(!all.matches(&ReplayCandidate { latest: None, ..row.clone() }), "it was never sent there");
        let sending = Selection { status: Some(AttemptStatus::Sending), ..all };
        assert!(sending.matches(&ReplayCandidate { waits: true, ..row.clone() }) && !sending.matches(&row));
    }
}
