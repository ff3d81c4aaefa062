-- Alerts about endpoints that fail.

-- When the attempt began with which failures disabled the endpoint; NULL for others, also for those that a caller disabled.
ALTER TABLE endpoints ADD COLUMN given_up_at INTEGER;
CREATE INDEX endpoints_given_up ON endpoints (given_up_at) WHERE given_up_at IS NOT NULL;

-- What the owners of an endpoint were told last: 1 failing, 2 to be disabled soon, 3 disabled.
CREATE TABLE endpoint_alerts (
    endpoint TEXT NOT NULL PRIMARY KEY,
    failing_since INTEGER NOT NULL,
    stage INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who receives the alerts of an account by e-mail, once the address is confirmed.
CREATE TABLE alert_recipients (
    account TEXT NOT NULL,
    address TEXT NOT NULL,
    code_hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    confirmed_at INTEGER,
    PRIMARY KEY (account, address)
) STRICT, WITHOUT ROWID;

-- Mails that are not sent yet. A number is used once: it is in the mail's id.
CREATE TABLE mails (
    no INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER NOT NULL
) STRICT;
CREATE INDEX mails_by_time ON mails (next_at);
CREATE INDEX mails_of_account ON mails (account);
