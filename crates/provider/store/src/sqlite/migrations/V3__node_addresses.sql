-- The base address at which other nodes and management commands reach a node; NULL if it has told none.

ALTER TABLE nodes ADD COLUMN address TEXT;
