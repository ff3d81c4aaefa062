-- A preview of the App Portal ends with its person, their role and their session. Previews of before end now: who opened them
-- is not known.
ALTER TABLE app_tokens ADD COLUMN preview_person TEXT;
ALTER TABLE app_tokens ADD COLUMN preview_session TEXT;
ALTER TABLE app_tokens ADD COLUMN preview_role TEXT;
DELETE FROM app_tokens WHERE session_id IN (SELECT id FROM people);

-- The person who made a link; NULL for the operator. Links of before whose maker is no Admin any more, or can't be told by the
-- name, are withdrawn.
ALTER TABLE invitations ADD COLUMN maker TEXT;
UPDATE invitations SET maker = (SELECT min(p.id) FROM people p
    WHERE p.account = invitations.account AND p.name = invitations.created_by AND p.role = 'admin'
    HAVING count(*) = 1);
DELETE FROM invitations WHERE maker IS NULL AND created_by <> 'Operator';
CREATE INDEX invitations_of_maker ON invitations (maker);
