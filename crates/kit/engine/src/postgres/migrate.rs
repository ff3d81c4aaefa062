//! Migrates a schema, after checking the version and the encoding of the database.

use refinery::error::Kind;
use tokio_postgres::Client;

use super::connector::Connector;
use crate::EngineError;
use crate::table_versions::{self, COMPATIBILITY_TABLE, FoundTables, HISTORY_TABLE, OlderTables, Step};

/// Time to wait for the migrations of another process.
const MIGRATION_WAIT: &str = "120s";
/// Oldest supported version of PostgreSQL.
const SERVER_VERSION_MIN: i32 = 14;
/// Factor of the major version in `server_version_num`.
const VERSION_STEP: i32 = 10_000;

/// Migrates the schema on a separate connection. Returns a unique id of this process for notifications.
pub(super) async fn migrate(
    connector: &Connector,
    schema: &str,
    migrations: &refinery::Runner,
    older: OlderTables,
) -> Result<String, EngineError> {
    let (mut client, connection) = connector.connect().await?;
    let driver = tokio::spawn(connection);
    check_server(&client).await?;
    // The lock belongs to the session. Closing the connection releases it, even if this function fails or is dropped.
    let prepare = format!(
        "SET statement_timeout = 0; SET lock_timeout = '{MIGRATION_WAIT}'; \
         SELECT pg_advisory_lock(hashtextextended('lotwire migrations of ' || current_database() || '.{schema}', 0))"
    );
    client.batch_execute(&prepare).await?;
    create_schema(&client, schema).await?;
    let row = client.query_one("SELECT gen_random_uuid()::text, current_database()::text", &[]).await?;
    let (sender, database): (String, String) = (row.try_get(0)?, row.try_get(1)?);
    let tables = format!("the tables of schema `{schema}` in database `{database}`");
    let found = found_tables(&mut client, migrations).await?;
    if table_versions::step(&found, migrations, older, &tables)? == Step::Migrate {
        migrations.run_async(&mut client).await.map_err(|error| migration_error(&error, &tables))?;
    }
    drop(client);
    // Another process can start its migrations once the server has closed this connection.
    let _ = driver.await;
    Ok(sender)
}

async fn check_server(client: &Client) -> Result<(), EngineError> {
    let query = "SELECT current_setting('server_version_num')::int, current_setting('server_version'), \
               current_setting('server_encoding')";
    let row = client.query_one(query, &[]).await?;
    let number: i32 = row.try_get(0)?;
    let version: String = row.try_get(1)?;
    let encoding: String = row.try_get(2)?;
    check_version_and_encoding(number, &version, &encoding).map_err(EngineError::Unsupported)
}

fn check_version_and_encoding(number: i32, version: &str, encoding: &str) -> Result<(), String> {
    if number < SERVER_VERSION_MIN * VERSION_STEP {
        return Err(format!(
            "the server is PostgreSQL {version}, and {SERVER_VERSION_MIN} or newer is needed; upgrade it, or name \
             another server in database.url"
        ));
    }
    if encoding != "UTF8" {
        return Err(format!(
            "the database's encoding is {encoding}, and UTF8 is needed; create a database with CREATE DATABASE … \
             ENCODING 'UTF8' TEMPLATE template0, and name it in database.url"
        ));
    }
    Ok(())
}

/// Creates the schema only if it does not exist: the role may lack CREATE and own a schema that an administrator
/// created.
async fn create_schema(client: &Client, schema: &str) -> Result<(), EngineError> {
    let exists = client.query_opt("SELECT 1 FROM pg_namespace WHERE nspname = $1", &[&schema]).await?.is_some();
    if !exists {
        client.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS {schema}")).await?;
    }
    Ok(())
}

/// None in a new schema.
async fn found_tables(client: &mut Client, migrations: &refinery::Runner) -> Result<FoundTables, EngineError> {
    let applied = if exists(client, HISTORY_TABLE).await? {
        let applied = migrations.get_applied_migrations_async(client).await;
        applied.map_err(|error| EngineError::Migration(error.to_string()))?
    } else {
        Vec::new()
    };
    let compatible_from = if exists(client, COMPATIBILITY_TABLE).await? {
        let select = format!("SELECT compatible_from FROM {COMPATIBILITY_TABLE}");
        client.query_opt(&select, &[]).await?.map(|row| row.try_get(0)).transpose()?
    } else {
        None
    };
    Ok(FoundTables { applied, compatible_from })
}

async fn exists(client: &Client, table: &str) -> Result<bool, EngineError> {
    Ok(client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&table]).await?.try_get(0)?)
}

fn migration_error(error: &refinery::Error, tables: &str) -> EngineError {
    let new_database = "create one, and name it in database.url";
    if let Some(refused) = table_versions::refusal(error, tables, new_database) {
        return refused;
    }
    match error.kind() {
        Kind::Connection(_, source) => match source.downcast_ref::<tokio_postgres::Error>() {
            Some(error) => EngineError::Migration(super::describe_error(error)),
            None => EngineError::Migration(error.to_string()),
        },
        _ => EngineError::Migration(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_with_an_old_version_or_another_encoding_is_rejected() {
        assert!(
            check_version_and_encoding(140_000, "14.0", "UTF8").is_ok()
                && check_version_and_encoding(180_001, "18.1", "UTF8").is_ok()
        );
        assert!(
            check_version_and_encoding(130_023, "13.23 (Debian)", "UTF8")
                .unwrap_err()
                .contains("13.23 (Debian), and 14")
        );
        assert!(check_version_and_encoding(150_004, "15.4", "SQL_ASCII").unwrap_err().contains("SQL_ASCII"));
    }
}
