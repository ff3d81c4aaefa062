//! Watches a real installation with Debian's Prometheus: `cargo xtask watch-test`.
//!
//! It checks what docs/operate offers to operators: the metrics by `promtool check metrics` and against the tables of the
//! documentation, the alert rules by their unit tests, every query of the dashboard and of the rules against a Prometheus that
//! scrapes two servers, one of each engine, and the alerts with short windows by faults that make them fire.

mod faults;
mod prometheus;
mod queries;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use testkit::certificates::{Authority, Validity};
use testkit::server::{Launch, built_binary};
use testkit::site::{CustomerSite, http_client};

use self::prometheus::Prometheus;
use crate::{RigError, say};

/// Time within which the faults must have fired their alerts. The longest needs three minutes.
const ALERTS_MAX: Duration = Duration::from_secs(360);
const POLL: Duration = Duration::from_secs(2);

/// Options of `watch`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The folder with the rules, their tests, the dashboard and the documentation.
    #[arg(long, default_value = "docs/operate")]
    docs: PathBuf,
}

/// Runs the rig. An error says what does not hold.
pub(crate) async fn run(options: &Options) -> Result<bool, RigError> {
    let docs = options.docs.canonicalize()?;
    promtool(&docs, &["check", "rules", "alerts.yml"], "")?;
    promtool(&docs, &["test", "rules", "alerts.test.yml"], "")?;
    say("promtool: the rules are valid and their tests pass");

    let (data, second_data, backups) = (tempfile::tempdir()?, tempfile::tempdir()?, tempfile::tempdir()?);
    let launch = Launch::new(built_binary("lotwire")?, data.path())?
        .set("MAIL__SMTP_URL", "smtp://127.0.0.1:9")
        .set("MAIL__FROM", "alerts@hartley.example")
        // No collector answers there: the metrics of the exporter exist.
        .set("TRACING__OTLP_ENDPOINT", "http://127.0.0.1:9");
    let launch = with_tls(launch, data.path())?;
    let _server = launch.start(&http_client()).await?;
    let site = CustomerSite::set_up(&launch, &launch).await?;
    let database = testkit::postgres::fresh_database().await?;
    let second = launch.node_in(second_data.path())?.set("PLATFORM__TLS_LISTEN", "").database(&database);
    let second_server = second.start(&http_client()).await?;
    let addresses = [launch.metrics_address(), second.metrics_address()];
    let prometheus = Prometheus::start(&docs.join("alerts.yml"), &addresses).await?;

    faults::back_up(&launch, backups.path())?;
    faults::cause(&site, &launch).await?;
    let shown = check_metrics(&docs, &site, addresses).await?;
    say(&format!("promtool: {shown} metrics of two servers are named as Prometheus asks, and each is documented"));
    let queries = queries::check(&prometheus, &docs).await?;
    say(&format!("Prometheus: {queries} queries of the dashboard and the rules return what they name"));

    faults::restart_and_stop(second_server, &second, &prometheus).await?;
    let begin = Instant::now();
    let mut missing: BTreeSet<&str> = faults::ALERTS.into_iter().collect();
    while !missing.is_empty() {
        if begin.elapsed() > ALERTS_MAX {
            return Err(format!("these alerts do not fire: {missing:?}").into());
        }
        for alert in prometheus.firing().await? {
            if missing.remove(alert.as_str()) {
                say(&format!("  {alert} fires after {:.0} s", begin.elapsed().as_secs_f32()));
            }
        }
        tokio::time::sleep(POLL).await;
    }
    say(&format!("Prometheus: all {} alerts with short windows fire", faults::ALERTS.len()));
    Ok(true)
}

/// The launch with a further port with TLS, so that the metrics of certificates are there.
fn with_tls(launch: Launch, folder: &Path) -> Result<Launch, RigError> {
    const NAME: &str = "auctions.example.com";
    let identity = Authority::new("Test")?.server(&[NAME], Validity::Now)?;
    let file = folder.join("certificate.pem");
    std::fs::write(&file, identity.certificate + &identity.key)?;
    let listen = launch.second_node()?.platform.to_string();
    Ok(launch
        .set("TLS__CERTIFICATES", &file.display().to_string())
        .set("PLATFORM__TLS_LISTEN", &listen)
        .set("PLATFORM__PUBLIC_URL", &format!("https://{NAME}")))
}

/// Runs promtool in a folder. Anything that it reports on standard error fails.
fn promtool(folder: &Path, arguments: &[&str], input: &str) -> Result<(), RigError> {
    let mut command = Command::new("promtool");
    command.args(arguments).current_dir(folder);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    let found = String::from_utf8_lossy(&output.stderr);
    if output.status.success() && found.trim().is_empty() {
        return Ok(());
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    Err(format!("promtool {}: {printed}{found}", arguments.join(" ")).into())
}

/// Checks the names of the metrics of both servers, and that the documentation lists them and no other. Returns their number.
async fn check_metrics(docs: &Path, site: &CustomerSite, addresses: [SocketAddr; 2]) -> Result<usize, RigError> {
    let mut shown = BTreeSet::new();
    for address in addresses {
        let text = prometheus::scrape(address, &format!("/metrics?endpoint={}", site.endpoint)).await?;
        promtool(docs, &["check", "metrics"], &text)?;
        let families = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
        shown.extend(families.map(str::to_owned));
    }
    let page = std::fs::read_to_string(docs.join("health-and-alerts.md"))?;
    let documented: BTreeSet<String> = queries::documented(&page).map(str::to_owned).collect();
    if shown != documented {
        let (unknown, gone): (Vec<_>, Vec<_>) =
            (shown.difference(&documented).collect(), documented.difference(&shown).collect());
        return Err(format!("not documented: {unknown:?}; documented and not served: {gone:?}").into());
    }
    Ok(shown.len())
}
