-- One-time codes of an empty installation. Each creates the first administrator, at any node, and then all are deleted.

CREATE TABLE setup_codes (
    hash bytea PRIMARY KEY,
    expires_at_ms bigint NOT NULL
);
