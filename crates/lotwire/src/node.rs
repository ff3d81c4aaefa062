//! A node: platform, provider or both, connected to their stores, listening, with running workers. `serve` and `demo`
//! start one.

mod metrics;
mod stores;

use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::DirBuilderExt as _;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use kit_engine::OlderTables;
use kit_http::Surface;
use kit_http::request_counts::RequestCounts;
use kit_http::serve::Port;
use kit_http::tls::Certificates;
use kit_mail::kept_mails::KeptMails;
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use kit_runtime::clock::{SharedClock, SystemClock};
use kit_runtime::disk_space::DiskReserve;
use kit_runtime::metrics::ReadingCache;
use kit_runtime::random::{SharedRandom, SystemRandom};
use kit_runtime::tasks::Tasks;
use kit_runtime::vault::{Secret, Vault};
use platform_admin::AdminConfig;
use platform_core::access::NewApiKey;
use platform_core::port::{HouseSaleroom, OutageEnds, RegistrationRule};
use platform_core::users::{NewUser, PasswordReset};
use platform_core::{Caller, Outcome, Platform, PlatformError, Scopes};
use platform_saleroom::SaleroomConfig;
use provider_core::page::{CursorKey, PageQuery};
use provider_core::{PageRequest, Provider};
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::address_file::{self, AddressFile};
use crate::certificate_reload;
use crate::config::{Config, Role, TlsPort, listen_address};
use crate::data_dir::check_files;
use crate::data_dir_lock::{self, DataDirLock};
use crate::disk_reserve_metrics;
use crate::embedded_provider::EmbeddedNodes;
use crate::error::{CommandError, ErrorContext as _};
use crate::hold::Wings;
use crate::home;
use crate::ready_event_types::ready_event_types;
use crate::sealing_key::{require_platform_key, require_provider_key};
use crate::server_proof;
use crate::trace_export::Tracing;
use crate::upgrade_copy;

use self::metrics::NodeMetrics;
pub(crate) use self::stores::{
    open_platform, open_platform_with, open_provider, open_provider_with, platform_single_sign_on,
    provider_single_sign_on, redirect_uri,
};

/// A source of metrics.
type MetricsSource = Arc<dyn kit_http::metrics::Source>;
/// The requests of the ports, by the name of the port.
type Ports = Vec<(&'static str, Arc<RequestCounts>)>;

/// Minutes for which lots of the demonstration's saleroom go on after an outage.
const OUTAGE_MINUTES: u32 = 10;

/// Connections of one address to the port of the saleroom, at least.
const SALEROOM_CONNECTIONS_PER_ADDRESS: usize = 2_000;

/// Time limit for releasing this node's claimed deliveries at the end of a shutdown.
const RELEASE_MAX: Duration = Duration::from_secs(2);

/// Maximum number of connections that wait to be accepted; `net.core.somaxconn` can lower it. The kernel drops further
/// connections and their clients retry after a second. After a restart, many clients connect at the same time.
const ACCEPT_BACKLOG_MAX: u32 = 4_096;

/// Services that platform and provider share in this process.
pub(crate) struct NodeServices {
    pub(crate) clock: SharedClock,
    pub(crate) random: SharedRandom,
    vault: Arc<Vault>,
    disk_reserve: Arc<DiskReserve>,
    pub(crate) tracing: Tracing,
    pub(crate) embedded: Arc<EmbeddedNodes>,
    /// Where mails stay in memory without a mail server; only the demonstration has it.
    kept_mails: Option<Arc<KeptMails>>,
}

impl NodeServices {
    pub(crate) fn new(config: &Config) -> Result<Self, CommandError> {
        let random: SharedRandom = Arc::new(SystemRandom);
        // The databases contain messages and the headers of endpoints, so other users get no access.
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&config.data_dir)
            .context(format!("creating the data directory {}", config.data_dir.display()))?;
        let key = Some(config.secrets.key.as_str()).filter(|key| !key.is_empty());
        let vault = Vault::from_config(key, &config.data_dir, random.as_ref()).context("reading secrets.key")?;
        let (vault, clock): (_, SharedClock) = (Arc::new(vault), Arc::new(SystemClock));
        let embedded = Arc::new(EmbeddedNodes::new(config, vault.clone(), clock.clone(), random.clone()));
        let disk_reserve = DiskReserve::new(&config.data_dir, config.disk_reserve_bytes(), clock.clone());
        let tracing = Tracing::new(config, &clock, &random);
        Ok(NodeServices {
            clock,
            random,
            vault,
            disk_reserve: Arc::new(disk_reserve),
            tracing,
            embedded,
            kept_mails: None,
        })
    }

    /// The id of the key that seals new secrets.
    pub(crate) fn sealing_key(&self) -> &str {
        self.vault.first_key().as_str()
    }
}

/// A wing whose database is ready, with the socket that it will answer.
struct Opened<W> {
    wing: W,
    listener: TcpListener,
    /// With the address of the socket.
    config: Config,
}

/// The platform, with the port of its salerooms if it has one.
type OpenedPlatform = (Opened<Platform>, Option<TcpListener>);

/// A running node.
pub(crate) struct Node {
    services: NodeServices,
    platform: Option<(Platform, SocketAddr)>,
    provider: Option<(Provider, SocketAddr)>,
    /// Base URL of the saleroom; empty without one.
    saleroom_url: String,
    certificates: Option<Arc<Certificates>>,
    tasks: Tasks,
    stop: CancellationToken,
    servers: Vec<JoinHandle<()>>,
    drain_max: Duration,
    address_files: Vec<AddressFile>,
    _locks: Vec<DataDirLock>,
}

impl Node {
    /// Opens the stores, listens and starts the workers. When it returns, the ports accept requests.
    pub(crate) async fn start(config: &Config) -> Result<Self, CommandError> {
        Self::start_with(config, None).await
    }

    /// Starts a node that keeps its mails in memory if it has no mail server.
    pub(crate) async fn start_with(config: &Config, kept_mails: Option<Arc<KeptMails>>) -> Result<Self, CommandError> {
        check_files(config)?;
        let services = NodeServices { kept_mails, ..NodeServices::new(config)? };
        let (tasks, stop) = (Tasks::new(), CancellationToken::new());
        let roles = [Role::Platform, Role::Provider].into_iter().filter(|role| config.runs(*role));
        let mut locks = Vec::new();
        for role in roles {
            locks.push(data_dir_lock::acquire(config, role, services.clock.as_ref()).await?);
        }
        let mut node = Node {
            services,
            platform: None,
            provider: None,
            saleroom_url: String::new(),
            certificates: None,
            tasks,
            stop,
            servers: Vec::new(),
            drain_max: config.provider.drain_timeout.get(),
            address_files: Vec::new(),
            _locks: locks,
        };
        data_dir_lock::require_no_unfinished_restore(config)?;
        upgrade_copy::make(config, node.services.clock.as_ref()).await?;
        node.certificates = config.certificates(node.services.clock.now()).context("reading tls.certificates")?;
        certificate_reload::spawn(node.certificates.clone(), node.services.clock.clone(), &node.tasks)?;
        // Neither port answers before both databases are ready.
        let provider = if config.runs(Role::Provider) { Some(node.open_provider(config).await?) } else { None };
        let platform = if config.runs(Role::Platform) { Some(node.open_platform(config).await?) } else { None };
        let wings = Wings {
            platform: platform.as_ref().map(|(opened, _)| &opened.wing),
            provider: provider.as_ref().map(|opened| &opened.wing),
        };
        wings.require_no_hold().await?;
        let (mut sources, mut ports) = (Vec::new(), Vec::new());
        // The provider comes first, because the platform may publish events immediately.
        if let Some(opened) = provider {
            sources.push(node.serve_provider(opened, &mut ports).await?);
        }
        if let Some(opened) = platform {
            sources.push(node.serve_platform(opened, &mut ports).await?);
        }
        sources.push(kit_http::request_counts::metrics_source(ports));
        sources.push(node.metrics(config));
        kit_http::body_memory::set_limit(config.request_bodies_bytes_max());
        sources.push(kit_http::body_memory::metrics_source());
        if let Some(certificates) = &node.certificates {
            sources.push(certificates.clone());
        }
        sources.push(disk_reserve_metrics::source(node.services.disk_reserve.clone()));
        sources.extend(node.services.tracing.spawn(&node.tasks));
        if !config.metrics.listen.is_empty() {
            let addr = listen_address::resolve(&config.metrics.listen).context("reading metrics.listen")?;
            let listener = listen(addr, "metrics.listen").await?;
            node.serve(listener.into(), kit_http::metrics::surface(sources), config.connections_per_address, &[])?;
        }
        Ok(node)
    }

    /// The metrics of the process and of what it runs on.
    fn metrics(&self, config: &Config) -> MetricsSource {
        Arc::new(NodeMetrics {
            platform: self.platform.as_ref().map(|(platform, _)| platform.clone()),
            provider: self.provider.as_ref().map(|(provider, _)| provider.clone()),
            data_dir: config.data_dir.clone(),
            uses_sqlite: config.database.url.is_empty(),
            clock: self.services.clock.clone(),
            started_at: self.services.clock.now(),
            readings: ReadingCache::default(),
        })
    }

    async fn open_provider(&self, config: &Config) -> Result<Opened<Provider>, CommandError> {
        let listener = listen(config.provider.listen, "provider.listen").await?;
        // With port 0 the address is known only now, and App Portal links contain it.
        let mut config = config.clone();
        config.provider.listen = listener.local_addr().context("reading the address of the listening socket")?;
        let wing = open_provider_with(OlderTables::Upgrade, &config, &self.services).await?;
        require_provider_key(&wing).await?;
        Ok(Opened { wing, listener, config })
    }

    /// Opens the platform. Its ports listen already, because with port 0 their addresses are known only then, and links in mails contain
    /// that of the saleroom.
    async fn open_platform(&self, config: &Config) -> Result<OpenedPlatform, CommandError> {
        let listener = listen(config.platform.listen, "platform.listen").await?;
        let mut config = config.clone();
        config.platform.listen = listener.local_addr().context("reading the address of the listening socket")?;
        let saleroom = if config.opens_saleroom() { Some(listen_saleroom(&mut config).await?) } else { None };
        let wing = open_platform_with(OlderTables::Upgrade, &config, &self.services).await?;
        require_platform_key(&wing).await?;
        Ok((Opened { wing, listener, config }, saleroom))
    }

    /// Starts the provider's workers and answers its port, whose request counts it adds to `ports`. Returns the source of its metrics.
    async fn serve_provider(
        &mut self,
        opened: Opened<Provider>,
        ports: &mut Ports,
    ) -> Result<MetricsSource, CommandError> {
        let Opened { wing: provider, listener, config } = opened;
        provider.spawn_workers(&self.tasks);
        let api = provider_api::surface(provider.clone());
        let surface = provider_pages::portal::add_to(api, provider.clone(), self.services.clock.clone());
        let clock = self.services.clock.clone();
        let surface = provider_pages::dashboard::add_to(surface, provider.clone(), clock, ready_event_types());
        let surface = home::add_to(surface, Role::Provider, &config);
        let surface = self.with_proofs(surface, Role::Provider, &config).traced(self.services.tracing.tracer.clone());
        ports.extend(surface.request_counts().map(|counts| ("provider", counts)));
        let addr = self.serve(
            listener.into(),
            surface.clone(),
            config.connections_per_address,
            &config.provider.trusted_proxies,
        )?;
        let (port, connections_max) = (config.tls_port(Role::Provider.name()), config.connections_per_address);
        self.serve_tls(port, surface, connections_max, &config.provider.trusted_proxies).await?;
        self.services.embedded.set_own(&provider, addr);
        self.address_files.push(address_file::write(&config.data_dir, Role::Provider, addr)?);
        let metrics = provider_api::metrics(provider.clone());
        self.provider = Some((provider, addr));
        Ok(metrics)
    }

    /// Starts the platform's workers and answers its port, whose request counts it adds to `ports`. Returns the source of its metrics.
    async fn serve_platform(
        &mut self,
        opened: OpenedPlatform,
        ports: &mut Ports,
    ) -> Result<MetricsSource, CommandError> {
        let (Opened { wing: platform, listener, config }, saleroom) = opened;
        self.saleroom_url = config.saleroom_url();
        platform.spawn_workers(&self.tasks);
        let settings = AdminConfig {
            public_url: config.platform_public_url(),
            has_public_url: config.has_public_url(Role::Platform),
            saleroom_url: config.saleroom_url(),
            environment: config.platform.environment.clone(),
        };
        let api = platform_api::surface(platform.clone());
        let surface = platform_admin::add_to(api, platform.clone(), self.services.clock.clone(), settings);
        let surface = home::add_to(surface, Role::Platform, &config);
        let surface = self.with_proofs(surface, Role::Platform, &config).traced(self.services.tracing.tracer.clone());
        ports.extend(surface.request_counts().map(|counts| ("platform", counts)));
        let addr = self.serve(
            listener.into(),
            surface.clone(),
            config.connections_per_address,
            &config.platform.trusted_proxies,
        )?;
        let (port, connections_max) = (config.tls_port(Role::Platform.name()), config.connections_per_address);
        self.serve_tls(port, surface, connections_max, &config.platform.trusted_proxies).await?;
        self.address_files.push(address_file::write(&config.data_dir, Role::Platform, addr)?);
        if let Some(listener) = saleroom {
            ports.extend(self.serve_saleroom(listener, &platform, &config).await?);
        }
        let metrics = platform_api::metrics(platform.clone());
        self.platform = Some((platform, addr));
        Ok(metrics)
    }

    /// Answers the ports of the saleroom, and returns its request counts.
    async fn serve_saleroom(
        &mut self,
        listener: TcpListener,
        platform: &Platform,
        config: &Config,
    ) -> Result<Ports, CommandError> {
        let settings = SaleroomConfig { public_url: config.saleroom.public_url.clone() };
        let surface = platform_saleroom::surface(platform.clone(), &settings);
        let surface = surface.traced(self.services.tracing.tracer.clone());
        let counts = surface.request_counts().map(|counts| ("saleroom", counts));
        // The telephones of a room share one address.
        let connections_max = config.connections_per_address.max(SALEROOM_CONNECTIONS_PER_ADDRESS);
        let proxies = &config.platform.trusted_proxies;
        self.serve(listener.into(), surface.clone(), connections_max, proxies)?;
        self.serve_tls(config.tls_port("saleroom"), surface, connections_max, proxies).await?;
        Ok(counts.into_iter().collect())
    }

    /// Answers a port with TLS, if there is one.
    async fn serve_tls(
        &mut self,
        port: Option<TlsPort>,
        surface: Surface,
        connections_per_address_max: usize,
        trusted_proxies: &[IpNet],
    ) -> Result<(), CommandError> {
        let Some(TlsPort { section, listen: address, .. }) = port else { return Ok(()) };
        let setting = format!("{section}.tls_listen");
        let address = listen_address::resolve(&address).context(format!("reading {setting}"))?;
        let port = Port { listener: listen(address, &setting).await?, certificates: self.certificates.clone() };
        self.serve(port, surface, connections_per_address_max, trusted_proxies)?;
        Ok(())
    }

    fn serve(
        &mut self,
        port: Port,
        surface: Surface,
        connections_per_address_max: usize,
        trusted_proxies: &[IpNet],
    ) -> Result<SocketAddr, CommandError> {
        let addr = port.listener.local_addr().context("reading the address of the listening socket")?;
        let stopping = self.stop.clone();
        let loopback = kit_http::serve::loopback_networks();
        let limits = kit_http::serve::Limits {
            connections_per_address_max,
            unlimited_networks: [&loopback[..], trusted_proxies].concat(),
            drain: self.drain_max,
            ..kit_http::serve::Limits::default()
        };
        self.servers.push(tokio::spawn(async move {
            kit_http::serve::serve(port, surface, stopping.cancelled_owned(), limits).await;
        }));
        Ok(addr)
    }

    /// Answers a free port of the loopback address with pages for this machine alone, and returns their base URL.
    pub(crate) async fn serve_locally(
        &mut self,
        surface_at: impl FnOnce(&str) -> Surface,
    ) -> Result<String, CommandError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("opening a port for pages")?;
        let addr = listener.local_addr().context("reading the address of the listening socket")?;
        let url = listen_address::local_url(addr);
        let surface = surface_at(&url);
        self.serve(listener.into(), surface, kit_http::serve::Limits::default().connections_per_address_max, &[])?;
        Ok(url)
    }

    /// The surface, which also proves that it belongs to this installation.
    fn with_proofs(&self, surface: Surface, role: Role, config: &Config) -> Surface {
        let (listen, url) = match role {
            Role::Platform => (config.platform.listen, None),
            Role::Provider => (config.provider.listen, config.provider_node_url()),
        };
        let urls: Vec<String> = url.into_iter().collect();
        surface.mount(server_proof::PATH, server_proof::router(self.services.vault.clone(), role, listen, &urls))
    }

    pub(crate) fn clock(&self) -> SharedClock {
        self.services.clock.clone()
    }

    /// Base URL at which this machine reaches the platform.
    pub(crate) fn platform_url(&self) -> String {
        self.platform.as_ref().map_or(String::new(), |(_, addr)| listen_address::local_url(*addr))
    }

    /// Base URL at which this machine reaches the provider.
    pub(crate) fn provider_url(&self) -> String {
        self.provider.as_ref().map_or(String::new(), |(_, addr)| listen_address::local_url(*addr))
    }

    /// Whether the installation has nothing yet: neither an account of the provider nor a customer of the platform.
    pub(crate) async fn is_empty(&self) -> Result<bool, CommandError> {
        let doing = "looking for accounts and customers";
        if let Some((provider, _)) = &self.provider {
            let query = PageQuery { limit: Some("1"), iterator: None, order: None };
            let page = PageRequest::parse(query, CursorKey::Id(provider_core::ids::ACCOUNT)).context(doing)?;
            if !provider.list_accounts(&page).await.context(doing)?.data.is_empty() {
                return Ok(false);
            }
        }
        if let Some((platform, _)) = &self.platform {
            let page = platform_core::port::Page { after: None, limit: 1 };
            return Ok(platform.customers(&Caller::command_line(), page).await.context(doing)?.is_empty());
        }
        Ok(true)
    }

    /// An HTTP client for the node's own APIs.
    pub(crate) fn http_client(&self) -> Client {
        Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() })
    }

    /// Creates an account at the embedded provider with an API key: `(org_…, key)`.
    pub(crate) async fn create_provider_account(&self, name: &str) -> Result<(String, String), CommandError> {
        let (provider, _) = self.provider.as_ref().ok_or_else(|| CommandError::new("this node runs no provider"))?;
        let account = provider.create_account(name).await.context("creating a provider account")?;
        let key = provider.create_api_key(&account.id, name).await.context("creating a provider key")?;
        Ok((account.id.to_string(), key.text))
    }

    /// Creates a staff key of the platform's API with all scopes.
    pub(crate) async fn create_staff_key(&self, name: &str) -> Result<String, CommandError> {
        let (platform, _) = self.platform.as_ref().ok_or_else(|| CommandError::new("this node runs no platform"))?;
        let new = NewApiKey { name: name.to_owned(), customer: None, scopes: Scopes::all(), expires_at: None };
        let created = platform.create_api_key(&Caller::command_line(), &new).await.context("creating an API key")?;
        Ok(created.key.expose_str().unwrap_or_default().to_owned())
    }

    /// Base URL at which people reach the platform; without `platform.public_url`, where it listens.
    pub(crate) fn platform_public_url(&self, config: &Config) -> String {
        if config.platform.public_url.is_empty() { self.platform_url() } else { config.platform_public_url() }
    }

    /// A one-time code for the first administrator; none when the installation has users.
    pub(crate) async fn create_setup_code(&self) -> Result<Option<Secret>, CommandError> {
        let Some((platform, _)) = &self.platform else { return Ok(None) };
        platform.create_setup_code().await.context("creating a code for the first administrator")
    }

    /// Opens the saleroom of a customer at an address, and returns the URL of its pages.
    pub(crate) async fn open_saleroom(&self, customer: &str, address: &str) -> Result<String, CommandError> {
        let doing = "opening the saleroom";
        let (platform, _) = self.platform.as_ref().ok_or_else(|| CommandError::new("this node runs no platform"))?;
        let customer = uuid::Uuid::try_parse(customer).context(doing)?;
        let saleroom = HouseSaleroom {
            address: Some(address.to_owned()),
            is_open: true,
            registration: RegistrationRule::AtOnce,
            outage_ends: Some(OutageEnds::AfterMinutes(OUTAGE_MINUTES)),
            ..HouseSaleroom::default()
        };
        platform.change_saleroom(&Caller::command_line(), customer, saleroom, None).await.context(doing)?;
        Ok(format!("{}/{address}", self.saleroom_url))
    }

    /// Creates an administrator with a generated password, or gives the one that exists another. At the first sign-in the
    /// administrator has to choose their own. Returns the password.
    pub(crate) async fn create_administrator(&self, email: &str) -> Result<String, CommandError> {
        let doing = "creating an administrator";
        let (platform, _) = self.platform.as_ref().ok_or_else(|| CommandError::new("this node runs no platform"))?;
        let caller = Caller::command_line();
        let role = platform_core::Role::Administrator;
        let new = NewUser { email: email.to_owned(), name: None, role, password: None, must_change_password: true };
        let made = match platform.create_user(&caller, new, None).await {
            Err(PlatformError::Taken(_)) => {
                let user = platform.user_by_email(&caller, email).await.context(doing)?;
                let reset = PasswordReset { password: None, must_change_password: true };
                platform.reset_password(&caller, user.id, reset, None).await
            }
            created => created,
        };
        let made = made.and_then(Outcome::fresh).context(doing)?;
        Ok(made.password.and_then(|password| password.expose_str().map(str::to_owned)).unwrap_or_default())
    }

    /// Shuts down gracefully, within `provider.drain_timeout`. The node accepts no new work, releases the deliveries
    /// that wait in memory, and lets requests and attempts under way finish. Attempts that do not finish are cut off
    /// and released.
    pub(crate) async fn stop(mut self) {
        self.address_files.clear();
        if let Some((provider, _)) = &self.provider {
            provider.refuse_messages();
        }
        self.stop.cancel();
        let servers = async {
            for server in self.servers {
                let _ = server.await;
            }
        };
        let ((), workers) = tokio::join!(servers, self.tasks.shutdown(self.drain_max));
        if let Err(unfinished) = workers {
            tracing::warn!(
                %unfinished,
                "provider.drain_timeout is over: unfinished work was cut off and continues on another node or at the next start"
            );
        }
        if let Some((provider, _)) = &self.provider
            && tokio::time::timeout(RELEASE_MAX, provider.release_node()).await.is_err()
        {
            tracing::warn!(
                "could not release the claimed deliveries in time; they continue when this node's lease expires, or \
                 at the next start"
            );
        }
        self.services.tracing.flush().await;
    }
}

async fn listen(addr: SocketAddr, key: &str) -> Result<TcpListener, CommandError> {
    bind(addr).context(format!("listening on {addr} (if another process uses the address, set {key} to a free one)"))
}

fn bind(addr: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if addr.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(addr)?;
    socket.listen(ACCEPT_BACKLOG_MAX)
}

/// Listens for the saleroom, whose pages get the port of this address if their URL has port 0.
async fn listen_saleroom(config: &mut Config) -> Result<TcpListener, CommandError> {
    let listener = listen(config.saleroom.listen, "saleroom.listen").await?;
    let addr = listener.local_addr().context("reading the address of the listening socket")?;
    config.saleroom.take_address(addr);
    Ok(listener)
}

/// For the demonstration: replaces a configured port that is in use by a free one.
pub(crate) async fn take_free_ports_if_busy(config: &mut Config) -> Result<(), CommandError> {
    for addr in [&mut config.platform.listen, &mut config.provider.listen, &mut config.saleroom.listen] {
        if TcpListener::bind(*addr).await.is_err() {
            let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("finding a free port")?;
            *addr = free.local_addr().context("reading the address of the listening socket")?;
        }
    }
    Ok(())
}

/// Handles SIGINT and SIGTERM from now on. The returned future waits for the first of them and yields the exit status
/// by convention: 128 plus the signal's number.
pub(crate) fn shutdown_signal() -> Result<impl Future<Output = u8>, CommandError> {
    let mut interrupt = signal(SignalKind::interrupt()).context("handling SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("handling SIGTERM")?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => 130,
            _ = terminate.recv() => 143,
        }
    })
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn many_simultaneous_connections_fit_the_accept_backlog() {
        let listener = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let addr = listener.local_addr().unwrap();
        let mut connections = Vec::new();
        for _ in 0..300 {
            let connected = tokio::time::timeout(Duration::from_secs(30), TcpStream::connect(addr)).await;
            connections.push(connected.expect("the backlog has room for the connection").unwrap());
        }
    }
}
