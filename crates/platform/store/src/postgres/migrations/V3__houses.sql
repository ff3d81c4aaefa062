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
UPDATE schema_compatibility SET compatible_from = 1;
