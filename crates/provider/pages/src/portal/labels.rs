//! Labels: statuses, status codes, durations and counts as pages show them.

use askama::Template;
use askama::filters::HtmlSafe;
use provider_core::MessageState;
use provider_core::model::counts::{AttemptCounts, DeliveryCounts};
use provider_core::model::{Attempt, AttemptStatus, AttemptTrigger, BackgroundTask, Endpoint, Progress, TaskStatus};
use provider_core::ordering::SKIPPED_RESPONSE;

/// A status as a word with a colour.
#[derive(Debug, Clone, Copy, Template)]
#[template(source = "<span class=\"status {{ kind }}\">{{ words }}</span>", ext = "html")]
pub(crate) struct StatusBadge {
    kind: &'static str,
    words: &'static str,
}

impl HtmlSafe for StatusBadge {}

impl StatusBadge {
    pub(crate) const DISABLED: Self = Self { kind: "off", words: "Disabled" };
    pub(crate) const ENABLED: Self = Self { kind: "good", words: "Enabled" };
    pub(crate) const FAILING: Self = Self { kind: "bad", words: "Failing" };
    pub(crate) const DELETED: Self = Self { kind: "off", words: "Deleted" };
    pub(crate) const NOT_SENT: Self = Self { kind: "off", words: "Not sent here" };
    pub(crate) const RECEIVES: Self = Self { kind: "good", words: "Receives it" };
    pub(crate) const FILTERED_OUT: Self = Self { kind: "off", words: "Filters it out" };
    pub(crate) const SOON: Self = Self { kind: "wait", words: "Look at this" };
    pub(crate) const NOT_ENCRYPTED: Self = Self { kind: "wait", words: "Not encrypted" };
    pub(crate) const PASSED: Self = Self { kind: "good", words: "Passed" };
    pub(crate) const CHECK_FAILED: Self = Self { kind: "bad", words: "Failed" };
    pub(crate) const NOT_CHECKED: Self = Self { kind: "off", words: "Not checked" };
    pub(crate) const RETRIED: Self = Self { kind: "wait", words: "Failed, will be retried" };
}

impl StatusBadge {
    /// Whether the endpoint receives, fails or is disabled.
    pub(crate) fn of(endpoint: &Endpoint) -> Self {
        match (endpoint.disabled, endpoint.failing_since) {
            (true, _) => Self::DISABLED,
            (false, Some(_)) => Self::FAILING,
            (false, None) => Self::ENABLED,
        }
    }
}

impl StatusBadge {
    /// The status of a background task. A task that has enqueued its last message is shown as delivering until no message
    /// waits.
    pub(crate) fn of_task(task: &BackgroundTask) -> Self {
        match task.status {
            TaskStatus::Running => Self { kind: "wait", words: "Running" },
            TaskStatus::Finished if task.progress.waiting() > 0 => Self { kind: "wait", words: "Delivering" },
            TaskStatus::Finished => Self { kind: "good", words: "Finished" },
            TaskStatus::Failed if task.is_stopped() => Self { kind: "off", words: "Stopped" },
            TaskStatus::Failed => Self { kind: "bad", words: "Failed" },
        }
    }
}

impl From<&Attempt> for StatusBadge {
    fn from(attempt: &Attempt) -> Self {
        match attempt.status {
            AttemptStatus::Cancelled if attempt.response == SKIPPED_RESPONSE => MessageState::Skipped.into(),
            status => status.into(),
        }
    }
}

/// Whether the figures of a background task still change.
pub(crate) fn is_live(task: &BackgroundTask) -> bool {
    task.status == TaskStatus::Running || task.progress.waiting() > 0
}

/// How the deliveries of the messages ended that a background task sent.
pub(crate) fn delivery_results(progress: &Progress) -> String {
    let ended = progress.ended;
    let mut results = format!(
        "{} of {} delivered, {} failed, {} waiting",
        number(ended.delivered),
        number(progress.enqueued),
        number(ended.exhausted),
        number(progress.waiting())
    );
    for (count, words) in
        [(ended.skipped + ended.cancelled, "cancelled"), (progress.taken_over, "sent again by a later replay")]
    {
        if count > 0 {
            results.push_str(&format!(", {} {words}", number(count)));
        }
    }
    results
}

impl From<MessageState> for StatusBadge {
    fn from(state: MessageState) -> Self {
        match state {
            MessageState::Delivered => Self { kind: "good", words: "Delivered" },
            MessageState::Failed => Self { kind: "bad", words: "Failed" },
            MessageState::Retrying => Self { kind: "wait", words: "Retrying" },
            MessageState::Waiting => Self { kind: "wait", words: "Waiting" },
            MessageState::Skipped => Self { kind: "off", words: "Skipped" },
            MessageState::NotSent => Self { kind: "off", words: "No endpoint" },
        }
    }
}

impl From<AttemptStatus> for StatusBadge {
    fn from(status: AttemptStatus) -> Self {
        match status {
            AttemptStatus::Success => Self { kind: "good", words: "Delivered" },
            AttemptStatus::Pending => Self { kind: "wait", words: "Waiting" },
            AttemptStatus::Fail => Self { kind: "bad", words: "Failed" },
            AttemptStatus::Sending => Self { kind: "wait", words: "Will be retried" },
            AttemptStatus::Cancelled => Self { kind: "off", words: "Cancelled" },
        }
    }
}

/// The response's status code; "No response" when the receiver sent none.
pub(crate) fn status_code(code: u16) -> String {
    if code == 0 { "No response".to_owned() } else { code.to_string() }
}

/// A caller asked for the attempt: a resend, a recovery or a replay.
pub(crate) fn is_manual(trigger: AttemptTrigger) -> bool {
    trigger == AttemptTrigger::Manual
}

/// A number and its unit, between which no line breaks.
fn with_unit(number: impl std::fmt::Display, unit: &str) -> String {
    format!("{number}\u{a0}{unit}")
}

/// A duration in milliseconds, or in seconds from one second on.
pub(crate) fn duration(ms: i64) -> String {
    match (ms / 1_000, ms % 1_000 / 100) {
        (0, _) => with_unit(ms, "ms"),
        (seconds, 0) => with_unit(seconds, "s"),
        (seconds, tenths) => with_unit(format_args!("{seconds}.{tenths}"), "s"),
    }
}

/// A duration in microseconds, with two digits at least from one millisecond on.
pub(crate) fn short_duration(us: u64) -> String {
    match us {
        0..1_000 => with_unit(us, "µs"),
        1_000..10_000 => with_unit(format_args!("{}.{}", us / 1_000, us % 1_000 / 100), "ms"),
        _ => duration(i64::try_from(us / 1_000).unwrap_or(i64::MAX)),
    }
}

/// A range of durations in milliseconds, which a percentile lies in: longer than the first, at most the second.
pub(crate) fn duration_range((from_ms, to_ms): (i64, Option<i64>)) -> String {
    match to_ms {
        None => format!("over {}", duration(from_ms)),
        Some(to_ms) if from_ms == 0 => format!("at most {}", duration(to_ms)),
        Some(to_ms) => format!("{} to {}", duration(from_ms), duration(to_ms)),
    }
}

/// Figures of a time range, as pages show them. Each is exact.
#[derive(Debug, Clone)]
pub(crate) struct DeliveryFigures {
    /// Share of attempts that succeeded, such as `98.2 %`; none without attempts.
    pub(crate) rate: Option<String>,
    /// Colour of the rate.
    pub(crate) kind: &'static str,
    /// Attempts that succeeded.
    pub(crate) succeeded: String,
    /// Attempts that failed.
    pub(crate) failed: String,
    /// Messages that were delivered: a resend is not counted again.
    pub(crate) delivered: String,
    /// Messages whose last attempt failed.
    pub(crate) exhausted: String,
    /// Messages that were skipped or cancelled, if any.
    pub(crate) given_up: Option<String>,
}

impl From<DeliveryCounts> for DeliveryFigures {
    fn from(counts: DeliveryCounts) -> Self {
        let DeliveryCounts { attempts: AttemptCounts { success, fail, .. }, ended, .. } = counts;
        // The rate is rounded down: 100 % means that every attempt succeeded.
        let per_mille = (success * 1_000).checked_div(success + fail);
        let kind = match per_mille {
            None => "off",
            Some(990..) => "good",
            Some(900..) => "wait",
            Some(_) => "bad",
        };
        let rate = per_mille.map(|rate| match rate {
            1_000 => "100 %".to_owned(),
            rate => format!("{}.{} %", rate / 10, rate % 10),
        });
        let given_up = ended.skipped + ended.cancelled;
        Self {
            rate,
            kind,
            succeeded: number(success),
            failed: number(fail),
            delivered: number(ended.delivered),
            exhausted: number(ended.exhausted),
            given_up: (given_up > 0).then(|| number(given_up)),
        }
    }
}

/// A number with a comma at every third digit: 1,234,567.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators_and_durations_have_units() {
        assert_eq!([number(0), number(999), number(1_000), number(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        let expected = ["0\u{a0}ms", "999\u{a0}ms", "1.2\u{a0}s", "2\u{a0}s"];
        assert_eq!([duration(0), duration(999), duration(1_250), duration(2_000)], expected);
    }

    #[test]
    fn a_percentile_is_shown_with_the_width_of_its_bucket() {
        assert_eq!(
            [(0, Some(5)), (500, Some(1_000)), (20_000, None)].map(duration_range),
            ["at most 5\u{a0}ms", "500\u{a0}ms to 1\u{a0}s", "over 20\u{a0}s"]
        );
    }

    #[test]
    fn a_success_rate_is_rounded_down() {
        let figures = |success, fail| {
            let attempts = AttemptCounts { success, fail, cancelled: 0 };
            let figures = DeliveryFigures::from(DeliveryCounts { attempts, ..DeliveryCounts::default() });
            (figures.rate.unwrap_or_default(), figures.kind)
        };
        for (success, fail, rate, kind) in [
            (0, 0, "", "off"),
            (1, 0, "100 %", "good"),
            (99_999, 1, "99.9 %", "good"),
            (95, 5, "95.0 %", "wait"),
            (0, 1, "0.0 %", "bad"),
        ] {
            assert_eq!(figures(success, fail), (rate.to_owned(), kind));
        }
    }
}
