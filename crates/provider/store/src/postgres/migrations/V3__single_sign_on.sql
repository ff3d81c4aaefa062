-- The person at an issuer of OpenID Connect who signs in as the user. Both are NULL for a user who only has a password. Nodes of
-- the version before leave them as they are.
ALTER TABLE users ADD COLUMN openid_issuer text;
ALTER TABLE users ADD COLUMN openid_subject text;
CREATE UNIQUE INDEX users_by_openid ON users (openid_issuer, openid_subject) WHERE openid_subject IS NOT NULL;
UPDATE schema_compatibility SET compatible_from = 1;
