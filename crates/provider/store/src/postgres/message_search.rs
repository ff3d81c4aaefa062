//! Searches messages over several applications or endpoints, and reads the progress of their deliveries.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Id, Message};
use provider_core::port::{
    AttemptEnd, FAILURE_BYTES_MAX, LatestFailure, MessageConditions, MessageKey, MessageProgress, MessageScope,
    MessageSearchStore, MessageSource, NoResponse, Order, ProgressFilter, SEARCHED_BYTES_MAX, Scan, ScanResult,
    StoreResult,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use super::rows::{self, Client, SqlResult};
use crate::codec::{self, fingerprint};
use crate::merge::{self, Entry, Merge};
use crate::scan::{self as scans, ScanFlow, ScanProgress};

/// Messages whose payloads are read at once in a search for a text.
const TEXTS_READ_MAX: usize = 100;

#[async_trait]
impl MessageSearchStore for PostgresStore {
    async fn find_message_keys(
        &self,
        scope: &MessageScope,
        source: &MessageSource,
        conditions: &MessageConditions,
        scan: &Scan,
    ) -> StoreResult<ScanResult<MessageKey>> {
        let client = self.client().await?;
        Ok(find_keys(&client, scope, source, conditions, scan).await?)
    }

    async fn messages_by_keys(&self, keys: &[MessageKey]) -> StoreResult<Vec<Message>> {
        let client = self.client().await?;
        let columns = rows::without_payload();
        let select = format!(
            "SELECT {columns} FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (application, id, no) \
             JOIN messages m ON m.application = wanted.application AND m.id = wanted.id ORDER BY wanted.no"
        );
        let (applications, ids) = columns_of(keys.iter().map(|key| (&key.application, &key.id)));
        Ok(rows::all(&client, &select, &[&applications, &ids], rows::message).await?)
    }

    async fn message_progress(
        &self,
        messages: &[MessageKey],
        filter: &ProgressFilter,
    ) -> StoreResult<Vec<MessageProgress>> {
        let client = self.client().await?;
        Ok(progress(&client, messages, filter).await?)
    }
}

fn columns_of<'a>(keys: impl Iterator<Item = (&'a Id, &'a Id)>) -> (Vec<&'a str>, Vec<&'a str>) {
    keys.map(|(application, id)| (&**application, &**id)).unzip()
}

/// An application or endpoint whose list is merged.
struct Owner {
    id: Id,
    application: Id,
}

/// Stands for a number of rows in the text of a statement.
const LIMIT_MARK: &str = "$LIMIT";

/// The statements that read the lists of owners.
struct Lists {
    heads: String,
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
        let list = |columns: &str, limit: &str| {
            format!(
                "SELECT owner.no, list.* FROM unnest($1::text[]) WITH ORDINALITY AS owner (id, no) \
                 CROSS JOIN LATERAL (SELECT {key} AS key{columns} FROM {table} \
                     WHERE {owner} = owner.id{condition} AND {key} > $2 AND {key} < $3 \
                     ORDER BY {key} {direction} LIMIT {limit}) list"
            )
        };
        let of_message = "SELECT owner.no, a.message, a.response_status_code \
             FROM unnest($1::text[]) WITH ORDINALITY AS owner (id, no) \
             JOIN attempts a ON a.endpoint = owner.id AND a.status <> 0 AND a.message = $2";
        Self {
            heads: format!("{} ORDER BY list.key {direction}", list("", "1")),
            rows: list(&format!(", {code}"), LIMIT_MARK),
            of_message: matches!(source, MessageSource::Failed(_)).then_some(of_message),
        }
    }

    /// The first rows of all owners, and whether there are more.
    async fn read(
        &self,
        db: &impl Client,
        owners: &[Owner],
        scan: &Scan,
        rows_max: usize,
    ) -> SqlResult<(Vec<Entry>, bool)> {
        let ids: Vec<&str> = owners.iter().map(|owner| &*owner.id).collect();
        let params: &[&(dyn ToSql + Sync)] = &[&ids, &scan.above, &scan.below];
        let heads: Vec<(usize, Id)> =
            rows::all(db, &self.heads, params, |row| Ok((place_of(row)?, rows::id(row, 1)?))).await?;
        let mut merge = Merge::new(scan, rows_max);
        // With the number in its text, the statement's plan reads the index in its order. There are few numbers.
        let rows_select = self.rows.replace(LIMIT_MARK, &rows_max.to_string());
        // Each statement reads as many lists as all statements before, with narrower bounds.
        let (mut read, mut group) = (0, 1);
        while let Some((_, head)) = heads.get(read) {
            if merge.is_beyond(head) {
                break;
            }
            let end = (read + group).min(heads.len());
            let places: Vec<usize> = heads[read..end].iter().map(|(place, _)| *place).collect();
            let ids: Vec<&str> = places.iter().map(|place| ids[*place]).collect();
            let (above, below) = merge.bounds();
            let params: &[&(dyn ToSql + Sync)] = &[&ids, &above, &below];
            merge.add(rows::all(db, &rows_select, params, |row| entry(&places, row)).await?);
            (read, group) = (end, end);
        }
        let (mut entries, is_cut) = merge.finish();
        // Further rows of the last message may have been cut off, and the next part begins after it.
        if let (true, Some(of_message), Some(last)) = (is_cut, self.of_message, entries.last().cloned()) {
            entries.retain(|entry| entry.message != last.message);
            let places: Vec<usize> = (0..owners.len()).collect();
            let params: &[&(dyn ToSql + Sync)] = &[&ids, &&*last.message];
            entries.extend(rows::all(db, of_message, params, |row| entry(&places, row)).await?);
        }
        Ok((entries, is_cut))
    }
}

/// The place of the row's owner among the owners of its statement, which counts from 1.
fn place_of(row: &Row) -> StoreResult<usize> {
    let number = usize::try_from(rows::get::<i64>(row, 0)?).unwrap_or_default();
    number.checked_sub(1).ok_or_else(|| codec::corrupt("a list without its owner"))
}

/// An entry in columns number of the owner, message and status code. `places` are those of the statement's owners.
fn entry(places: &[usize], row: &Row) -> StoreResult<Entry> {
    let owner = places.get(place_of(row)?).copied().ok_or_else(|| codec::corrupt("a list without its owner"))?;
    let code = u16::try_from(rows::get::<i32>(row, 2)?).unwrap_or_default();
    Ok(Entry { owner, message: rows::id(row, 1)?, code })
}

async fn owners(db: &impl Client, scope: &MessageScope, source: &MessageSource) -> SqlResult<Vec<Owner>> {
    let (scope_id, in_scope) = match scope {
        MessageScope::Application(id) => (&**id, "a.id = $1"),
        MessageScope::Account(id) => (&**id, "a.account = $1"),
    };
    let read = |row: &Row| Ok(Owner { id: rows::id(row, 0)?, application: rows::id(row, 1)? });
    let endpoint = match source {
        MessageSource::Accepted | MessageSource::Named(_) => {
            let select = format!("SELECT a.id, a.id FROM applications a WHERE {in_scope}");
            return rows::all(db, &select, &[&scope_id], read).await;
        }
        MessageSource::Failed(filter) => filter.endpoint.as_deref(),
        MessageSource::Waiting(endpoint) => endpoint.as_deref(),
    };
    let select = format!(
        "SELECT e.id, a.id FROM applications a JOIN endpoints e ON e.application = a.id \
         WHERE {in_scope} AND ($2::text IS NULL OR e.id = $2)"
    );
    rows::all(db, &select, &[&scope_id, &endpoint], read).await
}

async fn find_keys(
    db: &impl Client,
    scope: &MessageScope,
    source: &MessageSource,
    conditions: &MessageConditions,
    scan: &Scan,
) -> SqlResult<ScanResult<MessageKey>> {
    let owners = owners(db, scope, source).await?;
    let end = match source {
        MessageSource::Failed(filter) => filter.end.as_ref(),
        _ => None,
    };
    let progress = ScanProgress::new(scan);
    let mut search = Search { owners: &owners, end, conditions, progress, found: Vec::new(), searched_bytes: 0 };
    if let MessageSource::Named(name) = source {
        let entries = named(db, &owners, name, scan).await?;
        search.look_at(db, &entries).await?;
        return Ok(search.finish());
    }
    let lists = Lists::new(source, scan.direction);
    let mut left = scan.clone();
    let mut rows_max = scan.limit.clamp(1, scans::BATCH_ROWS_MAX);
    loop {
        let (entries, has_more) = lists.read(db, &owners, &left, rows_max).await?;
        if search.look_at(db, &entries).await? == ScanFlow::Stop || !has_more {
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
async fn named(db: &impl Client, applications: &[Owner], name: &str, scan: &Scan) -> SqlResult<Vec<Entry>> {
    let select = "SELECT owner.no, m.id, 0 FROM unnest($1::text[]) WITH ORDINALITY AS owner (id, no) \
             JOIN messages m ON m.application = owner.id AND m.id = $2 \
         UNION SELECT owner.no, m.id, 0 FROM unnest($3::bytea[]) WITH ORDINALITY AS owner (fingerprint, no) \
             JOIN messages m ON m.event_fingerprint = owner.fingerprint";
    let ids: Vec<&str> = applications.iter().map(|owner| &*owner.id).collect();
    let fingerprints: Vec<_> = applications.iter().map(|owner| fingerprint(&owner.id, name)).collect();
    let fingerprints: Vec<&[u8]> = fingerprints.iter().map(|fingerprint| fingerprint.as_slice()).collect();
    let places: Vec<usize> = (0..applications.len()).collect();
    let found = rows::all(db, select, &[&ids, &name, &fingerprints], |row| entry(&places, row)).await?;
    Ok(scans::in_bounds(found, scan))
}

/// A search that checks the rows of its source.
struct Search<'a> {
    owners: &'a [Owner],
    /// How an attempt of the source ended.
    end: Option<&'a AttemptEnd>,
    conditions: &'a MessageConditions,
    progress: ScanProgress<'a>,
    found: Vec<MessageKey>,
    searched_bytes: usize,
}

impl Search<'_> {
    async fn look_at(&mut self, db: &impl Client, entries: &[Entry]) -> SqlResult<ScanFlow> {
        let ended_so = self.ended_so(db, entries).await?;
        let groups = merge::groups(entries);
        let part = if self.conditions.text.is_some() { TEXTS_READ_MAX } else { scans::BATCH_ROWS_MAX };
        for groups in groups.chunks(part) {
            let groups: Vec<&[Entry]> = groups.iter().map(|group| &entries[group.clone()]).collect();
            let firsts = groups.iter().filter_map(|group| group.first());
            let wanted = firsts.filter(|entry| ended_so.as_ref().is_none_or(|ended| ended.contains(&entry.message)));
            let wanted: Vec<&Entry> = wanted.collect();
            let meets_conditions = self.check(db, &wanted).await?;
            for first in groups.iter().filter_map(|group| group.first()) {
                let matches = meets_conditions.get(&first.message).copied().unwrap_or(false);
                if matches {
                    let application = self.owners[first.owner].application.clone();
                    self.found.push(MessageKey { application, id: first.message.clone() });
                }
                if self.progress.record(&first.message, matches.then_some(0)) == ScanFlow::Stop {
                    return Ok(ScanFlow::Stop);
                }
            }
            if let (true, Some(last)) =
                (self.searched_bytes >= SEARCHED_BYTES_MAX, groups.last().and_then(|g| g.first()))
            {
                self.progress.stop_at(&last.message);
                return Ok(ScanFlow::Stop);
            }
        }
        Ok(ScanFlow::Continue)
    }

    /// The messages of which an attempt ended as the source demands; none if every attempt does. Failure details are read only
    /// where they decide, because they are not in the index.
    async fn ended_so(&self, db: &impl Client, entries: &[Entry]) -> SqlResult<Option<HashSet<Id>>> {
        let Some(end) = self.end else { return Ok(None) };
        let (mut found, mut messages, mut endpoints) = (HashSet::new(), Vec::new(), Vec::new());
        for entry in entries {
            match end.decided_by_code(entry.code) {
                Some(true) => _ = found.insert(entry.message.clone()),
                Some(false) => {}
                None => {
                    messages.push(&*entry.message);
                    endpoints.push(&*self.owners[entry.owner].id);
                }
            }
        }
        if messages.is_empty() {
            return Ok(Some(found));
        }
        let select = "SELECT a.message, a.response_status_code, a.failure_detail \
             FROM unnest($1::text[], $2::text[]) AS wanted (message, endpoint) \
             JOIN attempts a ON a.message = wanted.message AND a.endpoint = wanted.endpoint \
                 AND a.status <> 0";
        let ended = rows::all(db, select, &[&messages, &endpoints], |row| {
            let code = u16::try_from(rows::get::<i32>(row, 1)?).unwrap_or_default();
            Ok((rows::id(row, 0)?, end.matches(code, rows::get(row, 2)?)))
        })
        .await?;
        found.extend(ended.into_iter().filter(|(_, matches)| *matches).map(|(message, _)| message));
        Ok(Some(found))
    }

    /// Whether these messages meet the conditions.
    async fn check(&mut self, db: &impl Client, wanted: &[&Entry]) -> SqlResult<HashMap<Id, bool>> {
        if self.conditions.match_all() || wanted.is_empty() {
            return Ok(wanted.iter().map(|entry| (entry.message.clone(), true)).collect());
        }
        let columns = match self.conditions.text {
            Some(_) => "m.event_id, m.payload_expires_at, m.payload",
            None => "NULL::text, m.payload_expires_at, NULL::bytea",
        };
        let select = format!(
            "SELECT m.id, m.event_type, m.channels, m.tags, {columns}, $3::text IS NULL \
                 OR EXISTS (SELECT FROM attempts t WHERE t.message = m.id AND t.endpoint = $3) \
                 OR EXISTS (SELECT FROM deliveries d WHERE d.endpoint = $3 AND d.message = m.id) \
             FROM unnest($1::text[], $2::text[]) AS wanted (application, id) \
             JOIN messages m ON m.application = wanted.application AND m.id = wanted.id"
        );
        let (applications, ids) =
            columns_of(wanted.iter().map(|entry| (&self.owners[entry.owner].application, &entry.message)));
        let params: &[&(dyn ToSql + Sync)] = &[&applications, &ids, &self.conditions.addressed.as_deref()];
        let conditions = self.conditions;
        let checked = rows::all(db, &select, params, |row| {
            let (matches, bytes) = meets(conditions, row)?;
            Ok((rows::id(row, 0)?, matches, bytes))
        });
        let mut found = HashMap::new();
        for (id, matches, bytes) in checked.await? {
            self.searched_bytes += bytes;
            found.insert(id, matches);
        }
        Ok(found)
    }

    fn finish(self) -> ScanResult<MessageKey> {
        self.progress.found(self.found)
    }
}

/// Whether a message meets the conditions, and the bytes of its payload that were searched.
fn meets(conditions: &MessageConditions, row: &Row) -> StoreResult<(bool, usize)> {
    let channels: Option<Vec<String>> = codec::optional_from_json(rows::get(row, 2)?)?;
    let tags: Option<Vec<String>> = codec::optional_from_json(rows::get(row, 3)?)?;
    let of_type = conditions.messages.matches(rows::get(row, 1)?, channels.as_deref(), tags.as_deref());
    let is_addressed: bool = rows::get(row, 7)?;
    let payload: Option<&[u8]> = rows::get(row, 6)?;
    let expires_at: Timestamp = rows::get(row, 5)?;
    let has_text = match &conditions.text {
        None => true,
        Some(text) => text.matches(rows::get(row, 0)?, rows::get(row, 4)?, payload, expires_at),
    };
    Ok((of_type && is_addressed && has_text, payload.map_or(0, <[u8]>::len)))
}

/// How the latest failure ended, as parameters: any end, status codes, any cause, pattern of the detail, no detail.
const ENDED_SO: &str = "($4::integer[] IS NULL OR response_status_code = ANY($4) \
     OR EXISTS (SELECT FROM unnest($6::text[]) AS wanted_cause (pattern) WHERE strpos(failure_detail, pattern) > 0) \
     OR (response_status_code = 0 AND ($5 OR ($7 AND failure_detail IS NULL))))";

async fn progress(
    db: &impl Client,
    messages: &[MessageKey],
    filter: &ProgressFilter,
) -> SqlResult<Vec<MessageProgress>> {
    let select = format!(
        "SELECT wanted.id, made.endpoints + waiting.untried, made.succeeded, made.skipped, waiting.count, waiting.next_at, \
             made.attempts, latest.status, latest.code, \
             failure.id, failure.endpoint, failure.code, failure.url, failure.detail, failure.response \
         FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (application, id, no) \
         CROSS JOIN LATERAL ( \
             SELECT count(*) AS endpoints, coalesce(sum(attempts), 0)::bigint AS attempts, \
                 count(*) FILTER (WHERE succeeded) AS succeeded, \
                 count(*) FILTER (WHERE NOT succeeded AND latest = 4 AND NOT EXISTS (SELECT FROM deliveries d \
                     WHERE d.endpoint = each.endpoint AND d.message = wanted.id)) AS skipped \
             FROM (SELECT endpoint, count(*) AS attempts, bool_or(status = 0) AS succeeded, \
                     (array_agg(status ORDER BY id DESC))[1] AS latest \
                 FROM attempts WHERE message = wanted.id AND ($3::text IS NULL OR endpoint = $3) GROUP BY endpoint) each \
         ) made \
         CROSS JOIN LATERAL ( \
             SELECT count(*) AS count, min(d.next_at) AS next_at, count(*) FILTER (WHERE NOT EXISTS ( \
                 SELECT FROM attempts a WHERE a.message = wanted.id AND a.endpoint = d.endpoint)) AS untried \
             FROM endpoints e JOIN deliveries d ON d.endpoint = e.id AND d.message = wanted.id \
             WHERE e.application = wanted.application AND ($3::text IS NULL OR e.id = $3) \
         ) waiting \
         LEFT JOIN LATERAL ( \
             SELECT status, response_status_code AS code FROM attempts \
             WHERE message = wanted.id AND ($3::text IS NULL OR endpoint = $3) ORDER BY id DESC LIMIT 1 \
         ) latest ON true \
         LEFT JOIN LATERAL ( \
             SELECT id, endpoint, response_status_code AS code, url, failure_detail AS detail, \
                 substring(response FROM 1 FOR $8) AS response FROM attempts \
             WHERE message = wanted.id AND status = 2 AND ($3::text IS NULL OR endpoint = $3) AND {ENDED_SO} \
             ORDER BY id DESC LIMIT 1 \
         ) failure ON true ORDER BY wanted.no"
    );
    let (applications, ids) = columns_of(messages.iter().map(|key| (&key.application, &key.id)));
    let codes: Option<Vec<i32>> =
        filter.failure.as_ref().map(|end| end.codes.iter().map(|code| i32::from(*code)).collect());
    let no_response = filter.failure.as_ref().and_then(|end| end.no_response);
    let is_any = no_response == Some(NoResponse::Any);
    let patterns = no_response.map(NoResponse::detail_patterns).unwrap_or_default();
    let is_unexplained = no_response.is_some_and(NoResponse::includes_unexplained);
    let bytes_max = FAILURE_BYTES_MAX as i32;
    let params: &[&(dyn ToSql + Sync)] =
        &[&applications, &ids, &filter.endpoint.as_deref(), &codes, &is_any, &patterns, &is_unexplained, &bytes_max];
    rows::all(db, &select, params, read_progress).await
}

fn read_progress(row: &Row) -> StoreResult<MessageProgress> {
    let number = |column| -> StoreResult<u64> { Ok(rows::get::<i64>(row, column)?.unsigned_abs()) };
    let code = |column| -> StoreResult<u16> { Ok(u16::try_from(rows::get::<i32>(row, column)?).unwrap_or_default()) };
    let latest = match rows::get::<Option<i16>>(row, 7)? {
        Some(status) => Some((codec::status(status.into())?, code(8)?)),
        None => None,
    };
    let failure = match rows::get::<Option<&str>>(row, 9)? {
        Some(attempt) => Some(LatestFailure {
            attempt: attempt.into(),
            endpoint: rows::id(row, 10)?,
            code: code(11)?,
            url: rows::get(row, 12)?,
            detail: codec::optional_from_json(rows::get(row, 13)?)?,
            response: String::from_utf8_lossy(rows::get::<&[u8]>(row, 14)?).into_owned(),
        }),
        None => None,
    };
    Ok(MessageProgress {
        message: rows::id(row, 0)?,
        endpoints: number(1)?,
        succeeded: number(2)?,
        skipped: number(3)?,
        waiting: number(4)?,
        next_at: rows::get(row, 5)?,
        attempts: number(6)?,
        latest,
        failure,
    })
}
