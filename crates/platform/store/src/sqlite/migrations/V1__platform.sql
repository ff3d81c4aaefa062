-- The platform's tables. Times (`…_ms`) are milliseconds since 1970, UTC. UUIDs are their 16 bytes; those of version 7 grow
-- with time. A `state` is the whole aggregate as JSON; the columns beside it repeat the fields that queries, constraints and
-- indexes use (docs/decisions/0002). Tables that have a `no` append their rows, and number them in the order of insertion.

-------------------------------------------------------------------------------------------------------------------------------
-- Houses: customers, their auctioneers, addresses and connections to a provider
-------------------------------------------------------------------------------------------------------------------------------

CREATE TABLE customers (
    uuid BLOB NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- `id` is the primary key of a public model: AUTOINCREMENT never gives an id twice.
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

-- `model` is the common model as JSON. `address_ids` gives the next id before the row is written, because the row that refers
-- to it is written in the same transaction.
CREATE TABLE addresses (
    id INTEGER PRIMARY KEY,
    customer BLOB NOT NULL,
    model TEXT NOT NULL
) STRICT;
CREATE TABLE address_ids (last INTEGER NOT NULL) STRICT;
INSERT INTO address_ids (last) VALUES (0);

-- Connections of customers to a provider. A connection is complete with the application's identifier and the sealed API key.
-- `provider_url` is NULL for the provider of this installation. `contact` is the result of the last requests.
CREATE TABLE consumers (
    customer BLOB NOT NULL PRIMARY KEY,
    provider_url TEXT,
    application_id TEXT,
    api_key TEXT,
    updated_at_ms INTEGER NOT NULL,
    contact TEXT NOT NULL,
    contact_since_ms INTEGER,
    contact_detail TEXT,
    parked_reason TEXT,
    parked_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX consumers_parked ON consumers (parked_at_ms) WHERE parked_at_ms IS NOT NULL;

-------------------------------------------------------------------------------------------------------------------------------
-- Access: API keys, users, their sessions and invitations, idempotent answers, the access log
-------------------------------------------------------------------------------------------------------------------------------

-- `customer` is NULL for a key of the operator.
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

-- `must_change_password` is 1 while the user has to choose another password before anything else.
CREATE TABLE users (
    uuid BLOB NOT NULL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    must_change_password INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    version INTEGER NOT NULL,
    disabled_at_ms INTEGER,
    signed_in_at_ms INTEGER,
    totp_secret TEXT,
    totp_step INTEGER NOT NULL,
    totp_confirmed_at_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE recovery_codes (
    user_uuid BLOB NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (user_uuid, hash)
) STRICT, WITHOUT ROWID;

-- The row of a session is deleted when the session ends.
CREATE TABLE sessions (
    uuid BLOB NOT NULL PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    user_uuid BLOB NOT NULL,
    address TEXT,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_of_user ON sessions (user_uuid, uuid);
CREATE INDEX sessions_by_end ON sessions (expires_at_ms);
CREATE INDEX sessions_by_use ON sessions (last_used_at_ms);

-- Links with which an invited person becomes a user; at most one for each email address.
CREATE TABLE invitations (
    uuid BLOB NOT NULL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    created_at_ms INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One-time codes of an empty installation. Each can create the first administrator, at any node; then all are deleted.
CREATE TABLE setup_codes (
    hash BLOB NOT NULL PRIMARY KEY,
    expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Allowances of sign-in attempts. A row is deleted once its allowance is full again.
CREATE TABLE sign_in_attempts (
    subject BLOB NOT NULL PRIMARY KEY,
    full_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts (full_at_ms);

-- Answers to requests with an idempotency key. The oldest are deleted first, which is the order of `no`.
CREATE TABLE idempotent_answers (
    no INTEGER PRIMARY KEY,
    caller BLOB NOT NULL,
    key TEXT NOT NULL,
    request_hash BLOB NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    tag TEXT
) STRICT;
CREATE UNIQUE INDEX idempotent_answers_by_key ON idempotent_answers (caller, key);
-- Answers that contain a secret are sealed: no JSON text begins so.
CREATE INDEX idempotent_answers_sealed ON idempotent_answers (caller, key) WHERE substr(body, 1, 3) = 'v1.';

-- Append-only: sign-ins, and changes of users, roles and keys, chained by hash. The head is the last number and hash.
CREATE TABLE access_log (
    number INTEGER PRIMARY KEY,
    content TEXT NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE TABLE access_log_head (number INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
INSERT INTO access_log_head (number, hash) VALUES (0, zeroblob(32));

-------------------------------------------------------------------------------------------------------------------------------
-- Sales: auctions and their items, changes of many items, catalogue files, images
-------------------------------------------------------------------------------------------------------------------------------

-- Sandbox auctions are among the others. `clock_target_ms` is set while a sandbox clock advances.
CREATE TABLE auctions (
    no INTEGER PRIMARY KEY,
    uuid BLOB NOT NULL UNIQUE,
    customer BLOB NOT NULL,
    auctioneer BLOB NOT NULL,
    kind INTEGER NOT NULL,
    status INTEGER NOT NULL,
    sandbox INTEGER NOT NULL DEFAULT 0,
    clock_target_ms INTEGER,
    version INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT;
CREATE INDEX auctions_of_customer ON auctions (customer, uuid);
-- A filtered list merges one range of such an index for each combination of the values that the filter leaves open.
CREATE INDEX auctions_by_filter ON auctions (status, kind, sandbox, uuid);
CREATE INDEX auctions_of_customer_by_filter ON auctions (customer, status, kind, sandbox, uuid);
CREATE INDEX auctions_of_auctioneer_by_filter ON auctions (auctioneer, status, kind, sandbox, uuid);
CREATE INDEX auctions_advancing ON auctions (uuid) WHERE clock_target_ms IS NOT NULL;

-- An item of a timed auction has an `effective_end_ms`. An item of a sandbox auction has a `sandbox_end_ms` instead, so that
-- the timer of real sales does not find it.
CREATE TABLE items (
    no INTEGER PRIMARY KEY,
    uuid BLOB NOT NULL UNIQUE,
    auction BLOB NOT NULL,
    position INTEGER NOT NULL,
    lot_number TEXT NOT NULL,
    status INTEGER NOT NULL,
    has_bids INTEGER NOT NULL,
    effective_end_ms INTEGER,
    sandbox_end_ms INTEGER,
    version INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX items_by_position ON items (auction, position);
CREATE UNIQUE INDEX items_by_lot_number ON items (auction, lot_number);
-- Counts items without reading their states, and lists them by status.
CREATE INDEX items_by_status ON items (auction, status, has_bids, position);
-- For the timers. Status 4 is LIVE.
CREATE INDEX items_by_end ON items (effective_end_ms) WHERE status = 4 AND effective_end_ms IS NOT NULL;
CREATE INDEX items_by_sandbox_end ON items (auction, sandbox_end_ms, position)
    WHERE status = 4 AND sandbox_end_ms IS NOT NULL;

-- Changes of an auction that its items follow in steps; `step` counts them. `import` names the staged items of an import.
CREATE TABLE bulk_changes (
    auction BLOB NOT NULL PRIMARY KEY,
    step INTEGER NOT NULL,
    import BLOB,
    state TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Items of imports, several in each row, until the bulk change inserts them.
CREATE TABLE staged_items (
    no INTEGER PRIMARY KEY,
    import BLOB NOT NULL,
    number INTEGER NOT NULL,
    items TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX staged_items_of_import ON staged_items (import, number);

-- How a customer mapped the columns of a catalogue file last.
CREATE TABLE catalogue_mappings (
    customer BLOB PRIMARY KEY,
    mapping TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Catalogue files between their upload and their import. Their content is in files of the data directory's folder `uploads`.
CREATE TABLE catalogue_uploads (
    uuid BLOB PRIMARY KEY,
    user_uuid BLOB NOT NULL,
    customer BLOB NOT NULL,
    auction BLOB NOT NULL,
    file_name TEXT NOT NULL,
    sheet TEXT,
    bytes INTEGER NOT NULL,
    is_complete INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX catalogue_uploads_of_user ON catalogue_uploads (user_uuid, expires_at_ms);
CREATE INDEX catalogue_uploads_by_expiry ON catalogue_uploads (expires_at_ms);

-- Images of items. Their content is in files of the data directory's folder `images`, named after `content`. Images of copied
-- lots have the `content` of the originals; the files are deleted with the last image that has it.
CREATE TABLE item_images (
    no INTEGER PRIMARY KEY,
    uuid BLOB NOT NULL UNIQUE,
    item BLOB NOT NULL,
    auction BLOB NOT NULL,
    customer BLOB NOT NULL,
    position INTEGER NOT NULL,
    content BLOB NOT NULL,
    file_name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX images_of_item ON item_images (item, position);
CREATE INDEX images_of_content ON item_images (content);

-------------------------------------------------------------------------------------------------------------------------------
-- Webcasts: clerks, screens, telephone bookings
-------------------------------------------------------------------------------------------------------------------------------

-- Which users with the role clerk may run which webcast.
CREATE TABLE clerks (
    auction BLOB NOT NULL,
    user_uuid BLOB NOT NULL,
    assigned_at_ms INTEGER NOT NULL,
    assigned_by TEXT NOT NULL,
    PRIMARY KEY (auction, user_uuid)
) STRICT, WITHOUT ROWID;
CREATE INDEX clerks_of_user ON clerks (user_uuid, auction);

-- Links that open a screen of a webcast without a sign-in. A webcast has at most one of each kind. `shows_reserve` is 1 when
-- the speaker's view shows the reserve and the commission book. When a link replaces one whose maker lost their access, the
-- previous link opens the screen until the new one is used, at the latest until `previous_until_ms`.
CREATE TABLE screen_links (
    auction BLOB NOT NULL,
    kind TEXT NOT NULL,
    uuid BLOB NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    shows_reserve INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER,
    previous_hash BLOB,
    previous_until_ms INTEGER,
    PRIMARY KEY (auction, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX screen_links_by_previous ON screen_links (previous_hash);

-- Exchange rates with which the room screen shows prices. `rate_millionths` is the amount of the other currency for one unit
-- of the auction's currency.
CREATE TABLE guide_rates (
    auction BLOB NOT NULL,
    currency TEXT NOT NULL,
    rate_millionths INTEGER NOT NULL,
    rate_date TEXT NOT NULL,
    PRIMARY KEY (auction, currency)
) STRICT, WITHOUT ROWID;

-- Bidders whom staff call before a lot of a webcast. `line` is a telephone line, or the name of the member of staff who calls.
CREATE TABLE telephone_bookings (
    item BLOB NOT NULL,
    paddle TEXT NOT NULL,
    auction BLOB NOT NULL,
    telephone TEXT NOT NULL,
    line TEXT NOT NULL,
    changed_at_ms INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    PRIMARY KEY (item, paddle)
) STRICT, WITHOUT ROWID;
CREATE INDEX telephone_bookings_by_auction ON telephone_bookings (auction);

-------------------------------------------------------------------------------------------------------------------------------
-- Bidding: registrations and bids
-------------------------------------------------------------------------------------------------------------------------------

-- Bidders registered for an auction. `number` is the paddle if it is a number. Each bid under a spending limit raises
-- `spending_version`, which is not part of the state.
CREATE TABLE registrations (
    uuid BLOB NOT NULL PRIMARY KEY,
    auction BLOB NOT NULL,
    paddle TEXT NOT NULL,
    number INTEGER,
    party BLOB,
    status INTEGER NOT NULL,
    spending_version INTEGER NOT NULL,
    version INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX registrations_by_paddle ON registrations (auction, paddle);
CREATE UNIQUE INDEX registrations_by_party ON registrations (auction, party) WHERE party IS NOT NULL;
CREATE INDEX registrations_by_number ON registrations (auction, number) WHERE number IS NOT NULL;
CREATE INDEX registrations_of_auction ON registrations (auction, uuid);
CREATE INDEX registrations_by_status ON registrations (auction, status, uuid);

-- Items on which registered bidders have bid: their spending limits have to cover these.
CREATE TABLE bidder_items (
    auction BLOB NOT NULL,
    paddle TEXT NOT NULL,
    item BLOB NOT NULL,
    PRIMARY KEY (auction, paddle, item)
) STRICT, WITHOUT ROWID;

-- Append-only, except `struck…`: why a bid does not count any more. `struck_after` is the number of the last bid at that time.
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

-------------------------------------------------------------------------------------------------------------------------------
-- Records and announcements: audit log, journal, outbox, quarantine
-------------------------------------------------------------------------------------------------------------------------------

-- Append-only: every change of an auction, item or registration, chained by hash (docs/operate/audit.md). The hash covers the
-- bytes of `content`, which is JSON, and a commitment to `concealed`. Rows are appended for all subjects together, because an
-- insert in the middle of the table would cost each commit more pages.
CREATE TABLE audit_log (
    no INTEGER PRIMARY KEY,
    subject BLOB NOT NULL,
    number INTEGER NOT NULL,
    content TEXT NOT NULL,
    concealed TEXT,
    hash BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX audit_log_of_subject ON audit_log (subject, number);

-- Append-only: status changes; those with a `body` are announced. No row is ever deleted, so the next cursor is above every
-- earlier one.
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

-- Announced events that are not published yet; their body is in the journal. `owner` is the `no` of the node that publishes
-- the row; `next_at_ms` is set while the row waits for a retry.
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

-- Events that the provider refused.
CREATE TABLE quarantine (
    customer BLOB NOT NULL,
    cursor INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    error TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (customer, cursor)
) STRICT, WITHOUT ROWID;

-- Events that left the quarantine after a restore of the installation. Their event id names the restore
-- (docs/decisions/0021).
CREATE TABLE announced_again (
    cursor INTEGER PRIMARY KEY,
    restore_number INTEGER NOT NULL
) STRICT;

-------------------------------------------------------------------------------------------------------------------------------
-- Operation: the installation, nodes, downtime, health, sealing keys
-------------------------------------------------------------------------------------------------------------------------------

-- `restores` counts how often this installation was restored from a backup.
CREATE TABLE installation (
    no INTEGER PRIMARY KEY CHECK (no = 1),
    restores INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO installation (no) VALUES (1);

CREATE TABLE nodes (
    no INTEGER PRIMARY KEY,
    uuid BLOB NOT NULL UNIQUE,
    heartbeat_at_ms INTEGER NOT NULL
) STRICT;

-- When a node ran last, and the downtime whose ends of items are not decided yet.
CREATE TABLE downtime (
    no INTEGER PRIMARY KEY CHECK (no = 1),
    last_alive_at_ms INTEGER NOT NULL,
    down_since_ms INTEGER,
    down_until_ms INTEGER
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
