//! The film of a webcast that is live, on its page and on those of its lots.

use askama::Template;
use axum::response::Response;
use kit_design::site::FilmOf;
use platform_core::saleroom::{SaleroomSale, ShownFilm};
use platform_words::Words;

use crate::page_error::PageError;

/// The film with the sentence about its delay. A page without it is complete.
#[derive(Template)]
#[template(path = "film.html")]
pub(crate) struct FilmView {
    address: String,
    is_video: bool,
    title: String,
    /// That the picture is late.
    late: String,
    policy: FilmOf,
}

impl askama::filters::HtmlSafe for FilmView {}

impl FilmView {
    pub(crate) fn of(words: Words, sale: &SaleroomSale) -> Option<Self> {
        let ShownFilm { address, origin, is_video, delay_seconds } = sale.film.clone()?;
        Some(Self {
            address,
            is_video,
            title: words.of("film").into_owned(),
            late: match delay_seconds {
                Some(seconds) => words.fill("film-late-about", "seconds", seconds),
                None => words.of("film-late").into_owned(),
            },
            policy: if is_video { FilmOf::Media(origin) } else { FilmOf::Frame(origin) },
        })
    }
}

/// Allows a page that shows a film to load it.
pub(crate) fn allow(page: Result<Response, PageError>, film: Option<&FilmView>) -> Result<Response, PageError> {
    let mut response = page?;
    if let Some(film) = film {
        response.extensions_mut().insert(film.policy.clone());
    }
    Ok(response)
}
