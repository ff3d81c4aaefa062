//! Entity tags: how a response names the state that it shows, and how `If-Match` names the state that a caller read.
//!
//! | record | tag |
//! |---|---|
//! | auction, item | `<version>-<hash>`: `If-Match` compares the version, `If-None-Match` the whole tag |
//! | auctioneer, registration, user, clock | `<version>` |
//! | ring | `<version of the auction>.<version of the item in the ring>` |
//! | anything else that can be cached | `<hash>` |

use jiff::Timestamp;
use platform_core::port::BulkChange;
use platform_core::ring::{RingState, RingVersion};
use platform_rules::lifecycle::ItemCounts;
use platform_rules::{Auction, Item};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::models::{AuctionView, ItemView};

/// Bytes of the hash that go into a tag: enough that two different responses never share one.
const HASH_BYTES: usize = 12;
/// The version for a tag that this API never issued. It equals no version, so the response is 412.
pub(crate) const NO_VERSION: i64 = -1;

/// The tag of an item. Every response that shows the item has the same one: the hash covers all of [`ItemView`] except
/// the server's time.
pub(crate) fn item_etag(item: &Item, auction: &Auction, now: Timestamp) -> String {
    let view = ItemView { server_time: String::new(), ..ItemView::new(item, auction, now) };
    versioned_etag(item.version, &view)
}

/// The tag of an auction. Every response that shows the auction has the same one: the hash covers all of
/// [`AuctionView::whole`].
pub(crate) fn auction_etag(
    auction: &Auction,
    items: &ItemCounts,
    bulk_change: Option<&BulkChange>,
    now: Timestamp,
) -> String {
    versioned_etag(auction.version, &AuctionView::whole(auction, items, bulk_change, now))
}

/// `<version>-<hash>`. The hash covers fields that can change while the version stays, such as counts.
fn versioned_etag(version: i64, view: &impl Serialize) -> String {
    format!("{version}-{}", content_hash(&kit_http::json::text(view)))
}

/// The version in a tag, with or without the hash behind it.
pub(crate) fn version_from_etag(tag: &str) -> Option<i64> {
    let version = match tag.split_once('-') {
        Some((version, hash)) if hash.len() == 2 * HASH_BYTES && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            version
        }
        Some(_) => return None,
        None => tag,
    };
    version.parse().ok()
}

/// The tag of a response that has no version: a hash of its body.
pub(crate) fn content_hash(body: &str) -> String {
    Sha256::digest(body.as_bytes()).iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// The tag of a ring: versions of the auction and of the item in the ring, 0 for an empty ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RingTag {
    auction: i64,
    item: i64,
}

impl RingTag {
    /// A tag that matches no ring.
    pub(crate) const NONE: Self = RingTag { auction: NO_VERSION, item: NO_VERSION };

    pub(crate) fn of(ring: &RingState) -> Self {
        let RingVersion { auction, item } = ring.version();
        RingTag { auction, item }
    }

    pub(crate) fn version(self) -> RingVersion {
        RingVersion { auction: self.auction, item: self.item }
    }

    pub(crate) fn parse(tag: &str) -> Option<Self> {
        let (auction, item) = tag.split_once('.')?;
        Some(RingTag { auction: auction.parse().ok()?, item: item.parse().ok()? })
    }
}

impl std::fmt::Display for RingTag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.auction, self.item)
    }
}
