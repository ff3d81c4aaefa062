//! Runs once a minute: deletes expired answers of idempotency keys, expired sessions, expired uploads of catalogues,
//! details of erased persons after their time, old mails and old notices, and logs the number of refused sign-ins.

use std::time::Duration;

use kit_runtime::tasks::Tasks;
use tokio_util::sync::CancellationToken;

use crate::node_state::worker_runs::Worker;
use crate::{Platform, PlatformResult};

const FORGET_EVERY: Duration = Duration::from_secs(60);
/// Answers deleted in one transaction.
const FORGET_MAX: usize = 1_000;
/// Transactions in a row, so that a backlog doesn't keep the writer busy.
const ROUNDS_MAX: usize = 20;

impl Platform {
    pub(crate) fn spawn_expiry(&self, tasks: &Tasks) {
        let platform = self.clone();
        tasks.spawn("expiry of stored answers", move |stopping| {
            let platform = platform.clone();
            async move { platform.run_expiry(stopping).await }
        });
    }

    async fn run_expiry(&self, stopping: CancellationToken) {
        while !stopping.is_cancelled() {
            let answers = self.delete_expired_answers().await.map(drop);
            if let Err(error) = &answers {
                tracing::error!(%error, "expired answers could not be deleted");
            }
            let sessions = self.delete_expired_sessions().await.map(drop);
            if let Err(error) = &sessions {
                tracing::error!(%error, "expired sessions could not be deleted");
            }
            let uploads = self.delete_expired_uploads().await.map(drop);
            if let Err(error) = &uploads {
                tracing::error!(%error, "expired uploads of catalogues could not be deleted");
            }
            let kept = self.remove_kept_details().await.map(drop);
            if let Err(error) = &kept {
                tracing::error!(%error, "what was kept of erased persons could not be removed");
            }
            let mails = self.delete_old_mails().await.map(drop);
            if let Err(error) = &mails {
                tracing::error!(%error, "old mails could not be deleted");
            }
            let bidders = self.delete_expired_bidder_access().await.map(drop);
            if let Err(error) = &bidders {
                tracing::error!(%error, "expired sessions and links of bidders could not be deleted");
            }
            let notices = self.delete_old_notices().await.map(drop);
            if let Err(error) = &notices {
                tracing::error!(%error, "old notices to bidders could not be deleted");
            }
            let sites = self.delete_expired_site_access().await.map(drop);
            if let Err(error) = &sites {
                tracing::error!(%error, "expired access of web sites could not be deleted");
            }
            let noted = self.note_refused_sign_ins().await.map(drop);
            if let Err(error) = &noted {
                tracing::error!(%error, "the number of refused sign-ins could not be logged");
            }
            self.record_run(
                Worker::Expiry,
                &answers
                    .and(sessions)
                    .and(uploads)
                    .and(kept)
                    .and(mails)
                    .and(bidders)
                    .and(sites)
                    .and(notices)
                    .and(noted),
            );
            let next = self.now() + FORGET_EVERY;
            tokio::select! {
                () = stopping.cancelled() => {}
                () = self.clock().sleep_until(next) => {}
            }
        }
    }

    /// Deletes expired answers; returns their number.
    pub async fn delete_expired_answers(&self) -> PlatformResult<usize> {
        let before = self.now() - self.config().answers_ttl;
        let mut deleted = 0;
        for _ in 0..ROUNDS_MAX {
            let count = self.store().delete_expired_answers(before, FORGET_MAX).await?;
            deleted += count;
            if count < FORGET_MAX {
                break;
            }
        }
        Ok(deleted)
    }
}
