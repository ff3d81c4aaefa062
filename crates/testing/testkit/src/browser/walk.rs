//! A walk through a site: one page of each kind that links lead to.

use std::collections::{BTreeSet, VecDeque};

use super::{BrowserError, Page};

/// Pages of a walk at most.
const PAGES_MAX: usize = 200;
/// Number of letters and digits from which a part of a path counts as an id.
const ID_CHARS_MIN: usize = 16;

/// The addresses that links of the page lead to, without those that end the session or that are no pages.
const LINKS: &str = r#"[...document.querySelectorAll("a[href]")]
    .filter((link) => link.origin === location.origin && !link.hasAttribute("download"))
    .map((link) => link.pathname + link.search)
    .filter((path) => !/\/(static|logout|sign-out)(\/|$)/.test(path) && !/\.(csv|json|pdf|txt|xlsx)($|\?)/.test(path))"#;

/// A walk that continues until every kind of page was opened.
pub struct Walk {
    origin: String,
    prefix: String,
    known: BTreeSet<String>,
    waiting: VecDeque<String>,
}

impl Walk {
    /// A walk through the pages below `prefix` that begins at the page that is open.
    pub async fn begin(page: &Page, prefix: &str) -> Result<Self, BrowserError> {
        let origin = page.text("location.origin").await?;
        let first = page.text("location.pathname + location.search").await?;
        let known = BTreeSet::from([kind_of(&first)]);
        Ok(Self { origin, prefix: prefix.to_owned(), known, waiting: VecDeque::from([first]) })
    }

    /// Opens the next page. Returns its kind; none at the end of the walk.
    pub async fn next(&mut self, page: &Page) -> Result<Option<String>, BrowserError> {
        while let Some(path) = self.waiting.pop_front() {
            page.open("about:blank").await?;
            // A link to a file starts a download, and the browser stays at the empty page.
            if page.open(&format!("{}{path}", self.origin)).await.is_err() {
                continue;
            }
            page.wait_until("document.readyState === 'complete'").await?;
            if page.text("document.contentType").await? != "text/html"
                || page.text("location.protocol").await? == "about:"
            {
                continue;
            }
            self.follow(page).await?;
            let kind = kind_of(&page.text("location.pathname").await?);
            // A page that redirects is not a separate kind.
            if kind == kind_of(&path) || self.known.insert(kind.clone()) {
                return Ok(Some(kind));
            }
        }
        Ok(None)
    }

    async fn follow(&mut self, page: &Page) -> Result<(), BrowserError> {
        let links = page.evaluate(LINKS).await?;
        for link in links.as_array().into_iter().flatten().filter_map(serde_json::Value::as_str) {
            let is_new = link.starts_with(&self.prefix) && self.known.len() < PAGES_MAX;
            if is_new && self.known.insert(kind_of(link)) {
                self.waiting.push_back(link.to_owned());
            }
        }
        Ok(())
    }
}

/// The path without its query and with `id` in place of each id, so that pages of one kind have one name.
pub fn kind_of(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let part = |part: &str| {
        let is_long = part.len() >= ID_CHARS_MIN && part.bytes().any(|byte| byte.is_ascii_digit());
        if is_long { "id".to_owned() } else { part.to_owned() }
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_differ_by_an_id_or_a_filter_are_of_one_kind() {
        for (path, kind) in [
            ("/app-portal/messages?state=failed", "/app-portal/messages"),
            ("/app-portal/endpoints/ep_3MZeDAEsBHcVcJzWgCn8c1pglWe/secret", "/app-portal/endpoints/id/secret"),
            ("/admin/auctions/01a20fdb-d3ac-721c-90f9-32e50d36e605", "/admin/auctions/id"),
            ("/app-portal/event-types/ITEM_STATUS_CHANGE", "/app-portal/event-types/ITEM_STATUS_CHANGE"),
        ] {
            assert_eq!(kind_of(path), kind);
        }
    }
}
