-- The person at an issuer of OpenID Connect who signs in as the user. Both are NULL for a user who only has a password. Nodes of
-- the version before leave them as they are.
ALTER TABLE users ADD COLUMN openid_issuer text;
ALTER TABLE users ADD COLUMN openid_subject text;
CREATE UNIQUE INDEX users_by_openid ON users (openid_issuer, openid_subject) WHERE openid_subject IS NOT NULL;
-- The issuer vouched once that the address is the user's.
ALTER TABLE users ADD COLUMN email_confirmed BOOLEAN NOT NULL DEFAULT FALSE;

-- Users whom an Admin removed. Single sign-on does not add them again. Nodes of the version before add none by single sign-on.
CREATE TABLE removed_users (
    id TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    email TEXT COLLATE "C" NOT NULL,
    openid_issuer TEXT,
    openid_subject TEXT,
    removed_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX removed_users_of_account ON removed_users (account, removed_at);
UPDATE schema_compatibility SET compatible_from = 1;
