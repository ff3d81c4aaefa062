//! Notices to bidders: outbid, won, not won, a sale began, a lot soon in the ring, a registration or a higher
//! limit decided, a message of staff.
//!
//! ```text
//!  bid, hammer, decision ── cause in the same commit ──> causes ── worker ──> notices ──> pages
//!                                                                   │              └──> browsers (Web Push)
//!                                                                   └── mail in the same commit ──> queue of mails
//! ```
//!
//! Guarantees:
//! - What happened and its cause are committed together, and so are a notice and its mail: none is lost or made twice, whichever
//!   node dies.
//! - Only bidders whose standing changed, or who follow a lot, receive a notice. A bidder who leads again by the time the worker comes is
//!   not told that another bid was higher.
//! - A notice has no name, no reserve and no maximum of anyone.
//! - Sandboxes and rehearsals make none, and neither does a server without salerooms.

mod making;
mod messages;
mod pushes;

use std::time::Duration;

use kit_runtime::tasks::Tasks;
use platform_rules::{Auction, SaleMode};

use crate::Platform;
use crate::error::PlatformResult;
use crate::node_state::worker_runs::Worker;
use crate::port::{CauseOfNotice, NoticeCause, Registration, RegistrationStatus};

pub use self::messages::{MESSAGE_CHARS_MAX, NewMessage};
pub use self::pushes::{PUSH_SUBSCRIPTIONS_MAX, PushKeys};
pub use crate::port::{Notice, NoticeFacts, NoticeKind};

/// How long notices are kept.
const KEPT_FOR: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// Notices deleted in one transaction.
const DELETED_MAX: usize = 1_000;

impl Platform {
    pub(crate) fn spawn_notices(&self, tasks: &Tasks) {
        // Without salerooms, messages still reach bidders by mail.
        if self.config().saleroom_url.is_none() && !self.sends_mail() {
            return;
        }
        let platform = self.clone();
        tasks.spawn("notices to bidders", move |stopping| {
            let platform = platform.clone();
            async move {
                let (signal, failure) = (platform.notices_caused(), "notices to bidders could not be made");
                platform.run_worker(stopping, (Worker::Notices, signal), failure, || platform.make_notices()).await;
            }
        });
        // A push service that does not answer delays no notice and no mail.
        let platform = self.clone();
        tasks.spawn("notices in browsers", move |stopping| {
            let platform = platform.clone();
            async move {
                let (signal, failure) = (platform.notices_made(), "notices could not be shown in browsers");
                platform.run_worker(stopping, (Worker::Pushes, signal), failure, || platform.send_pushes()).await;
            }
        });
    }

    /// The cause of the notice about a decision on a registration, to be committed with it.
    pub(crate) fn decision_cause(&self, auction: &Auction, registration: &Registration) -> Option<NoticeCause> {
        let is_news = registration.status != RegistrationStatus::Pending && auction.sale_mode() == SaleMode::Real;
        (is_news && self.config().saleroom_url.is_some()).then(|| NoticeCause {
            auction: auction.uuid,
            what: CauseOfNotice::RegistrationDecided { registration: registration.uuid },
            at: self.now(),
        })
    }

    /// Deletes notices that are old; returns their number.
    pub(crate) async fn delete_old_notices(&self) -> PlatformResult<usize> {
        Ok(self.store().delete_old_notices(self.now() - KEPT_FOR, DELETED_MAX).await?)
    }
}
