//! Servers that can't be used, permanently or temporarily: the error texts, and the recovery without a restart.

use testkit::postgres::{DedicatedServer, Settings};

use super::*;

async fn refusal(config: &PostgresConfig) -> String {
    Postgres::open(config, "first", migrations()).await.map(drop).unwrap_err().to_string()
}

fn config(url: String) -> PostgresConfig {
    PostgresConfig { url, pool_size: 4, ..Default::default() }
}

#[tokio::test]
async fn a_database_with_another_encoding_is_rejected() {
    let server = DedicatedServer::start(&Settings::default()).unwrap();
    server.sql("CREATE DATABASE old ENCODING 'SQL_ASCII' TEMPLATE template0").unwrap();
    let error = refusal(&config(server.url("old"))).await;
    assert!(error.contains("encoding is SQL_ASCII") && error.contains("ENCODING 'UTF8' TEMPLATE template0"), "{error}");
    let error = refusal(&config(server.url("none"))).await;
    assert!(error.contains("3D000") && error.contains("CREATE DATABASE"), "{error}");
}

#[tokio::test]
async fn tables_of_a_newer_or_another_version_are_rejected() {
    let config = database().await;
    let of = |text: &[(&str, &str)]| {
        let all: Vec<_> = text.iter().map(|(name, sql)| Migration::unapplied(name, sql).unwrap()).collect();
        Runner::new(&all)
    };
    let first = ("V1__lots", "CREATE TABLE lots (number integer PRIMARY KEY)");
    Postgres::open(&config, "first", of(&[first, ("V2__bids", "CREATE TABLE bids (lot integer)")])).await.unwrap();
    let newer = refusal(&config).await;
    let expected =
        "have version 2, which programs for version 2 or later can use, and this lotwire knows versions up to 1";
    assert!(newer.contains(expected), "{newer}");
    let other = Postgres::open(&config, "first", of(&[("V1__other", "SELECT 1"), ("V2__bids", "SELECT 1")])).await;
    let other = other.map(drop).unwrap_err().to_string();
    let named =
        format!("schema `first` in database `{}` were created by an earlier", config.url.rsplit('/').next().unwrap());
    assert!(other.contains(&named), "{other}");
    assert!(other.contains("start with a new database: create one, and name it in database.url"), "{other}");
}

#[tokio::test]
async fn an_older_version_goes_on_with_newer_tables_as_far_as_they_are_compatible() {
    let config = database().await;
    let all = [
        (
            "V1__lots",
            "CREATE TABLE schema_compatibility (compatible_from integer); INSERT INTO schema_compatibility VALUES (1)",
        ),
        ("V2__bids", "CREATE TABLE bids (lot integer)"),
        ("V3__fewer", "UPDATE schema_compatibility SET compatible_from = 2"),
    ];
    let open = async |count: usize, older_tables| {
        let known = all[..count].iter().map(|(name, sql)| Migration::unapplied(name, sql).unwrap());
        let config = PostgresConfig { older_tables, ..config.clone() };
        Postgres::open(&config, "first", Runner::new(&known.collect::<Vec<_>>())).await
    };
    let first = open(1, OlderTables::Refuse).await.unwrap();
    let refused = open(2, OlderTables::Refuse).await.map(drop).unwrap_err();
    assert!(matches!(refused, EngineError::TablesAreOlder { found: 1, needed: 2, .. }), "{refused}");
    let second = open(2, OlderTables::Upgrade).await.unwrap();
    open(1, OlderTables::Upgrade).await.unwrap();
    first.require_compatible().await.unwrap();
    let third = open(3, OlderTables::Upgrade).await.unwrap();
    let expected =
        "have version 3, which programs for version 2 or later can use, and this lotwire knows versions up to 1";
    for refused in [first.require_compatible().await, open(1, OlderTables::Upgrade).await.map(drop)] {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
    }
    second.require_compatible().await.unwrap();
    third.require_compatible().await.unwrap();
}

#[tokio::test]
async fn a_role_without_create_gets_advice_and_can_use_a_schema_that_it_owns() {
    let server = DedicatedServer::start(&Settings::default()).unwrap();
    server.sql("CREATE ROLE app LOGIN; CREATE DATABASE lots ENCODING 'UTF8' TEMPLATE template0").unwrap();
    let config = config(server.url("lots").replace("lotwire@", "app@"));
    let error = refusal(&config).await;
    assert!(error.contains("42501") && error.contains("GRANT CREATE ON DATABASE"), "{error}");
    let owner = PostgresConfig { url: server.url("lots"), pool_size: 1, ..Default::default() };
    let (client, connection) = owner.connector("public").unwrap().connect().await.unwrap();
    let driver = tokio::spawn(connection);
    client.batch_execute("CREATE SCHEMA first AUTHORIZATION app").await.unwrap();
    drop(client);
    driver.await.unwrap().unwrap();
    open(&config).await;
}

#[tokio::test]
async fn writes_fail_on_a_read_only_server_and_succeed_once_it_accepts_writes() {
    let server = DedicatedServer::start(&Settings::default()).unwrap();
    server.sql("CREATE DATABASE lots ENCODING 'UTF8' TEMPLATE template0").unwrap();
    let postgres = open(&config(server.url("lots"))).await;
    let write = || postgres.transaction(&(), |db, ()| Box::pin(run(db, "INSERT INTO lots SELECT count(*) FROM lots")));
    write().await.unwrap();
    server.sql("ALTER DATABASE lots SET default_transaction_read_only = on").unwrap();
    server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'lots'").unwrap();
    let error = loop {
        match write().await {
            Err(SqlError::Statement(error)) if error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => {
                break describe_error(&error);
            }
            // The error of the terminated connection.
            Err(_) => {}
            Ok(()) => panic!("the write succeeded on a read-only server"),
        }
    };
    assert!(error.contains("the server is read-only"), "{error}");
    let refused = refusal(&config(server.url("lots"))).await;
    assert!(refused.contains("the server is read-only"), "{refused}");
    // The session stays read-only, as a session of a former primary does, so the pool must close it.
    server.sql("ALTER DATABASE lots RESET default_transaction_read_only").unwrap();
    let again = async { while write().await.is_err() {} };
    tokio::time::timeout(SOON, again).await.expect("writes succeed again");
    assert_eq!(lots(&postgres).await, 2);
}

#[tokio::test]
async fn a_caller_waits_for_a_pooled_connection_when_the_server_has_none() {
    let settings = Settings {
        configuration: "max_connections = 8\nsuperuser_reserved_connections = 1".to_owned(),
        ..Settings::default()
    };
    let server = DedicatedServer::start(&settings).unwrap();
    server.sql("CREATE ROLE app LOGIN; CREATE DATABASE lots OWNER app ENCODING 'UTF8' TEMPLATE template0").unwrap();
    let config =
        PostgresConfig { url: server.url("lots").replace("lotwire@", "app@"), pool_size: 32, ..Default::default() };
    let postgres = open(&config).await;
    let all = (0..64).map(|number| {
        let postgres = postgres.clone();
        tokio::spawn(async move {
            let client = postgres.client().await?;
            let insert = client.prepare_cached("INSERT INTO lots SELECT $1 FROM pg_sleep(0.01)").await?;
            client.execute(&insert, &[&number]).await.map_err(EngineError::from)
        })
    });
    for one in all.collect::<Vec<_>>() {
        one.await.unwrap().unwrap();
    }
    assert_eq!(lots(&postgres).await, 64);
    let refused = refusal(&PostgresConfig { pool_size: 1, ..config.clone() }).await;
    assert!(refused.contains("53300") && refused.contains("database.pool_size"), "{refused}");
}
