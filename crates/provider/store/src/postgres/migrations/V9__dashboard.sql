-- Alert recipients of one application, beside those of an account. `application` is empty for all applications.

ALTER TABLE alert_recipients ADD COLUMN application TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE alert_recipients DROP CONSTRAINT alert_recipients_pkey;
ALTER TABLE alert_recipients ADD PRIMARY KEY (account, application, address);
CREATE INDEX alert_recipients_by_code ON alert_recipients (code_hash);

-- Names of what an API key may do, separated by commas; NULL for a key that may do everything.
ALTER TABLE api_keys ADD COLUMN scopes TEXT;

-- The header of a failed response that says more than its status code: Location, Retry-After as a time, or Server.
ALTER TABLE attempts ADD COLUMN response_header TEXT;

-- Since when an endpoint is disabled. For those of before, the last change is the best that is known.
ALTER TABLE endpoints ADD COLUMN disabled_at TIMESTAMPTZ;
UPDATE endpoints SET disabled_at = coalesce(given_up_at, updated_at) WHERE disabled;
