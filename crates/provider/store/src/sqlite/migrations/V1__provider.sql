-- What the provider keeps. Times are milliseconds since 1970, UTC. Ids are KSUIDs: they grow with time, so that rows keyed by
-- them are appended.

CREATE TABLE accounts (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    payload_check TEXT NOT NULL,
    requests_per_second_max INTEGER,
    endpoints_max INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_of_account ON api_keys (account, id);

-- Tokens that give access to one application.
CREATE TABLE app_tokens (
    id TEXT NOT NULL PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    account TEXT NOT NULL,
    application TEXT NOT NULL,
    capabilities TEXT NOT NULL,
    feature_flags TEXT NOT NULL,
    session_id TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX app_tokens_of_application ON app_tokens (application, id);
CREATE INDEX app_tokens_by_end ON app_tokens (expires_at);

-- Answers to requests with an idempotency key. The rows are in the order in which they were given, which is the order in
-- which they are forgotten; `key` is a fingerprint of account and key.
CREATE TABLE answers (
    no INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    request_hash BLOB NOT NULL,
    at INTEGER NOT NULL,
    application TEXT,
    message TEXT,
    status INTEGER,
    body TEXT
) STRICT;
CREATE UNIQUE INDEX answers_by_key ON answers (key);

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

CREATE TABLE endpoints (
    id TEXT NOT NULL PRIMARY KEY,
    application TEXT NOT NULL,
    uid TEXT,
    url TEXT NOT NULL,
    description TEXT NOT NULL,
    disabled INTEGER NOT NULL,
    filter_types TEXT,
    channels TEXT,
    throttle_rate INTEGER,
    metadata TEXT NOT NULL,
    headers TEXT NOT NULL,
    secret TEXT NOT NULL,
    old_secrets TEXT NOT NULL,
    failing_since INTEGER,
    ordering INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX endpoints_of_application ON endpoints (application, id);
CREATE UNIQUE INDEX endpoints_by_uid ON endpoints (application, uid) WHERE uid IS NOT NULL;
-- Those that are not as they should be, for counting.
CREATE INDEX endpoints_failing ON endpoints (failing_since) WHERE failing_since IS NOT NULL AND disabled = 0;
CREATE INDEX endpoints_disabled ON endpoints (disabled) WHERE disabled = 1;

-- `event_key` is a fingerprint of application and event id. The payload is last, so that what a list is filtered by is read
-- without it.
CREATE TABLE messages (
    no INTEGER PRIMARY KEY,
    application TEXT NOT NULL,
    id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    event_id TEXT,
    event_key BLOB,
    channels TEXT,
    tags TEXT,
    created_at INTEGER NOT NULL,
    payload_expires_at INTEGER NOT NULL,
    deliver_at INTEGER,
    ordering_key TEXT,
    payload BLOB
) STRICT;
CREATE UNIQUE INDEX messages_of_application ON messages (application, id);
CREATE UNIQUE INDEX messages_by_event_key ON messages (event_key) WHERE event_key IS NOT NULL;
-- Payloads that go before their messages do, which is after 90 days.
CREATE INDEX messages_by_payload_expiry ON messages (payload_expires_at)
    WHERE payload IS NOT NULL AND payload_expires_at < created_at + 7776000000;

CREATE TABLE nodes (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    heard_at INTEGER NOT NULL
) STRICT;

-- Endpoints that are left alone because their receivers asked for it, as they were when last changed at `changed_at`.
CREATE TABLE pauses (
    endpoint TEXT PRIMARY KEY,
    until INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pauses_by_end ON pauses (until);
CREATE INDEX pauses_by_time ON pauses (at);

-- Work that is not finished, and nothing else. `owner` is the node that has it. `manual` is 1 when the attempt to come was
-- asked for, 2 when one was asked for while the owner is at another, and -1 when a background task sends the message again. Rows that stay in order have a `key`, and a `no` that
-- rises with their acceptance; all but the first of a key are held: their owner is 0, which is no node. Whoever deletes a row
-- with a key makes the next one due (`ordering.rs`): a trigger would cost messages without one an eighth more.
CREATE TABLE deliveries (
    endpoint TEXT NOT NULL,
    message TEXT NOT NULL,
    owner INTEGER,
    attempts INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    manual INTEGER NOT NULL DEFAULT 0,
    key TEXT,
    no INTEGER,
    tried INTEGER AS (attempts > 0) VIRTUAL,
    PRIMARY KEY (endpoint, message)
) STRICT, WITHOUT ROWID;
-- A delivery that goes well is never in here: it is entered with its owner, and goes.
-- First attempts and others apart, so that none is looked for behind another; and what is asked for by hand once more.
CREATE INDEX deliveries_waiting ON deliveries (endpoint, tried, next_at) WHERE owner IS NULL;
CREATE INDEX deliveries_by_hand ON deliveries (endpoint, next_at) WHERE owner IS NULL AND manual > 0;
CREATE INDEX deliveries_by_key ON deliveries (endpoint, key, no) WHERE key IS NOT NULL;

CREATE TABLE attempts (
    message TEXT NOT NULL,
    id TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    url TEXT NOT NULL,
    status INTEGER NOT NULL,
    response_status_code INTEGER NOT NULL,
    response TEXT NOT NULL,
    response_duration_ms INTEGER NOT NULL,
    trigger INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (message, id)
) STRICT, WITHOUT ROWID;
-- With the status, so that an endpoint's attempts are counted without being read.
CREATE INDEX attempts_at_endpoint ON attempts (endpoint, id, status);

-- Background tasks. A running one is anybody's once `leased_until` is over.
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

-- What accounts are to be told of. A number is used once: it is in the message's event id.
CREATE TABLE operational_events (
    no INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    event_type TEXT NOT NULL,
    payload TEXT NOT NULL
) STRICT;

-- Written to see whether the database can be.
CREATE TABLE pings (
    no INTEGER PRIMARY KEY CHECK (no = 1),
    count INTEGER NOT NULL
) STRICT;
INSERT INTO pings (no, count) VALUES (1, 0);

-- One text sealed by each key that may have sealed something here: who can't open them all has not the right keys.
CREATE TABLE sentinels (
    sealed TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
