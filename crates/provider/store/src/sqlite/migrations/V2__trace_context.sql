-- The position in a trace of the request that sent the message: the header `traceparent` of W3C Trace Context, as text.
-- Nullable and without a default: nodes of the version before insert rows without it. It stands behind the
-- payload, so only statements that read the payload read it.
ALTER TABLE messages ADD COLUMN traceparent TEXT;
UPDATE schema_compatibility SET compatible_from = 1;
