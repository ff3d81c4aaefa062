//! E-mail over SMTP, and the rules of a queue of mails.
//!
//! [`Mailer::send`] hands one mail to the server that the operator configured, over TLS unless the URL says otherwise,
//! within [`SEND_TIMEOUT`]. It keeps no queue and repeats nothing: each wing has a table of waiting mails, and both wings
//! use the same rules. [`queue::pause_after`] says when a mail is sent again and when it is given up, and
//! [`allowances::Allowance`] how many mails may go to one mailbox.
//!
//! A demonstration without a mail server keeps its mails in memory instead: [`kept_mails::KeptMails`].
//!
//! A repeated mail has the same `Message-ID`, so that mail programs recognise the copy.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod allowances;
pub mod kept_mails;
mod name;
pub mod queue;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lettre::message::header::{ContentType, Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
pub use name::{plain_name, plain_title};

use crate::kept_mails::KeptMails;

/// Time for each answer of the mail server.
pub const SEND_TIMEOUT: Duration = Duration::from_secs(20);
/// Characters of an address.
const ADDRESS_CHARS_MAX: usize = 254;

/// Sends mails through one server, and opens a connection for each mail; or keeps the mails in memory.
#[derive(Clone)]
pub struct Mailer {
    destination: Destination,
    from: Mailbox,
}

#[derive(Clone)]
enum Destination {
    Server(AsyncSmtpTransport<Tokio1Executor>),
    Memory(Arc<KeptMails>),
}

/// The URL contains a password, so nothing of it is printed.
impl fmt::Debug for Mailer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Mailer").field("from", &self.from.to_string()).finish_non_exhaustive()
    }
}

/// A mail of plain text to one recipient.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mail {
    /// Address of the recipient.
    pub to: String,
    /// Subject, one line.
    pub subject: String,
    /// Text.
    pub text: String,
    /// The part of the `Message-ID` before the `@`; the same when the mail is sent again.
    pub id: String,
    /// Name of the sender in place of the configured one. The address stays.
    pub sender_name: Option<String>,
    /// Address for replies; the sender's without one. An invalid one is left out.
    pub reply_to: Option<String>,
    /// Where the recipient ends mails of this kind with one click (RFC 8058).
    pub unsubscribe: Option<String>,
}

/// Why the settings of mail can't be used. The text does not contain the URL.
#[derive(Debug, thiserror::Error)]
pub enum InvalidMailer {
    /// The URL is not that of a mail server.
    #[error("the URL of the mail server is not valid, write smtps://USER:PASSWORD@HOST or smtp://HOST:25: {0}")]
    Url(String),
    /// The sender is not an address.
    #[error("the sender is not an address such as Lotwire <alerts@example.com>: {0}")]
    From(String),
}

/// Why a mail was not sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The address, the subject or the text can't be sent.
    #[error("the mail can't be written: {0}")]
    Invalid(String),
    /// The server refused the mail for good.
    #[error("the mail server refused the mail: {0}")]
    Refused(String),
    /// The server can't be reached, or can't take the mail now.
    #[error("the mail server can't take the mail now: {0}")]
    Unavailable(String),
}

impl SendError {
    /// Whether sending the mail again would fail in the same way.
    pub fn is_permanent(&self) -> bool {
        !matches!(self, Self::Unavailable(_))
    }
}

impl Mailer {
    /// A mailer for the server at `smtp_url`: `smtps://` for TLS from the first byte, `smtp://HOST?tls=required` for
    /// `STARTTLS`, `smtp://` for a server of the own network. It connects with the first mail.
    pub fn new(smtp_url: &str, from: &str) -> Result<Self, InvalidMailer> {
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(smtp_url)
            .map_err(|error| InvalidMailer::Url(error.to_string()))?
            .timeout(Some(SEND_TIMEOUT))
            .build();
        Self::with(Destination::Server(transport), from)
    }

    /// A mailer that sends nothing: it keeps every mail in memory.
    pub fn into_memory(mails: Arc<KeptMails>, from: &str) -> Result<Self, InvalidMailer> {
        Self::with(Destination::Memory(mails), from)
    }

    fn with(destination: Destination, from: &str) -> Result<Self, InvalidMailer> {
        let from = from.parse::<Mailbox>().map_err(|error| InvalidMailer::From(error.to_string()))?;
        Ok(Self { destination, from })
    }

    /// Hands a mail to the server. `Ok` when the server has taken it, with its answer.
    pub async fn send(&self, mail: &Mail) -> Result<String, SendError> {
        let message = self.message(mail).map_err(SendError::Invalid)?;
        let transport = match &self.destination {
            Destination::Server(transport) => transport,
            Destination::Memory(mails) => {
                mails.keep(&self.sender(mail).to_string(), mail);
                return Ok("kept in memory".to_owned());
            }
        };
        match transport.send(message).await {
            Ok(response) => {
                let lines: Vec<&str> = response.message().collect();
                Ok(format!("{} {}", response.code(), lines.join(" ")))
            }
            Err(error) if error.is_permanent() => Err(SendError::Refused(error.to_string())),
            Err(error) => Err(SendError::Unavailable(error.to_string())),
        }
    }

    fn message(&self, mail: &Mail) -> Result<Message, String> {
        let to: Address = mail.to.parse().map_err(|error: lettre::address::AddressError| error.to_string())?;
        let mut builder = Message::builder().from(self.sender(mail));
        if let Some(Ok(address)) = mail.reply_to.as_deref().map(str::parse::<Address>) {
            builder = builder.reply_to(Mailbox::new(None, address));
        }
        if let Some(address) = &mail.unsubscribe {
            builder = builder
                .header(ListUnsubscribe(format!("<{}>", one_line(address))))
                .header(ListUnsubscribePost("List-Unsubscribe=One-Click".to_owned()));
        }
        builder
            .to(Mailbox::new(None, to))
            .subject(one_line(&mail.subject))
            .message_id(Some(format!("<{}@{}>", mail.id, self.from.email.domain())))
            .header(ContentType::TEXT_PLAIN)
            .body(mail.text.clone())
            .map_err(|error| error.to_string())
    }

    fn sender(&self, mail: &Mail) -> Mailbox {
        let name = mail.sender_name.as_deref().map(one_line).or_else(|| self.from.name.clone());
        Mailbox::new(name, self.from.email.clone())
    }
}

/// The header with the address that ends mails of this kind (RFC 2369).
#[derive(Clone)]
struct ListUnsubscribe(String);

/// The header that says that a POST there ends them (RFC 8058).
#[derive(Clone)]
struct ListUnsubscribePost(String);

/// Implements lettre's trait for a header of plain text.
macro_rules! plain_header {
    ($header:ident, $name:literal) => {
        impl Header for $header {
            fn name() -> HeaderName {
                HeaderName::new_from_ascii_str($name)
            }

            fn parse(text: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
                Ok(Self(text.to_owned()))
            }

            fn display(&self) -> HeaderValue {
                // No folding and no encoded words: both headers are URLs and fixed words in ASCII.
                HeaderValue::dangerous_new_pre_encoded(Self::name(), self.0.clone(), self.0.clone())
            }
        }
    };
}

plain_header!(ListUnsubscribe, "List-Unsubscribe");
plain_header!(ListUnsubscribePost, "List-Unsubscribe-Post");

/// The text without line breaks and other control characters, which would begin another header.
fn one_line(text: &str) -> String {
    text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect()
}

/// Checks the URL of a mail server. Nothing is connected.
pub fn check_server(smtp_url: &str) -> Result<(), InvalidMailer> {
    let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(smtp_url);
    builder.map(drop).map_err(|error| InvalidMailer::Url(error.to_string()))
}

/// Checks the sender of mails.
pub fn check_sender(from: &str) -> Result<(), InvalidMailer> {
    from.parse::<Mailbox>().map(drop).map_err(|error| InvalidMailer::From(error.to_string()))
}

/// Whether a mail can be addressed to this text: an address alone, without a name or angle brackets. The quoted form of the part
/// before the `@` (RFC 5321, section 4.1.2), in which that part may have spaces, is refused: people do not use it, and many mail
/// servers do not take it.
pub fn is_address(text: &str) -> bool {
    text.len() <= ADDRESS_CHARS_MAX && !text.contains('"') && text.parse::<Address>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail() -> Mail {
        Mail {
            to: "a@example.com".into(),
            subject: "S\r\nBcc: b@example.com".into(),
            text: "T".into(),
            id: "alert-1".into(),
            ..Mail::default()
        }
    }

    #[test]
    fn a_mail_has_one_recipient_and_an_id_that_repeats() {
        let mailer = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(async { Mailer::new("smtp://127.0.0.1:1", "Lotwire <alerts@example.org>").unwrap() });
        let text = String::from_utf8(mailer.message(&mail()).unwrap().formatted()).unwrap();
        assert!(text.contains("Message-ID: <alert-1@example.org>"), "{text}");
        assert!(text.contains("From: Lotwire <alerts@example.org>") && !text.contains("\nBcc:"), "{text}");
        assert!(mailer.message(&Mail { to: "nobody".into(), ..mail() }).is_err());
        let of_house = Mail {
            sender_name: Some("Hartley & Sons\r\nBcc: b@example.com".into()),
            reply_to: Some("bids@hartley.example".into()),
            ..mail()
        };
        let text = String::from_utf8(mailer.message(&of_house).unwrap().formatted()).unwrap();
        assert!(text.contains("Reply-To: bids@hartley.example") && !text.contains("\nBcc:"), "{text}");
        // "Hartley & Sons  Bcc: b@example.com" as an encoded word (RFC 2047): one name, and no other header.
        let name = "SGFydGxleSAmIFNvbnMgIEJjYzogYkBleGFtcGxlLmNvbQ==";
        assert!(text.contains(&format!("From: =?utf-8?b?{name}?= <alerts@example.org>")), "{text}");
        let address = format!("https://bid.example/hartley/mails/{}", "a".repeat(120));
        let refusable = Mail { unsubscribe: Some(format!("{address}\r\nBcc: b@example.com")), ..mail() };
        let text = String::from_utf8(mailer.message(&refusable).unwrap().formatted()).unwrap();
        assert!(text.contains(&format!("List-Unsubscribe: <{address}  Bcc: b@example.com>")), "{text}");
        assert!(
            text.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click") && !text.contains("\nBcc:"),
            "{text}"
        );
        let wrong = Mail { reply_to: Some("nobody".into()), ..mail() };
        let text = String::from_utf8(mailer.message(&wrong).unwrap().formatted()).unwrap();
        assert!(!text.contains("Reply-To"), "{text}");
        assert!(!format!("{mailer:?}").contains("127.0.0.1"));
    }

    #[test]
    fn wrong_settings_and_addresses_are_refused() {
        assert!(matches!(Mailer::new("http://127.0.0.1", "a@b.example"), Err(InvalidMailer::Url(_))));
        assert!(matches!(Mailer::new("smtp://127.0.0.1", "nobody"), Err(InvalidMailer::From(_))));
        for text in ["a@b.example", "Ann.O'Hara+sale@b.example", "a_b-c@b.example", "ann@bücher.example"] {
            assert!(is_address(text), "{text}");
        }
        for text in [
            "",
            "a",
            "@b.example",
            "a@",
            "a@b c",
            "a b@c.example",
            " a@b.example",
            "a@b.example ",
            "a@b.example\r\nx",
            "a@b@c.example",
            "<a@b.example>",
            "Ann <a@b.example>",
            "\"a b\"@c.example",
            "\"a\"@c.example",
            "a(note)@b.example",
            "a@b.example, c@d.example",
            "a..b@c.example",
        ] {
            assert!(!is_address(text), "{text:?}");
        }
        assert!(!is_address(&format!("{}@b.example", "a".repeat(250))));
    }
}
