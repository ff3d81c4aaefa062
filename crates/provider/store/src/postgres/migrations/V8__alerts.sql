-- Alerts about endpoints that fail.

-- When the attempt began with which failures disabled the endpoint; NULL for others, also for those that a caller disabled.
ALTER TABLE endpoints ADD COLUMN given_up_at TIMESTAMPTZ;
CREATE INDEX endpoints_given_up ON endpoints (given_up_at) WHERE given_up_at IS NOT NULL;

-- What the owners of an endpoint were told last: 1 failing, 2 to be disabled soon, 3 disabled.
CREATE TABLE endpoint_alerts (
    endpoint TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    failing_since TIMESTAMPTZ NOT NULL,
    stage INTEGER NOT NULL
);

-- Who receives the alerts of an account by e-mail, once the address is confirmed.
CREATE TABLE alert_recipients (
    account TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    code_hash BYTEA NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    confirmed_at TIMESTAMPTZ,
    PRIMARY KEY (account, address)
);

-- Mails that are not sent yet. A number is used once: it is in the mail's id.
CREATE TABLE mails (
    no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    next_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX mails_by_time ON mails (next_at);
CREATE INDEX mails_of_account ON mails (account);
