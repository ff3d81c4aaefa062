-- The register of a house: the people and firms that bid, consign or both. `name` and `search` are in lower case without
-- accents. Registrations and items name a party by its UUID.
CREATE TABLE parties (
    uuid BLOB NOT NULL PRIMARY KEY,
    customer BLOB NOT NULL,
    name TEXT NOT NULL,
    search TEXT NOT NULL,
    reference TEXT,
    is_bidder INTEGER NOT NULL,
    is_consignor INTEGER NOT NULL,
    is_blocked INTEGER NOT NULL,
    version INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX parties_by_name ON parties (customer, name, uuid);
CREATE UNIQUE INDEX parties_by_reference ON parties (customer, reference) WHERE reference IS NOT NULL;
CREATE INDEX registrations_of_party ON registrations (party, uuid) WHERE party IS NOT NULL;
CREATE INDEX registrations_of_paddle ON registrations (paddle) WHERE party IS NOT NULL;

-- What the platform has read of its customers' endpoints at their providers. Rows of a connection are deleted with it, and when
-- it gets another application or provider. Nodes of the version before read and write none of them.

-- One row for each customer whose endpoints are read. A node that reads them has claimed the row until `claimed_until_ms`.
-- `outcome` is how the last reading went: `never`, `read`, `no_right` or `failed`.
CREATE TABLE endpoint_readings (
    customer BLOB NOT NULL PRIMARY KEY,
    due_at_ms INTEGER NOT NULL,
    claimed_until_ms INTEGER NOT NULL DEFAULT 0,
    published_at_ms INTEGER,
    outcome TEXT NOT NULL DEFAULT 'never',
    outcome_since_ms INTEGER,
    detail TEXT,
    tried_at_ms INTEGER,
    read_at_ms INTEGER,
    has_more INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX endpoint_readings_due ON endpoint_readings (due_at_ms);

-- The endpoints as they were last read.
CREATE TABLE endpoints (
    customer BLOB NOT NULL,
    endpoint TEXT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (customer, endpoint)
) STRICT, WITHOUT ROWID;

-- Whether an endpoint received an announced event. `state`: 0 delivered, 1 waits for a further attempt, 2 failed for good.
CREATE TABLE event_deliveries (
    subject BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    endpoint TEXT NOT NULL,
    customer BLOB NOT NULL,
    event_id TEXT NOT NULL,
    state INTEGER NOT NULL,
    accepted_at_ms INTEGER NOT NULL,
    read_at_ms INTEGER NOT NULL,
    PRIMARY KEY (subject, sequence, endpoint)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_deliveries_of_customer ON event_deliveries (customer, accepted_at_ms);
CREATE INDEX event_deliveries_undelivered ON event_deliveries (customer, read_at_ms) WHERE state > 0;

UPDATE schema_compatibility SET compatible_from = 1;
