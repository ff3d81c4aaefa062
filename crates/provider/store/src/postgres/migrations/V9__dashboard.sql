-- Alert recipients of one application, beside those of an account. `application` is empty for all applications.

ALTER TABLE alert_recipients ADD COLUMN application TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE alert_recipients DROP CONSTRAINT alert_recipients_pkey;
ALTER TABLE alert_recipients ADD PRIMARY KEY (account, application, address);
CREATE INDEX alert_recipients_by_code ON alert_recipients (code_hash);

-- Names of what an API key may do, separated by commas; NULL for a key that may do everything.
ALTER TABLE api_keys ADD COLUMN scopes TEXT;
