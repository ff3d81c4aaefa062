//! A page whose content may take longer than a visitor should wait for the first byte.
//!
//! If the content is not ready within [`HEAD_AFTER`], the response begins with the head of the page (navigation and style
//! sheets), and the content follows in the same response. A fast page is one response with its own status.
//!
//! Limit: a response that began has status 200, also if its content fails afterwards; the page then shows the error.

use std::pin::pin;
use std::time::Duration;

use askama::Template;
use axum::body::{Body, to_bytes};
use axum::response::{Html, IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use futures_util::{FutureExt as _, future::select};
use kit_runtime::clock::SharedClock;

use super::error_page::ErrorPageContent;
use super::frame::Frame;

/// Time after which the head is sent.
pub const HEAD_AFTER: Duration = Duration::from_millis(8);
/// Bytes of a page's content.
const CONTENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Stands for the content in a rendered layout. A page can't contain it, because templates escape `<`.
const MARK: &str = "<!--content-->";

/// The layout of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `layout.html`.
    Bar,
    /// `side_layout.html`.
    Side,
}

#[derive(Template)]
#[template(source = "{% extends \"layout.html\" %}{% block content %}<!--content-->{% endblock %}", ext = "html")]
struct BarMark<'a> {
    frame: &'a Frame,
}

#[derive(Template)]
#[template(source = "{% extends \"side_layout.html\" %}{% block content %}<!--content-->{% endblock %}", ext = "html")]
struct SideMark<'a> {
    frame: &'a Frame,
}

/// The response of `content`, which renders a page with this frame in this layout; or, if `content` takes long, a response
/// that begins with the head of the page.
pub async fn respond<E: IntoResponse + 'static>(
    clock: SharedClock,
    frame: Frame,
    layout: Layout,
    content: impl Future<Output = Result<Response, E>> + Send + 'static,
) -> Response {
    let mut content = Box::pin(content.map(IntoResponse::into_response));
    {
        let waited = pin!(clock.sleep_until(clock.now() + HEAD_AFTER));
        if let futures_util::future::Either::Left((response, _)) = select(&mut content, waited).await {
            return response;
        }
    }
    let marked = match layout {
        Layout::Bar => BarMark { frame: &frame }.render(),
        Layout::Side => SideMark { frame: &frame }.render(),
    };
    let parts = marked.ok().and_then(|page| {
        let (head, foot) = page.split_once(MARK)?;
        Some((head.to_owned(), foot.to_owned()))
    });
    let Some((head, foot)) = parts else { return content.await };
    let first = Bytes::from(head.clone());
    let rest = async move { rest(&head, &foot, content.await).await };
    let body = stream::once(async move { first }).chain(stream::once(rest)).map(Ok::<_, std::convert::Infallible>);
    Html(Body::from_stream(body)).into_response()
}

/// What follows the head that was sent.
async fn rest(head: &str, foot: &str, response: Response) -> Bytes {
    let (parts, body) = response.into_parts();
    if let Some(error) = parts.extensions.get::<ErrorPageContent>() {
        let error = AfterHead { title: &error.title, detail: &error.detail };
        return Bytes::from(error.render().unwrap_or_default() + foot);
    }
    let page = to_bytes(body, CONTENT_BYTES_MAX).await.unwrap_or_default();
    match page.strip_prefix(head.as_bytes()) {
        Some(content) => page.slice_ref(content),
        None => {
            tracing::error!("a page has another head than the one that was sent");
            let detail = "The server could not complete the page and has logged the error. Load it again.";
            Bytes::from(AfterHead { title: "Internal error", detail }.render().unwrap_or_default() + foot)
        }
    }
}

#[derive(Template)]
#[template(
    source = "<section class=\"narrow refused\" role=\"alert\"><h1>{{ title }}</h1><p>{{ detail }}</p></section>",
    ext = "html"
)]
struct AfterHead<'a> {
    title: &'a str,
    detail: &'a str,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::StatusCode;
    use kit_runtime::clock::TestClock;

    use super::*;
    use crate::error_page::ErrorPage;
    use crate::frame::render_page;

    #[derive(Template)]
    #[template(
        source = "{% extends \"layout.html\" %}{% block content %}<h1>{{ words }}</h1>{% endblock %}",
        ext = "html"
    )]
    struct Page {
        frame: Frame,
        words: &'static str,
    }

    fn frame() -> Frame {
        Frame::signed_out("A page", "/portal".into(), "Hammer & Co")
    }

    async fn text(response: Response) -> (StatusCode, String) {
        let status = response.status();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    async fn page() -> Result<Response, ErrorPage> {
        render_page(&Page { frame: frame(), words: "a < b" })
    }

    #[tokio::test]
    async fn a_page_that_takes_long_begins_with_its_head_and_is_the_same() {
        let (_, whole) = text(page().await.unwrap()).await;
        let clock = Arc::new(TestClock::new("2026-11-21T06:28:03Z".parse().unwrap()));
        let fast = respond(clock.clone(), frame(), Layout::Bar, page()).await;
        assert_eq!(text(fast).await, (StatusCode::OK, whole.clone()));

        let (ready, waits) = tokio::sync::oneshot::channel::<()>();
        let slow = async move {
            waits.await.unwrap();
            page().await
        };
        let responding = tokio::spawn(respond(clock.clone(), frame(), Layout::Bar, slow));
        while !responding.is_finished() {
            clock.advance(HEAD_AFTER);
            tokio::task::yield_now().await;
        }
        let mut body = responding.await.unwrap().into_body().into_data_stream();
        let head = body.next().await.unwrap().unwrap();
        let shown = String::from_utf8_lossy(&head);
        assert!(shown.starts_with("<!doctype html>") && shown.trim_end().ends_with("tabindex=\"-1\">"), "{shown}");
        ready.send(()).unwrap();
        let mut got = head.to_vec();
        while let Some(chunk) = body.next().await {
            got.extend(chunk.unwrap());
        }
        assert_eq!(String::from_utf8(got).unwrap(), whole);
    }

    #[tokio::test]
    async fn an_error_keeps_its_status_before_the_head_and_is_shown_after_it() {
        let clock = Arc::new(TestClock::new("2026-11-21T06:28:03Z".parse().unwrap()));
        let failing = async { Err::<Response, _>(ErrorPage::not_found()) };
        let fast = respond(clock.clone(), frame(), Layout::Bar, failing).await;
        assert_eq!(fast.status(), StatusCode::NOT_FOUND);

        let (ready, waits) = tokio::sync::oneshot::channel::<()>();
        let failing = async move {
            waits.await.unwrap();
            Err::<Response, _>(ErrorPage::not_found())
        };
        let responding = tokio::spawn(respond(clock.clone(), frame(), Layout::Bar, failing));
        while !responding.is_finished() {
            clock.advance(HEAD_AFTER);
            tokio::task::yield_now().await;
        }
        ready.send(()).unwrap();
        let (status, page) = text(responding.await.unwrap()).await;
        assert_eq!(status, StatusCode::OK);
        assert!(page.contains("<h1>Page not found</h1>") && page.trim_end().ends_with("</html>"), "{page}");
    }
}
