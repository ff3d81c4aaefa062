-- A connection names the embedded provider itself instead of an address that it had once, and records what requests have
-- shown. `embedded` is NULL where an earlier version stored an address, which may be that of the embedded provider.

ALTER TABLE consumers ADD COLUMN embedded boolean;
ALTER TABLE consumers ADD COLUMN contact text NOT NULL DEFAULT 'untried';
ALTER TABLE consumers ADD COLUMN contact_since_ms bigint;
ALTER TABLE consumers ADD COLUMN contact_detail text;
