-- Tables, columns and indexes get the names that the code and the documentation use. No row changes.

ALTER TABLE answers RENAME TO idempotent_answers;

ALTER TABLE nodes RENAME COLUMN heard_at TO heartbeat_at;

ALTER TABLE messages RENAME COLUMN event_key TO event_fingerprint;
ALTER INDEX messages_by_event_key RENAME TO messages_by_event_fingerprint;

ALTER INDEX deliveries_by_hand RENAME TO deliveries_manual;
