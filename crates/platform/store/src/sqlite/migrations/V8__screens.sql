-- Links that open a screen of a webcast without a sign-in. A webcast has at most one of each kind.
CREATE TABLE screen_links (
    auction BLOB NOT NULL,
    kind TEXT NOT NULL,
    uuid BLOB NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    created_at_ms INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER,
    PRIMARY KEY (auction, kind)
) STRICT, WITHOUT ROWID;

-- Exchange rates that the room screen shows prices with. `rate_millionths` is the other currency for one unit of the auction's.
CREATE TABLE guide_rates (
    auction BLOB NOT NULL,
    currency TEXT NOT NULL,
    rate_millionths INTEGER NOT NULL,
    rate_date TEXT NOT NULL,
    PRIMARY KEY (auction, currency)
) STRICT, WITHOUT ROWID;
