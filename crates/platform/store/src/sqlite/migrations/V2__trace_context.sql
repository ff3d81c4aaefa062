-- The position in a trace of the request that changed the status: the header `traceparent` of W3C Trace Context, as text.
-- Nullable and without a default: nodes of the version before insert rows without it.
ALTER TABLE outbox ADD COLUMN traceparent TEXT;
ALTER TABLE quarantine ADD COLUMN traceparent TEXT;
UPDATE schema_compatibility SET compatible_from = 1;
