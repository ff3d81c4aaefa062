-- The state of an auction says whether it was ever LIVE. Only an auction that never was can be archived as a mistake.

UPDATE auctions SET state = jsonb_set(state::jsonb, '{wasLive}', 'true')::text
WHERE uuid IN (SELECT subject FROM journal WHERE kind = 1 AND to_status = 'LIVE');
