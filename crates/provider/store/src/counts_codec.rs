//! Counts as columns of their tables, shared by both engines: the counts of a batch, and the text of the statements that add
//! and read them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use provider_core::ids;
use provider_core::model::cause::CauseClass;
use provider_core::model::counts::{
    AttemptCounts, DeliveryCounts, DeliveryEnd, DurationCounts, EndedDeliveries, Hour, MessageCounts,
};
use provider_core::model::{Attempt, Id, Message};
use provider_core::port::CountScope;

const CLASSES: usize = CauseClass::ALL.len();

/// Number of columns of an endpoint's counts.
pub(crate) const COLUMNS: usize = 7 + CLASSES + DurationCounts::BUCKETS;

/// Names of the columns of an endpoint's counts, in the order of [`to_columns`]. A column of a duration has the longest
/// duration in it.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let results = ["succeeded", "failed", "attempts_cancelled", "delivered", "exhausted", "skipped", "cancelled"];
    let classes = CauseClass::ALL.map(|class| format!("failed_{}", class.code()));
    let limits = DurationCounts::LIMITS_MS.map(|limit_ms| format!("took_{limit_ms}_ms"));
    let results = results.map(str::to_owned).into_iter();
    results.chain(classes).chain(limits).chain(["took_longer".to_owned()]).collect()
});

/// The column that a scope selects by, and its value.
pub(crate) fn scope(of: &CountScope) -> (&'static str, &Id) {
    match of {
        CountScope::Endpoint(id) => ("endpoint", id),
        CountScope::Application(id) => ("application", id),
        CountScope::Account(id) => ("account", id),
    }
}

/// A table of counts: its name, the column that identifies a row together with the hour, further columns, and the counts.
pub(crate) struct CountTable {
    pub(crate) name: &'static str,
    pub(crate) owner: &'static str,
    more: &'static [&'static str],
    counts: &'static LazyLock<Vec<String>>,
}

pub(crate) static ENDPOINTS: CountTable =
    CountTable { name: "endpoint_counts", owner: "endpoint", more: &["application", "account"], counts: &NAMES };
pub(crate) static MESSAGES: CountTable =
    CountTable { name: "message_counts", owner: "application", more: &["account"], counts: &MESSAGE_NAMES };

static MESSAGE_NAMES: LazyLock<Vec<String>> = LazyLock::new(|| vec!["messages".into(), "payload_bytes".into()]);

impl CountTable {
    /// Inserts rows, or adds their counts to existing rows. `rows` is what provides them.
    pub(crate) fn add(&self, rows: &str) -> String {
        let Self { name, owner, .. } = self;
        let more = self.more.join(", ");
        let counts = self.counts.join(", ");
        let add = self.counts.iter().map(|count| format!("{count} = {name}.{count} + excluded.{count}"));
        let add = add.collect::<Vec<_>>().join(", ");
        format!(
            "INSERT INTO {name} ({owner}, hour, {more}, {counts}) {rows} ON CONFLICT ({owner}, hour) DO UPDATE SET {add}"
        )
    }

    /// Reads the counts of each hour from `$2` to before `$3` of what has `$1` in this column.
    pub(crate) fn by_hour(&self, column: &str) -> String {
        let (name, sums) = (self.name, self.sums());
        format!(
            "SELECT hour, {sums} FROM {name} WHERE {column} = $1 AND hour >= $2 AND hour < $3 GROUP BY hour ORDER BY hour"
        )
    }

    /// Reads the counts of each hour from `$2` to before `$3` of the owners in the array `$1`, each after its owner.
    pub(crate) fn of_owners_by_hour(&self) -> String {
        let (name, owner, counts) = (self.name, self.owner, self.counts.join(", "));
        format!(
            "SELECT {owner}, hour, {counts} FROM {name} WHERE {owner} = ANY($1) AND hour >= $2 AND hour < $3 ORDER BY {owner}, hour"
        )
    }

    /// Days before `$1` with several hours, at most `$2`: the owner and the day's first hour.
    pub(crate) fn days_to_merge(&self) -> String {
        let Self { name, owner, .. } = self;
        format!(
            "SELECT DISTINCT {owner}, hour - hour % 24 FROM {name} WHERE hour < $1 AND hour % 24 <> 0 ORDER BY 1, 2 LIMIT $2"
        )
    }

    /// Adds the counts of the later hours of the day that begins with hour `$2` to this hour, for owner `$1`.
    pub(crate) fn merge_day(&self) -> String {
        let Self { name, owner, .. } = self;
        let more = self.more.iter().map(|column| format!("min({column})")).collect::<Vec<_>>().join(", ");
        let sums = self.sums();
        self.add(&format!(
            "SELECT {owner}, min(hour - hour % 24), {more}, {sums} FROM {name} WHERE {owner} = $1 AND hour > $2 AND hour < $2 + 24 GROUP BY {owner}"
        ))
    }

    /// Deletes the later hours of this day, for owner `$1`.
    pub(crate) fn delete_merged(&self) -> String {
        let Self { name, owner, .. } = self;
        format!("DELETE FROM {name} WHERE {owner} = $1 AND hour > $2 AND hour < $2 + 24")
    }

    /// Deletes at most `$2` rows of hours before `$1`.
    pub(crate) fn delete_old(&self) -> String {
        let Self { name, owner, .. } = self;
        format!(
            "DELETE FROM {name} WHERE ({owner}, hour) IN \
             (SELECT {owner}, hour FROM {name} WHERE hour < $1 ORDER BY hour, {owner} LIMIT $2)"
        )
    }

    /// The sums, as integers: PostgreSQL's `sum` of integers is a decimal number.
    fn sums(&self) -> String {
        self.counts.iter().map(|name| format!("CAST(sum({name}) AS bigint)")).collect::<Vec<_>>().join(", ")
    }
}

/// The counts as columns.
pub(crate) fn to_columns(counts: &DeliveryCounts) -> [i64; COLUMNS] {
    let DeliveryCounts { attempts, failures, durations, ended } = counts;
    let results = [attempts.success, attempts.fail, attempts.cancelled];
    let ends = [ended.delivered, ended.exhausted, ended.skipped, ended.cancelled];
    let all = results.into_iter().chain(ends).chain(*failures).chain(durations.buckets);
    let mut columns = [0; COLUMNS];
    for (column, count) in columns.iter_mut().zip(all) {
        *column = i64::try_from(count).unwrap_or(i64::MAX);
    }
    columns
}

/// The counts of columns in the order of [`to_columns`].
pub(crate) fn from_columns(columns: [i64; COLUMNS]) -> DeliveryCounts {
    let mut columns = columns.map(i64::unsigned_abs).into_iter();
    let mut next = || columns.next().unwrap_or_default();
    DeliveryCounts {
        attempts: AttemptCounts { success: next(), fail: next(), cancelled: next() },
        ended: EndedDeliveries { delivered: next(), exhausted: next(), skipped: next(), cancelled: next() },
        failures: std::array::from_fn(|_| next()),
        durations: DurationCounts { buckets: std::array::from_fn(|_| next()) },
    }
}

/// What a transaction adds to the counts of endpoints, by endpoint and hour: the order in which rows are locked.
#[derive(Default)]
pub(crate) struct EndpointAdditions<'a> {
    rows: BTreeMap<(&'a str, Hour), (&'a str, DeliveryCounts)>,
    hours: IdHours,
}

impl<'a> EndpointAdditions<'a> {
    /// Adds a newly recorded attempt.
    pub(crate) fn attempt(&mut self, attempt: &'a Attempt) {
        let hour = self.hour_of(attempt);
        self.row(&attempt.endpoint, &attempt.application, hour).add_attempt(attempt);
    }

    /// Adds deliveries that an attempt ended.
    pub(crate) fn ended(&mut self, attempt: &'a Attempt, end: DeliveryEnd, count: u64) {
        let hour = self.hour_of(attempt);
        self.ended_in(&attempt.endpoint, &attempt.application, hour, end, count);
    }

    /// Adds deliveries to one endpoint that ended in this hour.
    pub(crate) fn ended_in(
        &mut self,
        endpoint: &'a str,
        application: &'a str,
        hour: Hour,
        end: DeliveryEnd,
        count: u64,
    ) {
        if count > 0 {
            self.row(endpoint, application, hour).ended.add(end, count);
        }
    }

    /// The hour in which an attempt ended.
    pub(crate) fn hour_of(&mut self, attempt: &Attempt) -> Hour {
        self.hours.of(&attempt.id, ids::ATTEMPT, || attempt.ended_at())
    }

    fn row(&mut self, endpoint: &'a str, application: &'a str, hour: Hour) -> &mut DeliveryCounts {
        &mut self.rows.entry((endpoint, hour)).or_insert_with(|| (application, DeliveryCounts::default())).1
    }

    /// The rows: endpoint, hour, application and counts.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = (&'a str, Hour, &'a str, &DeliveryCounts)> {
        self.rows.iter().map(|((endpoint, hour), (application, counts))| (*endpoint, *hour, *application, counts))
    }
}

/// What a transaction adds to the counts of applications, by application and hour.
#[derive(Default)]
pub(crate) struct MessageAdditions<'a> {
    rows: BTreeMap<(&'a str, Hour), MessageCounts>,
    hours: IdHours,
}

impl<'a> MessageAdditions<'a> {
    /// Adds an accepted message.
    pub(crate) fn message(&mut self, message: &'a Message) {
        let hour = self.hours.of(&message.id, ids::MESSAGE, || message.created_at);
        let payload_bytes = message.payload.as_ref().map_or(0, |payload| payload.len() as u64);
        *self.rows.entry((&message.application, hour)).or_default() += MessageCounts { messages: 1, payload_bytes };
    }

    /// The rows: application, hour and counts.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = (&'a str, Hour, MessageCounts)> {
        self.rows.iter().map(|((application, hour), counts)| (*application, *hour, *counts))
    }
}

/// Reads the hour from ids. The ids of a batch are nearly always of one hour, which costs two comparisons.
#[derive(Default)]
struct IdHours {
    last: Option<(Hour, String, String)>,
}

impl IdHours {
    fn of(&mut self, id: &Id, prefix: &str, otherwise: impl FnOnce() -> Timestamp) -> Hour {
        match &self.last {
            Some((hour, low, high)) if **low <= **id && **id < **high => *hour,
            _ => {
                let hour = Hour::of(ids::timestamp_of(id, prefix).unwrap_or_else(otherwise));
                let bound = |hour: Hour| ids::lowest_id_at(prefix, hour.start());
                self.last = Some((hour, bound(hour), bound(Hour(hour.0 + 1))));
                hour
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_names_and_keep_each_count() {
        assert_eq!(NAMES.len(), COLUMNS);
        let columns: [i64; COLUMNS] = std::array::from_fn(|place| place as i64 + 1);
        assert_eq!(to_columns(&from_columns(columns)), columns);
        let counts = from_columns(columns);
        let column = |name: &str| columns[NAMES.iter().position(|other| other == name).unwrap()] as u64;
        assert_eq!(counts.attempts.fail, column("failed"));
        assert_eq!(counts.ended.exhausted, column("exhausted"));
        assert_eq!(counts.failures_of(CauseClass::RateLimit), column("failed_rate_limit"));
        assert_eq!(counts.durations.buckets[2], column("took_20_ms"));
    }
}
