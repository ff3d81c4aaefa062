//! Settings of live streams.

use std::time::Duration;

/// Limits and pace of live streams.
#[derive(Debug, Clone)]
pub struct LiveConfig {
    /// Listeners at the same time, at each node; further ones are refused. 10,000.
    pub listeners_max: usize,
    /// Listeners to the auctions of one customer at the same time, at each node; further ones are refused. 2,500.
    pub listeners_per_customer_max: usize,
    /// Listeners on the pages of salerooms at the same time, at each node; further ones are refused. 20,000.
    pub visitors_max: usize,
    /// Listeners on the pages of one house at the same time, at each node; further ones are refused. 12,000.
    pub visitors_per_house_max: usize,
    /// Listeners on the pages of salerooms of one address (IPv6: one /64 network) at the same time, at each node; further ones
    /// are refused. The phones of a room share one address. 1,000.
    pub visitors_per_address_max: usize,
    /// Events of an auction kept for listeners that reconnect. 256.
    pub events_kept: usize,
    /// Events that a listener may be behind before it receives a snapshot instead. 64.
    pub events_behind_max: usize,
    /// Items in the snapshot of an auction; a snapshot without the other items says so. 500.
    pub snapshot_items_max: usize,
    /// Time between two heartbeat comments. 15 s.
    pub heartbeat_every: Duration,
    /// How long one stream lasts. The listener then reconnects and is authorised again. 1 h.
    pub listen_max: Duration,
    /// Time between two notifications to other nodes; changes in between are batched. 20 ms.
    pub tell_every: Duration,
}

impl Default for LiveConfig {
    fn default() -> Self {
        Self {
            listeners_max: 10_000,
            listeners_per_customer_max: 2_500,
            visitors_max: 20_000,
            visitors_per_house_max: 12_000,
            visitors_per_address_max: 1_000,
            events_kept: 256,
            events_behind_max: 64,
            snapshot_items_max: 500,
            heartbeat_every: Duration::from_secs(15),
            listen_max: Duration::from_secs(3_600),
            tell_every: Duration::from_millis(20),
        }
    }
}
