-- Tables, columns and indexes get the names that the code and the documentation use. No row changes.

ALTER TABLE answers RENAME TO idempotent_answers;
DROP INDEX answers_by_key;
CREATE UNIQUE INDEX idempotent_answers_by_key ON idempotent_answers (key);

ALTER TABLE nodes RENAME COLUMN heard_at TO heartbeat_at;

ALTER TABLE messages RENAME COLUMN event_key TO event_fingerprint;
DROP INDEX messages_by_event_key;
CREATE UNIQUE INDEX messages_by_event_fingerprint ON messages (event_fingerprint) WHERE event_fingerprint IS NOT NULL;

DROP INDEX deliveries_by_hand;
CREATE INDEX deliveries_manual ON deliveries (endpoint, next_at) WHERE owner IS NULL AND manual > 0;
