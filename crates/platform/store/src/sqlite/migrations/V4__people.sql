-- What a house says of itself. Its name is the customer's.
CREATE TABLE houses (
    customer BLOB NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The content of each house's logo, under the UUID that its state names.
CREATE TABLE house_logos (
    uuid BLOB NOT NULL PRIMARY KEY,
    customer BLOB NOT NULL,
    content BLOB NOT NULL
) STRICT;
CREATE INDEX house_logos_of_customer ON house_logos (customer);

-- Versions of the conditions of sale of houses. Rows never change.
CREATE TABLE conditions (
    customer BLOB NOT NULL,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    actor TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (customer, number)
) STRICT, WITHOUT ROWID;

-- What bidders read about a sale, beside what the auction itself has.
CREATE TABLE sale_facts (
    auction BLOB NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT, WITHOUT ROWID;

UPDATE schema_compatibility SET compatible_from = 1;
