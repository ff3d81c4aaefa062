//! A store with faults that a test switches on. A SQLite store behind it does the work.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use kit_identity::Digest;
use kit_identity::second_factor::CodeUse;
use kit_identity::throttle::{Attempt as Attempts, AttemptsToReturn};
use kit_identity::user::OpenIdentity;
use kit_runtime::database_figures::DatabaseFigures;
use kit_runtime::hold::Hold;
use kit_runtime::signal::Signal;
use kit_runtime::vault::Sealed;
use provider_core::model::counts::{AttemptCounts, DeliveryCounts, Hour, MessageCounts};
use provider_core::model::*;
use provider_core::port::*;

/// What happens to a faulted call.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    /// The store commits the change, and the caller gets an error.
    CommittedUnacknowledged,
    /// The store does nothing, and the caller gets an error.
    NotDone,
    /// The call panics.
    Panic,
    /// Another caller inserts a row with the same unique values just before.
    ConcurrentInsert,
}

/// A store that faults the first calls of one method.
pub(crate) struct FaultyStore {
    store: Arc<dyn Store>,
    method: &'static str,
    fault: Fault,
    /// The number of coming calls to fault.
    left: AtomicUsize,
}

impl FaultyStore {
    /// Faults the first `calls` calls of `method` on `store`.
    pub(crate) fn new(store: Arc<dyn Store>, method: &'static str, fault: Fault, calls: usize) -> Arc<Self> {
        Arc::new(Self { store, method, fault, left: AtomicUsize::new(calls) })
    }

    /// Faults one more call.
    pub(crate) fn fault_next_call(&self) {
        self.left.store(1, Ordering::SeqCst);
    }

    async fn call<T>(&self, method: &str, call: impl Future<Output = StoreResult<T>>) -> StoreResult<T> {
        let faulty = self.fault != Fault::ConcurrentInsert && self.is_faulted(method);
        let unavailable = || Err(StoreError::Unavailable("the connection broke".into()));
        match self.fault {
            _ if !faulty => call.await,
            Fault::NotDone => unavailable(),
            Fault::CommittedUnacknowledged => call.await.and_then(|_| unavailable()),
            Fault::Panic => panic!("a panic in the store, for a test"),
            Fault::ConcurrentInsert => call.await,
        }
    }

    /// Whether to fault this call.
    fn is_faulted(&self, method: &str) -> bool {
        method == self.method
            && self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

/// Implements port traits by calling the inner store with the fault; `overridden` methods are written out.
macro_rules! forward {
    ($(impl $port:ident {
        $(async fn $method:ident($($arg:ident: $type:ty),* $(,)?) -> $result:ty;)*
        $(fn $plain:ident() -> $plain_result:ty;)*
        $(overridden { $($overridden:tt)* })?
    })+) => {
        $(#[async_trait]
        impl $port for FaultyStore {
            $(async fn $method(&self, $($arg: $type),*) -> $result {
                self.call(stringify!($method), self.store.$method($($arg),*)).await
            })*
            $(fn $plain(&self) -> $plain_result {
                self.store.$plain()
            })*
            $($($overridden)*)?
        })+
    };
}

forward! {
    impl AccountStore {
        async fn create_account(account: Account) -> StoreResult<()>;
        async fn account(id: &str) -> StoreResult<Option<Account>>;
        async fn accounts(page: Page) -> StoreResult<Vec<Account>>;
        async fn update_account(account: Account, activity: ActivityEntry) -> StoreResult<()>;
        async fn create_api_key(key: ApiKey, activity: ActivityEntry) -> StoreResult<()>;
        async fn api_key(account: &str, id: &str) -> StoreResult<Option<ApiKey>>;
        async fn api_key_by_hash(hash: [u8; 32]) -> StoreResult<Option<ApiKey>>;
        async fn api_keys(account: &str, page: Page) -> StoreResult<Vec<ApiKey>>;
        async fn touch_api_key(id: &str, at: Timestamp, from: Option<String>) -> StoreResult<()>;
        async fn expire_api_key(
            account: &str,
            id: &str,
            expires_at: Option<Timestamp>,
            activity: ActivityEntry,
        ) -> StoreResult<bool>;
        async fn delete_api_key(account: &str, id: &str, activity: ActivityEntry) -> StoreResult<bool>;
    }
    impl ActivityStore {
        async fn record_activity(entry: ActivityEntry) -> StoreResult<()>;
        async fn activity(account: &str, text: &str, scan: &Scan) -> StoreResult<ScanResult<ActivityEntry>>;
        async fn delete_old_activity(before: &str, limit: usize) -> StoreResult<usize>;
    }
    impl UserStore {
        async fn user(id: &str) -> StoreResult<Option<User>>;
        async fn user_by_email(email: &str) -> StoreResult<Option<User>>;
        async fn user_by_openid(identity: &OpenIdentity) -> StoreResult<Option<User>>;
        async fn create_user(user: User, users_max: usize, activity: ActivityEntry) -> StoreResult<UserCreationResult>;
        async fn users(account: &str, page: Page) -> StoreResult<Vec<User>>;
        async fn change_user(change: UserChange) -> StoreResult<UserChangeResult>;
        async fn remove_user(user: User, removed_max: usize, activity: ActivityEntry) -> StoreResult<UserChangeResult>;
        async fn use_code(user: &str, code: CodeUse) -> StoreResult<bool>;
        async fn recovery_codes(user: &str) -> StoreResult<usize>;
        async fn create_invitation(
            invitation: Invitation,
            users_max: usize,
            activity: ActivityEntry,
        ) -> StoreResult<()>;
        async fn invitation_by_hash(hash: Digest) -> StoreResult<Option<Invitation>>;
        async fn invitations(account: &str, page: Page) -> StoreResult<Vec<Invitation>>;
        async fn delete_invitation(account: &str, id: &str, activity: ActivityEntry) -> StoreResult<bool>;
        async fn accept_invitation(accepted: AcceptedInvitation) -> StoreResult<()>;
    }
    impl UserSessionStore {
        async fn begin_session(
            session: UserSession,
            user_version: i64,
            sessions_max: usize,
            activity: ActivityEntry,
        ) -> StoreResult<()>;
        async fn session_by_hash(hash: Digest) -> StoreResult<Option<(UserSession, User)>>;
        async fn session(id: &str) -> StoreResult<Option<(UserSession, User)>>;
        async fn sessions(user: &str, limit: usize) -> StoreResult<Vec<UserSession>>;
        async fn touch_session(id: &str, at: Timestamp) -> StoreResult<()>;
        async fn end_sessions(ending: SessionsToEnd, activity: Option<ActivityEntry>) -> StoreResult<usize>;
        async fn delete_expired_sessions(
            now: Timestamp,
            idle_before: Timestamp,
            limit: usize,
        ) -> StoreResult<usize>;
        async fn take_sign_in_attempts(attempts: Vec<Attempts>, now: Timestamp) -> StoreResult<Option<Timestamp>>;
        async fn return_sign_in_attempts(returned: AttemptsToReturn) -> StoreResult<()>;
    }
    impl PortalSettingsStore {
        async fn portal_settings(account: &str) -> StoreResult<Option<PortalSettings>>;
        async fn portal_logo(account: &str) -> StoreResult<Option<PortalLogo>>;
        async fn put_portal_settings(
            account: &str,
            settings: PortalSettings,
            logo: LogoChange,
            activity: ActivityEntry,
        ) -> StoreResult<()>;
    }
    impl AppTokenStore {
        async fn create_app_token(new: NewAppToken, tokens_max: usize) -> StoreResult<()>;
        async fn app_tokens(application: &str, page: Page) -> StoreResult<Vec<AppToken>>;
        async fn app_token(application: &str, id: &str) -> StoreResult<Option<AppToken>>;
        async fn touch_app_token(id: &str, at: Timestamp) -> StoreResult<()>;
        async fn app_token_by_hash(hash: [u8; 32]) -> StoreResult<Option<AppToken>>;
        async fn exchange_app_token(
            old: [u8; 32],
            new: [u8; 32],
            expires_at: Timestamp,
            now: Timestamp,
        ) -> StoreResult<bool>;
        async fn delete_app_token(application: &str, id: &str, activity: Option<ActivityEntry>) -> StoreResult<bool>;
        async fn end_app_tokens(application: &str, sessions: Option<Vec<String>>, at: Timestamp) -> StoreResult<()>;
        async fn delete_expired_app_tokens(before: Timestamp, limit: usize) -> StoreResult<usize>;
    }
    impl ApplicationStore {
        async fn application(account: &str, id_or_uid: &str) -> StoreResult<Option<Application>>;
        async fn applications(account: &str, page: Page) -> StoreResult<Vec<Application>>;
        async fn applications_except(
            account: &str,
            exclude: &[ApplicationExclusion],
            page: Page,
        ) -> StoreResult<Vec<Application>>;
        async fn applications_by_uid(uid: &str, limit: usize) -> StoreResult<Vec<Application>>;
        async fn replace_application(old: Application, new: Application) -> StoreResult<()>;
        async fn delete_application(account: &str, id: &str) -> StoreResult<bool>;
        overridden {
            async fn create_application(
                &self,
                application: Application,
                answer: Option<IdempotentAnswer>,
            ) -> StoreResult<()> {
                if self.fault == Fault::ConcurrentInsert && self.is_faulted("create_application") {
                    let other = Application { id: "app_beaten".into(), name: "Theirs".into(), ..application.clone() };
                    self.store.create_application(other, None).await?;
                }
                self.store.create_application(application, answer).await
            }
        }
    }
    impl AttemptStore {
        async fn record_attempts(records: Arc<[AttemptRecord]>, within: Duration) -> StoreResult<()>;
        async fn attempt(application: &str, message: &str, id: &str) -> StoreResult<Option<Attempt>>;
        async fn attempts_at_endpoint(application: &str, endpoint: &str, page: Page) -> StoreResult<Vec<Attempt>>;
        async fn find_attempts(
            application: &str,
            of: &AttemptScope,
            filter: &AttemptFilter,
            scan: &Scan,
        ) -> StoreResult<ScanResult<Attempt>>;
        async fn find_attempted_messages(
            application: &str,
            endpoint: &str,
            filter: &MessageFilter,
            status: Option<AttemptStatus>,
            scan: &Scan,
            content: PayloadRead,
        ) -> StoreResult<ScanResult<AttemptedMessage>>;
        async fn destinations(application: &str, message: &str) -> StoreResult<Vec<Destination>>;
    }
    impl BacklogStore {
        async fn backlog(endpoint: &str) -> StoreResult<Backlog>;
        async fn total_backlog() -> StoreResult<Backlog>;
        async fn due_deliveries(now: Timestamp) -> StoreResult<u64>;
        async fn endpoint_backlogs(after: Option<&str>, limit: usize) -> StoreResult<Vec<EndpointBacklog>>;
        async fn waiting_counts(endpoint: &str, now: Timestamp) -> StoreResult<WaitingCounts>;
        async fn waiting_messages(endpoint: &str, before: &str, limit: usize) -> StoreResult<Vec<Id>>;
        async fn ended_failures(endpoint: &str, first_attempt: &str) -> StoreResult<u64>;
        async fn longest_due_endpoints(now: Timestamp, limit: usize) -> StoreResult<Vec<DueEndpoint>>;
    }
    impl CountStore {
        async fn delivery_counts(of: &CountScope, hours: Range<Hour>) -> StoreResult<Vec<(Hour, DeliveryCounts)>>;
        async fn endpoint_counts(
            endpoints: &[Id],
            hours: Range<Hour>,
        ) -> StoreResult<Vec<(Id, Hour, DeliveryCounts)>>;
        async fn message_counts(of: &CountScope, hours: Range<Hour>) -> StoreResult<Vec<(Hour, MessageCounts)>>;
        async fn count_attempts(endpoint: &str, ids: Range<Id>) -> StoreResult<AttemptCounts>;
        async fn merge_counts(before: Hour, kept_from: Hour, days_max: usize) -> StoreResult<bool>;
    }
    impl DeliveryStore {
        async fn endpoints_with_due(now: Timestamp, limit: usize) -> StoreResult<Vec<(Id, Id)>>;
        async fn claim(
            node: &NodeId,
            endpoint: &str,
            kind: DeliveryKind,
            now: Timestamp,
            room: ClaimLimit,
        ) -> StoreResult<Vec<Delivery>>;
        async fn next_due() -> StoreResult<Option<Timestamp>>;
        async fn release(node: &NodeId, rows: Vec<(Id, Id)>, now: Timestamp) -> StoreResult<()>;
        async fn drop_deliveries(dropped: Vec<DroppedDelivery>, now: Timestamp) -> StoreResult<()>;
        async fn resend(resend: Resend, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
        async fn make_retries_due(endpoint: &str, now: Timestamp, limit: usize) -> StoreResult<usize>;
        async fn cancel_deliveries(endpoint: &str, attempts: Vec<Attempt>) -> StoreResult<usize>;
        async fn blocked_keys(endpoint: &str, after: Option<&str>, limit: usize) -> StoreResult<Vec<BlockedKeyRow>>;
        async fn blocked_key(endpoint: &str, key: &str) -> StoreResult<Option<BlockedKeyRow>>;
        async fn blocked_keys_total(endpoint: &str, now: Timestamp) -> StoreResult<Option<BlockedKeysTotal>>;
        async fn skip_head(attempt: Attempt, key: &str) -> StoreResult<HeadResult>;
        async fn retry_head(endpoint: &str, message: &str, key: &str, now: Timestamp) -> StoreResult<HeadResult>;
    }
    impl EndpointSearchStore {
        async fn search_endpoints(
            account: &str,
            filter: &EndpointFilter,
            page: &EndpointPageKey,
        ) -> StoreResult<EndpointPage>;
    }
    impl EndpointStore {
        async fn endpoint(application: &str, id_or_uid: &str) -> StoreResult<Option<Endpoint>>;
        async fn endpoint_by_id(id: &str) -> StoreResult<Option<(Id, Endpoint)>>;
        async fn endpoints(application: &str, page: Page) -> StoreResult<Vec<Endpoint>>;
        async fn endpoints_by_uid(uid: &str, limit: usize) -> StoreResult<Vec<(Id, Endpoint)>>;
        async fn replace_endpoint(old: Endpoint, new: Endpoint, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
        async fn delete_endpoint(application: &str, id: &str) -> StoreResult<bool>;
        async fn snapshot(application: &str) -> StoreResult<Option<(Application, Vec<Endpoint>)>>;
        async fn endpoint_states() -> StoreResult<EndpointStates>;
        overridden {
            async fn create_endpoint(
                &self,
                endpoint: Endpoint,
                endpoints_max: usize,
                answer: Option<IdempotentAnswer>,
            ) -> StoreResult<()> {
                if self.fault == Fault::ConcurrentInsert && self.is_faulted("create_endpoint") {
                    let (id, description) = ("ep_beaten".into(), "theirs".into());
                    let other = Endpoint { id, description, ..endpoint.clone() };
                    self.store.create_endpoint(other, endpoints_max, None).await?;
                }
                self.store.create_endpoint(endpoint, endpoints_max, answer).await
            }
        }
    }
    impl EventTypeStore {
        async fn create_event_type(event_type: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
        async fn event_type(account: &str, name: &str) -> StoreResult<Option<EventType>>;
        async fn event_types(account: &str, page: Page) -> StoreResult<Vec<EventType>>;
        async fn event_type_count(account: &str, count_max: usize) -> StoreResult<usize>;
        async fn upsert_event_types(event_types: Vec<EventType>, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
        async fn replace_event_type(old: EventType, new: EventType) -> StoreResult<()>;
        async fn delete_event_type(account: &str, name: &str) -> StoreResult<bool>;
        async fn record_unknown_event_types(counted: Vec<UnknownEventType>, forget_before: Timestamp) -> StoreResult<()>;
        async fn unknown_event_types(account: &str, limit: usize) -> StoreResult<Vec<UnknownEventType>>;
    }
    impl HealthStore {
        async fn waiting_of_endpoints(endpoints: &[Id]) -> StoreResult<Vec<EndpointWaiting>>;
        async fn endpoint_waiting(endpoint: &str, messages: Option<Range<Id>>) -> StoreResult<EndpointWaiting>;
    }
    impl IdempotencyStore {
        async fn idempotent_answer(account: &str, key: &str) -> StoreResult<Option<IdempotentAnswer>>;
        async fn delete_expired_answers(before: Timestamp, limit: usize) -> StoreResult<usize>;
    }
    impl MessageSearchStore {
        async fn find_message_keys(scope: &MessageScope, source: &MessageSource, conditions: &MessageConditions, scan: &Scan) -> StoreResult<ScanResult<MessageKey>>;
        async fn messages_by_keys(keys: &[MessageKey]) -> StoreResult<Vec<Message>>;
        async fn message_progress(messages: &[MessageKey], filter: &ProgressFilter) -> StoreResult<Vec<MessageProgress>>;
    }
    impl MessageStore {
        async fn accept(messages: Vec<NewMessage>, now: Timestamp) -> StoreResult<Vec<StoreResult<()>>>;
        async fn message(application: &str, id_or_event_id: &str) -> StoreResult<Option<Message>>;
        async fn messages_by_ids(application: &str, ids: &[Id]) -> StoreResult<Vec<Message>>;
        async fn find_messages(
            application: &str,
            filter: &MessageFilter,
            scan: &Scan,
            content: PayloadRead,
        ) -> StoreResult<ScanResult<Message>>;
    }
    impl NodeStore {
        async fn database_time() -> StoreResult<Option<Timestamp>>;
        async fn database_figures() -> StoreResult<DatabaseFigures>;
        async fn heartbeat(node: &NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()>;
        async fn release_node(node: &NodeId, now: Timestamp) -> StoreResult<()>;
        async fn live_node_count(alive_since: Timestamp) -> StoreResult<usize>;
        async fn set_node_address(node: &NodeId, address: &str) -> StoreResult<()>;
        async fn node_addresses(alive_since: Timestamp, limit: usize) -> StoreResult<Vec<String>>;
        async fn ping() -> StoreResult<()>;
        fn remote_changes() -> Signal;
    }
    impl OperationalEventStore {
        async fn operational_events(limit: usize) -> StoreResult<Vec<OperationalEvent>>;
        async fn delete_operational_events(numbers: Vec<i64>) -> StoreResult<()>;
    }
    impl OverviewStore {
        async fn application_figures(applications: &[Id]) -> StoreResult<Vec<ApplicationFigures>>;
        async fn search_applications(account: &str, text: &str, page: Page) -> StoreResult<Vec<Application>>;
        async fn failing_endpoints(account: &str, limit: usize) -> StoreResult<Vec<Endpoint>>;
        async fn subscribed_endpoints(account: &str, event_type: &str, limit: usize) -> StoreResult<Vec<Endpoint>>;
        async fn account_figures(account: &str) -> StoreResult<AccountFigures>;
    }
    impl PauseStore {
        async fn save_pause(pause: Pause, now: Timestamp) -> StoreResult<()>;
        async fn pauses(since: Timestamp, now: Timestamp, limit: usize) -> StoreResult<Vec<Pause>>;
        async fn pause(endpoint: &str, now: Timestamp) -> StoreResult<Option<Pause>>;
        async fn reset_endpoint_pause(endpoint: &str, now: Timestamp) -> StoreResult<()>;
    }
    impl RetentionStore {
        async fn expunge_payload(application: &str, message: &str, now: Timestamp) -> StoreResult<bool>;
        async fn expunge_payloads(
            application: &str,
            after: &str,
            before: &str,
            limit: usize,
            now: Timestamp,
        ) -> StoreResult<(usize, Option<Id>)>;
        async fn expunge_response(application: &str, message: &str, attempt: &str) -> StoreResult<bool>;
        async fn expunge_expired_payloads(now: Timestamp, limit: usize) -> StoreResult<usize>;
        async fn delete_old_attempts(before_message: &str, limit: usize) -> StoreResult<usize>;
        async fn delete_old_messages(before_message: &str, limit: usize) -> StoreResult<usize>;
    }
    impl AlertStore {
        async fn alert_candidates(query: AlertQuery) -> StoreResult<Vec<AlertCandidate>>;
        async fn record_alert(alert: Alert) -> StoreResult<()>;
        async fn waiting_reports(limit: usize) -> StoreResult<Vec<WaitingReport>>;
        async fn record_report(report: AlertReport) -> StoreResult<()>;
        async fn failing_in(scope: &AlertScope, order: Order, limit: usize) -> StoreResult<Vec<FailingEndpoint>>;
        async fn queue_mail(mail: NewMail, at: Timestamp) -> StoreResult<bool>;
        async fn forget_deleted_alerts() -> StoreResult<()>;
        async fn alert_recipients(scope: &AlertScope) -> StoreResult<Vec<AlertRecipient>>;
        async fn put_alert_recipient(recipient: AlertRecipient, recipients_max: usize, mail: NewMail) -> StoreResult<()>;
        async fn confirm_alert_recipient(
            code_hash: [u8; 32],
            sent_after: Timestamp,
            at: Timestamp,
        ) -> StoreResult<Option<AlertRecipient>>;
        async fn delete_alert_recipient(scope: &AlertScope, address: &str) -> StoreResult<bool>;
        async fn claim_mails(now: Timestamp, leased_until: Timestamp, limit: usize) -> StoreResult<Vec<WaitingMail>>;
        async fn waiting_mails() -> StoreResult<MailBacklog>;
        async fn delete_mail(no: i64) -> StoreResult<()>;
        async fn postpone_mail(no: i64, at: Timestamp) -> StoreResult<()>;
    }
    impl HoldStore {
        async fn hold() -> StoreResult<Option<Hold>>;
        async fn put_hold(hold: Option<Hold>) -> StoreResult<()>;
    }
    impl SealingStore {
        async fn sentinels() -> StoreResult<Vec<Sealed>>;
        async fn replace_sentinels(old: Vec<Sealed>, new: Vec<Sealed>) -> StoreResult<()>;
        async fn all_endpoints(after: Option<Id>, limit: usize) -> StoreResult<Vec<Endpoint>>;
        async fn reseal_endpoints(endpoints: Vec<(Endpoint, Endpoint)>) -> StoreResult<usize>;
        async fn all_second_factors(after: Option<Id>, limit: usize) -> StoreResult<Vec<(Id, Sealed)>>;
        async fn reseal_second_factors(secrets: Vec<(Id, Sealed, Sealed)>) -> StoreResult<usize>;
    }
    impl TaskStore {
        async fn create_task(
            task: BackgroundTask,
            running_max: usize,
            answer: Option<IdempotentAnswer>,
        ) -> StoreResult<()>;
        async fn task(account: &str, id: &str) -> StoreResult<Option<BackgroundTask>>;
        async fn tasks(account: &str, filter: TaskFilter, page: Page) -> StoreResult<Vec<BackgroundTask>>;
        async fn endpoint_tasks(endpoint: &str, page: Page) -> StoreResult<Vec<BackgroundTask>>;
        async fn task_counts() -> StoreResult<Vec<TaskCount>>;
        async fn advance_task(step: TaskStep) -> StoreResult<usize>;
        async fn stop_task(endpoint: &str, id: &str, error: &str, now: Timestamp) -> StoreResult<bool>;
        async fn due_count(endpoint: &str, messages: &[Id], now: Timestamp) -> StoreResult<usize>;
        async fn failed_attempts(
            application: &str,
            endpoint: &str,
            after: &str,
            before: &str,
            limit: usize,
        ) -> StoreResult<Vec<FailedAttempt>>;
        async fn replay_candidates(
            application: &str,
            endpoint: &str,
            after: &str,
            before: &str,
            limit: usize,
        ) -> StoreResult<Vec<ReplayCandidate>>;
        async fn delete_old_tasks(before: Timestamp, limit: usize) -> StoreResult<usize>;
        overridden {
            /// Shortens the lease, so that a worker that lost a task in a panic soon finds it again.
            async fn lease_tasks(
                &self,
                worker: &str,
                now: Timestamp,
                leased_until: Timestamp,
                limit: usize,
            ) -> StoreResult<Vec<BackgroundTask>> {
                let leased_until = leased_until.min(now + jiff::SignedDuration::from_millis(300));
                self.store.lease_tasks(worker, now, leased_until, limit).await
            }
        }
    }
}
