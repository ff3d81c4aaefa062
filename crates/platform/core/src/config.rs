//! Settings of the platform with their defaults.

mod endpoint_readings;
mod live;

use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
pub use kit_identity::IdentityConfig;
use kit_mail::Mailer;
use kit_openid::SingleSignOn;
use kit_outbound::{NameServers, TxtRecords};
use kit_runtime::disk_space::DiskReserve;
use kit_runtime::trace::Tracer;

pub use self::endpoint_readings::EndpointReadingConfig;
pub use self::live::LiveConfig;
use crate::caller::scope::Role;

/// Limits and intervals of the platform. Every field can be set by itself: `PlatformConfig { …, ..Default::default()
/// }`.
#[derive(Debug, Clone)]
pub struct PlatformConfig {
    /// How often a command is decided again after a version conflict. 64: commands on other nodes do not wait for each
    /// other, so that one of them can lose many times in a row.
    pub decide_tries_max: usize,
    /// Items in one auction. 100,000.
    pub auction_items_max: usize,
    /// Items in one call that creates an auction or adds to it. 1,000.
    pub call_items_max: usize,
    /// Limits of a catalogue import.
    pub catalogue: CatalogueLimits,
    /// How long an answer to an idempotency key is kept. 24 h.
    pub answers_ttl: Duration,
    /// How many days what invoices need of an erased person is kept after its last purchase; 0 for none. 3,650.
    pub purchases_kept_days: u32,
    /// Sends mails to bidders. None: no mail is sent.
    pub mailer: Option<Mailer>,
    /// Base URL of the salerooms, for links in notices to bidders. None: there are no salerooms, and no notices are made.
    pub saleroom_url: Option<String>,
    /// Public URLs of the server's other parts, whose hosts no house can have as its domain.
    pub other_public_urls: Vec<String>,
    /// Looks up the records that prove domains of houses. The system's name servers.
    pub txt_records: Arc<dyn TxtRecords>,
    /// Networks in which push services of browsers may be, besides the public internet. None.
    pub push_networks: Vec<IpNet>,
    /// Origins of which pages of the saleroom show films, such as `https://live.example.com`. None.
    pub film_origins: Vec<String>,
    /// How many days a mail is kept after it was sent or given up. 30.
    pub mails_kept_days: u32,
    /// How many mails a house sends.
    pub mail_limits: MailLimits,
    /// Whether other processes may work on the same store. Many.
    pub nodes: Nodes,
    /// A node without a heartbeat for this time counts as dead, and other nodes take its outbox rows. 10 s.
    pub node_dead_after: Duration,
    /// How long a checked API key or session is cached. 5 s.
    pub key_cache_ttl: Duration,
    /// Cached API keys, and cached sessions. 10,000.
    pub key_cache_max: usize,
    /// Requests of one API key in a minute, at each node; 0 for no limit. 600,000.
    pub key_requests_per_min_max: u32,
    /// Limits of sessions and sign-in attempts.
    pub identity: IdentityConfig,
    /// Single sign-on of the platform's users. None.
    pub single_sign_on: Option<SingleSignOn<Role>>,
    /// Subnets of trusted reverse proxies, whose `X-Forwarded-For` is used. None.
    pub trusted_proxies: Vec<IpNet>,
    /// Limits and intervals of ending items.
    pub timers: TimerConfig,
    /// Limits of bulk changes.
    pub bulk_changes: BulkChangeConfig,
    /// Limits and intervals of live streams.
    pub live: LiveConfig,
    /// Limits and intervals of publishing.
    pub publisher: PublisherConfig,
    /// Limits and intervals of readings of customers' endpoints.
    pub endpoint_readings: EndpointReadingConfig,
    /// Free disk that is kept for accepted work. None.
    pub disk_reserve: Arc<DiskReserve>,
    /// Makes the spans of published events. Off.
    pub tracer: Tracer,
}

/// How many mails to bidders a house sends at most, its test mails included. Further ones wait. A full allowance refills evenly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailLimits {
    /// In an hour, at least 1. 1,000.
    pub house_mails_per_hour: u32,
    /// In 24 hours, at least 1. 5,000.
    pub house_mails_per_day: u32,
}

impl Default for MailLimits {
    fn default() -> Self {
        Self { house_mails_per_hour: 1_000, house_mails_per_day: 5_000 }
    }
}

/// Which processes work on one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nodes {
    /// This process only (an embedded database): it takes over the work of an earlier process at once.
    Sole,
    /// Any number: other nodes take over the work of a node after `node_dead_after` without a heartbeat.
    Many,
}

/// Limits of a catalogue import.
#[derive(Debug, Clone)]
pub struct CatalogueLimits {
    /// Bytes of the file. 64 MiB.
    pub file_bytes_max: u64,
    /// Rows after the header. 100,000.
    pub rows_max: u64,
    /// Bytes of one field. 80 KiB: the longest description.
    pub field_bytes_max: usize,
    /// Bytes of one row. 192 KiB.
    pub row_bytes_max: usize,
    /// Errors listed in a report; further ones are only counted. 1,000.
    pub errors_max: usize,
    /// Limits of the files between their upload and their import.
    pub uploads: UploadLimits,
}

/// Limits of the files that are stored between their upload and their import.
#[derive(Debug, Clone)]
pub struct UploadLimits {
    /// How long an uploaded file is kept. 30 min.
    pub kept_for: Duration,
    /// How long a file that is still arriving is kept after its last part. 2 min.
    pub unfinished_for: Duration,
    /// Files of a user. 32.
    pub user_files_max: usize,
    /// Bytes of the files of a user. 256 MiB.
    pub user_bytes_max: u64,
    /// Bytes of the files for auctions of a customer. 512 MiB.
    pub customer_bytes_max: u64,
    /// Bytes of all files. 2 GiB.
    pub all_bytes_max: u64,
}

impl Default for UploadLimits {
    fn default() -> Self {
        Self {
            kept_for: Duration::from_secs(30 * 60),
            unfinished_for: Duration::from_secs(2 * 60),
            user_files_max: 32,
            user_bytes_max: 256 << 20,
            customer_bytes_max: 512 << 20,
            all_bytes_max: 2 << 30,
        }
    }
}

/// Limits and intervals of ending items.
#[derive(Debug, Clone)]
pub struct TimerConfig {
    /// Items ended in one commit. 1,000.
    pub batch_items_max: usize,
    /// Longest sleep before the next run, whenever the next end is. 5 s.
    pub look_every: Duration,
    /// A node that stands by ends only items that are overdue by this. 250 ms.
    pub standby_delay: Duration,
    /// Grace period after a downtime for items whose end passed in it; zero ends them at once. Zero.
    pub downtime_grace: Duration,
    /// Items that one commit ends when the clock of a sandbox auction is advanced. Fewer than in a real sale, so that
    /// real sales do not wait for long. 250.
    pub clock_items_max: usize,
}

/// Items that a bulk change changes in one commit. Ends and bids may have to wait for that commit.
#[derive(Debug, Clone)]
pub struct BulkChangeConfig {
    /// In the commit of the call itself; auctions with at most this number of items change in one commit. 1,000.
    pub first_items_max: usize,
    /// In the commit of each later step. 250.
    pub items_max: usize,
}

impl Default for BulkChangeConfig {
    fn default() -> Self {
        Self { first_items_max: 1_000, items_max: 250 }
    }
}

/// Limits and intervals of publishing.
#[derive(Debug, Clone)]
pub struct PublisherConfig {
    /// Events of one customer in memory; more wait in the table. 4,096.
    pub lane_events_max: usize,
    /// Requests under way for one customer. 64.
    pub lane_requests_max: usize,
    /// The same while more items are due to end than a commit takes. 2.
    pub reduced_requests_max: usize,
    /// Rows claimed from the table at once. 512.
    pub claim_rows_max: usize,
    /// Outcomes recorded in one transaction. 1,024.
    pub settle_rows_max: usize,
    /// Deadline of one request, from connecting to the answer's end. 30 s.
    pub request_timeout: Duration,
    /// First pause after a failure; it doubles from there. 500 ms.
    pub pause_base: Duration,
    /// Longest pause by the backoff; a `Retry-After` can be longer. 60 s.
    pub pause_max: Duration,
    /// Interval of the search for outbox rows that a crash left unassigned. 1 s.
    pub sweep_every: Duration,
    /// How long a customer's connection is used without reading it again. 10 s.
    pub connection_ttl: Duration,
}

impl Default for PlatformConfig {
    fn default() -> Self {
        Self {
            decide_tries_max: 64,
            auction_items_max: 100_000,
            call_items_max: 1_000,
            catalogue: CatalogueLimits::default(),
            answers_ttl: Duration::from_secs(24 * 3600),
            purchases_kept_days: 3_650,
            mailer: None,
            saleroom_url: None,
            other_public_urls: Vec::new(),
            txt_records: Arc::new(NameServers::default()),
            push_networks: Vec::new(),
            film_origins: Vec::new(),
            mails_kept_days: 30,
            mail_limits: MailLimits::default(),
            nodes: Nodes::Many,
            node_dead_after: Duration::from_secs(10),
            key_cache_ttl: Duration::from_secs(5),
            key_cache_max: 10_000,
            key_requests_per_min_max: 600_000,
            identity: IdentityConfig::default(),
            single_sign_on: None,
            trusted_proxies: Vec::new(),
            timers: TimerConfig::default(),
            bulk_changes: BulkChangeConfig::default(),
            live: LiveConfig::default(),
            publisher: PublisherConfig::default(),
            endpoint_readings: EndpointReadingConfig::default(),
            disk_reserve: Arc::default(),
            tracer: Tracer::off(),
        }
    }
}

impl Default for CatalogueLimits {
    fn default() -> Self {
        Self {
            file_bytes_max: 64 << 20,
            rows_max: 100_000,
            field_bytes_max: 80 << 10,
            row_bytes_max: 192 << 10,
            errors_max: 1_000,
            uploads: UploadLimits::default(),
        }
    }
}

impl Default for TimerConfig {
    fn default() -> Self {
        Self {
            batch_items_max: 1_000,
            look_every: Duration::from_secs(5),
            standby_delay: Duration::from_millis(250),
            downtime_grace: Duration::ZERO,
            clock_items_max: 250,
        }
    }
}

impl Default for PublisherConfig {
    fn default() -> Self {
        Self {
            lane_events_max: 4_096,
            lane_requests_max: 64,
            reduced_requests_max: 2,
            claim_rows_max: 512,
            settle_rows_max: 1_024,
            request_timeout: Duration::from_secs(30),
            pause_base: Duration::from_millis(500),
            pause_max: Duration::from_secs(60),
            sweep_every: Duration::from_secs(1),
            connection_ttl: Duration::from_secs(10),
        }
    }
}
