//! Checks the access log against its hashes and its head, for `lotwire verify`.

use platform_rules::LogHead;

use super::AccessContent;
use crate::Platform;
use crate::audit::{Anchor, Finding, VerifyReport, access_begin, access_chain};
use crate::error::PlatformResult;
use crate::port::{AccessEntry, Page};

/// Entries read at once.
const ROWS_READ_MAX: usize = 1_000;

impl Platform {
    /// Looks at every entry of the log of access, and at its head. `anchors` are heads that were noted earlier.
    pub async fn verify_access(&self, anchors: &[Anchor], verified: &mut VerifyReport) -> PlatformResult<()> {
        let mut head = access_begin();
        check_anchors(anchors, head, verified);
        let mut was_empty = false;
        loop {
            let entries = self.store().access_log(Page { after: Some(head.number), limit: ROWS_READ_MAX }).await?;
            if entries.is_empty() {
                let kept = match self.store().access_log_head().await {
                    Ok(kept) => kept,
                    Err(crate::port::StoreError::Corrupt(what)) => {
                        verified.broken.push(broken(None, what));
                        break;
                    }
                    Err(error) => return Err(error.into()),
                };
                if kept.number > head.number && !was_empty {
                    // Written after the look.
                    was_empty = true;
                    continue;
                }
                verified.broken.extend(against_head(head, kept));
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
            let what = format!("it has {} entries, and an anchor was noted at {}", head.number, anchor.position);
            verified.broken.push(broken(None, what));
        }
        verified.access_anchor = Some(Anchor { position: head.number, hash: head.hash });
        Ok(())
    }
}

/// Holds the anchors of this place against what the log has come to there.
fn check_anchors(anchors: &[Anchor], head: LogHead, verified: &mut VerifyReport) {
    for anchor in anchors.iter().filter(|anchor| anchor.position == head.number) {
        if anchor.hash == head.hash {
            verified.anchors_held += 1;
        } else {
            let what = "it, or one before it, is not what it was when the anchor was noted".to_owned();
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

fn against_head(head: LogHead, kept: LogHead) -> Option<Finding> {
    if head == kept {
        return None;
    }
    let what = if kept.number > head.number {
        format!("entries {} to {} are missing", head.number + 1, kept.number)
    } else {
        format!("its head, {}, is not its last entry, {}", kept.number, head.number)
    };
    Some(broken(None, what))
}

fn broken(entry: Option<i64>, what: String) -> Finding {
    Finding { subject: None, kind: None, entry, what: format!("log of access: {what}") }
}
