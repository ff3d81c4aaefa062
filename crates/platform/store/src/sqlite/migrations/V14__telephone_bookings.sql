-- Bidders whom staff call before a lot of a webcast. `line` is a line, or the name of the member of staff who calls.
CREATE TABLE telephone_bookings (
    item BLOB NOT NULL,
    paddle TEXT NOT NULL,
    auction BLOB NOT NULL,
    telephone TEXT NOT NULL,
    line TEXT NOT NULL,
    changed_at_ms INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    PRIMARY KEY (item, paddle)
) STRICT, WITHOUT ROWID;
CREATE INDEX telephone_bookings_by_auction ON telephone_bookings (auction);
