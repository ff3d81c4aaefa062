//! The consumer application that `listen` and `trigger` work on: in the embedded provider's database, or at a remote
//! provider over HTTP. With the database, no command sends a key to a server.

mod history;

use consumer::{ApiClient, ApiError};
use http::StatusCode;
use ipnet::IpNet;
use jiff::Timestamp;
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use provider_core::model::cause::Cause;
use provider_core::model::{AttemptStatus, Endpoint, Id, TaskKind};
use provider_core::page::{CursorKey, PageRequest};
use provider_core::port::AttemptFilter;
use provider_core::{
    Caller, Created, DiskUse, EndpointInput, MessageInput, Payload, Provider, ProviderError, ReplayInput, ids,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::similar_applications::{self, NamedApplication};
use super::{provider as provider_commands, require_database, secret_from, secret_from_stdin};
use crate::cli::ApplicationTarget;
use crate::config::Config;
use crate::error::{CommandError, ErrorContext as _};
use crate::node::{NodeServices, open_provider};

pub(super) use self::history::{AcceptedMessage, FinishedAttempt};

/// Maximum number of pages of endpoints that are read.
const PAGES_MAX: usize = 40;

/// Attempts of one endpoint that are read at once.
const UNANSWERED_MAX: usize = 50;

/// An application with the access to it.
pub(super) enum ApplicationClient {
    Local { provider: Box<Provider>, caller: Box<Caller>, application: Id },
    Remote { api: ApiClient, application: String },
}

/// An endpoint of the application.
pub(super) struct KnownEndpoint {
    pub(super) id: String,
    pub(super) uid: Option<String>,
}

/// An endpoint to create.
pub(super) struct NewEndpoint {
    pub(super) url: String,
    pub(super) uid: String,
    pub(super) description: String,
    pub(super) event_types: Option<Vec<String>>,
    pub(super) secret: String,
}

/// An attempt at an endpoint that received no response.
pub(super) struct UnansweredAttempt {
    pub(super) id: String,
    pub(super) message: String,
    /// The provider may not send requests to the endpoint's address. A remote provider does not say so apart.
    pub(super) is_private_address: bool,
    pub(super) reason: String,
}

impl ApplicationClient {
    pub(super) async fn open(config: &Config, target: &ApplicationTarget) -> Result<Self, CommandError> {
        let Some(url) = &target.provider_url else {
            require_database(config, "provider.db")?;
            // The server that delivers enforces its own setting. A command has no delivery to protect.
            let mut config = config.clone();
            config.provider.allow_subnets.push(IpNet::from(std::net::IpAddr::from(std::net::Ipv4Addr::LOCALHOST)));
            let provider = open_provider(&config, &NodeServices::new(&config)?).await?;
            let found =
                provider_commands::resolve::application(&provider, target.account.as_deref(), &target.application);
            let (account, application) = found.await?;
            let caller = Box::new(Caller::operator(&account));
            return Ok(Self::Local { provider: Box::new(provider), caller, application: application.id });
        };
        let key = match &target.api_key_file {
            Some(path) => {
                let text = std::fs::read_to_string(path).context(format!("reading {}", path.display()))?;
                secret_from(&text, "the API key")?
            }
            None if target.api_key_stdin => secret_from_stdin("the API key")?,
            None => {
                return Err(CommandError::new(
                    "--provider-url needs the API key: add --api-key-file or --api-key-stdin",
                ));
            }
        };
        let http = Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() });
        let api = ApiClient::new(http, url.trim_end_matches('/').to_owned(), &key)?;
        Ok(Self::Remote { api, application: target.application.clone() })
    }

    /// Id of the application, or its uid as the command line has it.
    pub(super) fn application(&self) -> &str {
        match self {
            Self::Local { application, .. } => application,
            Self::Remote { application, .. } => application,
        }
    }

    /// The endpoints of the application.
    pub(super) async fn endpoints(&self) -> Result<Vec<KnownEndpoint>, CommandError> {
        match self {
            Self::Local { provider, caller, application } => {
                let list = async |page: &_| provider.list_endpoints(caller, application, page).await;
                let doing = "listing the endpoints";
                let all = provider_commands::all(CursorKey::Id(ids::ENDPOINT), doing, list).await?;
                let known = |endpoint: Endpoint| KnownEndpoint { id: endpoint.id.to_string(), uid: endpoint.uid };
                Ok(all.into_iter().map(known).collect())
            }
            Self::Remote { api, application } => {
                let (mut found, mut iterator) = (Vec::new(), String::new());
                for _ in 0..PAGES_MAX {
                    let page = api.get(&format!("/api/v1/app/{application}/endpoint?limit=250{iterator}")).await;
                    let page = self.named(page).await?;
                    for endpoint in page.body["data"].as_array().into_iter().flatten() {
                        if let Some(id) = endpoint["id"].as_str() {
                            let uid = endpoint["uid"].as_str().map(str::to_owned);
                            found.push(KnownEndpoint { id: id.to_owned(), uid });
                        }
                    }
                    match page.body["iterator"].as_str() {
                        Some(next) if page.body["done"] != json!(true) => iterator = format!("&iterator={next}"),
                        _ => break,
                    }
                }
                Ok(found)
            }
        }
    }

    /// Names the application in the error of a remote provider that does not have it, with similar ones.
    async fn named<T>(&self, answer: Result<T, ApiError>) -> Result<T, CommandError> {
        let error = match answer {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let Self::Remote { api, application } = self else { return Err(error.into()) };
        if error.status() != Some(StatusCode::NOT_FOUND) {
            return Err(error.into());
        }
        let all = api.get("/api/v1/app?limit=250").await.map(|page| page.body).unwrap_or_default();
        let all = all["data"].as_array().into_iter().flatten();
        let text = |application: &Value, field: &str| application[field].as_str().unwrap_or_default().to_owned();
        let all = all.map(|application| NamedApplication {
            id: text(application, "id"),
            uid: application["uid"].as_str().map(str::to_owned),
            name: text(application, "name"),
        });
        let similar = similar_applications::hint(application, all);
        Err(CommandError::new(format!("the provider has no application {application}{similar}: {error}")))
    }

    /// Creates an endpoint and returns its id.
    pub(super) async fn create_endpoint(&self, new: NewEndpoint) -> Result<String, CommandError> {
        let doing = format!("adding the endpoint {} to {}", new.url, self.application());
        match self {
            Self::Local { provider, caller, application } => {
                let input = EndpointInput {
                    url: new.url,
                    uid: Some(new.uid),
                    description: new.description,
                    filter_types: new.event_types,
                    secret: Some(new.secret),
                    ..EndpointInput::default()
                };
                match provider.create_endpoint(caller, application, input, None, |_| String::new()).await {
                    Ok(Created::New(endpoint) | Created::Existing(endpoint)) => Ok(endpoint.id.to_string()),
                    Ok(Created::Replayed(_)) => Err(CommandError::new("the provider replayed an earlier answer")),
                    Err(error) => Err(error).context(doing),
                }
            }
            Self::Remote { api, application } => {
                let mut endpoint = json!({
                    "url": new.url, "uid": new.uid, "description": new.description, "secret": new.secret,
                });
                if let Some(event_types) = new.event_types {
                    endpoint["filterTypes"] = json!(event_types);
                }
                let created = api.post(&format!("/api/v1/app/{application}/endpoint"), &endpoint).await;
                Ok(created.context(doing)?.text("/id")?.to_owned())
            }
        }
    }

    /// Sends an endpoint the messages that were accepted since `since` and before the endpoint existed.
    pub(super) async fn send_missing(&self, endpoint: &str, since: Timestamp) -> Result<(), CommandError> {
        let doing = format!("sending endpoint {endpoint} the messages since {since}");
        match self {
            Self::Local { provider, caller, application } => {
                let input = ReplayInput::time_range(TaskKind::ReplayMissing, since, None);
                let begun = provider.replay(caller, application, endpoint, input, None, |_| String::new()).await;
                begun.context(doing).map(drop)
            }
            Self::Remote { api, application } => {
                let path = format!("/api/v1/app/{application}/endpoint/{endpoint}/replay-missing");
                api.post(&path, &json!({ "since": since })).await.context(doing).map(drop)
            }
        }
    }

    pub(super) async fn delete_endpoint(&self, id: &str) -> Result<(), CommandError> {
        let doing = format!("removing endpoint {id}");
        match self {
            Self::Local { provider, caller, application } => {
                provider.delete_endpoint(caller, application, id).await.context(doing)
            }
            Self::Remote { api, application } => {
                let path = format!("/api/v1/app/{application}/endpoint/{id}");
                api.delete(&path).await.context(doing).map(drop)
            }
        }
    }

    /// Sends an event to the application. `payload` is a JSON object. Returns the id of the message.
    pub(super) async fn send(&self, event_type: &str, payload: Box<RawValue>) -> Result<String, CommandError> {
        let doing = format!("sending {event_type} to {}", self.application());
        match self {
            Self::Local { provider, caller, application } => {
                let input = MessageInput {
                    event_type: event_type.to_owned(),
                    payload: Payload::from_raw(payload).context("checking the payload")?,
                    event_id: None,
                    channels: None,
                    tags: None,
                    payload_retention_days: None,
                    payload_retention_hours: None,
                    deliver_at: None,
                    application: None,
                    ordering_key: None,
                    disk: DiskUse::default(),
                };
                let sent = provider.create_message(caller, application, input, None).await;
                Ok(sent.context(doing)?.id.to_string())
            }
            Self::Remote { api, application } => {
                let message = json!({ "eventType": event_type, "payload": payload });
                let sent = api.post(&format!("/api/v1/app/{application}/msg"), &message).await;
                Ok(sent.context(doing)?.text("/id")?.to_owned())
            }
        }
    }

    /// Whether the event type is registered at the provider; none when that is not known.
    pub(super) async fn is_registered(&self, event_type: &str) -> Option<bool> {
        match self {
            Self::Local { provider, caller, .. } => match provider.event_type(caller, event_type).await {
                Ok(_) => Some(true),
                Err(ProviderError::NotFound) => Some(false),
                Err(_) => None,
            },
            Self::Remote { api, .. } => match api.get(&format!("/api/v1/event-type/{event_type}")).await {
                Ok(_) => Some(true),
                Err(error) => (error.status() == Some(StatusCode::NOT_FOUND)).then_some(false),
            },
        }
    }

    /// The latest attempts at the endpoint that received no response, newest first.
    pub(super) async fn unanswered_attempts(&self, endpoint: &str) -> Result<Vec<UnansweredAttempt>, CommandError> {
        match self {
            Self::Local { provider, caller, application } => {
                let failed = AttemptFilter { status: Some(AttemptStatus::Fail), ..AttemptFilter::default() };
                let page = PageRequest::first(UNANSWERED_MAX);
                let found = provider.find_attempts_at_endpoint(caller, application, endpoint, failed, &page).await;
                let attempts = found.context("reading the attempts at the listener")?.data.into_iter();
                let unanswered = attempts.filter(|attempt| attempt.response_status_code == 0).map(|attempt| {
                    let cause = Cause::of(&attempt);
                    UnansweredAttempt {
                        id: attempt.id.to_string(),
                        message: attempt.message.to_string(),
                        is_private_address: matches!(cause, Cause::PrivateAddress { .. }),
                        reason: cause.sentence(),
                    }
                });
                Ok(unanswered.collect())
            }
            Self::Remote { api, application } => {
                let failed = AttemptStatus::Fail as u8;
                let path = format!(
                    "/api/v1/app/{application}/attempt/endpoint/{endpoint}?status={failed}&limit={UNANSWERED_MAX}"
                );
                let found = api.get(&path).await.context("reading the attempts at the listener")?;
                let attempts = found.body["data"].as_array().into_iter().flatten();
                let text = |attempt: &Value, field: &str| attempt[field].as_str().unwrap_or_default().to_owned();
                let unanswered =
                    attempts.filter(|attempt| attempt["responseStatusCode"] == 0).map(|attempt| UnansweredAttempt {
                        id: text(attempt, "id"),
                        message: text(attempt, "msgId"),
                        is_private_address: false,
                        reason: text(attempt, "response"),
                    });
                Ok(unanswered.collect())
            }
        }
    }

    /// The event type of a message; none when the application has no such message.
    pub(super) async fn event_type(&self, message: &str) -> Option<String> {
        match self {
            Self::Local { provider, caller, application } => {
                provider.message(caller, application, message).await.ok().map(|message| message.event_type.to_string())
            }
            Self::Remote { api, application } => {
                let found = api.get(&format!("/api/v1/app/{application}/msg/{message}")).await.ok()?;
                found.body["eventType"].as_str().map(str::to_owned)
            }
        }
    }
}
