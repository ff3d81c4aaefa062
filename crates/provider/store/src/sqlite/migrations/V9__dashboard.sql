-- Alert recipients of one application, beside those of an account. `application` is empty for all applications.

CREATE TABLE alert_recipients_of_scopes (
    account TEXT NOT NULL,
    application TEXT NOT NULL,
    address TEXT NOT NULL,
    code_hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    confirmed_at INTEGER,
    PRIMARY KEY (account, application, address)
) STRICT, WITHOUT ROWID;
INSERT INTO alert_recipients_of_scopes
    SELECT account, '', address, code_hash, created_at, confirmed_at FROM alert_recipients;
DROP TABLE alert_recipients;
ALTER TABLE alert_recipients_of_scopes RENAME TO alert_recipients;
CREATE INDEX alert_recipients_by_code ON alert_recipients (code_hash);

-- Names of what an API key may do, separated by commas; NULL for a key that may do everything.
ALTER TABLE api_keys ADD COLUMN scopes TEXT;
