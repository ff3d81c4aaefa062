-- How the columns of a customer's catalogue files were mapped last.

CREATE TABLE catalogue_mappings (
    customer uuid PRIMARY KEY,
    mapping text NOT NULL
);
