-- A connection names the embedded provider itself instead of an address that it had once, and records what requests have
-- shown. `embedded` is NULL where an earlier version stored an address, which may be that of the embedded provider.

ALTER TABLE consumers ADD COLUMN embedded INTEGER;
ALTER TABLE consumers ADD COLUMN contact TEXT NOT NULL DEFAULT 'untried';
ALTER TABLE consumers ADD COLUMN contact_since_ms INTEGER;
ALTER TABLE consumers ADD COLUMN contact_detail TEXT;
