-- The provider's tables. Times are milliseconds since 1970, UTC. Ids are KSUIDs: they grow with time, so that rows keyed by them
-- are appended. Tables that have a `no` append their rows, and number them in the order of insertion.

-------------------------------------------------------------------------------------------------------------------------------
-- Accounts: API keys, idempotent answers, how the App Portal looks
-------------------------------------------------------------------------------------------------------------------------------

CREATE TABLE accounts (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    payload_check TEXT NOT NULL,
    unknown_event_types TEXT NOT NULL,
    requests_per_second_max INTEGER,
    endpoints_max INTEGER
) STRICT, WITHOUT ROWID;

-- `scopes` has the names of what a key may do, separated by commas; it is NULL for a key that may do everything.
-- `last_used_from` is an IP address.
CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    scopes TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER,
    last_used_from TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_of_account ON api_keys (account, id);

-- Answers to requests with an idempotency key. `key` is a fingerprint of account and key. The oldest are deleted first, which is
-- the order of `no`.
CREATE TABLE idempotent_answers (
    no INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    request_hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    application TEXT,
    message TEXT,
    status INTEGER,
    body TEXT
) STRICT;
CREATE UNIQUE INDEX idempotent_answers_by_key ON idempotent_answers (key);

-- `embed_origins` is the JSON list of origins whose pages may embed the App Portal.
CREATE TABLE portal_settings (
    account TEXT NOT NULL PRIMARY KEY,
    colour TEXT,
    embed_origins TEXT NOT NULL,
    logo_type TEXT,
    logo_version TEXT,
    logo BLOB
) STRICT;

-------------------------------------------------------------------------------------------------------------------------------
-- Users who sign in to the dashboard of an account, and the log of what is changed in the account
-------------------------------------------------------------------------------------------------------------------------------

CREATE TABLE users (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    signed_in_at INTEGER,
    totp_secret TEXT,
    totp_step INTEGER NOT NULL DEFAULT 0,
    totp_confirmed_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX users_of_account ON users (account, id);

CREATE TABLE recovery_codes (
    user_id TEXT NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE user_sessions (
    id TEXT NOT NULL PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    address TEXT,
    browser TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX user_sessions_of_user ON user_sessions (user_id, id);
CREATE INDEX user_sessions_by_end ON user_sessions (expires_at);
CREATE INDEX user_sessions_by_use ON user_sessions (last_used_at);

-- Links that work once: for a new user, or for a user's new password. `maker` is the user who made the link; it is NULL
-- for the operator.
CREATE TABLE invitations (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    role TEXT NOT NULL,
    user_id TEXT,
    note TEXT NOT NULL,
    maker TEXT,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX invitations_of_account ON invitations (account, id);
CREATE INDEX invitations_of_maker ON invitations (maker);
CREATE INDEX invitations_by_end ON invitations (expires_at);

-- Allowances of sign-in attempts. A row is deleted once its allowance is full again.
CREATE TABLE sign_in_attempts (
    subject BLOB NOT NULL PRIMARY KEY,
    full_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts (full_at);

CREATE TABLE activity (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    subject_name TEXT NOT NULL,
    value_before TEXT NOT NULL,
    value_after TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX activity_of_account ON activity (account, id);

-------------------------------------------------------------------------------------------------------------------------------
-- Applications: tokens, event types, endpoints
-------------------------------------------------------------------------------------------------------------------------------

-- `version` is raised by each change of the application or its endpoints, `purges` by each deletion of payloads.
CREATE TABLE applications (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    uid TEXT,
    name TEXT NOT NULL,
    throttle_rate INTEGER,
    metadata TEXT NOT NULL,
    version INTEGER NOT NULL,
    purges INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX applications_of_account ON applications (account, id);
CREATE UNIQUE INDEX applications_by_uid ON applications (account, uid) WHERE uid IS NOT NULL;

-- Tokens that give access to one application. Those of a user are deleted when the user is removed or gets a lower role; a
-- preview also ends with the user's session and role.
CREATE TABLE app_tokens (
    id TEXT NOT NULL PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    account TEXT NOT NULL,
    application TEXT NOT NULL,
    capabilities TEXT NOT NULL,
    feature_flags TEXT NOT NULL,
    session_id TEXT,
    maker_kind TEXT NOT NULL,
    maker TEXT NOT NULL,
    maker_name TEXT NOT NULL,
    preview_session TEXT,
    preview_role TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX app_tokens_of_application ON app_tokens (application, id);
CREATE INDEX app_tokens_by_end ON app_tokens (expires_at);
CREATE INDEX app_tokens_by_maker ON app_tokens (maker, id) WHERE maker_kind = 'user';

CREATE TABLE event_types (
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    archived INTEGER NOT NULL,
    deprecated INTEGER NOT NULL,
    schemas TEXT,
    feature_flags TEXT NOT NULL,
    group_name TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (account, name)
) STRICT, WITHOUT ROWID;

-- Event types that accepted messages had, but that are not registered, by the API key that sent them.
CREATE TABLE unknown_event_types (
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    key_name TEXT NOT NULL,
    messages INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (account, name, key)
) STRICT, WITHOUT ROWID;

-- `given_up_at` is the time of the attempt with which failures disabled the endpoint; it is NULL for other endpoints, also for
-- those that a caller disabled. `sealed` is JSON with the values that the sealing keys open (secrets and headers), `state` is
-- JSON with the fields that no query uses (decision 0002).
CREATE TABLE endpoints (
    id TEXT NOT NULL PRIMARY KEY,
    application TEXT NOT NULL,
    uid TEXT,
    url TEXT NOT NULL,
    description TEXT NOT NULL,
    filter_types TEXT,
    ordering INTEGER NOT NULL,
    disabled INTEGER NOT NULL,
    disabled_at INTEGER,
    failing_since INTEGER,
    given_up_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    sealed TEXT NOT NULL,
    state TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX endpoints_of_application ON endpoints (application, id);
CREATE UNIQUE INDEX endpoints_by_uid ON endpoints (application, uid) WHERE uid IS NOT NULL;
-- For counting the endpoints that fail or are disabled.
CREATE INDEX endpoints_failing ON endpoints (failing_since) WHERE failing_since IS NOT NULL AND disabled = 0;
CREATE INDEX endpoints_disabled ON endpoints (disabled) WHERE disabled = 1;
CREATE INDEX endpoints_given_up ON endpoints (given_up_at) WHERE given_up_at IS NOT NULL;

-- Endpoints that the dispatcher does not call until a time, because their receivers asked for it. A pause ends early when the
-- endpoint or its application is changed after `changed_at`.
CREATE TABLE pauses (
    endpoint TEXT PRIMARY KEY,
    until INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    requested_at INTEGER NOT NULL,
    reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pauses_by_end ON pauses (until);
CREATE INDEX pauses_by_time ON pauses (requested_at);

-------------------------------------------------------------------------------------------------------------------------------
-- Delivering: messages, deliveries, attempts, background tasks
-------------------------------------------------------------------------------------------------------------------------------

-- `event_fingerprint` is that of application and event id. `sent_by` is the user who sent the message by hand. The payload is the last column, so that a list reads what it filters
-- by without the payload.
CREATE TABLE messages (
    no INTEGER PRIMARY KEY,
    application TEXT NOT NULL,
    id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    event_id TEXT,
    event_fingerprint BLOB,
    channels TEXT,
    tags TEXT,
    created_at INTEGER NOT NULL,
    payload_expires_at INTEGER NOT NULL,
    deliver_at INTEGER,
    ordering_key TEXT,
    sent_by TEXT,
    payload BLOB
) STRICT;
CREATE UNIQUE INDEX messages_of_application ON messages (application, id);
CREATE UNIQUE INDEX messages_by_event_fingerprint ON messages (event_fingerprint) WHERE event_fingerprint IS NOT NULL;
-- Payloads that expire before their messages, which are kept for 3,650 days at most.
CREATE INDEX messages_by_payload_expiry ON messages (payload_expires_at)
    WHERE payload IS NOT NULL AND payload_expires_at < created_at + 315360000000;

-- Unfinished deliveries only. `owner` is the `no` of the node that has the row. `manual` is 1 when a caller asked for the next
-- attempt, 2 when a caller asked while the owner makes another attempt, and -1 when a background task sends the message again.
-- `ended_before` is true when the delivery ended, and a caller asked for it again: its end is not counted a second time.
-- `task` is the background task that sent the message last; it counts the end of the row.
-- Rows that stay in order have an `ordering_key`, and a `sequence` that rises with their acceptance. All but the first row of
-- a key are held: their owner is 0, which is no node. The transaction that deletes a row with a key makes the next one due
-- (`ordering.rs`); a trigger would make each message without a key cost an eighth more.
CREATE TABLE deliveries (
    endpoint TEXT NOT NULL,
    message TEXT NOT NULL,
    owner INTEGER,
    attempts INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    manual INTEGER NOT NULL DEFAULT 0,
    ordering_key TEXT,
    sequence INTEGER,
    ended_before INTEGER NOT NULL DEFAULT 0,
    task TEXT,
    has_attempts INTEGER AS (attempts > 0) VIRTUAL,
    PRIMARY KEY (endpoint, message)
) STRICT, WITHOUT ROWID;
-- A delivery that succeeds at once is never in these indexes: it is inserted with its owner, and then deleted. First attempts
-- and retries have ranges of their own, so that neither is searched behind the other; manual ones are also in a second index.
CREATE INDEX deliveries_waiting ON deliveries (endpoint, has_attempts, next_at) WHERE owner IS NULL;
CREATE INDEX deliveries_manual ON deliveries (endpoint, next_at) WHERE owner IS NULL AND manual > 0;
CREATE INDEX deliveries_by_key ON deliveries (endpoint, ordering_key, sequence) WHERE ordering_key IS NOT NULL;

-- `failure_detail` explains a failure beside the status code and the response, as JSON: the cause of a missing response with its
-- details, or a header of a failed response (Location, WWW-Authenticate, Retry-After as a time, or Server).
-- `response_headers` has a line for each header of the response, with masked cookies. `times` has the microseconds of each phase
-- of the request, as JSON.
CREATE TABLE attempts (
    message TEXT NOT NULL,
    id TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    url TEXT NOT NULL,
    status INTEGER NOT NULL,
    response_status_code INTEGER NOT NULL,
    response TEXT NOT NULL,
    response_duration_ms INTEGER NOT NULL,
    times TEXT,
    failure_detail TEXT,
    response_headers TEXT,
    trigger INTEGER NOT NULL,
    began_at INTEGER NOT NULL,
    PRIMARY KEY (message, id)
) STRICT, WITHOUT ROWID;
-- With the status, so that an endpoint's attempts are counted without reading them.
CREATE INDEX attempts_at_endpoint ON attempts (endpoint, id, status);
-- For searching messages by their failures. A successful attempt is not in this index. With the status, because SQLite reads it
-- for the condition.
CREATE INDEX attempts_unsuccessful ON attempts (endpoint, message, response_status_code, status) WHERE status <> 0;

-- Exact counts, added by the transactions that record what they count. `hour` is the number of hours since 1970; after 90 days,
-- the hours of a day are merged into its first hour. Counts stay when endpoints and applications are deleted; `account` is
-- NULL if the application was deleted before the row was inserted.
CREATE TABLE message_counts (
    application TEXT NOT NULL,
    hour INTEGER NOT NULL,
    account TEXT,
    messages INTEGER NOT NULL,
    payload_bytes INTEGER NOT NULL,
    PRIMARY KEY (application, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_counts_of_account ON message_counts (account, hour);
CREATE INDEX message_counts_by_hour ON message_counts (hour);
CREATE INDEX message_counts_to_merge ON message_counts (hour) WHERE hour % 24 <> 0;

-- Attempts by result, ended deliveries by end, failed attempts by class of cause, and successful and failed attempts by duration:
-- `took_20_ms` counts those that took at most 20 ms and longer than the column before.
CREATE TABLE endpoint_counts (
    endpoint TEXT NOT NULL,
    hour INTEGER NOT NULL,
    application TEXT NOT NULL,
    account TEXT,
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    attempts_cancelled INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    exhausted INTEGER NOT NULL,
    skipped INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    failed_address INTEGER NOT NULL,
    failed_connection INTEGER NOT NULL,
    failed_tls INTEGER NOT NULL,
    failed_timeout INTEGER NOT NULL,
    failed_redirect INTEGER NOT NULL,
    failed_refused INTEGER NOT NULL,
    failed_rate_limit INTEGER NOT NULL,
    failed_server INTEGER NOT NULL,
    failed_response INTEGER NOT NULL,
    failed_other INTEGER NOT NULL,
    took_5_ms INTEGER NOT NULL,
    took_10_ms INTEGER NOT NULL,
    took_20_ms INTEGER NOT NULL,
    took_50_ms INTEGER NOT NULL,
    took_100_ms INTEGER NOT NULL,
    took_200_ms INTEGER NOT NULL,
    took_500_ms INTEGER NOT NULL,
    took_1000_ms INTEGER NOT NULL,
    took_2000_ms INTEGER NOT NULL,
    took_5000_ms INTEGER NOT NULL,
    took_10000_ms INTEGER NOT NULL,
    took_20000_ms INTEGER NOT NULL,
    took_longer INTEGER NOT NULL,
    PRIMARY KEY (endpoint, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX endpoint_counts_of_application ON endpoint_counts (application, hour);
CREATE INDEX endpoint_counts_of_account ON endpoint_counts (account, hour);
CREATE INDEX endpoint_counts_by_hour ON endpoint_counts (hour);
CREATE INDEX endpoint_counts_to_merge ON endpoint_counts (hour) WHERE hour % 24 <> 0;

-- Any worker may take over a running task after `leased_until`. The messages that a task `enqueued` wait, or are counted by the
-- end of their delivery row, or as `taken_over` by a later task.
CREATE TABLE background_tasks (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    kind INTEGER NOT NULL,
    application TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    selection TEXT NOT NULL,
    status INTEGER NOT NULL,
    position TEXT NOT NULL,
    found INTEGER NOT NULL,
    enqueued INTEGER NOT NULL,
    delivered INTEGER NOT NULL DEFAULT 0,
    exhausted INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    taken_over INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    worker TEXT,
    leased_until INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX background_tasks_of_account ON background_tasks (account, id);
CREATE INDEX background_tasks_of_endpoint ON background_tasks (endpoint, id);
CREATE INDEX background_tasks_running ON background_tasks (leased_until, id) WHERE status = 0;
CREATE INDEX background_tasks_by_kind ON background_tasks (kind, status);

-------------------------------------------------------------------------------------------------------------------------------
-- Alerts: operational events, recipients, mails
-------------------------------------------------------------------------------------------------------------------------------

-- Events that accounts receive about their endpoints. A `no` is used once, because the message's event id contains it.
CREATE TABLE operational_events (
    no INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    event_type TEXT NOT NULL,
    payload TEXT NOT NULL
) STRICT;

-- The last alert about an endpoint that fails. `stage` is 1 for failing, 2 for disabled soon, 3 for disabled.
CREATE TABLE endpoint_alerts (
    endpoint TEXT NOT NULL PRIMARY KEY,
    failing_since INTEGER NOT NULL,
    stage INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The notification about an endpoint that mails report: `stage` is that of `endpoint_alerts`, 0 when the endpoint has
-- recovered. `reported_at` is empty until a mail reports it.
CREATE TABLE alert_notices (
    endpoint TEXT NOT NULL PRIMARY KEY,
    application TEXT NOT NULL,
    failing_since INTEGER NOT NULL,
    stage INTEGER NOT NULL,
    noted_at INTEGER NOT NULL,
    reported_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_notices_of_application ON alert_notices (application, reported_at);
CREATE INDEX alert_notices_waiting ON alert_notices (noted_at) WHERE reported_at IS NULL;

-- Email addresses that receive the alerts of an account once they are confirmed. `application` is empty for all applications.
CREATE TABLE alert_recipients (
    account TEXT NOT NULL,
    application TEXT NOT NULL,
    address TEXT NOT NULL,
    code_hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    confirmed_at INTEGER,
    PRIMARY KEY (account, application, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_recipients_by_code ON alert_recipients (code_hash);

-- Mails that are not sent yet. A `no` is used once, because the mail's id contains it.
CREATE TABLE mails (
    no INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    queued_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER NOT NULL
) STRICT;
CREATE INDEX mails_by_time ON mails (next_at);
CREATE INDEX mails_of_account ON mails (account);

-------------------------------------------------------------------------------------------------------------------------------
-- Operation: nodes, health, sealing keys
-------------------------------------------------------------------------------------------------------------------------------

-- `address` is the base address at which other nodes and management commands reach the node, if it has one.
CREATE TABLE nodes (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    address TEXT,
    heartbeat_at INTEGER NOT NULL
) STRICT;

-- The health check writes here.
CREATE TABLE pings (
    no INTEGER PRIMARY KEY CHECK (no = 1),
    count INTEGER NOT NULL
) STRICT;
INSERT INTO pings (no, count) VALUES (1, 0);

-- A row while the installation is on hold after a restore from a backup: no node starts.
CREATE TABLE holds (
    no INTEGER NOT NULL PRIMARY KEY CHECK (no = 1),
    backup_at INTEGER,
    held_since INTEGER NOT NULL
) STRICT;

-- One text sealed by each key that may have sealed a value here. A process that can't open all of them has the wrong keys.
CREATE TABLE sentinels (
    sealed TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-------------------------------------------------------------------------------------------------------------------------------
-- Compatibility: the oldest version of the tables whose programs can use these. A migration that removes what such programs use
-- raises it; every migration says it (CONTRIBUTING.md, "Migrations").
-------------------------------------------------------------------------------------------------------------------------------

CREATE TABLE schema_compatibility (compatible_from INTEGER NOT NULL) STRICT;
INSERT INTO schema_compatibility (compatible_from) VALUES (1);
