//! Runs `lotwire demo`: two auctions, from import to the last verified webhook, over the real APIs on this machine.
//!
//! Actors: a node (platform and provider, as `lotwire serve` runs them), a customer's webhook receiver, a clerk, and 16
//! bidders. Clerk and bidders use only HTTP. The demonstration computes the expected webhooks from the commands of
//! clerk and bidders, not from the platform's own event feed.

mod catalogue;
mod mailbox;
mod picture;
mod progress;
mod sale;
mod setup;
mod summary;
mod timed;
mod webcast;

use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use consumer::{ApiClient, ExpectedEvent, Receiver};
use kit_mail::kept_mails::KeptMails;
use kit_runtime::clock::{SharedClock, SystemClock};

use self::catalogue::Catalogue;
use self::progress::Progress;
use self::setup::DemoCustomer;
use self::summary::Summary;
use self::timed::Timetable;
use crate::cli::Demo;
use crate::commands::{pluralise, print};
use crate::config::Config;
use crate::error::{CommandError, ErrorContext as _};
use crate::node::{self, Node};

/// E-mail address of the administrator of the demonstration.
const ADMINISTRATOR: &str = "admin@example.com";
/// Address of the saleroom of the demonstration's house.
const SALEROOM_ADDRESS: &str = "hartley-sons";
/// Duration of each of the two sales, in seconds.
const SALE_SECONDS: u32 = 20;
/// Time without a new webhook after which the missing ones count as lost.
const IDLE_MAX: Duration = Duration::from_secs(20);

/// Runs the demonstration. The exit status is 0 if every expected webhook arrived once, valid and in order. After an
/// interruption, no temporary file remains.
pub(crate) async fn run(demo: &Demo, mut config: Config, data_dir_given: bool) -> Result<ExitCode, CommandError> {
    let catalogue = catalogue::read(demo.catalogue.as_deref(), demo.lots)?;
    // Signals are handled from here on, before the first temporary file exists.
    let mut shutdown_signal = pin!(node::shutdown_signal()?);
    let scratch = tempfile::Builder::new()
        .prefix("lotwire-demo-")
        .tempdir()
        .context("creating a directory for the demonstration")?;
    if !data_dir_given {
        config.data_dir = scratch.path().to_owned();
    }
    node::take_free_ports_if_busy(&mut config).await?;
    if config.saleroom.public_url.is_empty() {
        config.saleroom.public_url = format!("http://saleroom.localhost:{}", config.saleroom.listen.port());
    }
    // The receiver is on this machine. Deliveries to it need an explicit permission.
    if config.platform.environment.is_empty() {
        config.platform.environment = "Demonstration".to_owned();
    }
    config.provider.allow_subnets.push(ipnet::IpNet::from(std::net::IpAddr::from(Ipv4Addr::LOCALHOST)));

    let progress = Progress::new(catalogue.timed_lots, catalogue.webcast_lots);
    let interrupted = |status: u8| {
        progress.finish();
        let data = if data_dir_given { "kept" } else { "removed" };
        progress.say(&format!("Interrupted. The demonstration stops; its data is {data}."));
        ExitCode::from(status)
    };
    let clock: SharedClock = Arc::new(SystemClock);
    let mails = config.mail.smtp_url.is_empty().then(|| Arc::new(KeptMails::new(clock.clone())));
    let mut node = tokio::select! {
        node = Node::start_with(&config, mails.clone()) => node?,
        status = &mut shutdown_signal => return Ok(interrupted(status)),
    };
    let mailbox = match mails {
        Some(mails) => Some(node.serve_locally(|url| mailbox::surface(mails, clock, url)).await?),
        None => None,
    };
    let receiver = Receiver::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), node.clock())
        .await
        .context("opening a port for the receiver")?;
    let ended = tokio::select! {
        ended = perform(demo, (&config, mailbox.as_deref()), &catalogue, (&node, &receiver), &progress) => {
            if ended.is_ok() && !demo.exit {
                shutdown_signal.await;
            }
            ended
        }
        status = &mut shutdown_signal => Ok(interrupted(status)),
    };
    node.stop().await;
    ended
}

/// Sets up both systems, sells, prints the summary and, without `--exit`, prints what keeps running.
async fn perform(
    demo: &Demo,
    (config, mailbox): (&Config, Option<&str>),
    catalogue: &Catalogue,
    (node, receiver): (&Node, &Receiver),
    progress: &Progress,
) -> Result<ExitCode, CommandError> {
    progress.say(&format!(
        "Platform at {}, provider at {}, receiver at {}",
        node.platform_url(),
        node.provider_url(),
        receiver.url()
    ));
    let (platform, provider, demo_customer) = set_up(node, receiver, progress).await?;
    let saleroom = node.open_saleroom(&demo_customer.customer, SALEROOM_ADDRESS).await?;
    progress.say(&format!("Saleroom: {saleroom}"));
    if let Some(mailbox) = mailbox {
        progress.say(&format!("Mailbox: {mailbox}"));
    }
    let expected = async {
        let expected = sell(&platform, &demo_customer, catalogue, node, progress).await?;
        wait_for(receiver, expected.len()).await;
        Ok::<_, CommandError>(expected)
    };
    let expected = tokio::select! {
        expected = expected => expected?,
        never = progress.follow(receiver) => match never {},
    };
    progress.finish();

    let tally = receiver.read(|record| record.compare(&expected));
    let arrivals = receiver.read(|record| record.arrivals().to_vec());
    let latencies = summary::latencies(&platform, &demo_customer.customer, &arrivals).await?;
    let summary = Summary::new(tally, &latencies);
    progress.say(&format!("\n{}\n", summary.to_text()));
    if demo.json {
        print(&serde_json::to_string(&summary).context("writing the summary")?);
    }
    if !demo.exit {
        let portal = setup::portal_link(&provider, &demo_customer.application).await?;
        print_what_runs(node, &demo_customer, receiver, (&portal, &saleroom), (config, mailbox)).await?;
    }
    Ok(if tally.is_perfect() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn set_up(
    node: &Node,
    receiver: &Receiver,
    progress: &Progress,
) -> Result<(ApiClient, ApiClient, DemoCustomer), CommandError> {
    let http = node.http_client();
    let (account, provider_key) = node.create_provider_account(setup::DEMO_NAME).await?;
    progress.say(&format!("Provider: account {account} with an API key"));
    let provider = ApiClient::new(http.clone(), node.provider_url(), &provider_key).context("the provider's API")?;
    let application = setup::set_up_provider(&provider, receiver).await?;
    progress
        .say(&format!("Provider: consumer application {}, two event types, endpoint {}", application.0, application.1));
    let platform = ApiClient::new(http, node.platform_url(), &node.create_staff_key("demonstration").await?)
        .context("the platform's API")?;
    let demo_customer = setup::set_up_platform(&platform, &node.provider_url(), &provider_key, application).await?;
    progress.say(&format!("Platform: customer {} connected to {}", demo_customer.customer, demo_customer.application));
    Ok((platform, provider, demo_customer))
}

/// Runs both sales concurrently, then reconciles them. Returns every event that the platform must announce.
async fn sell(
    platform: &ApiClient,
    demo_customer: &DemoCustomer,
    catalogue: &Catalogue,
    node: &Node,
    progress: &Progress,
) -> Result<Vec<ExpectedEvent>, CommandError> {
    let now = node.clock().now();
    let timetable = Timetable::starting(now, catalogue.timed_lots, SALE_SECONDS)?;
    let duration = Duration::from_secs(SALE_SECONDS.into());
    progress.say(&format!(
        "Catalogue: {} in a timed auction that ends from {:.0}, {} in a webcast",
        pluralise(catalogue.timed_lots, "lot", "lots"),
        timetable.first_end,
        catalogue.webcast_lots
    ));
    let online = timed::create(platform, demo_customer, catalogue, &timetable).await?;
    // A dry run of the whole catalogue, so that an error names the line in the operator's file.
    online.import(platform, catalogue.whole.clone(), "?dryRun=true").await?;
    let (timed, webcast) = tokio::try_join!(
        timed::open(platform, online, catalogue, &progress.bids),
        webcast::sell(platform, demo_customer, catalogue, (now, duration), &progress.webcast),
    )?;
    let mut expected = Vec::new();
    for mut sale in [webcast, timed] {
        sale.wait_until_no_lot_is_live(platform).await?;
        sale.reconcile(platform).await?;
        expected.append(&mut sale.expected);
    }
    Ok(expected)
}

/// Waits until the expected number of webhooks has arrived, or until none arrives for [`IDLE_MAX`].
async fn wait_for(receiver: &Receiver, expected: usize) {
    let mut arrived = receiver.read(|record| record.arrivals().len());
    while arrived < expected {
        let has_grown = receiver.wait_until(IDLE_MAX, |record| record.arrivals().len() > arrived).await;
        if !has_grown {
            return;
        }
        arrived = receiver.read(|record| record.arrivals().len());
    }
    // A duplicate would arrive about now.
    receiver.wait_until(Duration::from_millis(500), |record| record.arrivals().len() > expected).await;
}

async fn print_what_runs(
    node: &Node,
    demo_customer: &DemoCustomer,
    receiver: &Receiver,
    (portal, saleroom): (&str, &str),
    (config, mailbox): (&Config, Option<&str>),
) -> Result<(), CommandError> {
    let mailbox = match mailbox {
        Some(url) => {
            format!("The mailbox with every mail that the server would send; none leaves this machine:\n  {url}")
        }
        None => "Mails go to the server of mail.smtp_url.".to_owned(),
    };
    print(&format!(
        "The server and the receiver keep running. Press Ctrl-C to stop them.\n\n  \
         platform API      {platform}/api/v1/openapi.json\n  \
         provider API      {provider}/api/v1/openapi.json\n  \
         receiver          {receiver}\n  \
         data              {data}\n\n  \
         customer          {customer}\n  \
         application       {application}\n  \
         endpoint          {endpoint}\n\n  \
         The customer's App Portal (the link is valid for seven days):\n  \
         {portal}\n\n  \
         Staff API key of the platform: {key}\n  \
         Try: curl -H 'Authorization: Bearer {key}' '{platform}/api/v1/events?customer={customer}&limit=5'\n\n  \
         The saleroom, where bidders follow the sales:\n  \
         {saleroom}\n\n  \
         {mailbox}\n\n  \
         The administration (the password is for one sign-in; then you choose your own):\n  \
         {platform}/admin\n  \
         e-mail address    {ADMINISTRATOR}\n  \
         password          {password}",
        password = node.create_administrator(ADMINISTRATOR).await?,
        platform = node.platform_url(),
        provider = node.provider_url(),
        receiver = receiver.url(),
        data = config.data_dir.display(),
        customer = demo_customer.customer,
        application = demo_customer.application,
        endpoint = demo_customer.endpoint,
        key = node.create_staff_key("demonstration, printed").await?,
    ));
    Ok(())
}
