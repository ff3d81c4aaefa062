//! The worker that sends queued mails, and the deletion of old ones.

use std::time::Duration;

use futures_util::future::join_all;
use kit_mail::{Mail, Mailer, queue};
use kit_runtime::tasks::Tasks;

use crate::Platform;
use crate::config::Nodes;
use crate::error::PlatformResult;
use crate::node_state::worker_runs::Worker;
use crate::port::{ClaimedMail, MailResult};

/// Mails that a node sends at the same time.
const CLAIMED_MAX: usize = 8;
/// Claims in one run.
const CLAIMS_MAX: usize = 10;
/// Characters of a mail server's answer that are kept.
const FAULT_CHARS_MAX: usize = 500;
/// Mails deleted in one transaction.
const DELETED_MAX: usize = 1_000;
/// Held mails that one transaction makes due, and such transactions at a start.
const RELEASED_MAX: usize = 1_000;
const RELEASES_MAX: usize = 1_000;

impl Platform {
    pub(crate) fn spawn_mails(&self, tasks: &Tasks) {
        if !self.sends_mail() {
            return;
        }
        let platform = self.clone();
        tasks.spawn("mails to bidders", move |stopping| {
            let platform = platform.clone();
            async move {
                let (signal, failure) = (platform.mails_queued(), "mails to bidders could not be sent");
                // With several nodes, another node may be sending the claimed mails, so their leases have to end first.
                if platform.config().nodes == Nodes::Sole
                    && let Err(error) = platform.store().release_mails(platform.now()).await
                {
                    tracing::warn!(%error, "mails of the last process wait until its claim ends");
                }
                if let Err(error) = platform.release_held_mails().await {
                    tracing::warn!(%error, "mails that wait for a limit stay at their next try");
                }
                platform.run_worker(stopping, (Worker::Mails, signal), failure, || platform.send_mails()).await;
            }
        });
    }

    /// Makes all mails due that wait for a limit; returns their number. A node does so when it starts, because the limits are
    /// settings, which only a start changes. The next run holds those back that the limits of now do not allow.
    pub async fn release_held_mails(&self) -> PlatformResult<usize> {
        let (mut total, now) = (0, self.now());
        for _ in 0..RELEASES_MAX {
            let released = self.store().release_held_mails(now, RELEASED_MAX).await?;
            total += released;
            if released < RELEASED_MAX {
                break;
            }
        }
        Ok(total)
    }

    /// One run of the worker: makes the mails of reminders, and sends mails that are due.
    pub async fn send_mails(&self) -> PlatformResult<()> {
        let Some(mailer) = &self.config().mailer else { return Ok(()) };
        self.make_reminder_mails().await?;
        for _ in 0..CLAIMS_MAX {
            let now = self.now();
            let claimed = self.store().claim_mails(now, now + queue::LEASE, CLAIMED_MAX).await?;
            let is_last = claimed.len() < CLAIMED_MAX;
            let tried = join_all(claimed.into_iter().map(|claimed| self.send_claimed(mailer, claimed))).await;
            let tried: Vec<bool> = tried.into_iter().collect::<PlatformResult<_>>()?;
            // While the mail server is down, the rest of the queue waits for the next run.
            if is_last || !tried.contains(&true) {
                return Ok(());
            }
        }
        self.mails_queued().notify();
        Ok(())
    }

    /// Sends a mail and records the result. False when the mail server was not available.
    async fn send_claimed(&self, mailer: &Mailer, ClaimedMail { mail, tries }: ClaimedMail) -> PlatformResult<bool> {
        let (uuid, mut is_available) = (mail.uuid, true);
        let result = match self.take_mail(mail.customer, &mail.recipient, mail.kind.is_purchase()).await? {
            Err(used_up) => {
                let others = self.hold_mails_of(mail.customer, used_up).await?;
                self.metrics().mails_held(others + 1);
                MailResult::Held(used_up.limit.reason(), used_up.until)
            }
            Ok(taken) => {
                let letterhead = self.letterhead(mail.customer).await?;
                let sent = mailer
                    .send(&Mail {
                        to: mail.recipient,
                        subject: mail.subject,
                        text: mail.text,
                        id: uuid.to_string(),
                        sender_name: Some(letterhead.name.clone()),
                        reply_to: letterhead.email(),
                        unsubscribe: mail.unsubscribe,
                    })
                    .await;
                match sent {
                    Ok(_) => MailResult::Sent,
                    Err(error) => {
                        is_available = error.is_permanent();
                        match is_available {
                            true => self.return_refused_mail(taken).await?,
                            false => self.return_mail(taken).await?,
                        }
                        let fault: String = error.to_string().chars().take(FAULT_CHARS_MAX).collect();
                        match queue::pause_after(tries, &error) {
                            Some(pause) => MailResult::Postponed(fault, self.now() + pause),
                            None => MailResult::Failed(fault),
                        }
                    }
                }
            }
        };
        // The mail server's answer may name the recipient, so the log does not have it.
        match &result {
            MailResult::Sent => self.metrics().mail_sent(),
            MailResult::Postponed(..) => {
                tracing::warn!(mail = %uuid, tries, "a mail could not be sent and will be sent again")
            }
            MailResult::Failed(_) => {
                self.metrics().mail_failed();
                tracing::error!(mail = %uuid, tries, "a mail could not be sent and was given up; the page Mails of the house says why");
            }
            MailResult::Held(..) => {}
        }
        self.store().record_mail_result(uuid, tries, result, self.now()).await?;
        Ok(is_available)
    }

    /// Deletes mails that were sent or given up long enough ago; returns their number. For the worker.
    pub async fn delete_old_mails(&self) -> PlatformResult<usize> {
        let kept_for = Duration::from_secs(u64::from(self.config().mails_kept_days) * 24 * 3_600);
        Ok(self.store().delete_old_mails(self.now() - kept_for, DELETED_MAX).await?)
    }
}
