//! Opens the stores of platform and provider, for a server or a management command.

use std::sync::Arc;

use kit_engine::OlderTables;
use kit_openid::{RelyingParty, SingleSignOn};
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use kit_runtime::clock::SharedClock;
use platform_core::provider_access::ProviderAccess;
use platform_core::{Platform, PlatformConfig, PlatformParts};
use provider_core::config::retention::{RetentionConfig, days};
use provider_core::config::retry_schedule::RetrySchedule;
use provider_core::config::single_sign_on::DashboardSignOn;
use provider_core::{AllowedSchemes, EndpointAddressPolicy, Provider, ProviderConfig, ProviderParts};

use super::NodeServices;
use crate::config::{Config, Role, Signature};
use crate::error::{CommandError, ErrorContext as _};

/// Maximum number of concurrent PostgreSQL transactions of each kind that a provider node runs. SQLite has one writer.
const STORE_CALLS_MAX: usize = 4;
/// Sender of mails that stay in memory.
const SENDER_OF_KEPT_MAILS: &str = "Lotwire <lotwire@example.com>";

/// For a management command: opens the platform's store and creates the platform. Refused when its tables are older.
pub(crate) async fn open_platform(config: &Config, services: &NodeServices) -> Result<Platform, CommandError> {
    open_platform_with(OlderTables::Refuse, config, services).await
}

/// Opens the platform's store and creates the platform. Its background work starts with `spawn_workers`.
pub(crate) async fn open_platform_with(
    older: OlderTables,
    config: &Config,
    services: &NodeServices,
) -> Result<Platform, CommandError> {
    let store = if config.database.url.is_empty() {
        let path = config.data_dir.join("platform.db");
        platform_store::sqlite::open_with(&path, older).await.context(format!("opening {}", path.display()))?
    } else {
        platform_store::postgres::open(&config.database.postgres(older))
            .await
            .context("opening the platform's database")?
    };
    let mut limits = PlatformConfig::default();
    limits.publisher.lane_requests_max = config.platform.publish_concurrency;
    limits.publisher.request_timeout = config.platform.publish_timeout.get();
    limits.publisher.pause_base = config.platform.publish_backoff_base.get();
    limits.publisher.pause_max = config.platform.publish_backoff_cap.get();
    limits.key_requests_per_min_max = config.platform.rate_limit;
    limits.timers.downtime_grace = config.platform.downtime_grace.get();
    limits.purchases_kept_days = config.platform.purchases_kept_days;
    limits.mails_kept_days = config.platform.mail_retention_days;
    limits.mail_limits = platform_core::config::MailLimits {
        house_mails_per_hour: config.platform.house_mails_per_hour,
        house_mails_per_day: config.platform.house_mails_per_day,
    };
    limits.mailer = mailer(config, services)?;
    limits.other_public_urls = [Role::Platform, Role::Provider].map(|role| config.public_url(role)).into();
    limits.txt_records = Arc::new(kit_outbound::NameServers::new(config.saleroom.dns_servers.clone()));
    limits.push_networks = config.saleroom.push_networks.clone();
    limits.film_origins = config.saleroom.film_origins.clone();
    limits.saleroom_url = Some(config.saleroom_url()).filter(|url| !url.is_empty());
    limits.identity.session_ttl = config.platform.session_ttl.get();
    limits.identity.session_idle = config.platform.session_idle.get();
    limits.identity.attempts_max = config.platform.sign_in_attempts;
    limits.single_sign_on = platform_single_sign_on(config, &services.clock)?;
    limits.trusted_proxies = config.platform.trusted_proxies.clone();
    limits.disk_reserve = services.disk_reserve.clone();
    limits.tracer = services.tracing.tracer.clone();
    limits.nodes = if config.database.url.is_empty() {
        platform_core::config::Nodes::Sole
    } else {
        platform_core::config::Nodes::Many
    };
    Ok(Platform::new(PlatformParts {
        store,
        clock: services.clock.clone(),
        random: services.random.clone(),
        vault: services.vault.clone(),
        providers: ProviderAccess::new(
            services.embedded.clone(),
            config.configured_provider_url(),
            AddressPolicy::public_only(config.platform.allowed_provider_networks.clone()),
        ),
        config: limits,
    }))
}

/// For a management command: opens the provider's store and creates the provider. Refused when its tables are older.
pub(crate) async fn open_provider(config: &Config, services: &NodeServices) -> Result<Provider, CommandError> {
    open_provider_with(OlderTables::Refuse, config, services).await
}

/// Opens the provider's store and creates the provider. Its background work starts with `spawn_workers`.
pub(crate) async fn open_provider_with(
    older: OlderTables,
    config: &Config,
    services: &NodeServices,
) -> Result<Provider, CommandError> {
    let store = if config.database.url.is_empty() {
        let path = config.data_dir.join("provider.db");
        provider_store::sqlite::open_with(&path, older).await.context(format!("opening {}", path.display()))?
    } else {
        provider_store::postgres::open(&config.database.postgres(older))
            .await
            .context("opening the provider's database")?
    };
    let policy = AddressPolicy::public_only(config.provider.allow_subnets.clone());
    let schemes = if config.provider.https_only { AllowedSchemes::HttpsOnly } else { AllowedSchemes::All };
    let mut settings = ProviderConfig {
        retry_schedule: RetrySchedule::new(config.provider.retry_schedule.iter().map(|span| span.get()).collect()),
        request_timeout: config.provider.request_timeout.get(),
        secret_kind: match config.provider.signature {
            Signature::Hmac256 => provider_core::SecretKind::Shared,
            Signature::Ed25519 => provider_core::SecretKind::KeyPair,
        },
        alert_after: config.provider.alert_after.get(),
        mailer: mailer(config, services)?,
        disable_after: config.provider.disable_after.get(),
        address_policy: EndpointAddressPolicy { policy: policy.clone(), schemes },
        nodes: provider_core::config::Nodes::Many,
        key_region: Some(config.provider.key_region.clone()).filter(|region| !region.is_empty()),
        node_url: config.provider_node_url(),
        public_url: config.provider_public_url(),
        has_public_url: config.has_public_url(Role::Provider),
        single_sign_on: provider_single_sign_on(config, &services.clock)?,
        trusted_proxies: config.provider.trusted_proxies.clone(),
        requests_per_second_max: config.provider.requests_per_second,
        endpoints_max: config.provider.endpoints_per_application,
        disk_reserve: services.disk_reserve.clone(),
        tracer: services.tracing.tracer.clone(),
        retention: RetentionConfig {
            messages: days(config.provider.message_retention_days),
            payloads: days(config.provider.payload_retention_days),
            activity: days(config.provider.activity_retention_days),
        },
        ..ProviderConfig::default()
    };
    settings.lanes.under_way_max = config.provider.endpoint_concurrency;
    if config.database.url.is_empty() {
        settings.nodes = provider_core::config::Nodes::Sole;
    } else {
        settings.lanes.store_calls_max = STORE_CALLS_MAX;
    }
    Ok(Provider::new(ProviderParts {
        store,
        clock: services.clock.clone(),
        random: services.random.clone(),
        vault: services.vault.clone(),
        transport: Arc::new(delivery_client(config, policy)?),
        config: settings,
    }))
}

/// Address at which an issuer of OpenID Connect sends browsers back to a role.
pub(crate) fn redirect_uri(config: &Config, role: Role) -> String {
    let site = match role {
        Role::Platform => platform_admin::PATH,
        Role::Provider => provider_pages::dashboard::PATH,
    };
    format!("{}{site}/sign-in/openid/callback", config.public_url(role))
}

/// Single sign-on of the platform's users, if an issuer is set.
pub(crate) fn platform_single_sign_on(
    config: &Config,
    clock: &SharedClock,
) -> Result<Option<SingleSignOn<platform_core::Role>>, CommandError> {
    let client = &config.platform_openid;
    if !client.is_on() {
        return Ok(None);
    }
    let redirect_uri = redirect_uri(config, Role::Platform);
    let settings = client.relying_party(redirect_uri).context("reading platform_openid.tls_roots")?;
    let roles = client.roles(platform_core::Role::parse);
    let party = RelyingParty::new("platform", settings, !roles.is_empty(), clock.clone());
    Ok(Some(SingleSignOn { party, roles, creates_users: client.create_users }))
}

/// Single sign-on of the dashboard's users, if an issuer is set.
pub(crate) fn provider_single_sign_on(
    config: &Config,
    clock: &SharedClock,
) -> Result<Option<DashboardSignOn>, CommandError> {
    let client = &config.provider_openid.client;
    if !client.is_on() {
        return Ok(None);
    }
    let redirect_uri = redirect_uri(config, Role::Provider);
    let settings = client.relying_party(redirect_uri).context("reading provider_openid.tls_roots")?;
    let roles = client.roles(provider_core::model::Role::parse);
    let party = RelyingParty::new("provider", settings, !roles.is_empty(), clock.clone());
    let account = Some(config.provider_openid.account.as_str()).filter(|account| !account.is_empty());
    let rules = SingleSignOn { party, roles, creates_users: client.create_users };
    Ok(Some(DashboardSignOn { rules, account: account.map(Into::into) }))
}

/// The mail server, if one is set, or the memory in which a demonstration keeps mails.
fn mailer(config: &Config, services: &NodeServices) -> Result<Option<kit_mail::Mailer>, CommandError> {
    let mail = &config.mail;
    let mailer = match &services.kept_mails {
        _ if !mail.smtp_url.is_empty() => kit_mail::Mailer::new(&mail.smtp_url, &mail.from),
        Some(mails) => kit_mail::Mailer::into_memory(mails.clone(), SENDER_OF_KEPT_MAILS),
        None => return Ok(None),
    };
    mailer.map(Some).context("reading mail.smtp_url and mail.from")
}

/// The HTTP client for deliveries.
fn delivery_client(config: &Config, policy: AddressPolicy) -> Result<Client, CommandError> {
    let mut client = ClientConfig { policy, ..ClientConfig::default() };
    if !config.provider.proxy.is_empty() {
        client.proxy = Some(config.provider.proxy.parse().context("reading provider.proxy")?);
    }
    if !config.provider.tls_roots.is_empty() {
        let reading = || format!("reading provider.tls_roots ({})", config.provider.tls_roots);
        let pem = std::fs::read(&config.provider.tls_roots).context(reading())?;
        client.extra_roots = kit_outbound::roots_from_pem(&pem).context(reading())?;
    }
    Ok(Client::new(client))
}
