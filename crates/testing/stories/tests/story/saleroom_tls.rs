//! The port of the salerooms speaks TLS itself: certificates by host name, that of a house's own domain among them.

use std::process::Command;

use testkit::certificates::Authority;
use testkit::name_server::NameServer;
use testkit::server::free_address;

use crate::open_saleroom::OpenHouse;
use crate::saleroom_domain::DomainForm;
use crate::tls::{curl, doctor, text, write_certificate};

const SHARED: &str = "saleroom.example.test";
const DOMAIN: &str = "bid.hartley.test";

#[tokio::test(flavor = "multi_thread")]
async fn the_shared_host_and_a_domain_of_a_house_have_certificates_of_their_own() {
    let [shared, own] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let authority = Authority::new("Test").unwrap();
    let trusted = shared.path().join("authority.pem");
    std::fs::write(&trusted, authority.certificate()).unwrap();
    write_certificate(&authority, shared.path(), SHARED);
    write_certificate(&authority, own.path(), "another.example.test");
    let mut names = NameServer::start().unwrap();
    let listen = free_address().unwrap();
    let port = listen.port();
    let settings = [
        ("SALEROOM__DNS_SERVERS", names.address.to_string()),
        ("SALEROOM__TLS_LISTEN", listen.to_string()),
        ("SALEROOM__PUBLIC_URL", format!("https://{SHARED}:{port}")),
        ("TLS__CERTIFICATES", format!("{},{}", shared.path().display(), own.path().display())),
    ];
    let settings: Vec<(&str, &str)> = settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let house = OpenHouse::with(None, "at_once", &settings).await;
    let get = |name: &str, path: &str| curl(&trusted, listen, name, path, false);

    let page = text(&get(SHARED, "/hartley"));
    assert!(page.contains(&format!("href=\"https://{SHARED}:{port}/hartley\"")) && page.ends_with("2 200"), "{page}");
    let form = DomainForm(&house);
    form.enter(DOMAIN, "Not proven yet").await;
    let (name, value) = form.record().await;
    names.set(&[(&name, &value)]).unwrap();
    form.check("The record was found.").await;

    // Proven, but browsers refuse the certificate of another name. A certificate that is added needs no restart.
    let refused = get(DOMAIN, "/hartley");
    assert!(!refused.status.success(), "{}", text(&refused));
    let missing = format!("no certificate in tls.certificates is for {DOMAIN}, the domain of a house's saleroom");
    assert!(doctor(&house.administration.launch).contains(&missing), "{}", doctor(&house.administration.launch));
    write_certificate(&authority, own.path(), DOMAIN);
    let hangup = Command::new("kill").args(["-HUP", &house.administration.server.id().to_string()]).status().unwrap();
    assert!(hangup.success());
    let page = text(&curl(&trusted, listen, DOMAIN, "/hartley", true));
    assert!(page.contains(&format!("href=\"https://{DOMAIN}:{port}/hartley\"")) && page.ends_with("2 200"), "{page}");
    assert!(!doctor(&house.administration.launch).contains(&missing));
    let led = text(&get(SHARED, "/hartley"));
    assert!(led.ends_with("2 308"), "{led}");

    // Cookies are of this host and of secure connections alone.
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--include", "--cacert"]).arg(&trusted);
    curl.args(["--resolve", &format!("{DOMAIN}:{port}:127.0.0.1"), "--data", "language=de"]);
    curl.args(["--header", &format!("Origin: https://{DOMAIN}:{port}"), "--header", "Sec-Fetch-Site: same-origin"]);
    let chosen = text(&curl.arg(format!("https://{DOMAIN}:{port}/hartley/language")).output().unwrap());
    let cookie = chosen.lines().find(|line| line.starts_with("set-cookie: __Host-language=de;"));
    assert!(cookie.is_some_and(|cookie| cookie.contains("; Path=/;") && cookie.contains("; Secure")), "{chosen}");

    // A request without TLS gets the reason.
    let plain = Command::new("curl").args(["--silent", "--include"]).arg(format!("http://127.0.0.1:{port}/")).output();
    assert!(text(&plain.unwrap()).contains("This port speaks TLS."));
}
