//! The texts of the design system's own parts in the language of a page, such as the link to the content and the error pages.
//!
//! English without another choice. A site in several languages wraps its requests in [`with`], and calls [`choose`] as soon as it
//! knows whom the page is for.

use std::cell::Cell;
use std::sync::LazyLock;

tokio::task_local! {
    static OF_REQUEST: Cell<&'static Texts>;
}

static ENGLISH: LazyLock<Texts> = LazyLock::new(Texts::english);

/// A heading and the paragraph below it.
#[derive(Debug, Clone)]
pub struct Passage {
    /// The heading.
    pub title: String,
    /// The paragraph.
    pub detail: String,
}

/// The texts in one language.
#[derive(Debug, Clone)]
pub struct Texts {
    /// The language as HTML names it, such as `en`.
    pub lang: &'static str,
    /// Name of the site on its error pages; none for the site's own name.
    pub site_name: Option<String>,
    /// Link to the content of a page.
    pub skip: String,
    /// After the label of a field that may stay empty.
    pub optional: String,
    /// Heading above the errors of a form.
    pub nothing_saved: String,
    /// Name of the choice of colours.
    pub colours: String,
    /// The colours of the system, light and dark ones.
    pub colour_names: [String; 3],
    /// Before the id of a request.
    pub request: String,
    /// 404.
    pub not_found: Passage,
    /// 405.
    pub method_not_allowed: Passage,
    /// 503 without the database.
    pub unavailable: Passage,
    /// 500.
    pub internal: Passage,
    /// 403 of a form that another site sent. `{address}` is the address of the site.
    pub foreign_form: Passage,
    /// Heading of 400.
    pub bad_request: String,
    /// Heading of a form that can't be read.
    pub form_not_accepted: String,
    /// Heading of 409.
    pub conflict: String,
}

impl Texts {
    fn english() -> Self {
        let passage = |title: &str, detail: &str| Passage { title: title.to_owned(), detail: detail.to_owned() };
        Self {
            lang: "en",
            site_name: None,
            skip: "Skip to the content".to_owned(),
            optional: "(optional)".to_owned(),
            nothing_saved: "Nothing was saved".to_owned(),
            colours: "Colours".to_owned(),
            colour_names: ["System", "Light", "Dark"].map(str::to_owned),
            request: "Request".to_owned(),
            not_found: passage(
                "Page not found",
                "It may have been deleted, or the address may be incomplete. Check the address.",
            ),
            method_not_allowed: passage(
                "Method not allowed",
                "This address does not support the request's method. Go back and use the page's buttons.",
            ),
            unavailable: passage(
                "Not available at the moment",
                "The server can't reach its database at the moment. Try again in a few seconds.",
            ),
            internal: passage(
                "Internal error",
                "The server could not complete the request and has logged the error. Try again. If the error stays, contact the \
                 operator of this server.",
            ),
            foreign_form: passage(
                "You are not allowed to do this",
                "The form was sent by another site, or by a browser that does not report the form's origin. Open the page at \
                 {address} and send the form again.",
            ),
            bad_request: "The request was not accepted".to_owned(),
            form_not_accepted: "The form was not accepted".to_owned(),
            conflict: "The change was not made".to_owned(),
        }
    }
}

/// The texts of the page that answers this request; English outside of [`with`].
pub fn of_request() -> &'static Texts {
    OF_REQUEST.try_with(Cell::get).unwrap_or(&ENGLISH)
}

/// Answers a request whose pages have these texts until it chooses others.
pub async fn with<T>(texts: &'static Texts, answer: impl Future<Output = T>) -> T {
    OF_REQUEST.scope(Cell::new(texts), answer).await
}

/// The rest of the request has these texts. Without effect outside of [`with`].
pub fn choose(texts: &'static Texts) {
    if OF_REQUEST.try_with(|chosen| chosen.set(texts)).is_err() {
        tracing::debug!(lang = texts.lang, "a language was chosen outside of a request");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_has_the_texts_that_were_chosen_last() {
        static GERMAN: LazyLock<Texts> = LazyLock::new(|| Texts { lang: "de", ..Texts::english() });
        let (before, after) = with(&ENGLISH, async {
            let before = of_request().lang;
            choose(&GERMAN);
            (before, of_request().lang)
        })
        .await;
        assert_eq!([before, after, of_request().lang], ["en", "de", "en"]);
    }
}
