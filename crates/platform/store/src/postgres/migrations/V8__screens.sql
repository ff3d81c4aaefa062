-- Links that open a screen of a webcast without a sign-in. A webcast has at most one of each kind.
CREATE TABLE screen_links (
    auction uuid NOT NULL,
    kind text NOT NULL,
    uuid uuid NOT NULL,
    hash bytea NOT NULL UNIQUE,
    created_at_ms bigint NOT NULL,
    created_by text NOT NULL,
    expires_at_ms bigint NOT NULL,
    last_used_at_ms bigint,
    PRIMARY KEY (auction, kind)
);

-- Exchange rates that the room screen shows prices with. `rate_millionths` is the other currency for one unit of the auction's.
CREATE TABLE guide_rates (
    auction uuid NOT NULL,
    currency text NOT NULL,
    rate_millionths bigint NOT NULL,
    rate_date text NOT NULL,
    PRIMARY KEY (auction, currency)
);
