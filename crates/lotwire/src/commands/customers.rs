//! Runs `lotwire customer`: customers and their connections to a delivery provider.

use kit_runtime::vault::Secret;
use platform_core::customers::connections::{ConnectConsumer, ConsumerState, CredentialTest, ProviderChoice};
use platform_core::port::StartFrom;
use platform_core::{Caller, Outcome, Platform};
use serde_json::json;
use uuid::Uuid;

use super::{
    customer_publishing, print, print_json, publishing_state, require_database, secret_from, secret_from_stdin, warn,
};
use crate::cli::{Customer, CustomerConnect};
use crate::config::Config;
use crate::error::{CommandError, ErrorContext as _};
use crate::node::{NodeServices, open_platform};
use crate::sealing_key::require_platform_key;

/// Maximum number of listed customers.
const LIST_MAX: usize = 10_000;

pub(super) async fn run(config: &Config, command: &Customer) -> Result<(), CommandError> {
    if !matches!(command, Customer::Create { .. }) {
        require_database(config, "platform.db")?;
    }
    let platform = open_platform(config, &NodeServices::new(config)?).await?;
    if matches!(command, Customer::Connect(_)) {
        require_platform_key(&platform).await?;
    }
    let support = Caller::command_line();
    match command {
        Customer::Create { name, json } => {
            let customer = platform.create_customer(&support, name, None).await.and_then(Outcome::fresh);
            let customer = customer.context("creating the customer")?;
            if *json {
                return print_json(&json!({ "uuid": customer.uuid }));
            }
            print(&customer.uuid.to_string());
            warn(&format!("Customer created. Next: lotwire customer connect {} --application app_…", customer.uuid));
        }
        Customer::Connect(options) => connect(&platform, &support, options).await?,
        Customer::RegisterEventTypes { customer } => register(&platform, &support, *customer).await?,
        Customer::Resume { customer } => {
            platform.test_and_resume(&support, *customer).await.context("testing the credentials")?;
            print("The provider accepts the credentials. The server publishes the waiting events now.");
        }
        Customer::Publishing(command) => customer_publishing::run(&platform, &support, command).await?,
        Customer::Show { customer, json } => show(&platform, &support, *customer, *json).await?,
        Customer::List { json } => {
            let page = platform_core::port::Page { after: None, limit: LIST_MAX };
            for customer in platform.customers(&support, page).await.context("listing the customers")? {
                if *json {
                    print_json(&json!({ "uuid": customer.uuid, "name": customer.name }))?;
                } else {
                    print(&format!("{}  {}", customer.uuid, customer.name));
                }
            }
        }
    }
    Ok(())
}

async fn connect(platform: &Platform, support: &Caller, options: &CustomerConnect) -> Result<(), CommandError> {
    let api_key = match &options.api_key_file {
        Some(path) => {
            let text = std::fs::read_to_string(path).context(format!("reading {}", path.display()))?;
            Some(secret_from(&text, "the API key")?)
        }
        None if options.api_key_stdin => Some(secret_from_stdin("the API key")?),
        None => None,
    };
    let provider = match &options.provider_url {
        Some(url) => ProviderChoice::Of(url.clone()),
        None if options.configured_provider => ProviderChoice::Configured,
        None => ProviderChoice::Kept,
    };
    let connect = ConnectConsumer {
        provider,
        application_id: options.application.clone(),
        api_key: api_key.map(|key| Secret::new(key.into_bytes())),
        start: options.start_from.map_or(StartFrom::Now, StartFrom::Cursor),
    };
    let consumer = platform.connect_consumer(support, options.customer, &connect).await;
    let consumer = consumer.context("connecting the customer")?;
    match &consumer.tested {
        Some(CredentialTest::Refused(why)) => warn(&failed_test_warning(&consumer, why)),
        Some(CredentialTest::Accepted) | None => print(&describe_connection(&consumer)),
    }
    if options.register_event_types {
        register(platform, support, options.customer).await?;
    }
    Ok(())
}

fn describe_connection(consumer: &ConsumerState) -> String {
    match (&consumer.application_id, consumer.has_api_key) {
        (Some(application), true) => format!("Connected to {application} at {}.", consumer.provider_url),
        (Some(_), false) => {
            "Not connected: the API key is missing. Enter it with `lotwire customer connect`.".to_owned()
        }
        (None, true) => {
            "Not connected: the application is missing. Enter it with `lotwire customer connect`.".to_owned()
        }
        (None, false) => {
            "Not connected: the application and the API key are missing. Enter them with `lotwire customer connect`."
                .to_owned()
        }
    }
}

/// The warning after a failed test. The connection stays stored, because the provider may only be unavailable for now.
fn failed_test_warning(consumer: &ConsumerState, why: &str) -> String {
    let ConsumerState { customer, provider_url, application_id, .. } = consumer;
    let application = application_id.as_deref().unwrap_or("its application");
    format!(
        "WARNING: the connection to {application} at {provider_url} is stored, but its test failed: {why}\n\
         Events wait until it works; none is lost. Check that the provider runs at that URL.\n\
         To correct a value, run lotwire customer connect again. To repeat the test, run lotwire customer resume \
         {customer}"
    )
}

async fn register(platform: &Platform, support: &Caller, customer: Uuid) -> Result<(), CommandError> {
    let registered = platform.register_event_types(support, customer).await.context("registering the event types")?;
    let names: Vec<&str> = registered.iter().map(|registered| registered.event_type.name()).collect();
    print(&format!("Registered {}.", names.join(" and ")));
    Ok(())
}

async fn show(platform: &Platform, support: &Caller, customer: Uuid, json: bool) -> Result<(), CommandError> {
    let consumer = platform.consumer(support, customer).await.context("reading the connection")?;
    let backlog = &consumer.backlog;
    let oldest_at = backlog.oldest_at.map(kit_runtime::clock::rfc3339_ms);
    let parked = consumer.parked.as_ref().map(|parked| parked.reason.clone());
    let failing = backlog.failing.as_ref();
    let next_attempt_at = failing.and_then(|failing| failing.next_attempt_at).map(kit_runtime::clock::rfc3339_ms);
    if json {
        return print_json(&json!({
            "customer": customer, "providerUrl": consumer.provider_url, "applicationId": consumer.application_id,
            "connected": consumer.has_api_key && consumer.application_id.is_some(), "parked": parked, "pending": backlog.pending, "oldestAt": oldest_at,
            "quarantined": backlog.quarantined,
            "lastError": failing.map(|failing| json!({
                "detail": failing.error, "at": kit_runtime::clock::rfc3339_ms(failing.at), "nextAttemptAt": next_attempt_at,
            })),
        }));
    }
    print(&describe_connection(&consumer));
    print(&format!("{}.", publishing_state::waiting(&consumer)));
    let is_parked = consumer.parked.is_some();
    for finding in [publishing_state::parked(&consumer), publishing_state::last_error(&consumer)].into_iter().flatten()
    {
        print(&format!("{}.", capitalise(&finding)));
    }
    if is_parked || failing.is_some() {
        print(&format!("{}.", publishing_state::remedy(&consumer)));
    }
    match next_attempt_at {
        Some(at) => {
            print(&format!("The next attempt is at {at}. `lotwire customer resume {customer}` tries immediately."))
        }
        None if failing.is_some() && !is_parked => print("The next attempt is due now, if a platform server runs."),
        None => {}
    }
    if let Some(quarantined) = publishing_state::quarantined(&consumer) {
        print(&format!("{quarantined}."));
    }
    Ok(())
}

/// The phrase as the beginning of a sentence.
fn capitalise(phrase: &str) -> String {
    let mut characters = phrase.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}
