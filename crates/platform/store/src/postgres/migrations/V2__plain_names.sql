-- Tables, columns and indexes get the names that the code and the documentation use. No row changes.

ALTER TABLE leads RENAME TO bulk_changes;
ALTER TABLE stakes RENAME TO bidder_items;

ALTER TABLE runs RENAME TO downtime;
ALTER TABLE downtime RENAME COLUMN alive_ms TO last_alive_at_ms;

ALTER TABLE log RENAME TO audit_log;
ALTER TABLE audit_log RENAME CONSTRAINT log_of_subject TO audit_log_of_subject;

ALTER TABLE answers RENAME TO idempotent_answers;
ALTER TABLE idempotent_answers RENAME CONSTRAINT answers_by_key TO idempotent_answers_by_key;
ALTER INDEX answers_sealed RENAME TO idempotent_answers_sealed;

ALTER TABLE nodes RENAME COLUMN heard_at_ms TO heartbeat_at_ms;

ALTER TABLE recovery_codes RENAME COLUMN of_user TO user_uuid;
ALTER TABLE clerks RENAME COLUMN of_user TO user_uuid;
ALTER TABLE sessions RENAME COLUMN of_user TO user_uuid;

ALTER INDEX auctions_narrowed RENAME TO auctions_by_filter;
ALTER INDEX auctions_of_customer_narrowed RENAME TO auctions_of_customer_by_filter;
ALTER INDEX auctions_of_auctioneer_narrowed RENAME TO auctions_of_auctioneer_by_filter;
