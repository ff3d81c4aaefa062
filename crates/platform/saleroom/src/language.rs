//! The language of a page: the one of the bidder's account, then the one that the visitor chose at the foot of a page, then one that
//! the browser asks for, then the house's. A language that the house does not offer is never chosen.

use std::sync::LazyLock;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{AppendHeaders, IntoResponse as _, Redirect, Response};
use http::HeaderMap;
use http::header::{ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderValue, SET_COOKIE, VARY};
use kit_design::colours;
use kit_design::fields::SubmittedForm;
use kit_design::texts::{self, Passage, Texts};
use platform_core::port::{House as StoredHouse, Language};
use platform_words::{Words, key, own_name, tag};

use crate::house::House;
use crate::page_error::PageError;
use crate::site::SaleroomSite;

/// Seconds for which a browser keeps the choice: 400 days, which is the most that browsers allow.
const KEPT_S: i64 = 400 * 24 * 3_600;
/// Languages of a browser that are compared.
const ASKED_MAX: usize = 20;

static TEXTS: LazyLock<[Texts; 5]> = LazyLock::new(|| Language::ALL.map(texts_in));

/// The texts of the design system in a language.
pub(crate) fn texts(language: Language) -> &'static Texts {
    TEXTS.iter().find(|texts| texts.lang == tag(language)).unwrap_or(&TEXTS[0])
}

fn texts_in(language: Language) -> Texts {
    let words = Words::in_language(language);
    let text = |name: &str| words.of(name).into_owned();
    let passage = |title: String, detail: String| Passage { title, detail };
    Texts {
        lang: tag(language),
        site_name: Some(text(key("site-name"))),
        skip: text(key("skip")),
        optional: text(key("optional")),
        nothing_saved: text(key("nothing-saved")),
        colours: text(key("colours")),
        colour_names: [key("colours-system"), key("colours-light"), key("colours-dark")].map(text),
        request: text(key("error-request")),
        not_found: passage(text(key("error-not-found-title")), text(key("error-not-found"))),
        method_not_allowed: passage(text(key("error-method-title")), text(key("error-method"))),
        unavailable: passage(text(key("error-unavailable-title")), text(key("error-unavailable"))),
        internal: passage(text(key("error-internal-title")), text(key("error-internal"))),
        foreign_form: passage(
            text(key("error-forbidden-title")),
            words.fill("error-foreign-form", "address", "{address}"),
        ),
        bad_request: text(key("error-bad-request-title")),
        form_not_accepted: text(key("error-form-title")),
        conflict: text(key("error-conflict-title")),
    }
}

/// Middleware: the pages of a request have a language from its beginning on, also those about a house that does not exist.
pub(crate) async fn middleware(State(site): State<SaleroomSite>, request: Request, next: Next) -> Response {
    let wanted = wanted(&site, request.headers()).into_iter().next().unwrap_or_default();
    let mut response = texts::with(texts(wanted), next.run(request)).await;
    let is_page = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if is_page {
        response.headers_mut().append(VARY, HeaderValue::from_static("Accept-Language, Cookie"));
    }
    response
}

/// Chooses the language of a page of the house, for the rest of the request.
pub(crate) fn decide(
    site: &SaleroomSite,
    house: &StoredHouse,
    headers: &HeaderMap,
    of_account: Option<Language>,
) -> Words {
    let asked = of_account.into_iter().chain(wanted(site, headers)).chain([house.mails.language]);
    let mut offered = asked.chain(Language::ALL).filter(|language| house.saleroom.offers(*language));
    let language = offered.next().unwrap_or_default();
    texts::choose(texts(language));
    Words::in_language(language)
}

/// The languages that the visitor wants, the best first.
fn wanted(site: &SaleroomSite, headers: &HeaderMap) -> Vec<Language> {
    let chosen = site.language_cookie().read(headers).and_then(of_tag);
    let asked = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    chosen.into_iter().chain(accepted(asked)).collect()
}

/// The language of a tag such as `de` or `de-AT`.
fn of_tag(text: &str) -> Option<Language> {
    let primary = text.split('-').next().unwrap_or_default();
    Language::ALL.into_iter().find(|language| tag(*language).eq_ignore_ascii_case(primary))
}

/// The languages of `Accept-Language` (RFC 9110, section 12.5.4), by their weight.
fn accepted(header: &str) -> Vec<Language> {
    let weighed = header.split(',').take(ASKED_MAX).filter_map(|range| {
        let (name, parameters) = range.split_once(';').unwrap_or((range, ""));
        let weight = parameters.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>).unwrap_or_default();
        Some((of_tag(name.trim())?, weight)).filter(|(_, weight)| *weight > 0.0)
    });
    let mut weighed: Vec<(Language, f32)> = weighed.collect();
    weighed.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    weighed.into_iter().map(|(language, _)| language).collect()
}

/// A language at the foot of a page.
pub(crate) struct LanguageLink {
    pub(crate) tag: &'static str,
    pub(crate) name: &'static str,
    pub(crate) is_current: bool,
}

/// The languages among which visitors of the house choose; none where there is no choice.
pub(crate) fn links(house: &StoredHouse, current: Words) -> Vec<LanguageLink> {
    let link = |language| LanguageLink {
        tag: tag(language),
        name: own_name(language),
        is_current: language == current.language(),
    };
    let offered = Language::ALL.into_iter().filter(|language| house.saleroom.offers(*language));
    let links: Vec<LanguageLink> = offered.map(link).collect();
    if links.len() < 2 { Vec::new() } else { links }
}

/// Keeps the language that a visitor chose, for a bidder who is signed in with the account, and leads back to the page.
pub(crate) async fn choose(
    house: House<0>,
    headers: HeaderMap,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let back = colours::back(house.site.site(), &headers);
    // A page that answers a bid is found by its lot.
    let back = back.strip_suffix("/bid").unwrap_or(&back).to_owned();
    let back = if back.is_empty() { house.path() } else { back };
    let chosen = of_tag(form.text("language")).filter(|language| house.saleroom.house.saleroom.offers(*language));
    let Some(language) = chosen else { return Ok(Redirect::to(&back).into_response()) };
    if let Some(bidder) = &house.bidder {
        house.platform().choose_bidder_language(bidder, language).await?;
    }
    let cookie = house.site.language_cookie().set(tag(language), KEPT_S);
    Ok((AppendHeaders(cookie.map(|cookie| (SET_COOKIE, cookie))), Redirect::to(&back)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_asks_for_languages_by_weight() {
        assert_eq!(accepted("de-AT,de;q=0.9,en;q=0.8")[..2], [Language::German, Language::German]);
        assert_eq!(accepted("en;q=0.5, fr-CA;q=0.7, es;q=0"), [Language::French, Language::English]);
        assert_eq!(accepted("nl, *, it;q=x, ES"), [Language::Spanish]);
        assert_eq!(accepted(&"de,".repeat(500)).len(), ASKED_MAX);
        assert_eq!([of_tag("pt"), of_tag(""), of_tag("FR")], [None, None, Some(Language::French)]);
    }

    #[test]
    fn every_language_has_the_texts_of_the_design_system() {
        for language in Language::ALL {
            let texts = texts(language);
            assert_eq!(texts.lang, tag(language));
            assert!(texts.foreign_form.detail.contains("{address}"), "{texts:?}");
        }
    }
}
