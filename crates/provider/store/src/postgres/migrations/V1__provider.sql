-- What the provider keeps. Texts are compared by byte, so that ids are in order of time, as KSUIDs grow with it.

CREATE TABLE accounts (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    payload_check TEXT NOT NULL,
    requests_per_second_max BIGINT,
    endpoints_max BIGINT
);

CREATE TABLE api_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    hash BYTEA NOT NULL UNIQUE,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ,
    last_used_at TIMESTAMPTZ
);
CREATE INDEX api_keys_of_account ON api_keys (account, id);

-- Tokens that give access to one application.
CREATE TABLE app_tokens (
    id TEXT COLLATE "C" PRIMARY KEY,
    hash BYTEA NOT NULL UNIQUE,
    account TEXT COLLATE "C" NOT NULL,
    application TEXT COLLATE "C" NOT NULL,
    capabilities TEXT NOT NULL,
    feature_flags TEXT NOT NULL,
    session_id TEXT COLLATE "C",
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX app_tokens_of_application ON app_tokens (application, id);
CREATE INDEX app_tokens_by_end ON app_tokens (expires_at);

-- Answers to requests with an idempotency key. They are forgotten in the order in which they were given; `key` is a
-- fingerprint of account and key.
CREATE TABLE answers (
    no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key BYTEA NOT NULL UNIQUE,
    request_hash BYTEA NOT NULL,
    at TIMESTAMPTZ NOT NULL,
    application TEXT,
    message TEXT,
    status INTEGER,
    body TEXT
);

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

CREATE TABLE endpoints (
    id TEXT COLLATE "C" PRIMARY KEY,
    application TEXT COLLATE "C" NOT NULL,
    uid TEXT COLLATE "C",
    url TEXT NOT NULL,
    description TEXT NOT NULL,
    disabled BOOLEAN NOT NULL,
    filter_types TEXT,
    channels TEXT,
    throttle_rate INTEGER,
    metadata TEXT NOT NULL,
    headers TEXT NOT NULL,
    secret TEXT NOT NULL,
    old_secrets TEXT NOT NULL,
    failing_since TIMESTAMPTZ,
    ordering SMALLINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX endpoints_of_application ON endpoints (application, id);
CREATE UNIQUE INDEX endpoints_by_uid ON endpoints (application, uid) WHERE uid IS NOT NULL;
-- Those that are not as they should be, for counting.
CREATE INDEX endpoints_failing ON endpoints (failing_since) WHERE failing_since IS NOT NULL AND NOT disabled;
CREATE INDEX endpoints_disabled ON endpoints (disabled) WHERE disabled;

-- `event_key` is a fingerprint of application and event id.
CREATE TABLE messages (
    application TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    event_type TEXT NOT NULL,
    event_id TEXT,
    event_key BYTEA,
    payload BYTEA,
    channels TEXT,
    tags TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    payload_expires_at TIMESTAMPTZ NOT NULL,
    deliver_at TIMESTAMPTZ,
    ordering_key TEXT,
    PRIMARY KEY (application, id)
);
CREATE UNIQUE INDEX messages_by_event_key ON messages (event_key) WHERE event_key IS NOT NULL;
-- Payloads that go before their messages do, which is after 90 days.
CREATE INDEX messages_by_payload_expiry ON messages (payload_expires_at)
    WHERE payload IS NOT NULL AND payload_expires_at - created_at < INTERVAL '90 days';

CREATE TABLE nodes (
    no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    heard_at TIMESTAMPTZ NOT NULL
);

-- Endpoints that are left alone because their receivers asked for it, as they were when last changed at `changed_at`.
CREATE TABLE pauses (
    endpoint TEXT COLLATE "C" PRIMARY KEY,
    until TIMESTAMPTZ NOT NULL,
    changed_at TIMESTAMPTZ NOT NULL,
    at TIMESTAMPTZ NOT NULL
);
CREATE INDEX pauses_by_end ON pauses (until);
CREATE INDEX pauses_by_time ON pauses (at);

-- Work that is not finished, and nothing else. `owner` is the node that has it. `manual` is 1 when the attempt to come was
-- asked for, 2 when one was asked for while the owner is at another, and -1 when a background task sends the message again. Rows that stay in order have a `key`, and a `no` that
-- rises with their acceptance; all but the first of a key are held: their owner is 0, which is no node. Whoever deletes a row
-- with a key makes the next one due (`ordering.rs`). Rows come and go fast: vacuum early.
CREATE TABLE deliveries (
    endpoint TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C" NOT NULL,
    owner BIGINT,
    attempts INTEGER NOT NULL,
    next_at TIMESTAMPTZ NOT NULL,
    manual SMALLINT NOT NULL DEFAULT 0,
    key TEXT COLLATE "C",
    no BIGINT,
    PRIMARY KEY (endpoint, message)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
-- A delivery that goes well is never in here: it is entered with its owner, and goes.
CREATE INDEX deliveries_waiting ON deliveries (endpoint, next_at, message) WHERE owner IS NULL;
-- The same by kind, so that none is looked for behind another.
CREATE INDEX deliveries_by_hand ON deliveries (endpoint, next_at, message) WHERE owner IS NULL AND manual > 0;
CREATE INDEX deliveries_first ON deliveries (endpoint, next_at, message) WHERE owner IS NULL AND attempts = 0;
CREATE INDEX deliveries_again ON deliveries (endpoint, next_at, message) WHERE owner IS NULL AND attempts > 0;
CREATE INDEX deliveries_by_key ON deliveries (endpoint, key, no) WHERE key IS NOT NULL;

-- The response is bytes, because a text of PostgreSQL has no place for a NUL.
CREATE TABLE attempts (
    message TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    endpoint TEXT COLLATE "C" NOT NULL,
    url TEXT NOT NULL,
    status SMALLINT NOT NULL,
    response_status_code INTEGER NOT NULL,
    response BYTEA NOT NULL,
    response_duration_ms BIGINT NOT NULL,
    trigger SMALLINT NOT NULL,
    at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (message, id)
);
-- With the status, so that an endpoint's attempts are counted without being read.
CREATE INDEX attempts_at_endpoint ON attempts (endpoint, id) INCLUDE (status);

-- Background tasks. A running one is anybody's once `leased_until` is over.
CREATE TABLE background_tasks (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    kind SMALLINT NOT NULL,
    application TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    selection TEXT NOT NULL,
    status SMALLINT NOT NULL,
    position TEXT COLLATE "C" NOT NULL,
    found BIGINT NOT NULL,
    enqueued BIGINT NOT NULL,
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

-- What accounts are to be told of. A number is used once: it is in the message's event id.
CREATE TABLE operational_events (
    no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    event_type TEXT NOT NULL,
    payload TEXT NOT NULL
);

-- Written to see whether the database can be.
CREATE TABLE pings (
    no INTEGER PRIMARY KEY CHECK (no = 1),
    count BIGINT NOT NULL
);
INSERT INTO pings (no, count) VALUES (1, 0);

-- One text sealed by each key that may have sealed something here: who can't open them all has not the right keys.
CREATE TABLE sentinels (
    sealed TEXT NOT NULL PRIMARY KEY
);
