//! The notices of a bidder: read, seen, mailed or not, and shown in browsers.

use std::collections::BTreeSet;

use kit_identity::user::Change;
use kit_push::Browser;
use uuid::Uuid;

use super::{Saleroom, SignedInBidder};
use crate::Platform;
use crate::error::{PlatformError, PlatformResult};
use crate::mails::EndedMails;
use crate::notices::{Notice, NoticeKind, PUSH_SUBSCRIPTIONS_MAX, PushKeys};
use crate::port::{BidderAccountChange, PushSubscription, StoreError};

/// Notices in a list.
pub const NOTICES_LISTED_MAX: usize = 50;
/// Tries to change an account that others change at the same time.
const TRIES_MAX: usize = 5;

impl Platform {
    /// The latest notices of a bidder, the newest first; only those after `after`, if it is given.
    pub async fn own_notices(&self, bidder: &SignedInBidder, after: Option<Uuid>) -> PlatformResult<Vec<Notice>> {
        Ok(self.store().notices(bidder.account.id, after, NOTICES_LISTED_MAX).await?)
    }

    /// Number of notices that a bidder has not seen, counted to [`NOTICES_LISTED_MAX`], and the latest notice, seen or not.
    pub async fn unseen_notices(&self, bidder: &SignedInBidder) -> PlatformResult<(usize, Option<Uuid>)> {
        Ok(self.store().unseen_notices(bidder.account.id, NOTICES_LISTED_MAX).await?)
    }

    /// Marks the notices up to this one as seen.
    pub async fn see_notices(&self, bidder: &SignedInBidder, through: Uuid) -> PlatformResult<()> {
        Ok(self.store().see_notices(bidder.account.id, through, self.now()).await?)
    }

    /// The public key with which browsers allow messages of this installation, in base64url.
    pub fn push_public_key(&self) -> Option<String> {
        self.push_key().map(|key| key.public().to_owned())
    }

    /// Shows notices in a browser from now on.
    ///
    /// Errors: `invalid`.
    pub async fn add_push_browser(&self, bidder: &SignedInBidder, keys: PushKeys) -> PlatformResult<()> {
        let PushKeys { endpoint, key, auth } = keys;
        let browser = Browser::new(&endpoint, &key, &auth);
        let browser = browser.map_err(|error| PlatformError::invalid("", error.to_string()))?;
        let subscription = PushSubscription {
            uuid: self.ids().uuid_v7(),
            account: bidder.account.id,
            session: bidder.session,
            endpoint: browser.endpoint().as_str().to_owned(),
            key,
            auth,
            created_at: self.now(),
        };
        Ok(self.store().put_push_subscription(subscription, PUSH_SUBSCRIPTIONS_MAX).await?)
    }

    /// Shows no more notices of this bidder in a browser.
    pub async fn remove_push_browser(&self, bidder: &SignedInBidder, endpoint: &str) -> PlatformResult<()> {
        let own = self.store().push_subscriptions(bidder.account.id).await?;
        if own.iter().any(|subscription| subscription.endpoint == endpoint) {
            self.store().remove_push_subscription(endpoint).await?;
        }
        Ok(())
    }

    /// Shows no more notices of this bidder in any browser.
    pub async fn remove_push_browsers(&self, bidder: &SignedInBidder) -> PlatformResult<()> {
        for browser in self.store().push_subscriptions(bidder.account.id).await? {
            self.store().remove_push_subscription(&browser.endpoint).await?;
        }
        Ok(())
    }

    /// Browsers that show the notices of a bidder.
    pub async fn push_browsers(&self, bidder: &SignedInBidder) -> PlatformResult<usize> {
        Ok(self.store().push_subscriptions(bidder.account.id).await?.len())
    }

    /// The bidder receives mails about all notices but these.
    pub async fn choose_notice_mails(
        &self,
        bidder: &SignedInBidder,
        no_mails_about: BTreeSet<NoticeKind>,
    ) -> PlatformResult<()> {
        self.change_notice_mails(bidder.account.id, |_| no_mails_about.clone()).await
    }

    /// Ends the mails that a link names, at the house of the saleroom; with `all`, those of every kind.
    ///
    /// Errors: `not_found` (the account is of another house, or closed), `busy`.
    pub async fn end_notice_mails(&self, saleroom: &Saleroom, ended: EndedMails, all: bool) -> PlatformResult<()> {
        let account = self.store().bidder_account(ended.account).await?;
        let account = account.filter(|account| account.profile.customer == saleroom.house.customer);
        if account.is_none_or(|account| account.disabled_at.is_some()) {
            return Err(PlatformError::NotFound("account"));
        }
        self.change_notice_mails(ended.account, |before| match all {
            true => NoticeKind::ALL.into_iter().collect(),
            false => before.iter().copied().chain([ended.kind]).collect(),
        })
        .await
    }

    async fn change_notice_mails(
        &self,
        account: Uuid,
        change: impl Fn(&BTreeSet<NoticeKind>) -> BTreeSet<NoticeKind> + Send + Sync,
    ) -> PlatformResult<()> {
        for _ in 0..TRIES_MAX {
            let Some(mut account) = self.store().bidder_account(account).await? else {
                return Err(PlatformError::NotFound("account"));
            };
            let details = &mut account.profile.details;
            details.no_mails_about = change(&details.no_mails_about);
            let entry = BidderAccountChange { change: Change::to(account), link: None, party: None };
            match self.store().change_bidder_account(entry).await {
                Ok(()) => return Ok(()),
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(PlatformError::Busy)
    }
}
