-- What a house says of itself. Its name is the customer's.
CREATE TABLE houses (
    customer BLOB NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL,
    state TEXT NOT NULL,
    -- The address of its saleroom, as its state has it. NULL without one.
    saleroom TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX houses_by_saleroom ON houses (saleroom) WHERE saleroom IS NOT NULL;

-- The domain that each house entered for its saleroom. `proven` is the domain, as its state has it, while it is proven; NULL otherwise.
-- `due_at_ms` is when its record is looked up again, `is_troubled` is 1 while its record is missing and after the domain was lost.
CREATE TABLE house_domains (
    customer BLOB NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL,
    state TEXT NOT NULL,
    proven TEXT,
    due_at_ms INTEGER,
    is_troubled INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX house_domains_by_proven ON house_domains (proven) WHERE proven IS NOT NULL;
CREATE INDEX house_domains_due ON house_domains (due_at_ms) WHERE due_at_ms IS NOT NULL;

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

-- `erased_at_ms` is set for an erased person, whom lists and searches leave out. `kept_until_ms` is set while what invoices need is
-- kept of an erased person. Nodes of the version before show such a record without a name.
ALTER TABLE parties ADD COLUMN erased_at_ms INTEGER;
ALTER TABLE parties ADD COLUMN kept_until_ms INTEGER;
CREATE INDEX parties_kept_until ON parties (kept_until_ms) WHERE kept_until_ms IS NOT NULL;

-- The vendor of an item, so that the record of a consignor lists the lots. The state has it too, and is what counts. A node of
-- the version before does not write the column; the next change of the item on a newer node corrects it.
ALTER TABLE items ADD COLUMN vendor BLOB;
UPDATE items SET vendor = unhex(replace(json_extract(state, '$.vendor'), '-', ''))
    WHERE json_extract(state, '$.vendor') IS NOT NULL;
CREATE INDEX items_of_vendor ON items (vendor, auction, position) WHERE vendor IS NOT NULL;

-- The category of an item, so that the catalogue of a saleroom lists those of a sale. The state has it too, and is what counts.
ALTER TABLE items ADD COLUMN category TEXT;
CREATE INDEX items_of_category ON items (auction, category) WHERE category IS NOT NULL;

-- Connections that the platform made, names of users, and single sign-on. An earlier program leaves these columns empty.

-- True when the platform made the API key, for the account that the embedded provider opens for the customer.
ALTER TABLE consumers ADD COLUMN key_made INTEGER;

-- What people call the user. NULL for a user without a name, whose e-mail address is shown.
ALTER TABLE users ADD COLUMN name TEXT;

-- Mails to bidders. `state`: 0 waits, 1 was sent, 2 was given up. `next_at_ms` is set while a mail waits; a node that sends it has
-- claimed it until then. `kind` is `approved`, `declined`, `suspended` or `reminder`. The program of the version before writes none
-- and sends none.
CREATE TABLE mails (
    uuid BLOB NOT NULL PRIMARY KEY,
    customer BLOB NOT NULL,
    auction BLOB NOT NULL,
    registration BLOB NOT NULL,
    party BLOB,
    kind TEXT NOT NULL,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    queued_at_ms INTEGER NOT NULL,
    state INTEGER NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0,
    next_at_ms INTEGER,
    fault TEXT,
    failing_since_ms INTEGER,
    ended_at_ms INTEGER,
    held_since_ms INTEGER,
    unsubscribe TEXT
) STRICT;
CREATE INDEX mails_due ON mails (next_at_ms) WHERE state = 0;
CREATE INDEX mails_waiting ON mails (queued_at_ms) WHERE state = 0;
CREATE INDEX mails_of_customer ON mails (customer, state, uuid);
CREATE INDEX mails_failed ON mails (customer, ended_at_ms) WHERE state = 2;
CREATE INDEX mails_held ON mails (customer, held_since_ms) WHERE state = 0 AND held_since_ms IS NOT NULL;
CREATE INDEX mails_of_registration ON mails (registration);
CREATE INDEX mails_of_party ON mails (party) WHERE party IS NOT NULL;
CREATE INDEX mails_ended ON mails (ended_at_ms) WHERE ended_at_ms IS NOT NULL;

-- Reminders of a sale to its approved bidders. `after` is the registration up to which mails were made.
CREATE TABLE reminders (
    uuid BLOB NOT NULL PRIMARY KEY,
    customer BLOB NOT NULL,
    auction BLOB NOT NULL,
    actor TEXT NOT NULL,
    language TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    after BLOB,
    recipients INTEGER NOT NULL DEFAULT 0,
    without_email INTEGER NOT NULL DEFAULT 0,
    created_at_ms INTEGER NOT NULL,
    ended_at_ms INTEGER
) STRICT;
CREATE INDEX reminders_of_auction ON reminders (auction, uuid);
CREATE INDEX reminders_open ON reminders (created_at_ms) WHERE ended_at_ms IS NULL;

-- The register's likely duplicates and merges.

-- The record that a record was merged into; lists leave merged records out. A node of the version before lists such a record.
ALTER TABLE parties ADD COLUMN merged_into BLOB;
CREATE INDEX parties_merged ON parties (merged_into) WHERE merged_into IS NOT NULL;

-- The version of the record that its match keys were written for. NULL or a lower one: an earlier program wrote the record, and the
-- keys are written again before the house's records are compared.
ALTER TABLE parties ADD COLUMN keys_version INTEGER;
CREATE INDEX parties_without_keys ON parties (customer, uuid) WHERE keys_version IS NULL OR keys_version <> version;

-- What records of a house are compared by, such as `email:` with an address.
CREATE TABLE party_keys (
    party BLOB NOT NULL,
    key TEXT NOT NULL,
    customer BLOB NOT NULL,
    PRIMARY KEY (party, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX party_keys_of_customer ON party_keys (customer, key, party);

-- Pairs of records that a person keeps apart; `first` is the lower UUID.
CREATE TABLE distinct_parties (
    first BLOB NOT NULL,
    second BLOB NOT NULL,
    customer BLOB NOT NULL,
    actor TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (first, second)
) STRICT, WITHOUT ROWID;
CREATE INDEX distinct_parties_by_second ON distinct_parties (second);

-- The columns of a house's register files, as they were mapped last.
CREATE TABLE register_mappings (
    customer BLOB NOT NULL PRIMARY KEY,
    mapping TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Entries that corrected the hammer price or the buyer of a sold lot, for the timeline of its sale.
CREATE INDEX audit_log_corrections ON audit_log (subject)
    WHERE instr(content, '"cause":"buyer_changed"') > 0 OR instr(content, '"cause":"hammer_price_corrected"') > 0;

-- The person at an issuer of OpenID Connect who signs in as the user. Both are NULL for a user who only has a password.
ALTER TABLE users ADD COLUMN openid_issuer TEXT;
ALTER TABLE users ADD COLUMN openid_subject TEXT;
CREATE UNIQUE INDEX users_by_openid ON users (openid_issuer, openid_subject) WHERE openid_subject IS NOT NULL;

-- Accounts of bidders, one for each address at a house. `party` is the bidder's record in the register. `details` has what the bidder
-- entered. The program of the version before knows none of these tables.
CREATE TABLE bidder_accounts (
    uuid BLOB NOT NULL PRIMARY KEY,
    customer BLOB NOT NULL,
    email TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    party BLOB,
    details TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    signed_in_at_ms INTEGER,
    -- Set for an account that the bidder deleted. It keeps its address and record, so that the same person opens it again.
    closed_at_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX bidder_accounts_by_email ON bidder_accounts (customer, email);
CREATE INDEX bidder_accounts_of_party ON bidder_accounts (party) WHERE party IS NOT NULL;

CREATE TABLE bidder_sessions (
    uuid BLOB NOT NULL PRIMARY KEY,
    hash BLOB NOT NULL,
    account BLOB NOT NULL,
    address TEXT,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX bidder_sessions_by_hash ON bidder_sessions (hash);
CREATE INDEX bidder_sessions_of_account ON bidder_sessions (account, uuid);
CREATE INDEX bidder_sessions_by_expiry ON bidder_sessions (expires_at_ms);
CREATE INDEX bidder_sessions_by_use ON bidder_sessions (last_used_at_ms);

-- Links that were mailed, with which their readers open an account or choose another password.
CREATE TABLE bidder_links (
    customer BLOB NOT NULL,
    email TEXT NOT NULL,
    hash BLOB NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX bidder_links_of_address ON bidder_links (customer, email);
CREATE INDEX bidder_links_by_expiry ON bidder_links (expires_at_ms);

-- The version of a house's conditions that a bidder accepted for a sale.
CREATE TABLE accepted_conditions (
    account BLOB NOT NULL,
    auction BLOB NOT NULL,
    number INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (account, auction)
) STRICT, WITHOUT ROWID;

CREATE TABLE watched_items (
    account BLOB NOT NULL,
    item BLOB NOT NULL,
    auction BLOB NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (account, item)
) STRICT, WITHOUT ROWID;

-- What happened that bidders may have to know, until the notices of it are made. `what` is JSON; `through` is the place up to which
-- notices were made.
CREATE TABLE notice_causes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    auction BLOB NOT NULL,
    what TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    through TEXT NOT NULL DEFAULT ''
) STRICT;

-- What bidders read. `facts` is JSON. `push_due_at_ms` is set while browsers are to show it.
CREATE TABLE bidder_notices (
    uuid BLOB NOT NULL PRIMARY KEY,
    account BLOB NOT NULL,
    auction BLOB NOT NULL,
    item BLOB,
    kind TEXT NOT NULL,
    facts TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    seen_at_ms INTEGER,
    mailed INTEGER NOT NULL,
    push_due_at_ms INTEGER,
    push_tries INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX bidder_notices_of_account ON bidder_notices (account, uuid);
CREATE INDEX bidder_notices_unseen ON bidder_notices (account) WHERE seen_at_ms IS NULL;
CREATE INDEX bidder_notices_about_item ON bidder_notices (account, item, uuid);
CREATE INDEX bidder_notices_to_push ON bidder_notices (push_due_at_ms) WHERE push_due_at_ms IS NOT NULL;
CREATE INDEX bidder_notices_to_push_of_account ON bidder_notices (account) WHERE push_due_at_ms IS NOT NULL;
CREATE INDEX bidder_notices_by_age ON bidder_notices (at_ms);

-- Browsers that show notices, each while the session lasts in which it was added. The endpoint and both keys come from the browser.
CREATE TABLE push_subscriptions (
    uuid BLOB NOT NULL PRIMARY KEY,
    account BLOB NOT NULL,
    session BLOB NOT NULL,
    endpoint TEXT NOT NULL,
    key BLOB NOT NULL,
    auth BLOB NOT NULL,
    created_at_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX push_subscriptions_by_endpoint ON push_subscriptions (endpoint);
CREATE INDEX push_subscriptions_of_account ON push_subscriptions (account, uuid);
CREATE INDEX watched_items_by_item ON watched_items (item, account);

-- What bidders allowed to web sites of the house. `challenge` is that of the site's request (PKCE). `redeemed_at_ms` is NULL until the
-- site has used the code.
CREATE TABLE site_grants (
    uuid BLOB NOT NULL PRIMARY KEY,
    account BLOB NOT NULL,
    origin TEXT NOT NULL,
    redirect TEXT NOT NULL,
    challenge TEXT NOT NULL,
    code BLOB NOT NULL,
    code_expires_at_ms INTEGER NOT NULL,
    redeemed_at_ms INTEGER,
    created_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX site_grants_by_code ON site_grants (code);
CREATE INDEX site_grants_of_account ON site_grants (account, uuid);
CREATE INDEX site_grants_by_expiry ON site_grants (expires_at_ms);
CREATE INDEX site_grants_unused ON site_grants (code_expires_at_ms) WHERE redeemed_at_ms IS NULL;

-- Tokens of grants. `kind`: 0 for calls of the API, 1 for the next tokens. A token without its grant works no longer.
CREATE TABLE site_tokens (
    hash BLOB NOT NULL PRIMARY KEY,
    site_grant BLOB NOT NULL,
    kind INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    used_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX site_tokens_of_grant ON site_tokens (site_grant);
CREATE INDEX site_tokens_by_expiry ON site_tokens (expires_at_ms);

-- The latest wish of a bidder for a higher limit in a sale. It is open until `decided_at_ms` is set. `granted` is the limit that
-- staff set; NULL while the wish is open, and for one that they declined.
CREATE TABLE limit_requests (
    registration BLOB NOT NULL PRIMARY KEY,
    auction BLOB NOT NULL,
    amount INTEGER NOT NULL,
    words TEXT NOT NULL,
    asked_at_ms INTEGER NOT NULL,
    granted INTEGER,
    reason TEXT,
    actor TEXT,
    decided_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX limit_requests_open ON limit_requests (auction, asked_at_ms) WHERE decided_at_ms IS NULL;

-- Messages of staff to the bidders of a sale; `registration` is set for one to a single bidder.
CREATE TABLE bidder_messages (
    uuid BLOB NOT NULL PRIMARY KEY,
    auction BLOB NOT NULL,
    registration BLOB,
    actor TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX bidder_messages_of_auction ON bidder_messages (auction, uuid);

-- Offers of lots that did not sell, each to one bidder. An offer is open until `outcome` is set: `accepted`, `declined`, `withdrawn`,
-- or `lapsed` when another one took its place. `sequence` is the number of the lot's last status change when it was offered.
CREATE TABLE lot_offers (
    uuid BLOB NOT NULL PRIMARY KEY,
    auction BLOB NOT NULL,
    item BLOB NOT NULL,
    registration BLOB NOT NULL,
    amount INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    offered_by TEXT NOT NULL,
    offered_at_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL,
    outcome TEXT,
    actor TEXT,
    ended_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX lot_offers_open ON lot_offers (item) WHERE outcome IS NULL;
CREATE INDEX lot_offers_of_item ON lot_offers (item, offered_at_ms);
CREATE INDEX lot_offers_of_auction ON lot_offers (auction, offered_at_ms);
CREATE INDEX lot_offers_to ON lot_offers (registration, offered_at_ms);

-- Bids over the internet that arrived after the end of their lot, and were refused.
CREATE TABLE late_bids (
    uuid BLOB NOT NULL PRIMARY KEY,
    auction BLOB NOT NULL,
    item BLOB NOT NULL,
    paddle TEXT NOT NULL,
    amount INTEGER NOT NULL,
    received_at_ms INTEGER NOT NULL,
    late_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX late_bids_of_auction ON late_bids (auction, uuid);
CREATE INDEX late_bids_of_item ON late_bids (item);
CREATE INDEX bids_struck ON bids (item) WHERE struck IS NOT NULL;

-- When a clerk's desk of a webcast last reported that it holds its live stream. Read and written while the webcast is live.
CREATE TABLE desks (
    auction BLOB NOT NULL PRIMARY KEY,
    reported_at_ms INTEGER NOT NULL
) STRICT;

UPDATE schema_compatibility SET compatible_from = 1;
