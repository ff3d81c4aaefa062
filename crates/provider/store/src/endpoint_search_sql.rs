//! The statement that searches endpoints, shared by both engines.
//!
//! Parameters: the account (1), the application or null (2), the text (3), the number of a state or null (4), the number
//! of endpoints of a page (5), the endpoint that the page contains or null (6), and the number of endpoints before it (7). They
//! occur first in this order, by which SQLite numbers them.

/// What differs between the engines.
pub(crate) struct Dialect {
    /// The function that returns the place of its second text in its first one, or 0.
    pub(crate) place_of: &'static str,
    /// The function that returns the smaller of its two numbers.
    pub(crate) smaller: &'static str,
    /// The function that returns the larger of its two numbers.
    pub(crate) larger: &'static str,
    /// Types of the parameters that may be null, and of numbers.
    pub(crate) text: &'static str,
    pub(crate) number: &'static str,
    /// Columns after the totals, the number of skipped endpoints and the application's name.
    pub(crate) columns: &'static str,
}

/// Text of the statement. Without a row of the page, it returns one row with the totals.
pub(crate) fn statement(dialect: &Dialect) -> String {
    let Dialect { place_of, smaller, larger, text, number, columns } = dialect;
    let has_text = |column: &str| format!("{place_of}(lower({column}), lower($3)) > 0");
    let own = ["e.url", "e.description", "e.id", "e.uid"].map(has_text).join(" OR ");
    let of_application = ["a.name", "a.id", "a.uid"].map(has_text).join(" OR ");
    format!(
        "WITH matching AS ( \
             SELECT e.id, a.name, e.failing_since, \
                 CASE WHEN e.disabled THEN 1 WHEN e.failing_since IS NOT NULL THEN 0 ELSE 2 END AS state \
             FROM applications a JOIN endpoints e ON e.application = a.id \
             WHERE a.account = $1 AND ($2{text} IS NULL OR a.id = $2) \
                 AND ($3 = '' OR {own} OR ($2 IS NULL AND ({of_application}))) \
         ), ordered AS ( \
             SELECT id, name, \
                 row_number() OVER (ORDER BY state, CASE WHEN state = 0 THEN failing_since END, id) AS place \
             FROM matching WHERE $4{number} IS NULL OR state = $4 \
         ), totals AS ( \
             SELECT count(CASE WHEN state = 0 THEN 1 END) AS failing, count(CASE WHEN state = 1 THEN 1 END) AS disabled, \
                 count(CASE WHEN state = 2 THEN 1 END) AS enabled FROM matching \
         ), page AS ( \
             SELECT coalesce((SELECT (place - 1) / $5{number} * $5 FROM ordered WHERE id = $6{text}), \
                 {smaller}($7{number}, {larger}((SELECT count(*) FROM ordered) - 1, 0) / $5 * $5)) AS skipped \
         ) SELECT totals.failing, totals.disabled, totals.enabled, page.skipped, o.name, {columns} \
         FROM totals CROSS JOIN page \
         LEFT JOIN ordered o ON o.place > page.skipped AND o.place <= page.skipped + $5 \
         LEFT JOIN endpoints e ON e.id = o.id ORDER BY o.place"
    )
}
