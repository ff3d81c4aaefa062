-- People who sign in to the dashboard of an account, and the log of what is changed in the account.

CREATE TABLE people (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    email TEXT COLLATE "C" NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    version BIGINT NOT NULL,
    signed_in_at TIMESTAMPTZ,
    totp_secret TEXT,
    totp_step BIGINT NOT NULL DEFAULT 0,
    totp_confirmed_at TIMESTAMPTZ
);
CREATE INDEX people_of_account ON people (account, id);

CREATE TABLE recovery_codes (
    person TEXT COLLATE "C" NOT NULL,
    hash BYTEA NOT NULL,
    PRIMARY KEY (person, hash)
);

CREATE TABLE person_sessions (
    id TEXT COLLATE "C" PRIMARY KEY,
    hash BYTEA NOT NULL UNIQUE,
    person TEXT COLLATE "C" NOT NULL,
    address TEXT,
    browser TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX person_sessions_of_person ON person_sessions (person, id);
CREATE INDEX person_sessions_by_end ON person_sessions (expires_at);
CREATE INDEX person_sessions_by_use ON person_sessions (last_used_at);

-- Links that work once: for a new person, or for a person's new password.
CREATE TABLE invitations (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL,
    person TEXT COLLATE "C",
    note TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    hash BYTEA NOT NULL UNIQUE,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX invitations_of_account ON invitations (account, id);
CREATE INDEX invitations_by_end ON invitations (expires_at);

-- Allowances of sign-in attempts, until they are full again.
CREATE TABLE sign_in_attempts (
    subject BYTEA PRIMARY KEY,
    full_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts (full_at);

CREATE TABLE activity (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    at TIMESTAMPTZ NOT NULL,
    actor_kind TEXT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    actor_name TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    subject_name TEXT NOT NULL,
    value_before TEXT NOT NULL,
    value_after TEXT NOT NULL
);
CREATE INDEX activity_of_account ON activity (account, id);
