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
UPDATE schema_compatibility SET compatible_from = 1;
