-- What the platform keeps. Times are milliseconds since 1970, UTC. UUIDs are their 16 bytes; those of version 7 grow with
-- time. A `state` is the whole aggregate as JSON; the columns beside it are what is asked for, and are written from it
-- (docs/decisions/0002).

CREATE TABLE customers (
    uuid BLOB NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Ids are primary keys of a public model: never given twice.
CREATE TABLE auctioneers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid BLOB NOT NULL UNIQUE,
    customer BLOB NOT NULL,
    name TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    profile TEXT NOT NULL,
    version INTEGER NOT NULL,
    UNIQUE (customer, name)
) STRICT;
CREATE INDEX auctioneers_of_customer ON auctioneers (customer, uuid);

-- The common model as JSON. Its ids are drawn before it is written, because what points to it is written with it.
CREATE TABLE addresses (
    id INTEGER PRIMARY KEY,
    customer BLOB NOT NULL,
    model TEXT NOT NULL
) STRICT;
CREATE TABLE address_ids (last INTEGER NOT NULL) STRICT;
INSERT INTO address_ids (last) VALUES (0);

CREATE TABLE api_keys (
    uuid BLOB NOT NULL PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    customer BLOB,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    last_used_at_ms INTEGER,
    revoked_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_of_customer ON api_keys (customer, uuid);

CREATE TABLE users (
    uuid BLOB NOT NULL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    version INTEGER NOT NULL,
    disabled_at_ms INTEGER,
    signed_in_at_ms INTEGER,
    totp_secret TEXT,
    totp_step INTEGER NOT NULL,
    totp_confirmed_at_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE recovery_codes (
    of_user BLOB NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (of_user, hash)
) STRICT, WITHOUT ROWID;

-- Who of the users with the role clerk has to do with which webcast.
CREATE TABLE clerks (
    auction BLOB NOT NULL,
    of_user BLOB NOT NULL,
    assigned_at_ms INTEGER NOT NULL,
    assigned_by TEXT NOT NULL,
    PRIMARY KEY (auction, of_user)
) STRICT, WITHOUT ROWID;
CREATE INDEX clerks_of_user ON clerks (of_user, auction);

-- Those that ended are gone.
CREATE TABLE sessions (
    uuid BLOB NOT NULL PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    of_user BLOB NOT NULL,
    address TEXT,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_of_user ON sessions (of_user, uuid);
CREATE INDEX sessions_by_end ON sessions (expires_at_ms);
CREATE INDEX sessions_by_use ON sessions (last_used_at_ms);

-- Allowances of who tries to sign in, until they are full again.
CREATE TABLE sign_in_attempts (
    subject BLOB NOT NULL PRIMARY KEY,
    full_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts (full_at_ms);

-- Answers to requests with an idempotency key, in the order in which they were given, which is that in which they are
-- forgotten.
CREATE TABLE answers (
    no INTEGER PRIMARY KEY,
    caller BLOB NOT NULL,
    key TEXT NOT NULL,
    request_hash BLOB NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    tag TEXT
) STRICT;
CREATE UNIQUE INDEX answers_by_key ON answers (caller, key);
-- Answers that hold a secret are sealed: no JSON text begins so.
CREATE INDEX answers_sealed ON answers (caller, key) WHERE substr(body, 1, 3) = 'v1.';

-- Connections to providers. One is complete with both the application's identifier and the (sealed) API key.
CREATE TABLE consumers (
    customer BLOB NOT NULL PRIMARY KEY,
    provider_url TEXT NOT NULL,
    application_id TEXT,
    api_key TEXT,
    parked_reason TEXT,
    parked_at_ms INTEGER,
    updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE auctions (
    no INTEGER PRIMARY KEY,
    uuid BLOB NOT NULL UNIQUE,
    customer BLOB NOT NULL,
    auctioneer BLOB NOT NULL,
    kind INTEGER NOT NULL,
    status INTEGER NOT NULL,
    version INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT;
CREATE INDEX auctions_of_customer ON auctions (customer, uuid);

CREATE TABLE items (
    no INTEGER PRIMARY KEY,
    uuid BLOB NOT NULL UNIQUE,
    auction BLOB NOT NULL,
    position INTEGER NOT NULL,
    lot_number TEXT NOT NULL,
    status INTEGER NOT NULL,
    has_bids INTEGER NOT NULL,
    effective_end_ms INTEGER,
    version INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX items_by_position ON items (auction, position);
CREATE UNIQUE INDEX items_by_lot_number ON items (auction, lot_number);
-- Counted without a look at the items, and listed by status.
CREATE INDEX items_by_status ON items (auction, status, has_bids, position);
-- What the timer asks for. 4 is LIVE; only items of timed auctions have an end.
CREATE INDEX items_by_end ON items (effective_end_ms) WHERE status = 4 AND effective_end_ms IS NOT NULL;

-- Sandbox auctions, which run on a clock of their own, are kept among the others. These columns are theirs alone; their
-- items have no `effective_end_ms`, so that the timer of real sales does not see them.
ALTER TABLE auctions ADD COLUMN sandbox INTEGER NOT NULL DEFAULT 0;
ALTER TABLE auctions ADD COLUMN clock_target_ms INTEGER;
-- A narrowed list is put together of one part of such an index for each combination of what is left open.
CREATE INDEX auctions_narrowed ON auctions (status, kind, sandbox, uuid);
CREATE INDEX auctions_of_customer_narrowed ON auctions (customer, status, kind, sandbox, uuid);
CREATE INDEX auctions_of_auctioneer_narrowed ON auctions (auctioneer, status, kind, sandbox, uuid);
CREATE INDEX auctions_advancing ON auctions (uuid) WHERE clock_target_ms IS NOT NULL;
ALTER TABLE items ADD COLUMN sandbox_end_ms INTEGER;
CREATE INDEX items_by_sandbox_end ON items (auction, sandbox_end_ms, position)
    WHERE status = 4 AND sandbox_end_ms IS NOT NULL;

-- Auctions whose items follow a change of them piece by piece, and how far these have come; `import` where they are being
-- entered.
CREATE TABLE leads (
    auction BLOB NOT NULL PRIMARY KEY,
    step INTEGER NOT NULL,
    import BLOB,
    state TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- Items of imports, a piece each row, until they are entered.
CREATE TABLE staged_items (
    no INTEGER PRIMARY KEY,
    import BLOB NOT NULL,
    number INTEGER NOT NULL,
    items TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX staged_items_of_import ON staged_items (import, number);

-- Append-only but for `struck…`, which says how a bid came to count no more.
CREATE TABLE bids (
    item BLOB NOT NULL,
    number INTEGER NOT NULL,
    uuid BLOB NOT NULL,
    bidder TEXT NOT NULL,
    amount INTEGER NOT NULL,
    source INTEGER NOT NULL,
    actor TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    maximum INTEGER NOT NULL,
    before INTEGER,
    asked INTEGER,
    struck INTEGER,
    struck_after INTEGER,
    struck_reason TEXT,
    struck_actor TEXT,
    struck_at_ms INTEGER,
    PRIMARY KEY (item, number)
) STRICT, WITHOUT ROWID;

-- Append-only: every change of an auction, item or registration, chained by hash (docs/audit.md). `content` is JSON whose bytes the hash
-- covers; `concealed` is what it only commits to. Rows are added at the end whatever they are about, which costs a commit
-- less than a place for each subject.
CREATE TABLE log (
    no INTEGER PRIMARY KEY,
    subject BLOB NOT NULL,
    number INTEGER NOT NULL,
    content TEXT NOT NULL,
    concealed TEXT,
    hash BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX log_of_subject ON log (subject, number);
-- Bidders registered for an auction. `turn` is counted here and not in the state: bids under a limit move it on.
CREATE TABLE registrations (
    uuid BLOB NOT NULL PRIMARY KEY,
    auction BLOB NOT NULL,
    paddle TEXT NOT NULL,
    number INTEGER,
    party BLOB,
    status INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    version INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX registrations_by_paddle ON registrations (auction, paddle);
CREATE UNIQUE INDEX registrations_by_party ON registrations (auction, party) WHERE party IS NOT NULL;
CREATE INDEX registrations_by_number ON registrations (auction, number) WHERE number IS NOT NULL;
CREATE INDEX registrations_of_auction ON registrations (auction, uuid);
CREATE INDEX registrations_by_status ON registrations (auction, status, uuid);
-- Items on which registered bidders have bid: where to look for what their limits have to cover.
CREATE TABLE stakes (
    auction BLOB NOT NULL,
    paddle TEXT NOT NULL,
    item BLOB NOT NULL,
    PRIMARY KEY (auction, paddle, item)
) STRICT, WITHOUT ROWID;

-- Append-only. No row ever goes, so that the next cursor is above every one before without being remembered elsewhere.
CREATE TABLE journal (
    cursor INTEGER PRIMARY KEY,
    customer BLOB NOT NULL,
    subject BLOB NOT NULL,
    kind INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    from_status TEXT,
    to_status TEXT NOT NULL,
    cause TEXT NOT NULL,
    actor TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    reason TEXT,
    body TEXT
) STRICT;
CREATE UNIQUE INDEX journal_of_subject ON journal (subject, sequence);
CREATE INDEX journal_announced ON journal (customer, cursor) WHERE body IS NOT NULL;

CREATE TABLE nodes (
    no INTEGER PRIMARY KEY,
    uuid BLOB NOT NULL UNIQUE,
    heard_at_ms INTEGER NOT NULL
) STRICT;

-- When somebody lived last, and a time in which nobody did, while ends in it may still have to be seen to.
CREATE TABLE runs (
    no INTEGER PRIMARY KEY CHECK (no = 1),
    alive_ms INTEGER NOT NULL,
    down_since_ms INTEGER,
    down_until_ms INTEGER
) STRICT;

-- Announced events that are not published yet, and nothing else; their body is the journal's. `owner` is the number of the
-- node that has the row; `next_at_ms` is set while the row waits for its time.
CREATE TABLE outbox (
    cursor INTEGER PRIMARY KEY,
    customer BLOB NOT NULL,
    subject BLOB NOT NULL,
    owner INTEGER,
    next_at_ms INTEGER,
    attempts INTEGER NOT NULL,
    error TEXT,
    error_at_ms INTEGER
) STRICT;
CREATE INDEX outbox_of_customer ON outbox (customer, cursor);
CREATE INDEX outbox_of_subject ON outbox (subject, cursor);
CREATE INDEX outbox_by_time ON outbox (customer, next_at_ms) WHERE next_at_ms IS NOT NULL;
CREATE INDEX outbox_failed ON outbox (customer, error_at_ms) WHERE error_at_ms IS NOT NULL;

CREATE TABLE quarantine (
    customer BLOB NOT NULL,
    cursor INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    error TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (customer, cursor)
) STRICT, WITHOUT ROWID;

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

-- Who came in, and who has changed who may do what: one log, chained by hash, that only grows. Its head is beside it.
CREATE TABLE access_log (
    number INTEGER PRIMARY KEY,
    content TEXT NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE TABLE access_log_head (number INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
INSERT INTO access_log_head (number, hash) VALUES (0, zeroblob(32));
