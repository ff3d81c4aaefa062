-- Catalogue files between their upload and their import. Their content is in files of the data directory's folder
-- `uploads`.

CREATE TABLE catalogue_uploads (
    uuid BLOB PRIMARY KEY,
    user_uuid BLOB NOT NULL,
    customer BLOB NOT NULL,
    auction BLOB NOT NULL,
    file_name TEXT NOT NULL,
    sheet TEXT,
    bytes INTEGER NOT NULL,
    is_complete INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX catalogue_uploads_of_user ON catalogue_uploads (user_uuid, expires_at_ms);
CREATE INDEX catalogue_uploads_by_expiry ON catalogue_uploads (expires_at_ms);
