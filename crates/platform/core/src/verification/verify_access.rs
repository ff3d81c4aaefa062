//! Checks the access log against its hashes and its head, for `lotwire verify`.

use platform_rules::LogHead;

use super::anchor::Anchor;
use super::verify::{Finding, ROWS_READ_MAX, VerifyReport};
use crate::Platform;
use crate::access::access_log::AccessContent;
use crate::audit::{access_begin, access_chain};
use crate::error::PlatformResult;
use crate::port::{AccessEntry, Page};

impl Platform {
    /// Verifies every entry of the access log, and its head. `anchors` are heads that the operator noted earlier.
    pub async fn verify_access(&self, anchors: &[Anchor], verified: &mut VerifyReport) -> PlatformResult<()> {
        let mut head = access_begin();
        check_anchors(anchors, head, verified);
        let mut was_empty = false;
        loop {
            let entries = self.store().access_log(Page { after: Some(head.number), limit: ROWS_READ_MAX }).await?;
            if entries.is_empty() {
                let stored = match self.store().access_log_head().await {
                    Ok(stored) => stored,
                    Err(crate::port::StoreError::Corrupt(what)) => {
                        verified.broken.push(broken(None, what));
                        break;
                    }
                    Err(error) => return Err(error.into()),
                };
                if stored.number > head.number && !was_empty {
                    // Entries may have been written since the last read.
                    was_empty = true;
                    continue;
                }
                verified.broken.extend(head_mismatch(head, stored));
                break;
            }
            was_empty = false;
            for entry in entries {
                match next(head, &entry) {
                    Ok(after) => head = after,
                    Err(what) => {
                        verified.broken.push(broken(Some(entry.number), what));
                        return Ok(());
                    }
                }
                verified.access_entries += 1;
                check_anchors(anchors, head, verified);
            }
        }
        for anchor in anchors.iter().filter(|anchor| anchor.position > head.number) {
            let what = format!("it has {} entries, and the anchor was noted at entry {}", head.number, anchor.position);
            verified.broken.push(broken(None, what));
        }
        verified.access_anchor = Some(Anchor { position: head.number, hash: head.hash });
        Ok(())
    }
}

/// Compares the anchors at this position with the head of the log there.
fn check_anchors(anchors: &[Anchor], head: LogHead, verified: &mut VerifyReport) {
    for anchor in anchors.iter().filter(|anchor| anchor.position == head.number) {
        if anchor.hash == head.hash {
            verified.anchors_held += 1;
        } else {
            let what = "this entry or an earlier one was changed after the anchor was noted".to_owned();
            verified.broken.push(broken(Some(head.number), what));
        }
    }
}

fn next(head: LogHead, entry: &AccessEntry) -> Result<LogHead, String> {
    if entry.number != head.number + 1 {
        return Err(format!("entry {} is missing", head.number + 1));
    }
    let after = access_chain(head, &entry.content);
    if after.hash != entry.hash {
        return Err("its hash is not that of its content and the entry before".to_owned());
    }
    let content: Result<AccessContent, _> = serde_json::from_str(&entry.content);
    content.map(|_| after).map_err(|error| format!("it can't be read: {error}"))
}

fn head_mismatch(head: LogHead, stored: LogHead) -> Option<Finding> {
    if head == stored {
        return None;
    }
    let what = if stored.number > head.number {
        format!("entries {} to {} are missing", head.number + 1, stored.number)
    } else {
        format!("its head is {}, and its last entry is {}", stored.number, head.number)
    };
    Some(broken(None, what))
}

fn broken(entry: Option<i64>, what: String) -> Finding {
    Finding { subject: None, kind: None, entry, what: format!("access log: {what}") }
}
