-- Tables, columns and indexes get the names that the code and the documentation use. No row changes.

ALTER TABLE leads RENAME TO bulk_changes;
ALTER TABLE stakes RENAME TO bidder_items;

ALTER TABLE runs RENAME TO downtime;
ALTER TABLE downtime RENAME COLUMN alive_ms TO last_alive_at_ms;

ALTER TABLE log RENAME TO audit_log;
DROP INDEX log_of_subject;
CREATE UNIQUE INDEX audit_log_of_subject ON audit_log (subject, number);

ALTER TABLE answers RENAME TO idempotent_answers;
DROP INDEX answers_by_key;
CREATE UNIQUE INDEX idempotent_answers_by_key ON idempotent_answers (caller, key);
DROP INDEX answers_sealed;
CREATE INDEX idempotent_answers_sealed ON idempotent_answers (caller, key) WHERE substr(body, 1, 3) = 'v1.';

ALTER TABLE nodes RENAME COLUMN heard_at_ms TO heartbeat_at_ms;

ALTER TABLE recovery_codes RENAME COLUMN of_user TO user_uuid;
ALTER TABLE clerks RENAME COLUMN of_user TO user_uuid;
ALTER TABLE sessions RENAME COLUMN of_user TO user_uuid;

DROP INDEX auctions_narrowed;
CREATE INDEX auctions_by_filter ON auctions (status, kind, sandbox, uuid);
DROP INDEX auctions_of_customer_narrowed;
CREATE INDEX auctions_of_customer_by_filter ON auctions (customer, status, kind, sandbox, uuid);
DROP INDEX auctions_of_auctioneer_narrowed;
CREATE INDEX auctions_of_auctioneer_by_filter ON auctions (auctioneer, status, kind, sandbox, uuid);
