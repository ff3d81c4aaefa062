-- Images of items, with their content, which every node reads.

CREATE TABLE item_images (
    uuid uuid PRIMARY KEY,
    item uuid NOT NULL,
    auction uuid NOT NULL,
    customer uuid NOT NULL,
    position bigint NOT NULL,
    file_name text NOT NULL,
    media_type text NOT NULL,
    width bigint NOT NULL,
    height bigint NOT NULL,
    bytes bigint NOT NULL,
    created_at_ms bigint NOT NULL
);
CREATE INDEX images_of_item ON item_images (item, position);

CREATE TABLE image_contents (
    image uuid NOT NULL REFERENCES item_images (uuid) ON DELETE CASCADE,
    variant text NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (image, variant)
);
ALTER TABLE image_contents ALTER COLUMN content SET STORAGE EXTERNAL;
