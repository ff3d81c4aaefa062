//! A server that speaks TLS itself: pages and both APIs over HTTPS, and a new certificate without a restart.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output};

use testkit::certificates::{Authority, Validity};
use testkit::server::Launch;
use testkit::site::{CustomerSite, http_client};

use crate::support::{SMALL_SALE_EVENTS, launch, received, small_sale};

const NAME: &str = "auctions.example.test";
const RENAMED: &str = "sales.example.test";

/// The files of a certificate for this name, as certbot writes them.
pub fn write_certificate(authority: &Authority, folder: &Path, name: &str) {
    let identity = authority.server(&[name], Validity::Now).unwrap();
    std::fs::write(folder.join("fullchain.pem"), identity.certificate).unwrap();
    std::fs::write(folder.join("privkey.pem"), identity.key).unwrap();
}

/// Asks for a path over TLS as a client that trusts the authority. With `until_answered`, it tries again for a minute.
pub fn curl(authority: &Path, address: SocketAddr, name: &str, path: &str, until_answered: bool) -> Output {
    let port = address.port();
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--show-error", "--http2", "--write-out", "\n%{http_version} %{http_code}", "--cacert"]);
    curl.arg(authority).args(["--resolve", &format!("{name}:{port}:127.0.0.1")]);
    if until_answered {
        curl.args(["--retry", "60", "--retry-delay", "1", "--retry-all-errors"]);
    }
    curl.arg(format!("https://{name}:{port}{path}")).output().unwrap()
}

pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

pub fn doctor(launch: &Launch) -> String {
    text(&launch.command().arg("doctor").output().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_and_apis_are_served_over_tls_and_a_new_certificate_needs_no_restart() {
    let [data, files] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let authority = Authority::new("Test").unwrap();
    let trusted = files.path().join("authority.pem");
    std::fs::write(&trusted, authority.certificate()).unwrap();
    write_certificate(&authority, files.path(), NAME);
    let first = launch(data.path());
    let over_tls = first.second_node().unwrap();
    let first = first
        .set("TLS__CERTIFICATES", &files.path().display().to_string())
        .set("PLATFORM__TLS_LISTEN", &over_tls.platform.to_string())
        .set("PLATFORM__PUBLIC_URL", &format!("https://{NAME}"))
        .set("PROVIDER__TLS_LISTEN", &over_tls.provider.to_string())
        .set("PROVIDER__PUBLIC_URL", &format!("https://{NAME}"));
    let server = first.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&first, &first).await.unwrap();
    small_sale(&site).await;
    received(&site, SMALL_SALE_EVENTS).await;

    let health = text(&curl(&trusted, over_tls.platform, NAME, "/api/v1/health", false));
    assert!(health.contains("{\"status\":\"ok\"}") && health.ends_with("2 200"), "{health}");
    let provider = text(&curl(&trusted, over_tls.provider, NAME, "/api/v1/health", false));
    assert!(provider.ends_with("2 204"), "{provider}");
    let page = text(&curl(&trusted, over_tls.platform, NAME, "/admin/sign-in", false));
    assert!(page.contains("<form") && page.ends_with("2 200"), "{page}");
    assert!(doctor(&first).contains("ok     TLS"), "{}", doctor(&first));

    let wrong = curl(&trusted, over_tls.platform, RENAMED, "/api/v1/health", false);
    assert!(!wrong.status.success(), "{}", text(&wrong));
    write_certificate(&authority, files.path(), RENAMED);
    let hangup = Command::new("kill").args(["-HUP", &server.id().to_string()]).status().unwrap();
    assert!(hangup.success());
    // A try before the server has read the files leaves an error.
    let renewed = curl(&trusted, over_tls.platform, RENAMED, "/api/v1/health", true);
    assert!(String::from_utf8_lossy(&renewed.stdout).ends_with("2 200"), "{}", text(&renewed));
    let found = doctor(&first);
    assert!(found.contains(&format!("no certificate in tls.certificates is for {NAME}")), "{found}");
    assert!(server.stop().unwrap().success());
}

#[test]
fn tls_without_a_certificate_and_two_ports_with_one_address_are_refused_by_the_check() {
    let data = tempfile::tempdir().unwrap();
    let launch =
        launch(data.path()).set("PLATFORM__TLS_LISTEN", "127.0.0.1:8443").set("METRICS__LISTEN", "127.0.0.1:8443");
    let check = launch.command().args(["config", "check"]).output().unwrap();
    let refused = text(&check);
    assert!(!check.status.success());
    for part in [
        "a certificate is needed with platform.tls_listen",
        "metrics.listen and platform.tls_listen have the same address",
        "begins with https",
    ] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
}
