-- The speaker's view that the link opens shows the reserve and the commission book. Links from before do not.
ALTER TABLE screen_links ADD COLUMN shows_reserve BOOLEAN NOT NULL DEFAULT FALSE;
