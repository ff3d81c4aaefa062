//! Reading the activity log, newest entries first.

use crate::caller::Caller;
use crate::error::{FieldError, ProviderError, ProviderResult};
use crate::ids;
use crate::model::ActivityEntry;
use crate::model::Role;
use crate::port::{Order, Scan};
use crate::provider::Provider;

const PAGE_ENTRIES_MAX: usize = 50;
/// Entries that one search reads at most.
const SCANNED_ENTRIES_MAX: usize = 10_000;
const TEXT_BYTES_MAX: usize = 200;
/// Entries deleted in one call of the store.
const DELETE_MAX: usize = 1_000;

/// Filter and position in the activity log.
#[derive(Debug, Clone, Copy, Default)]
pub struct ActivityQuery<'a> {
    /// Text in the actor, the action or the subject; all entries when empty.
    pub text: &'a str,
    /// Entries before this one; the newest when none.
    pub before: Option<&'a str>,
}

/// A page of the activity log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityPage {
    /// The entries, newest first.
    pub entries: Vec<ActivityEntry>,
    /// `before` of the next page; none when there are no older entries.
    pub older: Option<String>,
}

impl Provider {
    /// Entries of the account's activity log. 403, 422.
    pub async fn activity(&self, caller: &Caller, query: ActivityQuery<'_>) -> ProviderResult<ActivityPage> {
        caller.require_role(Role::Viewer)?;
        if query.text.len() > TEXT_BYTES_MAX {
            return Err(invalid("q", format!("must have at most {TEXT_BYTES_MAX} bytes")));
        }
        if query.before.is_some_and(|before| !ids::is_id(before, ids::ACTIVITY)) {
            return Err(invalid("before", "must be the id of an entry".to_owned()));
        }
        let scan = Scan {
            above: String::new(),
            below: query.before.map_or_else(|| format!("{}~", ids::ACTIVITY), str::to_owned),
            direction: Order::Descending,
            limit: PAGE_ENTRIES_MAX + 1,
            scanned_rows_max: SCANNED_ENTRIES_MAX,
            bytes_max: usize::MAX,
        };
        let mut found = self.store().activity(&caller.account, query.text, &scan).await?;
        let has_more = found.rows.len() > PAGE_ENTRIES_MAX;
        found.rows.truncate(PAGE_ENTRIES_MAX);
        let last = found.rows.last().filter(|_| has_more).map(|entry| entry.id.to_string());
        let older = last.or_else(|| found.stopped_at.map(|id| id.to_string()));
        Ok(ActivityPage { entries: found.rows, older })
    }

    /// The number of entries that contain the text and are newer than the entry `after`, at most `count_max`. 403, 422.
    pub async fn newer_activity(
        &self,
        caller: &Caller,
        text: &str,
        after: &str,
        count_max: usize,
    ) -> ProviderResult<usize> {
        caller.require_role(Role::Viewer)?;
        if text.len() > TEXT_BYTES_MAX {
            return Err(invalid("q", format!("must have at most {TEXT_BYTES_MAX} bytes")));
        }
        if !ids::is_id(after, ids::ACTIVITY) {
            return Err(invalid("after", "must be the id of an entry".to_owned()));
        }
        let scan = Scan {
            above: after.to_owned(),
            below: format!("{}~", ids::ACTIVITY),
            direction: Order::Ascending,
            limit: count_max,
            scanned_rows_max: SCANNED_ENTRIES_MAX,
            bytes_max: usize::MAX,
        };
        Ok(self.store().activity(&caller.account, text, &scan).await?.rows.len())
    }

    /// Deletes entries after their retention. Called every minute by a worker.
    pub(crate) async fn delete_old_activity(&self) -> ProviderResult<()> {
        let now = self.now();
        let before = ids::lowest_id_at(ids::ACTIVITY, now.checked_sub(self.config().retention.activity).unwrap_or(now));
        while self.store().delete_old_activity(&before, DELETE_MAX).await? >= DELETE_MAX {}
        Ok(())
    }
}

fn invalid(parameter: &'static str, text: String) -> ProviderError {
    ProviderError::Validation(vec![FieldError::in_query(parameter, text)])
}
