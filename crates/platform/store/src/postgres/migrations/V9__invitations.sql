-- Links with which an invited person becomes a user. One for each address.
CREATE TABLE invitations (
    uuid uuid PRIMARY KEY,
    email text NOT NULL UNIQUE,
    role text NOT NULL,
    hash bytea NOT NULL UNIQUE,
    created_at_ms bigint NOT NULL,
    created_by text NOT NULL,
    expires_at_ms bigint NOT NULL
);

-- True when the user has to choose another password before anything else.
ALTER TABLE users ADD COLUMN must_change_password boolean NOT NULL DEFAULT false;
