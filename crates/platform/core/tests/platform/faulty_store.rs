//! A store of the platform with faults that a test switches on. A SQLite store behind it does the work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use contract::ItemStatus;
use jiff::Timestamp;
use kit_identity::second_factor::CodeUse;
use kit_identity::throttle::{Attempt, AttemptsToReturn};
use kit_runtime::database_figures::DatabaseFigures;
use kit_runtime::hold::Hold;
use kit_runtime::signal::Signal;
use kit_runtime::vault::Sealed;
use platform_core::audit::{LogEntry, LogKind};
use platform_core::bidding::bid::Bid;
use platform_core::catalogue::ColumnMapping;
use platform_core::journal::JournalRow;
use platform_core::port::*;
use platform_core::sales::new_item::NewItem;
use platform_rules::{Auction, Item, LogHead};
use tokio::sync::RwLock;
use uuid::Uuid;

/// A store that delays commits, and loses or delays their results.
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    loses_answer: AtomicBool,
    fails_commits: AtomicBool,
    commits_begun: AtomicUsize,
    commits_allowed: Arc<RwLock<()>>,
    merges_allowed: Arc<RwLock<()>>,
    merges_begun: AtomicUsize,
    commits_answered: Arc<RwLock<()>>,
    outcomes_answered: Arc<RwLock<()>>,
    events_claimed: AtomicUsize,
}

impl FaultyStore {
    pub fn new() -> Arc<Self> {
        Self::over(platform_store::sqlite::open_temporary().unwrap())
    }

    /// Another view of the same store, for a second node with separate faults.
    pub fn over(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            loses_answer: AtomicBool::new(false),
            fails_commits: AtomicBool::new(false),
            commits_begun: AtomicUsize::new(0),
            commits_allowed: Arc::default(),
            merges_allowed: Arc::default(),
            merges_begun: AtomicUsize::new(0),
            commits_answered: Arc::default(),
            outcomes_answered: Arc::default(),
            events_claimed: AtomicUsize::new(0),
        })
    }

    /// Delays commits before they begin, until the guard is dropped.
    pub async fn hold_commits(&self) -> impl Sized + use<> {
        Arc::clone(&self.commits_allowed).write_owned().await
    }

    /// Delays merges of records before they begin, until the guard is dropped.
    pub async fn hold_merges(&self) -> impl Sized + use<> {
        Arc::clone(&self.merges_allowed).write_owned().await
    }

    /// The number of merges that were called, delayed ones included.
    pub fn merges_begun(&self) -> usize {
        self.merges_begun.load(Ordering::SeqCst)
    }

    /// The number of commits that were called, delayed ones included.
    pub fn commits_begun(&self) -> usize {
        self.commits_begun.load(Ordering::SeqCst)
    }

    /// The number of events that were claimed from the outbox.
    pub fn events_claimed(&self) -> usize {
        self.events_claimed.load(Ordering::SeqCst)
    }

    /// Makes the next commit succeed and return an error.
    pub fn lose_answer_of_next_commit(&self) {
        self.loses_answer.store(true, Ordering::SeqCst);
    }

    /// Makes commits fail, until [`FaultyStore::allow_commits`]. Other calls work.
    pub fn fail_commits(&self) {
        self.fails_commits.store(true, Ordering::SeqCst);
    }

    /// Ends [`FaultyStore::fail_commits`].
    pub fn allow_commits(&self) {
        self.fails_commits.store(false, Ordering::SeqCst);
    }

    /// Delays the results of durable commits until the guard is dropped.
    pub async fn hold_answers_to_commits(&self) -> impl Sized + use<> {
        Arc::clone(&self.commits_answered).write_owned().await
    }

    /// Delays the results of recorded outbox outcomes until the guard is dropped.
    pub async fn hold_answers_to_outcomes(&self) -> impl Sized + use<> {
        Arc::clone(&self.outcomes_answered).write_owned().await
    }
}

/// Implements port traits by calling the inner store; `overridden` methods are written out.
macro_rules! forward {
    ($(impl $port:ident {
        $(async fn $method:ident($($arg:ident: $type:ty),* $(,)?) -> $result:ty;)*
        $(fn $plain:ident() -> $plain_result:ty;)*
        $(overridden { $($overridden:tt)* })?
    })+) => {
        $(#[async_trait]
        impl $port for FaultyStore {
            $(async fn $method(&self, $($arg: $type),*) -> $result {
                self.inner.$method($($arg),*).await
            })*
            $(fn $plain(&self) -> $plain_result {
                self.inner.$plain()
            })*
            $($($overridden)*)?
        })+
    };
}

forward! {
    impl AccessLogStore {
        async fn apply_access_change(change: AccessChange, content: String) -> StoreResult<AccessChangeResult>;
        async fn access_log(page: Page<i64>) -> StoreResult<Vec<AccessEntry>>;
        async fn latest_access_entries(before: Option<i64>, limit: usize) -> StoreResult<Vec<AccessEntry>>;
        async fn access_entries_naming(uuid: Uuid, limit: usize) -> StoreResult<Vec<AccessEntry>>;
        async fn access_log_head() -> StoreResult<LogHead>;
    }
    impl ApiKeyStore {
        async fn api_key(uuid: Uuid) -> StoreResult<Option<ApiKey>>;
        async fn api_key_by_hash(hash: [u8; 32]) -> StoreResult<Option<ApiKey>>;
        async fn api_keys(customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<ApiKey>>;
        async fn touch_api_key(uuid: Uuid, at: Timestamp) -> StoreResult<()>;
    }
    impl AuctionStore {
        async fn auction(uuid: Uuid) -> StoreResult<Option<Auction>>;
        async fn auctions(customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auction>>;
        async fn filtered_auctions(filter: &AuctionFilter, page: Page<Uuid>) -> StoreResult<Vec<Auction>>;
        async fn item(uuid: Uuid) -> StoreResult<Option<Item>>;
        async fn items(auction: Uuid, page: Page<i64>) -> StoreResult<Vec<Item>>;
        async fn items_with_status(auction: Uuid, statuses: &[ItemStatus], page: Page<i64>) -> StoreResult<Vec<Item>>;
        async fn item_by_lot_number(auction: Uuid, lot_number: &str) -> StoreResult<Option<Item>>;
        async fn item_with_auction(item: Uuid) -> StoreResult<Option<(Item, Auction)>>;
        async fn item_counts(auction: Uuid) -> StoreResult<ItemCounts>;
        async fn item_categories(auction: Uuid, statuses: &[ItemStatus], limit: usize) -> StoreResult<Vec<String>>;
        async fn open_buyers(auction: Uuid) -> StoreResult<u64>;
        async fn capped_item_counts(auctions: &[Uuid]) -> StoreResult<Vec<ItemCounts>>;
        async fn bids(item: Uuid, page: Page<i64>) -> StoreResult<Vec<Bid>>;
        overridden {
            async fn commit(
                &self,
                changes: Vec<Change>,
                assign_to: Option<NodeId>,
            ) -> StoreResult<Vec<StoreResult<CommitReceipt>>> {
                self.commits_begun.fetch_add(1, Ordering::SeqCst);
                drop(self.commits_allowed.read().await);
                if self.fails_commits.load(Ordering::SeqCst) {
                    return Err(StoreError::Unavailable("commits fail".to_owned()));
                }
                let receipts = self.inner.commit(changes, assign_to).await?;
                drop(self.commits_answered.read().await);
                if self.loses_answer.swap(false, Ordering::SeqCst) {
                    return Err(StoreError::Unavailable("the result was lost".to_owned()));
                }
                Ok(receipts)
            }
        }
    }
    impl AuditStore {
        async fn log_entries(subject: Uuid, page: Page<i64>) -> StoreResult<Vec<LogEntry>>;
        async fn audited_subjects(page: Page<Uuid>) -> StoreResult<Vec<Uuid>>;
        async fn inconsistent_columns(kind: LogKind, subject: Uuid) -> StoreResult<Vec<&'static str>>;
        async fn last_log_position() -> StoreResult<i64>;
        async fn entries_by_position(page: Page<i64>) -> StoreResult<Vec<PositionedEntry>>;
        async fn orphan_rows(limit: usize) -> StoreResult<Vec<OrphanRow>>;
        fn position_numbering() -> PositionNumbering;
    }
    impl BulkChangeStore {
        async fn bulk_change(auction: Uuid) -> StoreResult<Option<BulkChange>>;
        async fn bulk_changes(limit: usize) -> StoreResult<Vec<BulkChange>>;
        async fn stage_chunk(import: Uuid, number: i64, items: Vec<NewItem>, at: Timestamp) -> StoreResult<()>;
        async fn staged_chunk(import: Uuid, number: i64) -> StoreResult<Option<Vec<NewItem>>>;
        async fn delete_staged_chunks(import: Uuid, limit: usize) -> StoreResult<usize>;
        async fn delete_orphaned_chunks(before: Timestamp, limit: usize) -> StoreResult<usize>;
    }
    impl CatalogueMappingStore {
        async fn catalogue_mapping(customer: Uuid) -> StoreResult<Option<ColumnMapping>>;
        async fn put_catalogue_mapping(customer: Uuid, mapping: ColumnMapping) -> StoreResult<()>;
        async fn register_mapping(customer: Uuid) -> StoreResult<Option<ColumnMapping>>;
        async fn put_register_mapping(customer: Uuid, mapping: ColumnMapping) -> StoreResult<()>;
    }
    impl CatalogueUploadStore {
        async fn begin_upload(upload: CatalogueUpload, user_files_max: usize) -> StoreResult<bool>;
        async fn add_upload_part(uuid: Uuid, part: Vec<u8>, quota: UploadQuota, expires_at: Timestamp) -> StoreResult<UploadPartResult>;
        async fn complete_upload(uuid: Uuid, expires_at: Timestamp) -> StoreResult<bool>;
        async fn upload(uuid: Uuid) -> StoreResult<Option<CatalogueUpload>>;
        async fn upload_part(uuid: Uuid, number: u32) -> StoreResult<Option<Vec<u8>>>;
        async fn remove_upload(uuid: Uuid) -> StoreResult<()>;
        async fn remove_first_upload(user: Uuid) -> StoreResult<bool>;
        async fn remove_expired_uploads(now: Timestamp, max: usize) -> StoreResult<usize>;
    }
    impl ImageStore {
        async fn add_image(image: ItemImage, contents: Vec<ImageContent>, images_max: usize) -> StoreResult<Option<ItemImage>>;
        async fn image(uuid: Uuid) -> StoreResult<Option<ItemImage>>;
        async fn image_content(uuid: Uuid, variant: ImageVariant) -> StoreResult<Option<Vec<u8>>>;
        async fn images(items: &[Uuid]) -> StoreResult<Vec<ItemImage>>;
        async fn order_images(item: Uuid, order: Vec<Uuid>) -> StoreResult<bool>;
        async fn remove_image(uuid: Uuid) -> StoreResult<bool>;
    }
    impl StaffReadStore {
        async fn latest_auctions(customer: Option<Uuid>, before: Option<Uuid>, limit: usize) -> StoreResult<Vec<Auction>>;
        async fn journal_of_auction(auction: Uuid, window: JournalWindow) -> StoreResult<Vec<JournalRow>>;
        async fn corrections_of_auction(auction: Uuid, limit: usize) -> StoreResult<Vec<LogEntry>>;
    }
    impl ClerkStore {
        async fn is_clerk(auction: Uuid, user: Uuid) -> StoreResult<bool>;
        async fn clerks(auction: Uuid, page: Page<Uuid>) -> StoreResult<Vec<(Clerk, User)>>;
        async fn webcasts_of_clerk(user: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Auction>>;
        async fn users_with_clerk_role(page: Page<Uuid>) -> StoreResult<Vec<User>>;
        async fn report_desk(webcast: Uuid, at: Timestamp) -> StoreResult<()>;
        async fn desk_reported_at(webcast: Uuid) -> StoreResult<Option<Timestamp>>;
    }
    impl ConsumerStore {
        async fn consumer(customer: Uuid) -> StoreResult<Option<Consumer>>;
        async fn consumers(page: Page<Uuid>) -> StoreResult<Vec<Consumer>>;
        async fn park_queue(customer: Uuid, parked: Option<Parked>) -> StoreResult<()>;
        async fn resume_queue(customer: Uuid, at: Timestamp, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
        async fn record_contact(customer: Uuid, updated_at: Timestamp, contact: ContactRecord) -> StoreResult<()>;
    }
    impl EndpointReadingStore {
        async fn claim_endpoint_readings(now: Timestamp, until: Timestamp, limit: usize) -> StoreResult<Vec<ReadingClaim>>;
        async fn bring_endpoint_readings_forward(
            customers: Vec<Uuid>,
            at: Timestamp,
            pause_ms: i64,
            published_at: Option<Timestamp>,
        ) -> StoreResult<()>;
        async fn record_endpoints(
            claim: ReadingClaim,
            endpoints: Vec<EndpointRecord>,
            has_more: bool,
            read_at: Timestamp,
        ) -> StoreResult<bool>;
        async fn record_event_deliveries(
            claim: ReadingClaim,
            endpoint: Option<EndpointRecord>,
            deliveries: Vec<EventDelivery>,
        ) -> StoreResult<bool>;
        async fn end_endpoint_reading(end: ReadingEnd) -> StoreResult<()>;
        async fn endpoint_readings(customers: Vec<Uuid>) -> StoreResult<Vec<EndpointReading>>;
        async fn undelivered_events(customer: Uuid, after: Timestamp, limit: usize) -> StoreResult<Vec<EventDelivery>>;
        async fn event_deliveries(subject: Uuid) -> StoreResult<Vec<EventDelivery>>;
        async fn undelivered_of_sale(customer: Uuid, auction: Uuid) -> StoreResult<UndeliveredOfSale>;
        async fn reading_figures() -> StoreResult<ReadingFigures>;
    }
    impl CustomerStore {
        async fn create_customer(customer: Customer, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
        async fn rename_customer(uuid: Uuid, name: &str) -> StoreResult<bool>;
        async fn customer(uuid: Uuid) -> StoreResult<Option<Customer>>;
        async fn customers(page: Page<Uuid>) -> StoreResult<Vec<Customer>>;
        async fn next_auctioneer_id() -> StoreResult<i64>;
        async fn create_auctioneer(auctioneer: NewAuctioneer) -> StoreResult<Auctioneer>;
        async fn auctioneer(uuid: Uuid) -> StoreResult<Option<Auctioneer>>;
        async fn auctioneer_by_id(id: i64) -> StoreResult<Option<Auctioneer>>;
        async fn auctioneers(customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auctioneer>>;
        async fn change_auctioneer(change: AuctioneerChange) -> StoreResult<()>;
        async fn next_address_id() -> StoreResult<i64>;
        async fn address(id: i64) -> StoreResult<Option<Address>>;
    }
    impl IdempotencyStore {
        async fn idempotent_answer(caller: Uuid, key: &str) -> StoreResult<Option<IdempotentAnswer>>;
        async fn keep_answer(answer: IdempotentAnswer) -> StoreResult<()>;
        async fn delete_expired_answers(before: Timestamp, limit: usize) -> StoreResult<usize>;
    }
    impl InstallationStore {
        async fn restores() -> StoreResult<u32>;
        async fn count_restore(at_least: u32) -> StoreResult<u32>;
    }
    impl BidderAccountStore {
        async fn put_bidder_link(link: BidderLink) -> StoreResult<()>;
        async fn bidder_link(hash: Digest) -> StoreResult<Option<BidderLink>>;
        async fn bidder_account(uuid: Uuid) -> StoreResult<Option<BidderAccount>>;
        async fn bidder_account_by_email(customer: Uuid, email: &str) -> StoreResult<Option<BidderAccount>>;
        async fn bidder_accounts_of(parties: &[Uuid]) -> StoreResult<Vec<BidderAccount>>;
        async fn open_bidder_account(account: BidderAccount, link: Digest, now: Timestamp) -> StoreResult<()>;
        async fn change_bidder_account(change: BidderAccountChange) -> StoreResult<()>;
        async fn delete_bidder_account(uuid: Uuid, version: i64) -> StoreResult<()>;
        async fn begin_bidder_session(session: BidderSession, version: i64, sessions_max: usize) -> StoreResult<()>;
        async fn bidder_session(hash: Digest) -> StoreResult<Option<(BidderSession, BidderAccount)>>;
        async fn touch_bidder_session(uuid: Uuid, at: Timestamp) -> StoreResult<()>;
        async fn end_bidder_session(uuid: Uuid) -> StoreResult<()>;
        async fn delete_expired_bidder_access(
            now: Timestamp,
            idle_before: Timestamp,
            limit: usize,
        ) -> StoreResult<usize>;
        async fn accept_conditions(accepted: AcceptedConditions) -> StoreResult<()>;
        async fn accepted_conditions(account: Uuid, auction: Uuid) -> StoreResult<Option<AcceptedConditions>>;
        async fn registration_of_party(auction: Uuid, party: Uuid) -> StoreResult<Option<Registration>>;
        async fn watch_item(watched: WatchedItem, items_max: usize) -> StoreResult<bool>;
        async fn unwatch_item(account: Uuid, item: Uuid) -> StoreResult<()>;
        async fn watched_items(account: Uuid, auction: Option<Uuid>, limit: usize) -> StoreResult<Vec<WatchedItem>>;
    }
    impl NoticeStore {
        async fn open_causes(limit: usize) -> StoreResult<Vec<OpenCause>>;
        async fn make_notices(step: NoticeStep) -> StoreResult<()>;
        async fn notices(account: Uuid, after: Option<Uuid>, limit: usize) -> StoreResult<Vec<Notice>>;
        async fn unseen_notices(account: Uuid, counted_max: usize) -> StoreResult<(usize, Option<Uuid>)>;
        async fn notices_about(account: Uuid, item: Uuid, limit: usize) -> StoreResult<Vec<Notice>>;
        async fn see_notices(account: Uuid, through: Uuid, at: Timestamp) -> StoreResult<()>;
        async fn paddles_on(item: Uuid, after: &str, limit: usize) -> StoreResult<Vec<String>>;
        async fn accounts_watching(item: Uuid, after: Uuid, limit: usize) -> StoreResult<Vec<Uuid>>;
        async fn put_push_subscription(subscription: PushSubscription, subscriptions_max: usize) -> StoreResult<()>;
        async fn push_subscriptions(account: Uuid) -> StoreResult<Vec<PushSubscription>>;
        async fn remove_push_subscription(endpoint: &str) -> StoreResult<()>;
        async fn claim_pushes(now: Timestamp, until: Timestamp, limit: usize) -> StoreResult<Vec<ClaimedPush>>;
        async fn end_push(notice: Uuid, again: Option<Timestamp>) -> StoreResult<()>;
        async fn delete_old_notices(before: Timestamp, limit: usize) -> StoreResult<usize>;
    }
    impl LimitRequestStore {
        async fn ask_limit(request: LimitRequest) -> StoreResult<()>;
        async fn limit_request(registration: Uuid) -> StoreResult<Option<LimitRequest>>;
        async fn open_limit_requests(auction: Uuid, limit: usize) -> StoreResult<Vec<LimitRequest>>;
        async fn decline_limit(declined: DecidedLimit, cause: Option<NoticeCause>) -> StoreResult<()>;
    }
    impl LotOfferStore {
        async fn put_offer(
            offer: LotOffer,
            lapsed: Option<Uuid>,
            cause: Option<NoticeCause>,
            note: String,
        ) -> StoreResult<()>;
        async fn lot_offer(uuid: Uuid) -> StoreResult<Option<LotOffer>>;
        async fn offers_of_item(item: Uuid, limit: usize) -> StoreResult<Vec<LotOffer>>;
        async fn offers_of_auction(auction: Uuid, limit: usize) -> StoreResult<Vec<LotOffer>>;
        async fn offers_to(registration: Uuid, limit: usize) -> StoreResult<Vec<LotOffer>>;
        async fn end_offer(ended: EndedOffer) -> StoreResult<()>;
    }
    impl LateBidStore {
        async fn keep_late_bid(bid: KeptLateBid, kept_max: (usize, usize)) -> StoreResult<()>;
        async fn late_bids_of(auction: Uuid, paddle: Option<&str>, limit: usize) -> StoreResult<Vec<KeptLateBid>>;
        async fn struck_bids_of(auction: Uuid, limit: usize) -> StoreResult<Vec<WithdrawnBid>>;
    }
    impl BidderMessageStore {
        async fn send_message(message: BidderMessage, cause: NoticeCause) -> StoreResult<()>;
        async fn bidder_message(uuid: Uuid) -> StoreResult<Option<BidderMessage>>;
        async fn messages_of_auction(auction: Uuid, limit: usize) -> StoreResult<Vec<BidderMessage>>;
    }
    impl HouseDomainStore {
        async fn house_domain(customer: Uuid) -> StoreResult<Option<HouseDomain>>;
        async fn proven_domain(domain: &str) -> StoreResult<Option<HouseDomain>>;
        async fn served_domains(limit: usize) -> StoreResult<Vec<ServedDomain>>;
        async fn domains_due(now: Timestamp, limit: usize) -> StoreResult<Vec<HouseDomain>>;
        async fn troubled_domains(limit: usize) -> StoreResult<Vec<HouseDomain>>;
        async fn put_house_domains(domains: Vec<Versioned<HouseDomain>>) -> StoreResult<()>;
        async fn delete_house_domain(customer: Uuid, version: i64) -> StoreResult<()>;
    }
    impl SiteGrantStore {
        async fn begin_site_grant(grant: SiteGrant, version: i64, grants_max: usize) -> StoreResult<()>;
        async fn site_grant_by_code(code: Digest) -> StoreResult<Option<SiteGrant>>;
        async fn redeem_site_code(grant: Uuid, at: Timestamp, tokens: Vec<SiteToken>) -> StoreResult<()>;
        async fn site_token(hash: Digest) -> StoreResult<Option<(SiteToken, SiteGrant, BidderAccount)>>;
        async fn rotate_site_tokens(used: SiteToken, at: Timestamp, tokens: Vec<SiteToken>) -> StoreResult<()>;
        async fn site_grants(account: Uuid) -> StoreResult<Vec<SiteGrant>>;
        async fn end_site_grants(ending: SiteGrantsToEnd) -> StoreResult<usize>;
        async fn delete_expired_site_access(now: Timestamp, limit: usize) -> StoreResult<usize>;
    }
    impl InvitationStore {
        async fn invitations(page: Page<Uuid>) -> StoreResult<Vec<Invitation>>;
        async fn invitation_by_hash(hash: Digest) -> StoreResult<Option<Invitation>>;
    }
    impl ItemEndStore {
        async fn lots_ending_by(auction: Uuid, by: Timestamp, limit: usize) -> StoreResult<LotsEndingBy>;
        async fn due_items(now: Timestamp, limit: usize) -> StoreResult<Vec<(Item, Arc<Auction>)>>;
        async fn next_end() -> StoreResult<Option<Timestamp>>;
        async fn advancing_sandboxes(limit: usize) -> StoreResult<Vec<Auction>>;
        async fn due_sandbox_items(auction: Uuid, by: Timestamp, limit: usize) -> StoreResult<Vec<Item>>;
    }
    impl JournalStore {
        async fn events_after(customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<JournalRow>>;
        async fn history(subject: Uuid, page: Page<i64>) -> StoreResult<Vec<JournalRow>>;
        async fn last_cursor() -> StoreResult<Cursor>;
        async fn cursors(page: Page<Cursor>) -> StoreResult<Vec<Cursor>>;
    }
    impl NodeStore {
        async fn database_time() -> StoreResult<Option<Timestamp>>;
        async fn database_figures() -> StoreResult<DatabaseFigures>;
        async fn heartbeat(node: NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()>;
        async fn ping() -> StoreResult<()>;
        async fn broadcast(notice: &str) -> StoreResult<()>;
        async fn detect_downtime(now: Timestamp, gap_ms_max: i64) -> StoreResult<Option<Downtime>>;
        async fn clear_downtime(downtime: Downtime) -> StoreResult<()>;
        fn remote_changes() -> Signal;
        fn notifications() -> Option<Notifications>;
    }
    impl OutboxStore {
        async fn customers_with_outbox(now: Timestamp) -> StoreResult<Vec<Uuid>>;
        async fn next_outbox_attempt(customer: Uuid) -> StoreResult<Option<Timestamp>>;
        async fn backlog(customer: Uuid) -> StoreResult<Backlog>;
        async fn customer_backlogs() -> StoreResult<Vec<CustomerBacklog>>;
        async fn quarantined(customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<QuarantinedEvent>>;
        async fn quarantined_of(subject: Uuid) -> StoreResult<Vec<QuarantinedEvent>>;
        async fn overtaken(customer: Uuid, cursors: Vec<Cursor>) -> StoreResult<Vec<Cursor>>;
        async fn requeue_quarantined(
            customer: Uuid,
            cursors: Vec<Cursor>,
            after_later: OvertakenPolicy,
            answer: Option<IdempotentAnswer>,
        ) -> StoreResult<()>;
        async fn drop_quarantined(
            customer: Uuid,
            cursors: Vec<Cursor>,
            answer: Option<IdempotentAnswer>,
        ) -> StoreResult<()>;
        overridden {
            async fn claim_outbox(
                &self,
                node: NodeId,
                customer: Uuid,
                now: Timestamp,
                limit: usize,
            ) -> StoreResult<Vec<OutboxEvent>> {
                let claimed = self.inner.claim_outbox(node, customer, now, limit).await?;
                self.events_claimed.fetch_add(claimed.len(), Ordering::SeqCst);
                Ok(claimed)
            }

            async fn record_outbox_outcomes(&self, outcomes: Vec<OutboxSettlement>, now: Timestamp) -> StoreResult<()> {
                self.inner.record_outbox_outcomes(outcomes, now).await?;
                drop(self.outcomes_answered.read().await);
                Ok(())
            }
        }
    }
    impl PartyStore {
        async fn put_party(entry: PartyWrite) -> StoreResult<()>;
        async fn erase_party(erasure: PartyErasureWrite) -> StoreResult<()>;
        async fn parties_kept_until(now: Timestamp, limit: usize) -> StoreResult<Vec<Party>>;
        async fn consigned_items(customer: Uuid, party: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Item>>;
        async fn put_parties(entries: Vec<PartyWrite>) -> StoreResult<()>;
        async fn party(uuid: Uuid) -> StoreResult<Option<Party>>;
        async fn parties_of(uuids: &[Uuid]) -> StoreResult<Vec<Party>>;
        async fn party_by_reference(customer: Uuid, reference: &str) -> StoreResult<Option<Party>>;
        async fn parties_called(
            customer: Uuid,
            names: &[String],
            references: &[String],
        ) -> StoreResult<Vec<Party>>;
        async fn parties(
            customer: Uuid,
            filter: &PartyFilter,
            page: Page<PartyPosition>,
        ) -> StoreResult<Vec<Party>>;
        async fn count_parties(customer: Uuid, filter: &PartyFilter) -> StoreResult<u64>;
        async fn all_parties(page: Page<Uuid>) -> StoreResult<Vec<Party>>;
        async fn registrations_of_party(party: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Registration>>;
        async fn auctions_of_vendor(vendor: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Uuid>>;
        async fn items_of_vendor(vendor: Uuid, auction: Uuid, limit: usize) -> StoreResult<Vec<Item>>;
    }
    impl MailStore {
        async fn claim_mails(now: Timestamp, until: Timestamp, limit: usize) -> StoreResult<Vec<ClaimedMail>>;
        async fn record_mail_result(mail: Uuid, tries: u32, result: MailResult, at: Timestamp) -> StoreResult<bool>;
        async fn hold_mails(now: Timestamp, held: HeldMails, limit: usize) -> StoreResult<usize>;
        async fn mail(uuid: Uuid) -> StoreResult<Option<StoredMail>>;
        async fn mails(customer: Uuid, state: MailState, page: Page<Uuid>) -> StoreResult<Vec<StoredMail>>;
        async fn mails_of_registration(registration: Uuid, limit: usize) -> StoreResult<Vec<StoredMail>>;
        async fn mail_counts(customer: Uuid) -> StoreResult<MailCounts>;
        async fn release_mails(now: Timestamp) -> StoreResult<usize>;
        async fn send_mail_now(uuid: Uuid, tries: u32, recipient: &str, at: Timestamp) -> StoreResult<bool>;
        async fn send_mail_again(uuid: Uuid, recipient: &str, at: Timestamp) -> StoreResult<bool>;
        async fn failed_mails(customer: Option<Uuid>, since: Timestamp) -> StoreResult<Vec<(Uuid, u64)>>;
        async fn held_mails(customer: Option<Uuid>) -> StoreResult<Vec<(Uuid, HeldCount)>>;
        async fn release_held_mails(now: Timestamp, limit: usize) -> StoreResult<usize>;
        async fn waiting_mails(now: Timestamp) -> StoreResult<MailBacklog>;
        async fn delete_old_mails(before: Timestamp, limit: usize) -> StoreResult<usize>;
        async fn begin_reminder(reminder: Reminder, seen: Option<Uuid>) -> StoreResult<()>;
        async fn latest_reminder(auction: Uuid) -> StoreResult<Option<Reminder>>;
        async fn open_reminders(limit: usize) -> StoreResult<Vec<Reminder>>;
        async fn remind(step: ReminderStep) -> StoreResult<()>;
    }
    impl PartyMergeStore {
        async fn records_of_person(party: Uuid) -> StoreResult<Vec<Uuid>>;
        async fn merged_records(into: &[Uuid]) -> StoreResult<Vec<Party>>;
        async fn parties_matching(customer: Uuid, keys: &[String], limit: usize) -> StoreResult<Vec<Party>>;
        async fn matching_pairs(customer: Uuid, page: Page<[Uuid; 2]>) -> StoreResult<Vec<[Uuid; 2]>>;
        async fn keep_apart(distinct: DistinctParties) -> StoreResult<()>;
        async fn kept_apart_from(party: Uuid) -> StoreResult<Vec<Uuid>>;
        async fn refresh_match_keys(customer: Uuid, limit: usize) -> StoreResult<usize>;
        overridden {
            async fn merge_parties(&self, merge: PartyMergeWrite) -> StoreResult<()> {
                self.merges_begun.fetch_add(1, Ordering::SeqCst);
                drop(self.merges_allowed.read().await);
                self.inner.merge_parties(merge).await
            }
        }
    }
    impl HouseStore {
        async fn house(customer: Uuid) -> StoreResult<Option<House>>;
        async fn house_at(address: &str) -> StoreResult<Option<House>>;
        async fn houses_with_saleroom(page: Page<String>) -> StoreResult<Vec<House>>;
        async fn put_house(entry: HouseWrite) -> StoreResult<()>;
        async fn logo_content(uuid: Uuid) -> StoreResult<Option<Vec<u8>>>;
        async fn add_conditions(conditions: Conditions) -> StoreResult<()>;
        async fn conditions(customer: Uuid, number: u32) -> StoreResult<Option<Conditions>>;
        async fn conditions_list(customer: Uuid, page: Page<u32>) -> StoreResult<Vec<Conditions>>;
        async fn sale_facts(auction: Uuid) -> StoreResult<Option<SaleFacts>>;
        async fn put_sale_facts(facts: Versioned<SaleFacts>) -> StoreResult<()>;
    }
    impl RegistrationStore {
        async fn put_registration(entry: RegistrationWrite) -> StoreResult<()>;
        async fn registration(uuid: Uuid) -> StoreResult<Option<Registration>>;
        async fn registration_by_paddle(auction: Uuid, paddle: &str) -> StoreResult<Option<Registration>>;
        async fn registrations_of_paddles(auction: Uuid, paddles: &[String]) -> StoreResult<Vec<Registration>>;
        async fn similar_registration(auction: Uuid, paddle: &str) -> StoreResult<Option<Registration>>;
        async fn registrations(auction: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Registration>>;
        async fn registrations_with_status(
            auction: Uuid,
            statuses: &[RegistrationStatus],
            page: Page<Uuid>,
        ) -> StoreResult<Vec<Registration>>;
        async fn highest_paddle(auction: Uuid) -> StoreResult<i64>;
        async fn has_bid(auction: Uuid, paddle: &str) -> StoreResult<bool>;
        async fn has_bidder_item(auction: Uuid, paddle: &str, item: Uuid) -> StoreResult<bool>;
        async fn items_of_bidder(auction: Uuid, paddle: &str, limit: usize) -> StoreResult<Vec<Item>>;
        async fn record_bidder_items(bidder_items: Vec<BidderItem>) -> StoreResult<()>;
        async fn committed_amount(auction: Uuid, paddle: &str, except: Option<Uuid>) -> StoreResult<i64>;
    }
    impl ScreenStore {
        async fn screen_links(auction: Uuid) -> StoreResult<Vec<ScreenLink>>;
        async fn screen_links_by(creator: &str) -> StoreResult<Vec<ScreenLink>>;
        async fn screen_link_by_hash(hash: Digest) -> StoreResult<Option<ScreenLink>>;
        async fn touch_screen_link(hash: Digest, at: Timestamp) -> StoreResult<()>;
        async fn guide_rates(auction: Uuid) -> StoreResult<Vec<GuideRate>>;
        async fn put_guide_rate(auction: Uuid, rate: GuideRate, rates_max: usize) -> StoreResult<bool>;
        async fn remove_guide_rate(auction: Uuid, currency: &str) -> StoreResult<bool>;
    }
    impl TelephoneBookingStore {
        async fn telephone_bookings(auction: Uuid) -> StoreResult<Vec<TelephoneBooking>>;
        async fn telephone_bookings_of(item: Uuid) -> StoreResult<Vec<TelephoneBooking>>;
        async fn put_telephone_booking(booking: TelephoneBooking, bookings_max: usize) -> StoreResult<bool>;
        async fn remove_telephone_booking(item: Uuid, paddle: &str) -> StoreResult<bool>;
    }
    impl HoldStore {
        async fn hold() -> StoreResult<Option<Hold>>;
        async fn put_hold(hold: Option<Hold>) -> StoreResult<()>;
    }
    impl SealingStore {
        async fn sentinels() -> StoreResult<Vec<Sealed>>;
        async fn replace_sentinels(old: Vec<Sealed>, new: Vec<Sealed>) -> StoreResult<()>;
        async fn sealed_answers(page: Page<(Uuid, String)>) -> StoreResult<Vec<SealedAnswer>>;
        async fn reseal(texts: Vec<SealedReplacement>) -> StoreResult<usize>;
    }
    impl SessionStore {
        async fn session(uuid: Uuid) -> StoreResult<Option<Session>>;
        async fn session_by_hash(hash: Digest) -> StoreResult<Option<(Session, User)>>;
        async fn sessions(user: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Session>>;
        async fn touch_session(uuid: Uuid, at: Timestamp) -> StoreResult<()>;
        async fn end_sessions(ending: SessionsToEnd) -> StoreResult<usize>;
        async fn delete_expired_sessions(now: Timestamp, idle_before: Timestamp, limit: usize) -> StoreResult<usize>;
        async fn allowances_full_at(subjects: Vec<kit_identity::Digest>) -> StoreResult<Vec<(kit_identity::Digest, Timestamp)>>;
        async fn take_sign_in_attempts(attempts: Vec<Attempt>, now: Timestamp) -> StoreResult<Option<Timestamp>>;
        async fn return_sign_in_attempts(returned: AttemptsToReturn) -> StoreResult<()>;
    }
    impl VisitorMessageStore {
        async fn put_visitor_message(message: VisitorMessage) -> StoreResult<()>;
        async fn clear_visitor_message(auction: Uuid, number: i64, actor: &str, at: Timestamp) -> StoreResult<()>;
        async fn visitor_messages(auction: Uuid, limit: usize) -> StoreResult<Vec<VisitorMessage>>;
    }
    impl UserStore {
        async fn user(uuid: Uuid) -> StoreResult<Option<User>>;
        async fn user_by_email(email: &str) -> StoreResult<Option<User>>;
        async fn user_by_openid(identity: &OpenIdentity) -> StoreResult<Option<User>>;
        async fn users(page: Page<Uuid>) -> StoreResult<Vec<User>>;
        async fn change_user(change: UserChange) -> StoreResult<UserChangeResult>;
        async fn use_code(user: Uuid, code: CodeUse) -> StoreResult<bool>;
        async fn recovery_codes(user: Uuid) -> StoreResult<usize>;
        async fn put_setup_code(code: Digest, expires_at: Timestamp, now: Timestamp) -> StoreResult<bool>;
        async fn has_setup_code(code: Digest, now: Timestamp) -> StoreResult<bool>;
    }
}
