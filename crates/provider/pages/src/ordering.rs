//! Blocked ordering keys on the pages of both sites: a banner, the list, and the question before a message is skipped.

use askama::Template;
use askama::filters::HtmlSafe;
use kit_design::error_page::ErrorPage;
use kit_design::fields::FormFields;
use kit_design::relative_time::RelativeTime;
use provider_core::model::Endpoint;
use provider_core::{BlockedKey, BlockedReason, DeliveryOrder, OrderingKey, ProviderError};

use crate::messages::Place;
use crate::page_error::PageError;
use crate::portal::labels::number;

/// Ordering keys on one page.
const LIMIT: usize = 25;

/// What the visitor may do with the first message of a blocked key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderingRights {
    /// Retry it at once.
    pub(crate) retry: bool,
    /// Skip it.
    pub(crate) skip: bool,
}

/// The pages of an endpoint's blocked keys, and their visitor.
pub(crate) struct OrderingPlace<'a> {
    pub(crate) place: Place<'a>,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) may: OrderingRights,
}

impl OrderingPlace<'_> {
    /// Path of the list, below the site's base.
    pub(crate) fn path(&self) -> String {
        let Endpoint { application, id, .. } = self.endpoint;
        match self.place.application {
            Some(_) => format!("/endpoints/{id}/ordering"),
            None => format!("/applications/{application}/endpoints/{id}/ordering"),
        }
    }

    fn key(&self, blocked: &BlockedKey) -> Key {
        let now = self.place.now;
        let BlockedKey { key, message, since, waits_for, waiting, .. } = blocked;
        let query = [("key", key.as_str()), ("messageId", message)];
        Key {
            action: format!("{}{}", self.place.base, self.path()),
            key: key.as_str().to_owned(),
            message: message.to_string(),
            message_path: format!(
                "{}{}",
                self.place.base,
                self.place.message_path(&self.endpoint.application, message)
            ),
            why: why(blocked),
            since: RelativeTime::new(*since, now),
            next: waits_for.until().map(|until| RelativeTime::new(until, now)),
            waiting: number(*waiting),
            may_retry: self.may.retry && waits_for.can_be_retried(),
            may_skip: self.may.skip && *waits_for != BlockedReason::Attempt,
            query: form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish(),
        }
    }
}

/// A blocked key with its first message.
struct Key {
    /// Path of the list, with the site's base. Forms are sent there and below.
    action: String,
    key: String,
    message: String,
    message_path: String,
    why: String,
    since: RelativeTime,
    next: Option<RelativeTime>,
    waiting: String,
    may_retry: bool,
    may_skip: bool,
    /// Names the key and its first message.
    query: String,
}

/// Buttons that retry or skip the first message of a key.
#[derive(Template)]
#[template(path = "ordering/buttons.html")]
struct Buttons<'a> {
    key: &'a Key,
}

impl HtmlSafe for Buttons<'_> {}

impl Key {
    fn buttons(&self) -> Buttons<'_> {
        Buttons { key: self }
    }
}

/// The list of blocked keys, as a part of a page.
#[derive(Template)]
#[template(path = "ordering/list.html")]
pub(crate) struct BlockedKeys {
    /// The endpoint delivers in order. One that no longer does may still have blocked keys.
    is_in_order: bool,
    may: OrderingRights,
    path: String,
    rows: Vec<Key>,
    /// The last key of this page, if another page follows.
    next: Option<String>,
}

impl HtmlSafe for BlockedKeys {}

/// The blocked keys after the one that the query names.
pub(crate) async fn list(of: &OrderingPlace<'_>, query: &FormFields) -> Result<BlockedKeys, PageError> {
    let OrderingPlace { place, endpoint, may } = of;
    let after = query.non_empty("after").map(OrderingKey::parse).transpose();
    let after = after.map_err(|_| {
        ErrorPage::bad_request(
            "The parameter \"after\" is not an ordering key. Open the list again and use its buttons.",
        )
    })?;
    let after = after.as_ref().map(OrderingKey::as_str);
    let list = place.provider.blocked_keys(place.caller, &endpoint.application, &endpoint.id, after, LIMIT);
    let (blocked, done) = list.await?;
    let last = blocked.last().map(|last| last.key.as_str()).filter(|_| !done);
    Ok(BlockedKeys {
        is_in_order: endpoint.ordering == DeliveryOrder::PerKey,
        may: *may,
        path: format!("{}{}", place.base, of.path()),
        next: last.map(|last| form_urlencoded::byte_serialize(last.as_bytes()).collect()),
        rows: blocked.iter().map(|blocked| of.key(blocked)).collect(),
    })
}

/// Since when keys of an endpoint are blocked, and how many messages wait, as a part of a page.
#[derive(Template)]
#[template(path = "ordering/banner.html")]
pub(crate) struct Banner {
    keys: u64,
    keys_in_words: String,
    lasting: RelativeTime,
    waiting: String,
    is_one_waiting: bool,
    longest: Key,
}

impl HtmlSafe for Banner {}

/// The banner; none when no key is blocked.
pub(crate) async fn banner(of: &OrderingPlace<'_>) -> Result<Option<Banner>, PageError> {
    let OrderingPlace { place, endpoint, .. } = of;
    let summary = place.provider.blocked_keys_summary(place.caller, &endpoint.application, &endpoint.id).await?;
    Ok(summary.map(|summary| Banner {
        keys: summary.keys,
        keys_in_words: number(summary.keys),
        lasting: RelativeTime::lasting(summary.longest.since, place.now),
        waiting: number(summary.waiting),
        is_one_waiting: summary.waiting == 1,
        longest: of.key(&summary.longest),
    }))
}

/// The question before a message is skipped, as a part of a page.
#[derive(Template)]
#[template(path = "ordering/skip.html")]
pub(crate) struct SkipQuestion {
    key: Key,
    url: String,
    event_type: String,
    event_id: Option<String>,
    attempts: String,
    is_one_waiting: bool,
    is_none_waiting: bool,
    /// The payload exists, so the message can be resent.
    can_be_resent: bool,
}

impl HtmlSafe for SkipQuestion {}

/// The question about the key and the message that the query names; none when the message does not block the key any more.
pub(crate) async fn question(of: &OrderingPlace<'_>, query: &FormFields) -> Result<Option<SkipQuestion>, PageError> {
    let OrderingPlace { place, endpoint, .. } = of;
    let (provider, caller, application) = (place.provider, place.caller, &endpoint.application);
    let (key, message) = head(query)?;
    let blocked = match provider.blocked_key(caller, application, &endpoint.id, &key).await {
        Err(ProviderError::NotFound) => return Ok(None),
        blocked => blocked?,
    };
    if *blocked.message != *message {
        return Ok(None);
    }
    let message = provider.message(caller, application, message).await?;
    Ok(Some(SkipQuestion {
        url: endpoint.url.clone(),
        event_type: message.event_type.to_string(),
        event_id: message.event_id,
        attempts: match blocked.attempts {
            0 => "none".to_owned(),
            1 => "1, which failed".to_owned(),
            attempts => format!("{}, which failed", number(attempts.into())),
        },
        is_one_waiting: blocked.waiting == 1,
        is_none_waiting: blocked.waiting == 0,
        can_be_resent: message.payload.is_some(),
        key: of.key(&blocked),
    }))
}

/// Skips the message of the form. Returns the path that follows.
pub(crate) async fn skip(of: &OrderingPlace<'_>, form: &FormFields) -> Result<String, PageError> {
    let OrderingPlace { place, endpoint, .. } = of;
    let (key, message) = head(form)?;
    place.provider.skip_blocked_key(place.caller, &endpoint.application, &endpoint.id, &key, message).await?;
    Ok(format!("{}?done=skipped", of.path()))
}

/// Retries the message of the form. Returns the path that follows.
pub(crate) async fn retry(of: &OrderingPlace<'_>, form: &FormFields) -> Result<String, PageError> {
    let OrderingPlace { place, endpoint, .. } = of;
    let (key, message) = head(form)?;
    place.provider.retry_blocked_key(place.caller, &endpoint.application, &endpoint.id, &key, message).await?;
    Ok(format!("{}?done=retried", of.path()))
}

/// The key and its first message, as the page named them.
fn head(fields: &FormFields) -> Result<(OrderingKey, &str), PageError> {
    let key = OrderingKey::parse(fields.text("key")).map_err(|_| ErrorPage::not_found())?;
    Ok((key, fields.text("messageId")))
}

/// How many attempts have failed, and the reason why the message waits.
fn why(blocked: &BlockedKey) -> String {
    let waits_for = match blocked.waits_for {
        BlockedReason::Retry(_) => "waits for its next retry",
        BlockedReason::Later(_) => "waits for its delivery time",
        BlockedReason::Pause(_) => "waits because this endpoint asked for a pause",
        BlockedReason::Slowed(_) => "waits up to 5 s, because this endpoint answers too late or is overloaded",
        BlockedReason::Rate(_) => "waits for the throttle rate of this endpoint",
        BlockedReason::Node => "due, waits for a node to send it",
        BlockedReason::Attempt => "is being sent",
        BlockedReason::Nothing => "is cancelled, because this endpoint is disabled",
    };
    match blocked.attempts {
        0 => waits_for.to_owned(),
        1 => format!("failed once; {waits_for}"),
        attempts => format!("failed {} times; {waits_for}", number(attempts.into())),
    }
}
