//! A house with an open saleroom on one node or more, behind a reverse proxy on this machine.

use std::net::{IpAddr, Ipv4Addr};

use testkit::mail_server::MailServer;
use testkit::server::{Launch, Server, free_address};

use super::visitor::{SiteAddress, Visitor};
use crate::RigError;
use crate::site::{Engine, RigSite};

/// Path of the house below the saleroom's address.
pub(super) const HOUSE: &str = "/crowd";
const STAFF: &str = "staff@example.org";

/// The installation.
pub(super) struct House {
    pub(super) site: RigSite,
    pub(super) servers: Vec<Server>,
    /// The saleroom at each node.
    pub(super) saleroom: Vec<SiteAddress>,
    pub(super) mails: MailServer,
}

/// The address of a visitor's network, as the proxy names it.
pub(super) fn address(number: usize) -> IpAddr {
    Ipv4Addr::from_bits(0x0A00_0001 + number as u32).into()
}

impl House {
    /// Starts the nodes, and opens the saleroom.
    pub(super) async fn open(engine: Engine, nodes: usize) -> Result<Self, RigError> {
        let mails = MailServer::start().await?;
        let listen = free_address()?;
        let host = format!("saleroom.localhost:{}", listen.port());
        let (at, url) = (listen.to_string(), format!("http://{host}"));
        let settings = [
            ("PLATFORM__TRUSTED_PROXIES", "127.0.0.0/8"),
            ("PLATFORM__RATE_LIMIT", "0"),
            ("MAIL__SMTP_URL", &mails.url),
            ("MAIL__FROM", "Lotwire <mails@example.org>"),
            ("SALEROOM__LISTEN", &at),
            ("SALEROOM__PUBLIC_URL", &url),
        ];
        let (site, server) = RigSite::set_up(engine, &settings).await?;
        let saleroom = vec![SiteAddress { listen, host: host.clone() }];
        let mut house = Self { site, servers: vec![server], saleroom, mails };
        for _ in 1..nodes {
            let listen = free_address()?;
            let node = house.site.launch.second_node()?.set("SALEROOM__LISTEN", &listen.to_string());
            house.servers.push(node.start(&house.site.http).await?);
            house.saleroom.push(SiteAddress { listen, host: host.clone() });
        }
        open_saleroom(&house.site.launch, &house.site.customer).await?;
        Ok(house)
    }

    /// Address of the house's pages.
    pub(super) fn url(&self) -> String {
        let host = self.saleroom.first().map_or("", |site| &site.host);
        format!("http://{host}{HOUSE}")
    }
}

/// Opens the saleroom of a house as its staff do, on the page of the administration.
async fn open_saleroom(launch: &Launch, customer: &str) -> Result<(), RigError> {
    let user = launch.run_command(&["user", "create", STAFF, "--role", "administrator", "--json"])?;
    let password = user["password"].as_str().ok_or("no password was made")?;
    let administration = SiteAddress { listen: launch.platform, host: launch.platform.to_string() };
    let mut staff = Visitor::new(&administration, address(0));
    let signed_in = staff.post("/admin/sign-in", &[("email", STAFF), ("password", password)]).await?;
    signed_in.require(&[303], "signing in to the administration")?;
    let path = format!("/admin/customers/{customer}/saleroom");
    let page = staff.get(&path).await?.require(&[200], "the page of the saleroom")?;
    let version = page.split_once("name=\"version\" value=\"").and_then(|(_, rest)| rest.split('"').next());
    let fields = [
        ("version", version.ok_or("the page of the saleroom names no version")?),
        ("address", HOUSE.trim_start_matches('/')),
        ("registration", "at_once"),
        ("outageEnds", "at_their_time"),
        ("open", "yes"),
    ];
    staff.post(&path, &fields).await?.require(&[303], "opening the saleroom")?;
    Ok(())
}
