-- What a house says of itself. Its name is the customer's.
CREATE TABLE houses (
    customer uuid NOT NULL PRIMARY KEY,
    version bigint NOT NULL,
    state text NOT NULL
);

-- The content of each house's logo, under the UUID that its state names.
CREATE TABLE house_logos (
    uuid uuid NOT NULL PRIMARY KEY,
    customer uuid NOT NULL,
    content bytea NOT NULL
);
CREATE INDEX house_logos_of_customer ON house_logos (customer);

-- Versions of the conditions of sale of houses. Rows never change.
CREATE TABLE conditions (
    customer uuid NOT NULL,
    number bigint NOT NULL,
    text text NOT NULL,
    actor text NOT NULL,
    created_at_ms bigint NOT NULL,
    PRIMARY KEY (customer, number)
);

-- What bidders read about a sale, beside what the auction itself has.
CREATE TABLE sale_facts (
    auction uuid NOT NULL PRIMARY KEY,
    version bigint NOT NULL,
    state text NOT NULL
);

-- `erased_at_ms` is set for an erased person, whom lists and searches leave out. `kept_until_ms` is set while what invoices need is
-- kept of an erased person. Nodes of the version before show such a record without a name.
ALTER TABLE parties ADD COLUMN erased_at_ms bigint;
ALTER TABLE parties ADD COLUMN kept_until_ms bigint;
CREATE INDEX parties_kept_until ON parties (kept_until_ms) WHERE kept_until_ms IS NOT NULL;

-- The vendor of an item, so that the record of a consignor lists the lots. The state has it too, and is what counts. A node of
-- the version before does not write the column; the next change of the item on a newer node corrects it.
ALTER TABLE items ADD COLUMN vendor uuid;
UPDATE items SET vendor = (state::json ->> 'vendor')::uuid WHERE state::json ->> 'vendor' IS NOT NULL;
CREATE INDEX items_of_vendor ON items (vendor, auction, position) WHERE vendor IS NOT NULL;

-- Connections that the platform made, and names of users. An earlier program leaves both columns empty.

-- True when the platform made the API key, for the account that the embedded provider opens for the customer.
ALTER TABLE consumers ADD COLUMN key_made boolean;

-- What people call the user. NULL for a user without a name, whose e-mail address is shown.
ALTER TABLE users ADD COLUMN name text;

UPDATE schema_compatibility SET compatible_from = 1;
