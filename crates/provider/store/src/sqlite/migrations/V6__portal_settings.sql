-- How the App Portal of an account looks, and the JSON list of origins that may embed it.

CREATE TABLE portal_settings (
    account TEXT NOT NULL PRIMARY KEY,
    colour TEXT,
    embed_origins TEXT NOT NULL,
    logo_type TEXT,
    logo_version TEXT,
    logo BLOB
) STRICT;
