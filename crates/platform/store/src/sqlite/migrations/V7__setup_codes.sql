-- One-time codes of an empty installation. Each creates the first administrator, at any node, and then all are deleted.

CREATE TABLE setup_codes (
    hash BLOB NOT NULL PRIMARY KEY,
    expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
