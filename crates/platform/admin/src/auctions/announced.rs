//! Whether the events of a sale are announced and delivered, as far as the platform has read it.

use askama::Template;
use askama::filters::HtmlSafe;
use kit_design::relative_time::RelativeTime;
use platform_core::customers::connections::endpoints::UNDELIVERED_COUNTED_MAX;
use platform_core::{PlatformError, Scope};

use crate::customers::state;
use crate::endpoint_health::{Health, reading_fault};
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels::{self, Badge};
use crate::session::Session;

/// What the overview says of the events of a sale.
#[derive(Template)]
#[template(path = "auctions/announced.html")]
pub(super) struct AnnouncedPanel {
    /// Address of the customer's page.
    customer_path: String,
    customer: String,
    /// Whether the provider accepts events.
    announced: (Badge, String),
    /// Whether the endpoints accept them; none without a complete connection.
    delivered: Option<Delivered>,
}

struct Delivered {
    badge: Badge,
    words: String,
    /// How long the endpoints have failed or been disabled.
    lasting: Option<RelativeTime>,
    cause: String,
    /// Events of this sale that are known as not delivered; empty for none.
    of_sale: String,
    /// Since when the oldest of them waits.
    oldest: Option<RelativeTime>,
    fault: String,
    read_at: Option<RelativeTime>,
}

impl HtmlSafe for AnnouncedPanel {}

impl AnnouncedPanel {
    /// None for a user who may not see events or the customer.
    pub(super) async fn of_sale(session: &Session, sale: &Sale) -> Result<Option<Self>, PageError> {
        if !session.may(Scope::EventsRead) || !session.may(Scope::CustomersRead) {
            return Ok(None);
        }
        let (platform, caller, uuid) = (session.platform(), &session.caller, sale.auction.customer);
        let customer = platform.customer(caller, uuid).await?.name;
        let customer_path = format!("{}/customers/{uuid}", session.admin.site().base);
        let consumer = match platform.consumer(caller, uuid).await {
            Err(PlatformError::NotFound(_)) => {
                let words = "Nothing is sent: the customer is not connected. The journal keeps the events.".to_owned();
                let announced = (Badge::new("wait", "Not connected"), words);
                return Ok(Some(Self { customer_path, customer, announced, delivered: None }));
            }
            consumer => consumer?,
        };
        let (kind, word) = state::words(&consumer);
        let pending = consumer.backlog.pending;
        let words = if pending == 0 {
            "No event of the customer waits to be published.".to_owned()
        } else {
            let waiting = labels::count(pending, "event waits", "events wait");
            format!("{waiting} to be published, of all sales of the customer.")
        };
        let word = if kind == "good" && pending == 0 { "Announced" } else { word };
        let delivered = match consumer.is_complete() {
            true => Some(Delivered::of_sale(session, sale).await?),
            false => None,
        };
        Ok(Some(Self { customer_path, customer, announced: (Badge::new(kind, word), words), delivered }))
    }
}

impl Delivered {
    async fn of_sale(session: &Session, sale: &Sale) -> Result<Self, PageError> {
        let (platform, caller, now) = (session.platform(), &session.caller, session.now());
        let readings = platform.endpoint_readings(caller, vec![sale.auction.customer]).await?;
        let reading = readings.first();
        let undelivered = platform.undelivered_of_sale(caller, sale.auction.uuid).await?;
        let health = Health::of(reading);
        let (badge, words, since, cause) = match &health {
            Health::NotRead(_) => {
                (Badge::new("", "Not read"), "What the endpoints do was not read yet.".to_owned(), None, None)
            }
            Health::NoRight => {
                (Badge::new("wait", "Not readable"), "The key can't read the endpoints.".to_owned(), None, None)
            }
            Health::NoEndpoint => {
                let words = "The application has no endpoint: events reach no receiver.".to_owned();
                (Badge::new("wait", "No endpoint"), words, None, None)
            }
            Health::Delivering(count) => {
                let words = format!("No failure at {}, of all sales of the customer.", count.words());
                (Badge::new("good", "Delivering"), words, None, None)
            }
            Health::Hindered(hindered) => {
                let failing = hindered.failing_words().map(|words| format!("{} {words}", hindered.failing));
                let disabled = hindered.disabled_words().map(|words| format!("{} {words}", hindered.disabled));
                // What fails comes last: the time and the cause are its own.
                let words: Vec<String> = disabled.into_iter().chain(failing).collect();
                let since = hindered.failing_since.or(hindered.disabled_since);
                (Badge::new("bad", "Not delivered"), words.join("; "), since, hindered.cause.clone())
            }
        };
        let more = if undelivered.count == UNDELIVERED_COUNTED_MAX { " or more" } else { "" };
        let events = labels::count(undelivered.count as u64, "event", "events");
        Ok(Self {
            badge,
            words,
            lasting: since.map(|since| RelativeTime::lasting(since, now)),
            cause: cause.unwrap_or_default(),
            of_sale: if undelivered.count == 0 { String::new() } else { format!("{events}{more}") },
            oldest: undelivered.oldest_at.map(|at| sale.zone.relative(at, now)),
            fault: reading.and_then(reading_fault).unwrap_or_default(),
            read_at: reading.and_then(|reading| reading.read_at).map(|at| sale.zone.relative(at, now)),
        })
    }
}
