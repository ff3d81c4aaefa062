-- Bidders whom staff call before a lot of a webcast. `line` is a line, or the name of the member of staff who calls.
CREATE TABLE telephone_bookings (
    item uuid NOT NULL,
    paddle text COLLATE "C" NOT NULL,
    auction uuid NOT NULL,
    telephone text NOT NULL,
    line text NOT NULL,
    changed_at_ms bigint NOT NULL,
    changed_by text NOT NULL,
    PRIMARY KEY (item, paddle)
);
CREATE INDEX telephone_bookings_by_auction ON telephone_bookings (auction);
