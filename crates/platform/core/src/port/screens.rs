//! What the screens of a webcast need: links that open them without a sign-in, and exchange rates.

use async_trait::async_trait;
use jiff::Timestamp;
use jiff::civil::Date;
use uuid::Uuid;

use super::{Digest, StoreResult};

/// A screen of a webcast that only shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenKind {
    /// For everyone in the room: it shows what bidders see.
    Room,
    /// For the person on the rostrum: also waiting web bids and whether the reserve is met; the reserve and the commission
    /// book for users who see them at the desk, and on links with [`ScreenLink::shows_reserve`].
    Speaker,
}

impl ScreenKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Room, Self::Speaker];

    /// The name in the store and in addresses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Room => "room",
            Self::Speaker => "speaker",
        }
    }

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A link that opens a screen on a device without a sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenLink {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// The webcast.
    pub auction: Uuid,
    /// The screen.
    pub kind: ScreenKind,
    /// The speaker's view shows the reserve and the commission book: the clerk chose it for this link.
    pub shows_reserve: bool,
    /// SHA-256 of the link's token (192 random bits).
    pub hash: Digest,
    /// When it was created.
    pub created_at: Timestamp,
    /// Who created it, as the audit log names them.
    pub created_by: String,
    /// When it ends, used or not.
    pub expires_at: Timestamp,
    /// When a screen last used it, to within a minute.
    pub last_used_at: Option<Timestamp>,
    /// The link that this one replaced, while it still opens the screen.
    pub predecessor: Option<Predecessor>,
}

/// A replaced link. It opens the screen until its successor is used, so that no screen goes dark in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predecessor {
    /// SHA-256 of its token.
    pub hash: Digest,
    /// When it ends at the latest.
    pub until: Timestamp,
}

/// An exchange rate that the room screen shows prices with, as a guide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuideRate {
    /// ISO 4217 code of the other currency.
    pub currency: String,
    /// The other currency for one unit of the auction's currency, in millionths.
    pub millionths: i64,
    /// The day of the rate.
    pub date: Date,
}

/// Links and rates of screens. [`super::AccessChange`] creates and revokes links.
#[async_trait]
pub trait ScreenStore: Send + Sync {
    /// The links of a webcast, by the name of their kind; expired ones too.
    async fn screen_links(&self, auction: Uuid) -> StoreResult<Vec<ScreenLink>>;
    /// The links that this actor created, by webcast and kind; expired ones too.
    async fn screen_links_by(&self, creator: &str) -> StoreResult<Vec<ScreenLink>>;
    /// The link with this token, or the one that replaced it; an expired one too.
    async fn screen_link_by_hash(&self, hash: Digest) -> StoreResult<Option<ScreenLink>>;
    /// Records the use of a link, which ends its predecessor. A link that does not exist is no error.
    async fn touch_screen_link(&self, hash: Digest, at: Timestamp) -> StoreResult<()>;
    /// The rates of an auction, by currency.
    async fn guide_rates(&self, auction: Uuid) -> StoreResult<Vec<GuideRate>>;
    /// Creates or replaces the rate of a currency. False when the auction has `rates_max` other rates; then nothing changes.
    async fn put_guide_rate(&self, auction: Uuid, rate: GuideRate, rates_max: usize) -> StoreResult<bool>;
    /// Removes the rate of a currency; false when there was none.
    async fn remove_guide_rate(&self, auction: Uuid, currency: &str) -> StoreResult<bool>;
}
