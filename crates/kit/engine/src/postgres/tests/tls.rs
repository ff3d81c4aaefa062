//! Tests on a real server with TLS: which servers each `sslmode` accepts, and the error texts.

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

struct TlsServer {
    server: DedicatedServer,
    authority: Authority,
    files: TempDir,
}

impl TlsServer {
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
        // `localhost` may also resolve to ::1, where the server does not listen.
        let host =
            if host == "localhost" { "localhost:PORT" } else { host }.replace("PORT", &self.server.port().to_string());
        format!("postgres://{user}@{host}/postgres?{parameters}")
    }

    async fn at(&self, host: &str, parameters: &str) -> Result<String, String> {
        encryption(&self.url("lotwire", host, parameters)).await
    }
}

/// The TLS version of a session, `plain` without TLS.
async fn encryption(url: &str) -> Result<String, String> {
    let config = PostgresConfig { url: url.to_owned(), pool_size: 1, ..Default::default() };
    let connector = config.connector("public").map_err(|error| error.to_string())?;
    let (client, connection) = connector.connect().await.map_err(|error| error.to_string())?;
    let driver = tokio::spawn(connection);
    let query = "SELECT coalesce(version, 'plain') FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let version = client.query_one(query, &[]).await.unwrap().get(0);
    drop(client);
    driver.await.unwrap().unwrap();
    Ok(version)
}

async fn assert_rejected(connecting: impl Future<Output = Result<String, String>>, advice: &str) {
    let error = connecting.await.unwrap_err();
    assert!(error.contains(advice) && !error.contains("hush"), "{advice}: {error}");
}

const TLS: &str = "TLSv1.3";

#[tokio::test]
async fn each_mode_accepts_only_the_servers_that_it_trusts() {
    let tls = TlsServer::new();
    let named = "localhost";
    let numbered = "127.0.0.1:PORT";
    let ca = tls.ca();
    let other = tls.file("other.pem", Authority::new("theirs").unwrap().certificate());
    let namesake = tls.file("namesake.pem", Authority::new("ours").unwrap().certificate());

    assert_eq!(tls.at(named, "sslmode=disable").await.unwrap(), "plain");
    for mode in ["", "sslmode=prefer", "sslmode=require"] {
        assert_eq!(tls.at(numbered, mode).await.unwrap(), TLS, "{mode}");
    }
    for mode in ["require", "verify-ca"] {
        assert_eq!(tls.at(numbered, &format!("sslmode={mode}&sslrootcert={ca}")).await.unwrap(), TLS);
        let unknown = format!("sslmode={mode}&sslrootcert={other}");
        assert_rejected(tls.at(named, &unknown), "name the authority's file in sslrootcert").await;
    }
    assert_eq!(tls.at(named, &format!("sslmode=verify-full&sslrootcert={ca}")).await.unwrap(), TLS);
    assert_rejected(tls.at(numbered, &format!("sslmode=verify-full&sslrootcert={ca}")), "for other names").await;
    // The URL names the host that is checked, and the address to connect to.
    let at_number = format!("sslmode=verify-full&sslrootcert={ca}&hostaddr=127.0.0.1");
    assert_eq!(tls.at(named, &at_number).await.unwrap(), TLS);
    for wrong in [other, namesake] {
        let unknown = format!("sslmode=verify-full&sslrootcert={wrong}");
        assert_rejected(tls.at(named, &unknown), "name the authority's file in sslrootcert").await;
    }
    let system = tls.at(named, "sslrootcert=system").await.unwrap_err();
    assert!(system.contains("sslrootcert"), "{system}");
}

#[tokio::test]
async fn the_error_says_what_is_wrong_with_a_certificate() {
    let mut tls = TlsServer::new();
    let full = format!("sslmode=verify-full&sslrootcert={}", tls.ca());
    tls.server.show(&tls.authority.server(&["localhost"], Validity::Expired).unwrap()).unwrap();
    assert_rejected(tls.at("localhost", &full), "has expired").await;
    assert_eq!(tls.at("localhost", "sslmode=require").await.unwrap(), TLS, "`require` does not check the certificate");

    // Clients trust the server's self-signed certificate, as in the example of PostgreSQL's manual.
    let own = self_signed(&["localhost"], Validity::Now).unwrap();
    tls.server.show(&own).unwrap();
    assert_rejected(tls.at("localhost", &full), "is a CA certificate").await;
    let copied = format!("sslmode=verify-full&sslrootcert={}", tls.file("own.pem", &own.certificate));
    assert_eq!(tls.at("localhost", &copied).await.unwrap(), TLS);
    assert_rejected(tls.at("127.0.0.1:PORT", &copied), "for other names").await;
    let old = self_signed(&["localhost"], Validity::Expired).unwrap();
    tls.server.show(&old).unwrap();
    let copied = format!("sslmode=verify-ca&sslrootcert={}", tls.file("old.pem", &old.certificate));
    assert_rejected(tls.at("localhost", &copied), "has expired").await;
}

#[tokio::test]
async fn the_servers_rules_for_tls_and_passwords_are_honoured() {
    let tls = TlsServer::new();
    let at = |user: &str, parameters: &str| tls.url(user, "127.0.0.1:PORT", parameters);
    // The server rejects this user over TLS: only `prefer` falls back to a plain connection.
    assert_eq!(encryption(&at("plain", "sslmode=prefer")).await.unwrap(), "plain");
    assert_rejected(encryption(&at("plain", "sslmode=require")), "pg_hba.conf").await;
    assert_rejected(encryption(&at("covered", "sslmode=disable")), "sslmode=verify-full").await;
    assert_eq!(encryption(&at("covered", "")).await.unwrap(), TLS);
    // Channel binding ties the password to this server.
    assert_eq!(encryption(&at("scram:hush", "channel_binding=require")).await.unwrap(), TLS);
    assert_rejected(encryption(&at("scram:hush%21", "sslmode=require")), "check user and password").await;
    assert_rejected(encryption(&at("scram", "sslmode=require")), "the server asks for a password").await;
    assert_rejected(encryption(&at("covered", "sslmode=require&channel_binding=require")), "scram-sha-256").await;
}

#[tokio::test]
async fn a_client_certificate_is_used() {
    let tls = TlsServer::new();
    let identity = tls.authority.client("certified").unwrap();
    let foreign = Authority::new("theirs").unwrap().client("certified").unwrap();
    let with = |identity: &testkit::certificates::Identity, key: &str| {
        let certificate = tls.file("me.pem", &identity.certificate);
        let key = tls.file("me-key.pem", key);
        tls.url("certified", "127.0.0.1:PORT", &format!("sslmode=require&sslcert={certificate}&sslkey={key}"))
    };
    assert_eq!(encryption(&with(&identity, &identity.key)).await.unwrap(), TLS);
    assert_rejected(encryption(&tls.url("certified", "127.0.0.1:PORT", "sslmode=require")), "sslcert and sslkey").await;
    assert_rejected(encryption(&with(&identity, &foreign.key)), "can't be used as the key of sslcert").await;
    assert_rejected(encryption(&with(&foreign, &foreign.key)), "rejects the certificate in sslcert").await;
    assert_rejected(encryption(&with(&identity, "nothing")), "without a passphrase").await;
}

#[tokio::test]
async fn all_connections_of_a_store_use_tls() {
    let tls = TlsServer::new();
    tls.server.sql("CREATE DATABASE lots OWNER covered ENCODING 'UTF8' TEMPLATE template0").unwrap();
    let url = tls.url("covered", "localhost", &format!("sslmode=verify-full&sslrootcert={}", tls.ca()));
    let config = PostgresConfig { url: url.replace("/postgres?", "/lots?"), pool_size: 4, ..Default::default() };
    let (sender, receiver) = (open(&config).await, open(&config).await);
    execute_batch(&sender.client().await.unwrap(), "INSERT INTO lots VALUES (1)").await.unwrap();
    assert_eq!(lots(&receiver).await, 1);
    sender.notify().await;
    tokio::time::timeout(SOON, receiver.remote_changes().wait()).await.expect("the other process is notified");
    let query = "SELECT count(*), count(*) FILTER (WHERE ssl) \
        FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE datname = 'lots'";
    assert_eq!(tls.server.sql(query).unwrap(), "4|4", "two listeners, and one of each pool");
    let info = config.probe().await.unwrap();
    assert_eq!((info.tls.as_deref(), info.mode), (Some(TLS), "verify-full"));
}

#[tokio::test]
async fn without_tls_on_the_server_only_disable_and_prefer_connect() {
    let url = testkit::postgres::fresh_database().await.unwrap();
    for mode in ["disable", "prefer"] {
        assert_eq!(encryption(&format!("{url}?sslmode={mode}")).await.unwrap(), "plain");
    }
    assert_eq!(encryption(&url).await.unwrap(), "plain");
    let ca = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(ca.path(), Authority::new("ours").unwrap().certificate()).unwrap();
    let path = ca.path().display();
    for mode in ["sslmode=require".to_owned(), format!("sslmode=verify-full&sslrootcert={path}")] {
        assert_rejected(encryption(&format!("{url}?{mode}")), "the server has ssl=off").await;
    }
}

#[tokio::test]
async fn tls_parameters_do_not_apply_to_a_unix_socket() {
    let server = DedicatedServer::start(&Settings::default()).unwrap();
    let url = |directory: &Path, mode: &str| {
        let directory = directory.display().to_string().replace('/', "%2F");
        format!("postgres://lotwire@{directory}:{}/postgres?sslmode={mode}", server.port())
    };
    for mode in ["disable", "prefer", "require"] {
        assert_eq!(encryption(&url(server.directory(), mode)).await.unwrap(), "plain");
    }
    assert_rejected(encryption(&url(Path::new("/nowhere"), "prefer")), "is the server up").await;
}
