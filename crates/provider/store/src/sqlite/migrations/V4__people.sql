-- People who sign in to the dashboard of an account, and the log of what is changed in the account.

CREATE TABLE people (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    signed_in_at INTEGER,
    totp_secret TEXT,
    totp_step INTEGER NOT NULL DEFAULT 0,
    totp_confirmed_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX people_of_account ON people (account, id);

CREATE TABLE recovery_codes (
    person TEXT NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (person, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE person_sessions (
    id TEXT NOT NULL PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    person TEXT NOT NULL,
    address TEXT,
    browser TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX person_sessions_of_person ON person_sessions (person, id);
CREATE INDEX person_sessions_by_end ON person_sessions (expires_at);
CREATE INDEX person_sessions_by_use ON person_sessions (last_used_at);

-- Links that work once: for a new person, or for a person's new password.
CREATE TABLE invitations (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    role TEXT NOT NULL,
    person TEXT,
    note TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX invitations_of_account ON invitations (account, id);
CREATE INDEX invitations_by_end ON invitations (expires_at);

-- Allowances of sign-in attempts, until they are full again.
CREATE TABLE sign_in_attempts (
    subject BLOB NOT NULL PRIMARY KEY,
    full_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts (full_at);

CREATE TABLE activity (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    at INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    subject_name TEXT NOT NULL,
    value_before TEXT NOT NULL,
    value_after TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX activity_of_account ON activity (account, id);
