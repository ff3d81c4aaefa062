//! The stores behind the ports of platform and provider: memory, SQLite and PostgreSQL. The only crate that knows SQL.
