-- The IP address from which a key was last used.

ALTER TABLE api_keys ADD COLUMN last_used_from TEXT;
