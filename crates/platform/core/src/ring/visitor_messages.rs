//! Messages of the clerk to all visitors of a webcast. The last one is on the stage until the clerk clears it or writes another.

use contract::AuctionStatus;
use jiff::SignedDuration;
use platform_rules::{Auction, AuctionKind, Rejection};
use uuid::Uuid;

use super::READ_TRIES_MAX;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{StoreError, VISITOR_MESSAGES_SHOWN, VisitorMessage};
use crate::steps::input::{check_text, unseen};
use crate::{Caller, Platform, Scope};

/// Characters of a message.
pub const VISITOR_MESSAGE_CHARS_MAX: usize = 200;
/// Messages of one sale, at most.
pub const VISITOR_MESSAGES_MAX: i64 = 500;
/// Messages of one sale in a minute: as many as are shown.
const PER_MINUTE_MAX: usize = VISITOR_MESSAGES_SHOWN;
const MINUTE: SignedDuration = SignedDuration::from_secs(60);

impl Platform {
    /// The latest messages to visitors, the newest first, for those who may clerk the webcast.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`, `wrong_auction_kind`.
    pub async fn visitor_messages(&self, caller: &Caller, webcast: Uuid) -> PlatformResult<Vec<VisitorMessage>> {
        let webcast = self.clerked(caller, webcast).await?;
        Ok(self.store().visitor_messages(webcast.uuid, VISITOR_MESSAGES_SHOWN).await?)
    }

    /// The message that visitors see now on the stage of a webcast that the caller has read.
    pub async fn message_on_stage(&self, webcast: &Auction) -> PlatformResult<Option<VisitorMessage>> {
        if !VisitorMessage::are_shown(webcast) {
            return Ok(None);
        }
        let latest = self.store().visitor_messages(webcast.uuid, 1).await?;
        Ok(VisitorMessage::on_stage(&latest).cloned())
    }

    /// Puts a message on the stage, where every visitor reads it. The text that is on the stage already is not written again.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`, `wrong_auction_kind`, `auction_not_live`, `invalid` (also after 500 messages, and after
    /// 20 in a minute), `busy`.
    pub async fn write_to_visitors(
        &self,
        caller: &Caller,
        webcast: Uuid,
        text: &str,
    ) -> PlatformResult<VisitorMessage> {
        let webcast = self.clerked(caller, webcast).await?;
        let text = text.trim();
        let checked = check_text(text, VISITOR_MESSAGE_CHARS_MAX).and_then(|()| unseen(text));
        checked.map_err(|why| PlatformError::invalid("/text", why))?;
        if webcast.status != AuctionStatus::Live {
            return Err(Rejection::AuctionNotLive { status: webcast.status.name() }.into());
        }
        for _ in 0..READ_TRIES_MAX {
            let latest = self.store().visitor_messages(webcast.uuid, PER_MINUTE_MAX).await?;
            if let Some(same) = VisitorMessage::on_stage(&latest).filter(|message| message.text == text) {
                return Ok(same.clone());
            }
            let now = self.now();
            let is_often = latest.get(PER_MINUTE_MAX - 1).is_some_and(|oldest| now.duration_since(oldest.at) < MINUTE);
            if is_often {
                let problem = format!(
                    "is one too many: {PER_MINUTE_MAX} messages were written in the last minute. Wait a moment"
                );
                return Err(PlatformError::invalid("/text", problem));
            }
            let number = latest.first().map_or(1, |message| message.number + 1);
            if number > VISITOR_MESSAGES_MAX {
                let problem =
                    format!("is one too many: a sale has at most {VISITOR_MESSAGES_MAX} messages to visitors");
                return Err(PlatformError::invalid("/text", problem));
            }
            let message = VisitorMessage {
                auction: webcast.uuid,
                number,
                item: webcast.in_ring,
                actor: caller.actor.clone(),
                text: text.to_owned(),
                at: now,
                cleared: None,
            };
            match self.store().put_visitor_message(message.clone()).await {
                Ok(()) => {
                    self.live().reload_auction(webcast.uuid);
                    return Ok(message);
                }
                // Another desk wrote at the same time.
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(PlatformError::Busy)
    }

    /// Takes the message off the stage. Without one, nothing changes.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`, `wrong_auction_kind`.
    pub async fn clear_message_to_visitors(&self, caller: &Caller, webcast: Uuid) -> PlatformResult<()> {
        let webcast = self.clerked(caller, webcast).await?;
        let latest = self.store().visitor_messages(webcast.uuid, 1).await?;
        if let Some(message) = VisitorMessage::on_stage(&latest) {
            self.store().clear_visitor_message(webcast.uuid, message.number, &caller.actor, self.now()).await?;
            self.live().reload_auction(webcast.uuid);
        }
        Ok(())
    }

    /// A webcast, for those who may clerk it.
    async fn clerked(&self, caller: &Caller, webcast: Uuid) -> PlatformResult<Auction> {
        caller.require(Scope::RingWrite)?;
        let webcast = self.visible_auction(caller, webcast).await?;
        self.require_clerk(caller, &webcast).await?;
        if webcast.kind != AuctionKind::Webcast {
            return Err(Rejection::WrongAuctionKind { needs: AuctionKind::Webcast }.into());
        }
        Ok(webcast)
    }
}
