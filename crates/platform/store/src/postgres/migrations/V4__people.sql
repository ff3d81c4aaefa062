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

UPDATE schema_compatibility SET compatible_from = 1;
