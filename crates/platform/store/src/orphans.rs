//! Queries for rows that refer to a missing row, in SQL that both engines accept.

/// Each table with the query that returns the affected subjects.
pub(crate) const ORPHAN_QUERIES: [(&str, &str); 7] = [
    (
        "items",
        "SELECT DISTINCT i.uuid FROM items i WHERE NOT EXISTS (SELECT 1 FROM auctions a WHERE a.uuid = i.auction)",
    ),
    (
        "registrations",
        "SELECT DISTINCT r.uuid FROM registrations r \
         WHERE NOT EXISTS (SELECT 1 FROM auctions a WHERE a.uuid = r.auction)",
    ),
    ("bids", "SELECT DISTINCT b.item FROM bids b WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.uuid = b.item)"),
    (
        "bidder_items",
        "SELECT DISTINCT s.item FROM bidder_items s WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.uuid = s.item)",
    ),
    (
        "journal",
        "SELECT DISTINCT j.subject FROM journal j \
         WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.uuid = j.subject) \
         AND NOT EXISTS (SELECT 1 FROM auctions a WHERE a.uuid = j.subject)",
    ),
    (
        "outbox",
        "SELECT DISTINCT o.subject FROM outbox o WHERE NOT EXISTS \
         (SELECT 1 FROM journal j WHERE j.cursor = o.cursor AND j.subject = o.subject AND j.customer = o.customer)",
    ),
    (
        "quarantine",
        "SELECT DISTINCT q.customer FROM quarantine q WHERE NOT EXISTS \
         (SELECT 1 FROM journal j WHERE j.cursor = q.cursor AND j.customer = q.customer)",
    ),
];
