-- The version that the owner of an endpoint gives it. The provider stores and returns it.

ALTER TABLE endpoints ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
