-- The images of copied lots share the content of the originals: `content` is the UUID that its files are named after. The
-- files are deleted with the last image that has them.

ALTER TABLE item_images ADD COLUMN content BLOB NOT NULL DEFAULT x'';
UPDATE item_images SET content = uuid;
CREATE INDEX images_of_content ON item_images (content);
