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

-- The header of a failed response that says more than its status code: Location, Retry-After as a time, or Server.
ALTER TABLE attempts ADD COLUMN response_header TEXT;

-- Since when an endpoint is disabled. For those of before, the last change is the best that is known.
ALTER TABLE endpoints ADD COLUMN disabled_at INTEGER;
UPDATE endpoints SET disabled_at = coalesce(given_up_at, updated_at) WHERE disabled = 1;
