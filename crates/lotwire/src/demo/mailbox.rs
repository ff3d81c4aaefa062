//! The mailbox of the demonstration: a page with the mails that the node would send. Nothing leaves this machine.
//!
//! Mails contain links that sign users in. So only the demonstration opens the page, on a separate port of the loopback address, and no
//! port of a server has it. The port answers one host, so that no name of another site leads to it.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::get;
use kit_design::assets;
use kit_design::error_page::{ErrorPage, NextLink};
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use kit_design::site::{self, Site};
use kit_http::Surface;
use kit_http::one_host::{self, OneHost};
use kit_mail::kept_mails::{KEPT_MAX, KeptMail, KeptMails};
use kit_runtime::clock::SharedClock;

/// Signs that end a sentence, and not the address before them.
const AFTER_ADDRESS: [char; 6] = ['.', ',', ';', ')', '>', '"'];

/// The pages, and what they read.
#[derive(Clone)]
struct Mailbox {
    mails: Arc<KeptMails>,
    site: Arc<Site>,
    clock: SharedClock,
}

/// A part of a line of a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part<'a> {
    Text(&'a str),
    /// An address of the web.
    Link(&'a str),
}

#[derive(Template)]
#[template(path = "demo/mailbox.html")]
struct ListPage {
    frame: Frame,
    mails: Vec<(KeptMail, RelativeTime)>,
}

#[derive(Template)]
#[template(path = "demo/mail.html")]
struct MailPage<'a> {
    frame: Frame,
    mail: &'a KeptMail,
    at: RelativeTime,
    /// Paragraphs, lines, and parts of lines.
    text: Vec<Vec<Vec<Part<'a>>>>,
}

/// The pages of a mailbox that browsers reach at `url`.
pub(super) fn surface(mails: Arc<KeptMails>, clock: SharedClock, url: &str) -> Surface {
    let home = Some(NextLink { words: "Show all mails", path: "/" });
    let name = "Mailbox of the demonstration";
    let site = Site { base: "".into(), origin: url.to_owned(), has_public_url: true, name, style: None, home };
    let mailbox = Mailbox { mails, site: Arc::new(site), clock };
    let site = Arc::clone(&mailbox.site);
    let pages = Router::new().route("/", get(list)).route("/mails/{number}", get(show)).with_state(mailbox);
    let pages = site::wrap_site(pages.merge(assets::routes()), site);
    kit_http::finish_pages(pages.layer(from_fn_with_state(OneHost::of(url), one_host::require)))
}

async fn list(State(mailbox): State<Mailbox>) -> Result<Response, ErrorPage> {
    let now = mailbox.clock.now();
    let mails = mailbox.mails.latest().into_iter().map(|mail| {
        let at = RelativeTime::new(mail.at, now);
        (mail, at)
    });
    render_page(&ListPage { frame: mailbox.frame("Mails"), mails: mails.collect() })
}

async fn show(State(mailbox): State<Mailbox>, Path(number): Path<u64>) -> Result<Response, ErrorPage> {
    let mail = mailbox.mails.get(number).ok_or_else(ErrorPage::not_found)?;
    let at = RelativeTime::new(mail.at, mailbox.clock.now());
    let paragraphs = mail.text.trim_end().split("\n\n").map(|text| text.lines().map(parts).collect());
    render_page(&MailPage { frame: mailbox.frame(&mail.subject), mail: &mail, at, text: paragraphs.collect() })
}

impl Mailbox {
    fn frame(&self, title: &str) -> Frame {
        Frame::signed_out(title, &self.site, self.site.name)
    }
}

/// Splits a line at the addresses in it.
fn parts(line: &str) -> Vec<Part<'_>> {
    let (mut parts, mut rest) = (Vec::new(), line);
    while let Some(begin) = ["https://", "http://"].iter().filter_map(|scheme| rest.find(scheme)).min() {
        let (before, from) = rest.split_at(begin);
        let (address, _) = from.split_at(from.find(char::is_whitespace).unwrap_or(from.len()));
        let (address, after) = from.split_at(address.trim_end_matches(AFTER_ADDRESS).len());
        if !before.is_empty() {
            parts.push(Part::Text(before));
        }
        parts.push(Part::Link(address));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    parts
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http::Request;
    use kit_mail::{Mail, Mailer};
    use kit_runtime::clock::TestClock;

    use super::*;

    #[test]
    fn addresses_of_the_web_are_links() {
        use Part::{Link, Text};
        assert_eq!(parts("Hello"), [Text("Hello")]);
        assert_eq!(parts(""), []);
        assert_eq!(
            parts("Open https://a.example/b?c=1, or http://[::1]:80/ (javascript:alert(1))."),
            [
                Text("Open "),
                Link("https://a.example/b?c=1"),
                Text(", or "),
                Link("http://[::1]:80/"),
                Text(" (javascript:alert(1)).")
            ]
        );
    }

    async fn get_page(surface: &Surface, host: &str, path: &str) -> (u16, String) {
        let request = Request::builder().uri(path).header("host", host).body(Body::empty()).unwrap();
        let (parts, body) = surface.answer(request).await.into_parts();
        let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        (parts.status.as_u16(), String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn mails_are_listed_and_shown_under_one_host() {
        let clock: SharedClock = Arc::new(TestClock::default());
        let mails = Arc::new(KeptMails::new(clock.clone()));
        let surface = surface(mails.clone(), clock, "http://127.0.0.1:8025");
        let (status, page) = get_page(&surface, "127.0.0.1:8025", "/").await;
        assert!(status == 200 && page.contains("No mail yet"), "{page}");
        let mailer = Mailer::into_memory(mails, "Lotwire <lotwire@example.com>").unwrap();
        for (to, subject) in [("ann@example.com", "First"), ("bob@example.com", "<Second>")] {
            let text = "Hello <b>\n\nhttps://a.example/x?a=1&b=2\n".to_owned();
            mailer.send(&Mail { to: to.into(), subject: subject.into(), text, ..Mail::default() }).await.unwrap();
        }
        let (_, page) = get_page(&surface, "127.0.0.1:8025", "/").await;
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is not in {page}"));
        assert!(place("&#60;Second&#62;") < place("First") && page.contains("leaves this machine"), "{page}");
        let (status, page) = get_page(&surface, "127.0.0.1:8025", "/mails/2").await;
        assert!(status == 200 && page.contains("bob@example.com") && page.contains("Hello &#60;b&#62;"), "{page}");
        assert!(page.contains("<a href=\"https://a.example/x?a=1&#38;b=2\""), "{page}");
        assert_eq!(get_page(&surface, "127.0.0.1:8025", "/mails/3").await.0, 404);
        for host in ["evil.example", "evil.example:8025", "localhost:8025"] {
            assert_eq!(get_page(&surface, host, "/mails/1").await.0, 404, "{host}");
        }
    }
}
