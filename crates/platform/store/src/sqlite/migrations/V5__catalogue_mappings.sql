-- How the columns of a customer's catalogue files were mapped last.

CREATE TABLE catalogue_mappings (
    customer BLOB PRIMARY KEY,
    mapping TEXT NOT NULL
) STRICT, WITHOUT ROWID;
