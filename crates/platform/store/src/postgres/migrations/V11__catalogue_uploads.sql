-- Catalogue files between their upload and their import, with their content, which every node reads.

CREATE TABLE catalogue_uploads (
    uuid uuid PRIMARY KEY,
    user_uuid uuid NOT NULL,
    customer uuid NOT NULL,
    auction uuid NOT NULL,
    file_name text NOT NULL,
    sheet text,
    bytes bigint NOT NULL,
    is_complete boolean NOT NULL,
    expires_at_ms bigint NOT NULL
);
CREATE INDEX catalogue_uploads_of_user ON catalogue_uploads (user_uuid, expires_at_ms);
CREATE INDEX catalogue_uploads_by_expiry ON catalogue_uploads (expires_at_ms);

CREATE TABLE catalogue_upload_parts (
    upload uuid NOT NULL REFERENCES catalogue_uploads (uuid) ON DELETE CASCADE,
    number bigint NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (upload, number)
);
ALTER TABLE catalogue_upload_parts ALTER COLUMN content SET STORAGE EXTERNAL;
