-- Links with which an invited person becomes a user. One for each address.
CREATE TABLE invitations (
    uuid BLOB NOT NULL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    created_at_ms INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- 1 when the user has to choose another password before anything else.
ALTER TABLE users ADD COLUMN must_change_password INTEGER NOT NULL DEFAULT 0;
