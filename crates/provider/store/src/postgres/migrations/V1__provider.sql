-- The provider's tables, in a schema of their own. Ids are KSUIDs, which grow with time; they are compared by byte (collation "C"),
-- so that they sort by time.

-------------------------------------------------------------------------------------------------------------------------------
-- Accounts: API keys, idempotent answers, how the App Portal looks
-------------------------------------------------------------------------------------------------------------------------------

CREATE TABLE accounts (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    payload_check TEXT NOT NULL,
    unknown_event_types TEXT NOT NULL,
    requests_per_second_max BIGINT,
    endpoints_max BIGINT
);

-- `scopes` has the names of what a key may do, separated by commas; it is NULL for a key that may do everything.
-- `last_used_from` is an IP address.
CREATE TABLE api_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    hash BYTEA NOT NULL UNIQUE,
    scopes TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ,
    last_used_at TIMESTAMPTZ,
    last_used_from TEXT
);
CREATE INDEX api_keys_of_account ON api_keys (account, id);

-- Answers to requests with an idempotency key. `key` is a fingerprint of account and key. The oldest are deleted first, which is
-- the order of `no`.
CREATE TABLE idempotent_answers (
    no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key BYTEA NOT NULL UNIQUE,
    request_hash BYTEA NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    application TEXT,
    message TEXT,
    status INTEGER,
    body TEXT
);

-- `embed_origins` is the JSON list of origins whose pages may embed the App Portal.
CREATE TABLE portal_settings (
    account TEXT COLLATE "C" PRIMARY KEY,
    colour TEXT,
    embed_origins TEXT NOT NULL,
    logo_type TEXT,
    logo_version TEXT,
    logo BYTEA
);

-------------------------------------------------------------------------------------------------------------------------------
-- Users who sign in to the dashboard of an account, and the log of what is changed in the account
-------------------------------------------------------------------------------------------------------------------------------

CREATE TABLE users (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    email TEXT COLLATE "C" NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    version BIGINT NOT NULL,
    signed_in_at TIMESTAMPTZ,
    totp_secret TEXT,
    totp_step BIGINT NOT NULL DEFAULT 0,
    totp_confirmed_at TIMESTAMPTZ
);
CREATE INDEX users_of_account ON users (account, id);

CREATE TABLE recovery_codes (
    user_id TEXT COLLATE "C" NOT NULL,
    hash BYTEA NOT NULL,
    PRIMARY KEY (user_id, hash)
);

CREATE TABLE user_sessions (
    id TEXT COLLATE "C" PRIMARY KEY,
    hash BYTEA NOT NULL UNIQUE,
    user_id TEXT COLLATE "C" NOT NULL,
    address TEXT,
    browser TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX user_sessions_of_user ON user_sessions (user_id, id);
CREATE INDEX user_sessions_by_end ON user_sessions (expires_at);
CREATE INDEX user_sessions_by_use ON user_sessions (last_used_at);

-- Links that work once: for a new user, or for a user's new password. `maker` is the user who made the link; it is NULL
-- for the operator.
CREATE TABLE invitations (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL,
    user_id TEXT COLLATE "C",
    note TEXT NOT NULL,
    maker TEXT COLLATE "C",
    created_by TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    hash BYTEA NOT NULL UNIQUE,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX invitations_of_account ON invitations (account, id);
CREATE INDEX invitations_of_maker ON invitations (maker);
CREATE INDEX invitations_by_end ON invitations (expires_at);

-- Allowances of sign-in attempts. A row is deleted once its allowance is full again.
CREATE TABLE sign_in_attempts (
    subject BYTEA PRIMARY KEY,
    full_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts (full_at);

CREATE TABLE activity (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    actor_kind TEXT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    actor_name TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    subject_name TEXT NOT NULL,
    value_before TEXT NOT NULL,
    value_after TEXT NOT NULL
);
CREATE INDEX activity_of_account ON activity (account, id);

-------------------------------------------------------------------------------------------------------------------------------
-- Applications: tokens, event types, endpoints
-------------------------------------------------------------------------------------------------------------------------------

-- `version` is raised by each change of the application or its endpoints, `purges` by each deletion of payloads.
CREATE TABLE applications (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    uid TEXT COLLATE "C",
    name TEXT NOT NULL,
    throttle_rate INTEGER,
    metadata TEXT NOT NULL,
    version BIGINT NOT NULL,
    purges BIGINT NOT NULL DEFAULT 0,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX applications_of_account ON applications (account, id);
CREATE UNIQUE INDEX applications_by_uid ON applications (account, uid) WHERE uid IS NOT NULL;

-- Tokens that give access to one application. Those of a user are deleted when the user is removed or gets a lower role; a
-- preview also ends with the user's session and role.
CREATE TABLE app_tokens (
    id TEXT COLLATE "C" PRIMARY KEY,
    hash BYTEA NOT NULL UNIQUE,
    account TEXT COLLATE "C" NOT NULL,
    application TEXT COLLATE "C" NOT NULL,
    capabilities TEXT NOT NULL,
    feature_flags TEXT NOT NULL,
    session_id TEXT COLLATE "C",
    maker_kind TEXT COLLATE "C" NOT NULL,
    maker TEXT COLLATE "C" NOT NULL,
    maker_name TEXT NOT NULL,
    preview_session TEXT COLLATE "C",
    preview_role TEXT COLLATE "C",
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ
);
CREATE INDEX app_tokens_of_application ON app_tokens (application, id);
CREATE INDEX app_tokens_by_end ON app_tokens (expires_at);
CREATE INDEX app_tokens_by_maker ON app_tokens (maker, id) WHERE maker_kind = 'user';

CREATE TABLE event_types (
    account TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    description TEXT NOT NULL,
    archived BOOLEAN NOT NULL,
    deprecated BOOLEAN NOT NULL,
    schemas TEXT,
    feature_flags TEXT NOT NULL,
    group_name TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (account, name)
);

-- Event types that accepted messages had, but that are not registered, by the API key that sent them.
CREATE TABLE unknown_event_types (
    account TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    key_name TEXT NOT NULL,
    messages BIGINT NOT NULL,
    first_at TIMESTAMPTZ NOT NULL,
    last_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (account, name, key)
);

-- `given_up_at` is the time of the attempt with which failures disabled the endpoint; it is NULL for other endpoints, also for
-- those that a caller disabled. `sealed` is JSON with the values that the sealing keys open (secrets and headers), `state` is
-- JSON with the fields that no query uses (decision 0002).
CREATE TABLE endpoints (
    id TEXT COLLATE "C" PRIMARY KEY,
    application TEXT COLLATE "C" NOT NULL,
    uid TEXT COLLATE "C",
    url TEXT NOT NULL,
    description TEXT NOT NULL,
    filter_types TEXT,
    ordering SMALLINT NOT NULL,
    disabled BOOLEAN NOT NULL,
    disabled_at TIMESTAMPTZ,
    failing_since TIMESTAMPTZ,
    given_up_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    sealed TEXT NOT NULL,
    state TEXT NOT NULL
);
CREATE INDEX endpoints_of_application ON endpoints (application, id);
CREATE UNIQUE INDEX endpoints_by_uid ON endpoints (application, uid) WHERE uid IS NOT NULL;
-- For counting the endpoints that fail or are disabled.
CREATE INDEX endpoints_failing ON endpoints (failing_since) WHERE failing_since IS NOT NULL AND NOT disabled;
CREATE INDEX endpoints_disabled ON endpoints (disabled) WHERE disabled;
CREATE INDEX endpoints_given_up ON endpoints (given_up_at) WHERE given_up_at IS NOT NULL;

-- Endpoints that the dispatcher does not call until a time, because their receivers asked for it. A pause ends early when the
-- endpoint or its application is changed after `changed_at`.
CREATE TABLE pauses (
    endpoint TEXT COLLATE "C" PRIMARY KEY,
    until TIMESTAMPTZ NOT NULL,
    changed_at TIMESTAMPTZ NOT NULL,
    requested_at TIMESTAMPTZ NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX pauses_by_end ON pauses (until);
CREATE INDEX pauses_by_time ON pauses (requested_at);

-------------------------------------------------------------------------------------------------------------------------------
-- Delivering: messages, deliveries, attempts, background tasks
-------------------------------------------------------------------------------------------------------------------------------

-- `event_fingerprint` is that of application and event id.
CREATE TABLE messages (
    application TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    event_type TEXT NOT NULL,
    event_id TEXT,
    event_fingerprint BYTEA,
    channels TEXT,
    tags TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    payload_expires_at TIMESTAMPTZ NOT NULL,
    deliver_at TIMESTAMPTZ,
    ordering_key TEXT,
    sent_by TEXT COLLATE "C",
    payload BYTEA,
    PRIMARY KEY (application, id)
);
CREATE UNIQUE INDEX messages_by_event_fingerprint ON messages (event_fingerprint) WHERE event_fingerprint IS NOT NULL;
-- Payloads that expire before their messages, which are kept for 3,650 days at most.
CREATE INDEX messages_by_payload_expiry ON messages (payload_expires_at)
    WHERE payload IS NOT NULL AND payload_expires_at - created_at < INTERVAL '3650 days';

-- Unfinished deliveries only. `owner` is the `no` of the node that has the row. `manual` is 1 when a caller asked for the next
-- attempt, 2 when a caller asked while the owner makes another attempt, and -1 when a background task sends the message again.
-- `ended_before` is true when the delivery ended, and a caller asked for it again: its end is not counted a second time.
-- `task` is the background task that sent the message last; it counts the end of the row.
-- Rows that stay in order have an `ordering_key`, and a `sequence` that rises with their acceptance. All but the first row of
-- a key are held: their owner is 0, which is no node. The transaction that deletes a row with a key makes the next one due
-- (`ordering.rs`). Rows are inserted and deleted all the time, so the table is vacuumed early.
CREATE TABLE deliveries (
    endpoint TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C" NOT NULL,
    owner BIGINT,
    attempts INTEGER NOT NULL,
    next_at TIMESTAMPTZ NOT NULL,
    manual SMALLINT NOT NULL DEFAULT 0,
    ordering_key TEXT COLLATE "C",
    sequence BIGINT,
    ended_before BOOLEAN NOT NULL DEFAULT FALSE,
    task TEXT COLLATE "C",
    PRIMARY KEY (endpoint, message)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
-- A delivery that succeeds at once is never in these indexes: it is inserted with its owner, and then deleted. Each kind has an
-- index, so that no kind is searched behind another.
CREATE INDEX deliveries_waiting ON deliveries (endpoint, next_at, message) WHERE owner IS NULL;
CREATE INDEX deliveries_manual ON deliveries (endpoint, next_at, message) WHERE owner IS NULL AND manual > 0;
CREATE INDEX deliveries_first ON deliveries (endpoint, next_at, message) WHERE owner IS NULL AND attempts = 0;
CREATE INDEX deliveries_again ON deliveries (endpoint, next_at, message) WHERE owner IS NULL AND attempts > 0;
CREATE INDEX deliveries_by_key ON deliveries (endpoint, ordering_key, sequence) WHERE ordering_key IS NOT NULL;

-- `response` is bytes, because a text of PostgreSQL can't contain a NUL.
-- `failure_detail` explains a failure beside the status code and the response, as JSON: the cause of a missing response with its
-- details, or a header of a failed response (Location, WWW-Authenticate, Retry-After as a time, or Server).
-- `response_headers` has a line for each header of the response, with masked cookies. `times` has the microseconds of each phase
-- of the request, as JSON.
CREATE TABLE attempts (
    message TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    endpoint TEXT COLLATE "C" NOT NULL,
    url TEXT NOT NULL,
    status SMALLINT NOT NULL,
    response_status_code INTEGER NOT NULL,
    response BYTEA NOT NULL,
    response_duration_ms BIGINT NOT NULL,
    times TEXT,
    failure_detail TEXT,
    response_headers TEXT,
    trigger SMALLINT NOT NULL,
    began_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (message, id)
);
-- With the status, so that an endpoint's attempts are counted without reading them.
CREATE INDEX attempts_at_endpoint ON attempts (endpoint, id) INCLUDE (status);
-- For searching messages by their failures. A successful attempt is not in this index.
CREATE INDEX attempts_unsuccessful ON attempts (endpoint, message, response_status_code) WHERE status <> 0;

-- Exact counts, added by the transactions that record what they count. `hour` is the number of hours since 1970; after 90 days,
-- the hours of a day are merged into its first hour. Counts stay when endpoints and applications are deleted; `account` is
-- NULL if the application was deleted before the row was inserted.
CREATE TABLE message_counts (
    application TEXT COLLATE "C" NOT NULL,
    hour BIGINT NOT NULL,
    account TEXT COLLATE "C",
    messages BIGINT NOT NULL,
    payload_bytes BIGINT NOT NULL,
    PRIMARY KEY (application, hour)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX message_counts_of_account ON message_counts (account, hour);
CREATE INDEX message_counts_by_hour ON message_counts (hour);
CREATE INDEX message_counts_to_merge ON message_counts (hour) WHERE hour % 24 <> 0;

-- Attempts by result, ended deliveries by end, failed attempts by class of cause, and successful and failed attempts by duration:
-- `took_20_ms` counts those that took at most 20 ms and longer than the column before.
CREATE TABLE endpoint_counts (
    endpoint TEXT COLLATE "C" NOT NULL,
    hour BIGINT NOT NULL,
    application TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C",
    succeeded BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    attempts_cancelled BIGINT NOT NULL,
    delivered BIGINT NOT NULL,
    exhausted BIGINT NOT NULL,
    skipped BIGINT NOT NULL,
    cancelled BIGINT NOT NULL,
    failed_address BIGINT NOT NULL,
    failed_connection BIGINT NOT NULL,
    failed_tls BIGINT NOT NULL,
    failed_timeout BIGINT NOT NULL,
    failed_redirect BIGINT NOT NULL,
    failed_refused BIGINT NOT NULL,
    failed_rate_limit BIGINT NOT NULL,
    failed_server BIGINT NOT NULL,
    failed_response BIGINT NOT NULL,
    failed_other BIGINT NOT NULL,
    took_5_ms BIGINT NOT NULL,
    took_10_ms BIGINT NOT NULL,
    took_20_ms BIGINT NOT NULL,
    took_50_ms BIGINT NOT NULL,
    took_100_ms BIGINT NOT NULL,
    took_200_ms BIGINT NOT NULL,
    took_500_ms BIGINT NOT NULL,
    took_1000_ms BIGINT NOT NULL,
    took_2000_ms BIGINT NOT NULL,
    took_5000_ms BIGINT NOT NULL,
    took_10000_ms BIGINT NOT NULL,
    took_20000_ms BIGINT NOT NULL,
    took_longer BIGINT NOT NULL,
    PRIMARY KEY (endpoint, hour)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX endpoint_counts_of_application ON endpoint_counts (application, hour);
CREATE INDEX endpoint_counts_of_account ON endpoint_counts (account, hour);
CREATE INDEX endpoint_counts_by_hour ON endpoint_counts (hour);
CREATE INDEX endpoint_counts_to_merge ON endpoint_counts (hour) WHERE hour % 24 <> 0;

-- Any worker may take over a running task after `leased_until`. The messages that a task `enqueued` wait, or are counted by the
-- end of their delivery row, or as `taken_over` by a later task.
CREATE TABLE background_tasks (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    kind SMALLINT NOT NULL,
    application TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    selection TEXT NOT NULL,
    status SMALLINT NOT NULL,
    position TEXT COLLATE "C" NOT NULL,
    found BIGINT NOT NULL,
    enqueued BIGINT NOT NULL,
    delivered BIGINT NOT NULL DEFAULT 0,
    exhausted BIGINT NOT NULL DEFAULT 0,
    skipped BIGINT NOT NULL DEFAULT 0,
    cancelled BIGINT NOT NULL DEFAULT 0,
    taken_over BIGINT NOT NULL DEFAULT 0,
    error TEXT,
    worker TEXT,
    leased_until TIMESTAMPTZ NOT NULL DEFAULT '1970-01-01T00:00:00Z',
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX background_tasks_of_account ON background_tasks (account, id);
CREATE INDEX background_tasks_of_endpoint ON background_tasks (endpoint, id);
CREATE INDEX background_tasks_running ON background_tasks (leased_until, id) WHERE status = 0;
CREATE INDEX background_tasks_by_kind ON background_tasks (kind, status);

-------------------------------------------------------------------------------------------------------------------------------
-- Alerts: operational events, recipients, mails
-------------------------------------------------------------------------------------------------------------------------------

-- Events that accounts receive about their endpoints. A `no` is used once, because the message's event id contains it.
CREATE TABLE operational_events (
    no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    event_type TEXT NOT NULL,
    payload TEXT NOT NULL
);

-- The last alert about an endpoint that fails. `stage` is 1 for failing, 2 for disabled soon, 3 for disabled.
CREATE TABLE endpoint_alerts (
    endpoint TEXT COLLATE "C" PRIMARY KEY,
    failing_since TIMESTAMPTZ NOT NULL,
    stage INTEGER NOT NULL
);

-- The notification about an endpoint that mails report: `stage` is that of `endpoint_alerts`, 0 when the endpoint has
-- recovered. `reported_at` is empty until a mail reports it.
CREATE TABLE alert_notices (
    endpoint TEXT COLLATE "C" PRIMARY KEY,
    application TEXT COLLATE "C" NOT NULL,
    failing_since TIMESTAMPTZ NOT NULL,
    stage INTEGER NOT NULL,
    noted_at TIMESTAMPTZ NOT NULL,
    reported_at TIMESTAMPTZ
);
CREATE INDEX alert_notices_of_application ON alert_notices (application, reported_at);
CREATE INDEX alert_notices_waiting ON alert_notices (noted_at) WHERE reported_at IS NULL;

-- Email addresses that receive the alerts of an account once they are confirmed. `application` is empty for all applications.
CREATE TABLE alert_recipients (
    account TEXT COLLATE "C" NOT NULL,
    application TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    code_hash BYTEA NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    confirmed_at TIMESTAMPTZ,
    PRIMARY KEY (account, application, address)
);
CREATE INDEX alert_recipients_by_code ON alert_recipients (code_hash);

-- Mails that are not sent yet. A `no` is used once, because the mail's id contains it.
CREATE TABLE mails (
    no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    queued_at TIMESTAMPTZ NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX mails_by_time ON mails (next_at);
CREATE INDEX mails_of_account ON mails (account);

-------------------------------------------------------------------------------------------------------------------------------
-- Operation: nodes, health, sealing keys
-------------------------------------------------------------------------------------------------------------------------------

-- `address` is the base address at which other nodes and management commands reach the node, if it has one.
CREATE TABLE nodes (
    no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    address TEXT,
    heartbeat_at TIMESTAMPTZ NOT NULL
);

-- The health check writes here.
CREATE TABLE pings (
    no INTEGER PRIMARY KEY CHECK (no = 1),
    count BIGINT NOT NULL
);
INSERT INTO pings (no, count) VALUES (1, 0);

-- A row while the installation is on hold after a restore from a backup: no node starts.
CREATE TABLE holds (
    no INTEGER PRIMARY KEY CHECK (no = 1),
    backup_at TIMESTAMPTZ,
    held_since TIMESTAMPTZ NOT NULL
);

-- One text sealed by each key that may have sealed a value here. A process that can't open all of them has the wrong keys.
CREATE TABLE sentinels (
    sealed TEXT PRIMARY KEY
);

-------------------------------------------------------------------------------------------------------------------------------
-- Compatibility: the oldest version of the tables whose programs can use these. A migration that removes what such programs use
-- raises it; every migration says it (CONTRIBUTING.md, "Migrations").
-------------------------------------------------------------------------------------------------------------------------------

CREATE TABLE schema_compatibility (compatible_from integer NOT NULL);
INSERT INTO schema_compatibility (compatible_from) VALUES (1);
