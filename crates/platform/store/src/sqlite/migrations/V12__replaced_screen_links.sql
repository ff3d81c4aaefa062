-- A link that replaces one whose maker lost their access: the replaced one opens the screen until the new one is used, and until
-- this time at the latest.
ALTER TABLE screen_links ADD COLUMN previous_hash BLOB;
ALTER TABLE screen_links ADD COLUMN previous_until_ms INTEGER;
CREATE INDEX screen_links_by_previous ON screen_links (previous_hash);

-- Open invitations by users who are no administrators any more are withdrawn.
DELETE FROM invitations WHERE created_by LIKE 'user:%' AND replace(substr(created_by, 6), '-', '') NOT IN
    (SELECT lower(hex(uuid)) FROM users WHERE role = 'administrator' AND disabled_at_ms IS NULL);
