-- The register of a house: the people and firms that bid, consign or both. `name` and `search` are in lower case without
-- accents. Registrations and items name a party by its UUID.
CREATE TABLE parties (
    uuid uuid PRIMARY KEY,
    customer uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    search text NOT NULL,
    reference text,
    is_bidder boolean NOT NULL,
    is_consignor boolean NOT NULL,
    is_blocked boolean NOT NULL,
    version bigint NOT NULL,
    state text NOT NULL
);
CREATE INDEX parties_by_name ON parties (customer, name, uuid);
CREATE UNIQUE INDEX parties_by_reference ON parties (customer, reference) WHERE reference IS NOT NULL;
CREATE INDEX registrations_of_party ON registrations (party, uuid) WHERE party IS NOT NULL;
CREATE INDEX registrations_of_paddle ON registrations (paddle) WHERE party IS NOT NULL;

-- What the platform has read of its customers' endpoints at their providers. Rows of a connection are deleted with it, and when
-- it gets another application or provider. Nodes of the version before read and write none of them.

-- One row for each customer whose endpoints are read. A node that reads them has claimed the row until `claimed_until_ms`.
-- `outcome` is how the last reading went: `never`, `read`, `no_right` or `failed`.
CREATE TABLE endpoint_readings (
    customer uuid NOT NULL PRIMARY KEY,
    due_at_ms bigint NOT NULL,
    claimed_until_ms bigint NOT NULL DEFAULT 0,
    published_at_ms bigint,
    outcome text NOT NULL DEFAULT 'never',
    outcome_since_ms bigint,
    detail text,
    tried_at_ms bigint,
    read_at_ms bigint,
    has_more boolean NOT NULL DEFAULT false
);
CREATE INDEX endpoint_readings_due ON endpoint_readings (due_at_ms);

-- The endpoints as they were last read.
CREATE TABLE endpoints (
    customer uuid NOT NULL,
    endpoint text COLLATE "C" NOT NULL,
    state text NOT NULL,
    PRIMARY KEY (customer, endpoint)
);

-- Whether an endpoint received an announced event. `state`: 0 delivered, 1 waits for a further attempt, 2 failed for good.
CREATE TABLE event_deliveries (
    subject uuid NOT NULL,
    sequence bigint NOT NULL,
    endpoint text COLLATE "C" NOT NULL,
    customer uuid NOT NULL,
    event_id text NOT NULL,
    state smallint NOT NULL,
    accepted_at_ms bigint NOT NULL,
    read_at_ms bigint NOT NULL,
    PRIMARY KEY (subject, sequence, endpoint)
);
CREATE INDEX event_deliveries_of_customer ON event_deliveries (customer, accepted_at_ms);
CREATE INDEX event_deliveries_undelivered ON event_deliveries (customer, read_at_ms) WHERE state > 0;

UPDATE schema_compatibility SET compatible_from = 1;
