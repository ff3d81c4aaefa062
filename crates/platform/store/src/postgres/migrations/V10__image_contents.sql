-- The images of copied lots share the content of the originals: `content` is the UUID in image_contents.image. The content is
-- deleted with the last image that has it.

ALTER TABLE image_contents DROP CONSTRAINT image_contents_image_fkey;
ALTER TABLE item_images ADD COLUMN content uuid;
UPDATE item_images SET content = uuid;
ALTER TABLE item_images ALTER COLUMN content SET NOT NULL;
CREATE INDEX images_of_content ON item_images (content);
