//! Shows notices in the browsers of bidders (Web Push).

use std::time::Duration;

use futures_util::future::join_all;
use http::{Method, StatusCode};
use kit_outbound::{Destination, Headers, Request};
use kit_push::{Browser, Delivery, ServerKey};
use serde_json::json;

use super::{Notice, NoticeKind};
use crate::Platform;
use crate::error::PlatformResult;
use crate::mails::{MailKind, default_text};
use crate::port::{ClaimedPush, PushSubscription};

/// Browsers of one bidder.
pub const PUSH_SUBSCRIPTIONS_MAX: usize = 10;
/// Notices that a node shows at the same time, and how often it claims some in one run.
const CLAIMED_MAX: usize = 20;
const CLAIMS_MAX: usize = 20;
/// How long a node has for the notices that it claimed.
const LEASE: Duration = Duration::from_secs(60);
/// Time for the answer of a push service.
const DEADLINE: Duration = Duration::from_secs(5);
/// Bytes of the answer that are read.
const ANSWER_BYTES_MAX: usize = 1_024;
/// How long a push service keeps a notice for a browser that is off.
const TTL: Duration = Duration::from_secs(60 * 60);
/// Tries of a notice, and the pause after the first one. Each pause is twice as long.
const TRIES_MAX: u32 = 5;
const PAUSE: Duration = Duration::from_secs(10);
/// Characters of a title in a message.
const TITLE_CHARS_MAX: usize = 200;

/// What a browser says about itself, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushKeys {
    /// URL of its push service.
    pub endpoint: String,
    /// Its public key.
    pub key: Vec<u8>,
    /// Its authentication secret.
    pub auth: Vec<u8>,
}

/// What became of a message to a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    Taken,
    /// The browser takes no messages of ours any more.
    Gone,
    /// Another try may succeed.
    Failed,
}

impl Platform {
    /// Shows the notices that are due.
    pub async fn send_pushes(&self) -> PlatformResult<()> {
        let Some(key) = self.push_key() else { return Ok(()) };
        for _ in 0..CLAIMS_MAX {
            let now = self.now();
            let claimed = self.store().claim_pushes(now, now + LEASE, CLAIMED_MAX).await?;
            let is_last = claimed.len() < CLAIMED_MAX;
            for done in join_all(claimed.into_iter().map(|claimed| self.send_push(key, claimed))).await {
                done?;
            }
            if is_last {
                break;
            }
        }
        Ok(())
    }

    async fn send_push(&self, key: &ServerKey, ClaimedPush { notice, tries }: ClaimedPush) -> PlatformResult<()> {
        let message = self.push_message(&notice).await?;
        let browsers = self.store().push_subscriptions(notice.account).await?;
        let sent = join_all(browsers.iter().map(|browser| self.send_to(key, browser, message.as_bytes()))).await;
        // One that failed at every try is gone, too: whether its host is unknown, refused or silent does not show.
        let is_last = tries >= TRIES_MAX;
        for (browser, sent) in browsers.iter().zip(&sent) {
            if *sent == Sent::Gone || (is_last && *sent == Sent::Failed) {
                self.store().remove_push_subscription(&browser.endpoint).await?;
            }
        }
        let is_again = !is_last && sent.contains(&Sent::Failed);
        let pause = PAUSE * 2_u32.pow(tries.min(TRIES_MAX).saturating_sub(1));
        Ok(self.store().end_push(notice.uuid, is_again.then(|| self.now() + pause)).await?)
    }

    async fn send_to(&self, key: &ServerKey, browser: &PushSubscription, message: &[u8]) -> Sent {
        let Ok(to) = Browser::new(&browser.endpoint, &browser.key, &browser.auth) else { return Sent::Gone };
        let Ok(uri) = to.endpoint().as_str().parse() else { return Sent::Gone };
        let delivery = Delivery { ttl: TTL, is_urgent: true };
        // The operator's address for push services, which a URL of this machine is not.
        let contact = self.config().saleroom_url.as_deref().filter(|url| url.starts_with("https://"));
        let Ok(request) = key.request(&to, message, delivery, contact, self.now()) else { return Sent::Gone };
        let mut headers = Headers::default();
        for (name, value) in &request.headers {
            headers.add(name, value.as_bytes());
        }
        let request = Request {
            method: Method::POST,
            to: Destination::new(uri, "push service"),
            headers,
            body: request.body.into(),
            deadline: DEADLINE,
            response_bytes_max: ANSWER_BYTES_MAX,
        };
        match self.push_client().send(request).await {
            Ok(response) if response.status.is_success() => Sent::Taken,
            Ok(response) if is_final(response.status) => Sent::Gone,
            Ok(_) | Err(_) => Sent::Failed,
        }
    }

    /// What the browser shows, as JSON: `title`, `body`, `path` of the page below that of the house, and `tag`, which is the same in a repetition.
    async fn push_message(&self, notice: &Notice) -> PlatformResult<String> {
        let Some(auction) = self.store().auction(notice.auction).await? else { return Ok("{}".to_owned()) };
        let letterhead = self.letterhead(auction.customer).await?;
        let kind = match (notice.kind, notice.facts.decision.as_deref()) {
            (NoticeKind::RegistrationDecided, Some("approved")) => MailKind::Approved,
            (NoticeKind::RegistrationDecided, Some("suspended")) => MailKind::Suspended,
            (NoticeKind::RegistrationDecided, _) => MailKind::Declined,
            _ => notice.mail().unwrap_or(MailKind::Reminder),
        };
        let account = self.store().bidder_account(notice.account).await?;
        let language = account.and_then(|account| account.profile.details.language);
        let language = language.unwrap_or(letterhead.mails().language);
        let values = self.notice_values(&auction, notice, &letterhead, language);
        let title = default_text(language, kind).render(&values).subject;
        let path = match notice.item {
            Some(item) => format!("sales/{}/lots/{item}", notice.auction),
            None if notice.kind == NoticeKind::Message => "notices".to_owned(),
            None if notice.kind == NoticeKind::LimitDecided => format!("sales/{}/register", notice.auction),
            None => format!("sales/{}", notice.auction),
        };
        let short = |text: &str| text.chars().take(TITLE_CHARS_MAX).collect::<String>();
        let message =
            json!({"title": short(&title), "body": short(&notice.facts.title), "path": path, "tag": notice.uuid});
        Ok(message.to_string())
    }
}

/// The push service takes no messages for this browser: it is gone, or it wants another key.
fn is_final(status: StatusCode) -> bool {
    status.is_client_error() && !matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
}
