-- Images of items. Their content is in files of the data directory's folder `images`.

CREATE TABLE item_images (
    no INTEGER PRIMARY KEY,
    uuid BLOB NOT NULL UNIQUE,
    item BLOB NOT NULL,
    auction BLOB NOT NULL,
    customer BLOB NOT NULL,
    position INTEGER NOT NULL,
    file_name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX images_of_item ON item_images (item, position);
