//! Searches messages over several applications or endpoints, and reads the progress of their deliveries.

use std::collections::BTreeMap;

use async_trait::async_trait;
use provider_core::model::{AttemptStatus, Id, Message};
use provider_core::port::{
    AttemptEnd, FAILURE_BYTES_MAX, LatestFailure, MessageConditions, MessageKey, MessageProgress, MessageScope,
    MessageSearchStore, MessageSource, Order, ProgressFilter, SEARCHED_BYTES_MAX, Scan, ScanResult, SearchText,
    StoreResult,
};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::rows::{self, SqlResult, sql_limit};
use super::{SqliteStore, messages};
use crate::codec::{self, fingerprint};
use crate::merge::{self, Entry, Merge};
use crate::scan::{self as scans, ScanFlow, ScanProgress};

#[async_trait]
impl MessageSearchStore for SqliteStore {
    async fn find_message_keys(
        &self,
        scope: &MessageScope,
        source: &MessageSource,
        conditions: &MessageConditions,
        scan: &Scan,
    ) -> StoreResult<ScanResult<MessageKey>> {
        let (scope, source, conditions, scan) = (scope.clone(), source.clone(), conditions.clone(), scan.clone());
        self.read(move |db| find_keys(db, &scope, &source, &conditions, &scan)).await
    }

    async fn messages_by_keys(&self, keys: &[MessageKey]) -> StoreResult<Vec<Message>> {
        let keys = keys.to_vec();
        self.read(move |db| {
            let select = "SELECT no FROM messages WHERE application = ?1 AND id = ?2";
            let mut found = Vec::with_capacity(keys.len());
            for key in &keys {
                let no = rows::one(db, select, (&*key.application, &*key.id), |row| Ok(row.get(0)?))?;
                if let Some(no) = no {
                    found.push(messages::read_message(db, no, provider_core::port::PayloadRead::Skip)?);
                }
            }
            Ok(found)
        })
        .await
    }

    async fn message_progress(
        &self,
        messages: &[MessageKey],
        filter: &ProgressFilter,
    ) -> StoreResult<Vec<MessageProgress>> {
        let (messages, filter) = (messages.to_vec(), filter.clone());
        self.read(move |db| messages.iter().map(|message| progress(db, message, &filter)).collect()).await
    }
}

/// An application or endpoint whose list is merged.
struct Owner {
    id: Id,
    application: Id,
}

/// The statements that read the list of an owner.
struct Lists {
    head: String,
    rows: String,
    /// The rows of one message; none for a list in which a message occurs once.
    of_message: Option<&'static str>,
}

impl Lists {
    fn new(source: &MessageSource, direction: Order) -> Self {
        let direction = merge::direction_sql(direction);
        let (table, owner, key, code, condition) = match source {
            MessageSource::Accepted | MessageSource::Named(_) => ("messages", "application", "id", "0", ""),
            MessageSource::Waiting(_) => ("deliveries", "endpoint", "message", "0", ""),
            MessageSource::Failed(_) => ("attempts", "endpoint", "message", "response_status_code", " AND status <> 0"),
        };
        let from = format!(
            "FROM {table} WHERE {owner} = ?1{condition} AND {key} > ?2 AND {key} < ?3 ORDER BY {key} {direction}"
        );
        let of_message =
            "SELECT message, response_status_code FROM attempts WHERE endpoint = ?1 AND status <> 0 AND message = ?2";
        Self {
            head: format!("SELECT {key} {from} LIMIT 1"),
            rows: format!("SELECT {key}, {code} {from} LIMIT ?4"),
            of_message: matches!(source, MessageSource::Failed(_)).then_some(of_message),
        }
    }

    /// The first rows of all owners, and whether there are more.
    fn read(&self, db: &Connection, owners: &[Owner], scan: &Scan, rows_max: usize) -> SqlResult<(Vec<Entry>, bool)> {
        let entry = |owner: usize, row: &Row<'_>| -> SqlResult<Entry> {
            Ok(Entry { owner, message: rows::id(row, 0)?, code: row.get(1)? })
        };
        let mut heads = Vec::new();
        for (place, owner) in owners.iter().enumerate() {
            let values = (&*owner.id, &*scan.above, &*scan.below);
            heads.extend(rows::one(db, &self.head, values, |row| rows::id(row, 0))?.map(|head| (head, place)));
        }
        match scan.direction {
            Order::Ascending => heads.sort_unstable_by(|(one, _), (other, _)| one.cmp(other)),
            Order::Descending => heads.sort_unstable_by(|(one, _), (other, _)| other.cmp(one)),
        }
        let mut merge = Merge::new(scan, rows_max);
        let mut statement = db.prepare_cached(&self.rows)?;
        for (head, place) in heads {
            if merge.is_beyond(&head) {
                break;
            }
            let (above, below) = merge.bounds();
            let values = (&*owners[place].id, above, below, sql_limit(rows_max));
            let entries = statement.query_and_then(values, |row| entry(place, row))?;
            let entries: Vec<Entry> = entries.collect::<SqlResult<_>>()?;
            merge.add(entries);
        }
        drop(statement);
        let (mut entries, is_cut) = merge.finish();
        // Further rows of the last message may have been cut off, and the next part begins after it.
        if let (true, Some(of_message), Some(last)) = (is_cut, self.of_message, entries.last().cloned()) {
            entries.retain(|entry| entry.message != last.message);
            let mut statement = db.prepare_cached(of_message)?;
            for (place, owner) in owners.iter().enumerate() {
                let rows = statement.query_and_then((&*owner.id, &*last.message), |row| entry(place, row))?;
                entries.extend(rows.collect::<SqlResult<Vec<_>>>()?);
            }
        }
        Ok((entries, is_cut))
    }
}

fn owners(db: &Connection, scope: &MessageScope, source: &MessageSource) -> SqlResult<Vec<Owner>> {
    let (scope_id, in_scope) = match scope {
        MessageScope::Application(id) => (id, "a.id = ?1"),
        MessageScope::Account(id) => (id, "a.account = ?1"),
    };
    let endpoint = match source {
        MessageSource::Accepted | MessageSource::Named(_) => {
            let select = format!("SELECT a.id, a.id FROM applications a WHERE {in_scope}");
            return all_owners(db, &select, [&**scope_id]);
        }
        MessageSource::Failed(filter) => filter.endpoint.as_deref(),
        MessageSource::Waiting(endpoint) => endpoint.as_deref(),
    };
    let select = format!(
        "SELECT e.id, a.id FROM applications a JOIN endpoints e ON e.application = a.id \
         WHERE {in_scope} AND (?2 IS NULL OR e.id = ?2)"
    );
    all_owners(db, &select, (&**scope_id, endpoint))
}

fn all_owners(db: &Connection, select: &str, params: impl rusqlite::Params) -> SqlResult<Vec<Owner>> {
    let read =
        |row: &Row<'_>| -> SqlResult<Owner> { Ok(Owner { id: rows::id(row, 0)?, application: rows::id(row, 1)? }) };
    db.prepare_cached(select)?.query_and_then(params, read)?.collect()
}

fn find_keys(
    db: &Connection,
    scope: &MessageScope,
    source: &MessageSource,
    conditions: &MessageConditions,
    scan: &Scan,
) -> SqlResult<ScanResult<MessageKey>> {
    let owners = owners(db, scope, source)?;
    let end = match source {
        MessageSource::Failed(filter) => filter.end.as_ref(),
        _ => None,
    };
    let progress = ScanProgress::new(scan);
    let mut search = Search { db, owners: &owners, end, conditions, progress, found: Vec::new(), searched_bytes: 0 };
    if let MessageSource::Named(name) = source {
        let entries = named(db, &owners, name, scan)?;
        search.look_at(&entries)?;
        return Ok(search.finish());
    }
    let lists = Lists::new(source, scan.direction);
    let mut left = scan.clone();
    let mut rows_max = scan.limit.clamp(1, scans::BATCH_ROWS_MAX);
    loop {
        let (entries, has_more) = lists.read(db, &owners, &left, rows_max)?;
        if search.look_at(&entries)? == ScanFlow::Stop || !has_more {
            return Ok(search.finish());
        }
        let Some(last) = entries.last() else { return Ok(search.finish()) };
        match scan.direction {
            Order::Ascending => left.above = last.message.to_string(),
            Order::Descending => left.below = last.message.to_string(),
        }
        rows_max = (rows_max * 4).min(scans::BATCH_ROWS_MAX);
    }
}

/// The messages of the applications with this id or event id, in the order of the scan.
fn named(db: &Connection, applications: &[Owner], name: &str, scan: &Scan) -> SqlResult<Vec<Entry>> {
    let by_id = "SELECT id FROM messages WHERE application = ?1 AND id = ?2";
    let by_event_id = "SELECT id FROM messages WHERE event_fingerprint = ?1";
    let mut found = Vec::new();
    for (place, owner) in applications.iter().enumerate() {
        let mut message = rows::one(db, by_id, (&*owner.id, name), |row| rows::id(row, 0))?;
        if message.is_none() {
            message = rows::one(db, by_event_id, [fingerprint(&owner.id, name)], |row| rows::id(row, 0))?;
        }
        found.extend(message.map(|message| Entry { owner: place, message, code: 0 }));
    }
    Ok(scans::in_bounds(found, scan))
}

/// A search that checks the rows of its source.
struct Search<'a> {
    db: &'a Connection,
    owners: &'a [Owner],
    /// How an attempt of the source ended.
    end: Option<&'a AttemptEnd>,
    conditions: &'a MessageConditions,
    progress: ScanProgress<'a>,
    found: Vec<MessageKey>,
    searched_bytes: usize,
}

impl Search<'_> {
    fn look_at(&mut self, entries: &[Entry]) -> SqlResult<ScanFlow> {
        for group in merge::groups(entries) {
            let entries = &entries[group];
            let Some(first) = entries.first() else { continue };
            let matches = self.has_ended_so(entries)? && self.meets_conditions(first)?;
            if matches {
                let application = self.owners[first.owner].application.clone();
                self.found.push(MessageKey { application, id: first.message.clone() });
            }
            if self.progress.record(&first.message, matches.then_some(0)) == ScanFlow::Stop {
                return Ok(ScanFlow::Stop);
            }
            if self.searched_bytes >= SEARCHED_BYTES_MAX {
                self.progress.stop_at(&first.message);
                return Ok(ScanFlow::Stop);
            }
        }
        Ok(ScanFlow::Continue)
    }

    /// Whether one of these attempts of a message ended as the source demands. The failure detail is read only where it
    /// decides, because it is not in the index.
    fn has_ended_so(&self, entries: &[Entry]) -> SqlResult<bool> {
        let Some(end) = self.end else { return Ok(true) };
        let decided = |entry: &Entry| end.decided_by_code(entry.code);
        if entries.iter().any(|entry| decided(entry) == Some(true)) {
            return Ok(true);
        }
        let select = "SELECT response_status_code, failure_detail FROM attempts \
             WHERE message = ?1 AND +endpoint = ?2 AND status <> 0";
        for entry in entries.iter().filter(|entry| decided(entry).is_none()) {
            let mut statement = self.db.prepare_cached(select)?;
            let mut ended = statement.query((&*entry.message, &*self.owners[entry.owner].id))?;
            while let Some(row) = ended.next()? {
                if end.matches(row.get(0)?, rows::optional_text(row, 1)?) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn meets_conditions(&mut self, entry: &Entry) -> SqlResult<bool> {
        if self.conditions.match_all() {
            return Ok(true);
        }
        let columns =
            if self.conditions.text.is_some() { "event_id, payload_expires_at, payload" } else { "NULL, 0, NULL" };
        let select =
            format!("SELECT event_type, channels, tags, {columns} FROM messages WHERE application = ?1 AND id = ?2");
        let key = (&*self.owners[entry.owner].application, &*entry.message);
        let conditions = self.conditions;
        let mut bytes = 0;
        let matches = rows::one(self.db, &select, key, |row| {
            Ok(messages::matches(&conditions.messages, row, 0)?
                && match &conditions.text {
                    None => true,
                    Some(text) => has_text(text, &entry.message, row, &mut bytes)?,
                })
        })?;
        self.searched_bytes += bytes;
        Ok(matches.unwrap_or(false) && self.is_addressed(&entry.message)?)
    }

    fn is_addressed(&self, message: &Id) -> SqlResult<bool> {
        let Some(endpoint) = &self.conditions.addressed else { return Ok(true) };
        let select = "SELECT 1 WHERE EXISTS (SELECT 1 FROM attempts WHERE message = ?1 AND +endpoint = ?2) \
             OR EXISTS (SELECT 1 FROM deliveries WHERE endpoint = ?2 AND message = ?1)";
        Ok(self.db.prepare_cached(select)?.exists((&**message, &**endpoint))?)
    }

    fn finish(self) -> ScanResult<MessageKey> {
        self.progress.found(self.found)
    }
}

/// Reads the columns `event_id, payload_expires_at, payload`, which begin at the fourth.
fn has_text(text: &SearchText, message: &Id, row: &Row<'_>, bytes: &mut usize) -> SqlResult<bool> {
    let payload = match row.get_ref(5)? {
        ValueRef::Blob(payload) => Some(payload),
        _ => None,
    };
    *bytes = payload.map_or(0, <[u8]>::len);
    Ok(text.matches(message, rows::optional_text(row, 3)?, payload, rows::time(row, 4)?))
}

/// What is known of an endpoint from its attempts, newest first.
struct AtEndpoint {
    latest: AttemptStatus,
    succeeded: bool,
}

fn progress(db: &Connection, message: &MessageKey, filter: &ProgressFilter) -> SqlResult<MessageProgress> {
    let attempts = "SELECT endpoint, status, response_status_code, id FROM attempts \
         WHERE message = ?1 AND (?2 IS NULL OR endpoint = ?2) ORDER BY id DESC";
    let waiting = "SELECT e.id, d.next_at FROM endpoints e \
         CROSS JOIN deliveries d ON d.endpoint = e.id AND d.message = ?2 \
         WHERE e.application = ?1 AND (?3 IS NULL OR e.id = ?3)";
    let endpoint = filter.endpoint.as_deref();
    let mut found = MessageProgress {
        message: message.id.clone(),
        endpoints: 0,
        succeeded: 0,
        skipped: 0,
        waiting: 0,
        next_at: None,
        attempts: 0,
        latest: None,
        failure: None,
    };
    let mut endpoints: BTreeMap<Id, Option<AtEndpoint>> = BTreeMap::new();
    let mut statement = db.prepare_cached(attempts)?;
    let mut attempts_of_message = statement.query((&*message.id, endpoint))?;
    while let Some(row) = attempts_of_message.next()? {
        let (status, code) = (codec::status(row.get(1)?)?, row.get(2)?);
        found.latest = found.latest.or(Some((status, code)));
        found.attempts += 1;
        if status == AttemptStatus::Fail && found.failure.is_none() {
            found.failure = failure(db, &message.id, rows::text(row, 3)?, filter.failure.as_ref())?;
        }
        let latest = AtEndpoint { latest: status, succeeded: false };
        let at_endpoint = endpoints.entry(rows::id(row, 0)?).or_default().get_or_insert(latest);
        at_endpoint.succeeded |= status == AttemptStatus::Success;
    }
    let mut waits_for = Vec::new();
    let mut statement = db.prepare_cached(waiting)?;
    let mut rows_waiting = statement.query((&*message.application, &*message.id, endpoint))?;
    while let Some(row) = rows_waiting.next()? {
        let next_at = rows::time(row, 1)?;
        let endpoint = rows::id(row, 0)?;
        endpoints.entry(endpoint.clone()).or_default();
        waits_for.push(endpoint);
        found.next_at = Some(found.next_at.map_or(next_at, |earlier| earlier.min(next_at)));
    }
    found.waiting = waits_for.len() as u64;
    found.endpoints = endpoints.len() as u64;
    for (endpoint, attempted) in endpoints {
        let Some(AtEndpoint { latest, succeeded }) = attempted else { continue };
        found.succeeded += u64::from(succeeded);
        let is_skipped = !succeeded && latest == AttemptStatus::Cancelled && !waits_for.contains(&endpoint);
        found.skipped += u64::from(is_skipped);
    }
    Ok(found)
}

/// The failed attempt, if it ended so.
fn failure(
    db: &Connection,
    message: &str,
    attempt: &str,
    end: Option<&AttemptEnd>,
) -> SqlResult<Option<LatestFailure>> {
    let select = "SELECT id, endpoint, response_status_code, url, failure_detail, substr(response, 1, ?3) FROM attempts \
         WHERE message = ?1 AND id = ?2";
    let found = rows::one(db, select, (message, attempt, sql_limit(FAILURE_BYTES_MAX)), |row| {
        let (code, detail) = (row.get(2)?, rows::optional_text(row, 4)?);
        if end.is_some_and(|end| !end.matches(code, detail)) {
            return Ok(None);
        }
        Ok(Some(LatestFailure {
            attempt: rows::id(row, 0)?,
            endpoint: rows::id(row, 1)?,
            code,
            url: row.get(3)?,
            detail: codec::optional_from_json(detail)?,
            response: rows::optional_text(row, 5)?.unwrap_or_default().to_owned(),
        }))
    })?;
    Ok(found.flatten())
}
