//! A real server that speaks TLS: what each `sslmode` takes and refuses, and what is said then.

use std::path::Path;

use tempfile::TempDir;
use testkit::certificates::{Authority, Validity, self_signed};
use testkit::postgres::{DedicatedServer, Settings, Tls};

use super::*;

const ACCESS: &str = "local all all trust
hostnossl all plain 0.0.0.0/0 trust
hostssl all covered 0.0.0.0/0 trust
hostssl all scram 0.0.0.0/0 scram-sha-256
hostssl all certified 0.0.0.0/0 cert
host all lotwire 0.0.0.0/0 trust
host all covered 0.0.0.0/0 reject";

struct House {
    server: DedicatedServer,
    authority: Authority,
    files: TempDir,
}

impl House {
    /// A server with a certificate for `localhost`.
    fn new() -> Self {
        let authority = Authority::new("ours").unwrap();
        let identity = authority.server(&["localhost"], Validity::Now).unwrap();
        let tls = Tls { identity, client_authority: authority.certificate().to_owned() };
        let settings = Settings { access: ACCESS.to_owned(), tls: Some(tls), ..Settings::default() };
        let server = DedicatedServer::start(&settings).unwrap();
        server
            .sql(
                "CREATE ROLE plain LOGIN; CREATE ROLE covered LOGIN; CREATE ROLE certified LOGIN; \
                  CREATE ROLE scram LOGIN PASSWORD 'hush'",
            )
            .unwrap();
        Self { server, authority, files: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.files.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn ca(&self) -> String {
        self.file("ca.pem", self.authority.certificate())
    }

    /// The address for `user` at `host`, with these parameters.
    fn url(&self, user: &str, host: &str, parameters: &str) -> String {
        // Where `localhost` is also ::1, nobody listens.
        let host =
            if host == "localhost" { "localhost:PORT" } else { host }.replace("PORT", &self.server.port().to_string());
        format!("postgres://{user}@{host}/postgres?{parameters}")
    }

    async fn at(&self, host: &str, parameters: &str) -> Result<String, String> {
        encryption(&self.url("lotwire", host, parameters)).await
    }
}

/// The version of TLS that a session has, `plain` without.
async fn encryption(url: &str) -> Result<String, String> {
    let config = PostgresConfig { url: url.to_owned(), pool_size: 1 };
    let connector = config.connector("public").map_err(|error| error.to_string())?;
    let (client, line) = connector.connect().await.map_err(|error| error.to_string())?;
    let driver = tokio::spawn(line);
    let ask = "SELECT coalesce(version, 'plain') FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let version = client.query_one(ask, &[]).await.unwrap().get(0);
    drop(client);
    driver.await.unwrap().unwrap();
    Ok(version)
}

async fn refused(answer: impl Future<Output = Result<String, String>>, told: &str) {
    let error = answer.await.unwrap_err();
    assert!(error.contains(told) && !error.contains("hush"), "{told}: {error}");
}

const TLS: &str = "TLSv1.3";

#[tokio::test]
async fn each_mode_takes_the_server_that_it_trusts_and_no_other() {
    let house = House::new();
    let (named, numbered, ca) = ("localhost", "127.0.0.1:PORT", house.ca());
    let other = house.file("other.pem", Authority::new("theirs").unwrap().certificate());
    let namesake = house.file("namesake.pem", Authority::new("ours").unwrap().certificate());

    assert_eq!(house.at(named, "sslmode=disable").await.unwrap(), "plain");
    for mode in ["", "sslmode=prefer", "sslmode=require"] {
        assert_eq!(house.at(numbered, mode).await.unwrap(), TLS, "{mode}");
    }
    for mode in ["require", "verify-ca"] {
        assert_eq!(house.at(numbered, &format!("sslmode={mode}&sslrootcert={ca}")).await.unwrap(), TLS);
        let unknown = format!("sslmode={mode}&sslrootcert={other}");
        refused(house.at(named, &unknown), "name the authority's file in sslrootcert").await;
    }
    assert_eq!(house.at(named, &format!("sslmode=verify-full&sslrootcert={ca}")).await.unwrap(), TLS);
    refused(house.at(numbered, &format!("sslmode=verify-full&sslrootcert={ca}")), "for other names").await;
    // The name that is compared, and where it is.
    let at_number = format!("sslmode=verify-full&sslrootcert={ca}&hostaddr=127.0.0.1");
    assert_eq!(house.at(named, &at_number).await.unwrap(), TLS);
    for wrong in [other, namesake] {
        let unknown = format!("sslmode=verify-full&sslrootcert={wrong}");
        refused(house.at(named, &unknown), "name the authority's file in sslrootcert").await;
    }
    let system = house.at(named, "sslrootcert=system").await.unwrap_err();
    assert!(system.contains("sslrootcert"), "{system}");
}

#[tokio::test]
async fn what_is_wrong_with_a_certificate_is_said() {
    let mut house = House::new();
    let full = format!("sslmode=verify-full&sslrootcert={}", house.ca());
    house.server.show(&house.authority.server(&["localhost"], Validity::Expired).unwrap()).unwrap();
    refused(house.at("localhost", &full), "has expired").await;
    assert_eq!(house.at("localhost", "sslmode=require").await.unwrap(), TLS, "it is not looked at");

    // As in PostgreSQL's manual: the server's own certificate is what clients trust.
    let own = self_signed(&["localhost"], Validity::Now).unwrap();
    house.server.show(&own).unwrap();
    refused(house.at("localhost", &full), "made to sign others").await;
    let copied = format!("sslmode=verify-full&sslrootcert={}", house.file("own.pem", &own.certificate));
    assert_eq!(house.at("localhost", &copied).await.unwrap(), TLS);
    refused(house.at("127.0.0.1:PORT", &copied), "for other names").await;
    let old = self_signed(&["localhost"], Validity::Expired).unwrap();
    house.server.show(&old).unwrap();
    let copied = format!("sslmode=verify-ca&sslrootcert={}", house.file("old.pem", &old.certificate));
    refused(house.at("localhost", &copied), "has expired").await;
}

#[tokio::test]
async fn the_server_may_have_its_say_about_tls_and_passwords() {
    let house = House::new();
    let at = |user: &str, parameters: &str| house.url(user, "127.0.0.1:PORT", parameters);
    // It does not want TLS of this one: only who prefers it gives way.
    assert_eq!(encryption(&at("plain", "sslmode=prefer")).await.unwrap(), "plain");
    refused(encryption(&at("plain", "sslmode=require")), "pg_hba.conf").await;
    refused(encryption(&at("covered", "sslmode=disable")), "sslmode=verify-full").await;
    assert_eq!(encryption(&at("covered", "")).await.unwrap(), TLS);
    // SCRAM binds the password to this very server.
    assert_eq!(encryption(&at("scram:hush", "channel_binding=require")).await.unwrap(), TLS);
    refused(encryption(&at("scram:hush%21", "sslmode=require")), "check user and password").await;
    refused(encryption(&at("scram", "sslmode=require")), "the server asks for a password").await;
    refused(encryption(&at("covered", "sslmode=require&channel_binding=require")), "scram-sha-256").await;
}

#[tokio::test]
async fn a_client_may_have_a_certificate() {
    let house = House::new();
    let identity = house.authority.client("certified").unwrap();
    let stranger = Authority::new("theirs").unwrap().client("certified").unwrap();
    let with = |identity: &testkit::certificates::Identity, key: &str| {
        let certificate = house.file("me.pem", &identity.certificate);
        let key = house.file("me-key.pem", key);
        house.url("certified", "127.0.0.1:PORT", &format!("sslmode=require&sslcert={certificate}&sslkey={key}"))
    };
    assert_eq!(encryption(&with(&identity, &identity.key)).await.unwrap(), TLS);
    refused(encryption(&house.url("certified", "127.0.0.1:PORT", "sslmode=require")), "sslcert and sslkey").await;
    refused(encryption(&with(&identity, &stranger.key)), "can't be used as the key of sslcert").await;
    refused(encryption(&with(&stranger, &stranger.key)), "does not take the certificate in sslcert").await;
    refused(encryption(&with(&identity, "nothing")), "without a passphrase").await;
}

#[tokio::test]
async fn all_connections_of_a_store_are_covered() {
    let house = House::new();
    house.server.sql("CREATE DATABASE lots OWNER covered ENCODING 'UTF8' TEMPLATE template0").unwrap();
    let url = house.url("covered", "localhost", &format!("sslmode=verify-full&sslrootcert={}", house.ca()));
    let config = PostgresConfig { url: url.replace("/postgres?", "/lots?"), pool_size: 4 };
    let (teller, hearer) = (open(&config).await, open(&config).await);
    teller.client().await.unwrap().batch_execute("INSERT INTO lots VALUES (1)").await.unwrap();
    assert_eq!(lots(&hearer).await, 1);
    teller.notify().await;
    tokio::time::timeout(SOON, hearer.remote_changes().wait()).await.expect("it is told");
    let ask = "SELECT count(*), count(*) FILTER (WHERE ssl) FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE datname = 'lots'";
    assert_eq!(house.server.sql(ask).unwrap(), "4|4", "two listeners, and one of each pool");
    let reached = config.probe().await.unwrap();
    assert_eq!((reached.tls.as_deref(), reached.mode), (Some(TLS), "verify-full"));
}

#[tokio::test]
async fn without_tls_at_the_server_only_those_who_do_not_insist_get_in() {
    let url = testkit::postgres::fresh_database().await.unwrap();
    for mode in ["disable", "prefer"] {
        assert_eq!(encryption(&format!("{url}?sslmode={mode}")).await.unwrap(), "plain");
    }
    assert_eq!(encryption(&url).await.unwrap(), "plain");
    let ca = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(ca.path(), Authority::new("ours").unwrap().certificate()).unwrap();
    let path = ca.path().display();
    for mode in ["sslmode=require".to_owned(), format!("sslmode=verify-full&sslrootcert={path}")] {
        refused(encryption(&format!("{url}?{mode}")), "the server has ssl=off").await;
    }
}

#[tokio::test]
async fn on_a_unix_socket_tls_is_neither_asked_for_nor_missed() {
    let server = DedicatedServer::start(&Settings::default()).unwrap();
    let url = |directory: &Path, mode: &str| {
        let directory = directory.display().to_string().replace('/', "%2F");
        format!("postgres://lotwire@{directory}:{}/postgres?sslmode={mode}", server.port())
    };
    for mode in ["disable", "prefer", "require"] {
        assert_eq!(encryption(&url(server.directory(), mode)).await.unwrap(), "plain");
    }
    refused(encryption(&url(Path::new("/nowhere"), "prefer")), "is the server up").await;
}
