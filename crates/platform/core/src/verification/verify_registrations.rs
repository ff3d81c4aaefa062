//! Checks the registrations of an auction, and the bids that were made under them.

use std::collections::BTreeMap;

use platform_rules::LogHash;
use uuid::Uuid;

use super::replay::Subject;
use super::verify::{Finding, ROWS_READ_MAX, VerifyReport, out_of_order};
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{LogKind, Page, StoreError};

impl Platform {
    /// Verifies all registrations of an auction. `progress` is called after each page.
    pub(super) async fn verify_registrations(
        &self,
        auction: Uuid,
        verified: &mut VerifyReport,
        progress: &(dyn Fn(&VerifyReport) + Send + Sync),
    ) -> PlatformResult<()> {
        let mut after = None;
        loop {
            let listed = self.store().registrations(auction, Page { after, limit: ROWS_READ_MAX }).await;
            let listed = match listed {
                Err(StoreError::Corrupt(what)) => {
                    let what = format!("a registration of it can't be read: {what}");
                    let kind = Some(LogKind::Auction);
                    verified.broken.push(Finding { subject: Some(auction), kind, entry: None, what });
                    return Ok(());
                }
                listed => listed?,
            };
            let Some(last) = listed.last().map(|registration| registration.uuid) else { return Ok(()) };
            for registration in listed {
                self.verify_listed(LogKind::Registration, registration.uuid, verified).await?;
            }
            progress(verified);
            if after.is_some_and(|after| last <= after) {
                verified.broken.push(out_of_order(LogKind::Registration, last));
                return Ok(());
            }
            after = Some(last);
        }
    }

    /// The first mistake in the registrations that an item's bids name. Each registration must have the item's auction
    /// and the bidder's paddle, and its log must have the entry that the bid was decided on.
    pub(super) async fn registration_mismatch(
        &self,
        item: &Subject,
        bid_registrations: &BTreeMap<(Uuid, i64), (LogHash, String)>,
    ) -> PlatformResult<Option<String>> {
        let Subject::Item(item) = item else { return Ok(None) };
        for ((uuid, number), (hash, paddle)) in bid_registrations {
            let page = Page { after: Some(number - 1), limit: 1 };
            let entry = self.store().log_entries(*uuid, page).await?.pop();
            if entry.is_none_or(|entry| entry.number != *number || entry.hash != *hash) {
                let what =
                    format!("a bid was accepted under entry {number} of registration {uuid}, which does not exist");
                return Ok(Some(what));
            }
            let registration = self.store().registration(*uuid).await?;
            if registration.is_none_or(|it| it.auction != item.auction || it.paddle != *paddle) {
                return Ok(Some(format!(
                    "a bid of paddle {paddle} was accepted under registration {uuid}, which has another paddle or auction"
                )));
            }
            if !self.store().has_bidder_item(item.auction, paddle, item.uuid).await? {
                return Ok(Some(format!(
                    "the bidder item of paddle {paddle} is missing: its spending limit does not count this item"
                )));
            }
        }
        Ok(None)
    }
}
