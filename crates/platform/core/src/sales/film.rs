//! The film of a webcast: an address of the house, whose origin the operator has listed. Browsers load it from there.

use platform_rules::AuctionKind;
use url::Url;

use crate::Platform;
use crate::error::{PlatformResult, Problem};
use crate::port::Film;

/// Characters of the address of a film.
pub const FILM_ADDRESS_CHARS_MAX: usize = 500;
/// The longest delay of a picture that a page says.
pub const FILM_DELAY_SECONDS_MAX: u32 = 120;
/// Ends of paths that the element `video` plays.
const VIDEO_ENDS: [&str; 3] = [".mp4", ".webm", ".m3u8"];

/// A film that a page may show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownFilm {
    /// The address.
    pub address: String,
    /// Scheme, host and port of the address.
    pub origin: String,
    /// The element `video` plays it. Anything else is a page of the origin, for a frame.
    pub is_video: bool,
    /// How late the picture is.
    pub delay_seconds: Option<u32>,
}

/// The film that a person typed; none for an empty address. The problems name the fields `film` and `filmDelay`.
pub(super) fn read(address: &str, delay_seconds: Option<u32>) -> Result<Option<Film>, Problem> {
    let address = address.trim();
    if address.is_empty() {
        return match delay_seconds {
            None => Ok(None),
            Some(_) => Err(Problem::new("/filmDelay", "is of no use without the address of the film: clear it")),
        };
    }
    let problem = |message: &str| Problem::new("/film", message);
    if address.chars().count() > FILM_ADDRESS_CHARS_MAX {
        return Err(problem(&format!("has more than {FILM_ADDRESS_CHARS_MAX} characters: use a shorter address")));
    }
    let url =
        Url::parse(address).map_err(|_| problem("is not an address, such as https://live.example.com/sale.m3u8"))?;
    if url.scheme() != "https" {
        return Err(problem("must begin with https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(problem("must have no user name and no password"));
    }
    if delay_seconds.is_some_and(|seconds| !(1..=FILM_DELAY_SECONDS_MAX).contains(&seconds)) {
        let message = format!("is out of range: write 1 to {FILM_DELAY_SECONDS_MAX} seconds");
        return Err(Problem::new("/filmDelay", message));
    }
    Ok(Some(Film { address: url.into(), delay_seconds }))
}

impl Platform {
    /// The operator has listed origins of films.
    pub fn may_show_films(&self) -> bool {
        !self.config().film_origins.is_empty()
    }

    /// Why the pages of a sale of this kind do not show a film; none when they do.
    ///
    /// Errors: those of the store.
    pub async fn film_problem(&self, kind: AuctionKind, film: &Film) -> PlatformResult<Option<String>> {
        if kind != AuctionKind::Webcast {
            return Ok(Some("is possible for a webcast only: clear it".to_owned()));
        }
        let Ok(url) = Url::parse(&film.address) else { return Ok(Some("is not an address".to_owned())) };
        let origin = url.origin().ascii_serialization();
        if !self.config().film_origins.contains(&origin) {
            let message = format!(
                "is at {origin}, which the operator has not listed in `saleroom.film_origins`: use a listed address, or \
                 ask the operator"
            );
            return Ok(Some(message));
        }
        // A frame with this server's origin could act for the visitor.
        let host = url.host_str().unwrap_or_default();
        let is_own =
            self.own_hosts().iter().any(|own| own == host) || self.served_domains().await?.house_at(host).is_some();
        Ok(is_own.then(|| format!("is at {origin}, which is this server: use the address of another one")))
    }

    /// The film as a page of the sale shows it; none when it may not.
    ///
    /// Errors: those of the store.
    pub(crate) async fn film_to_show(&self, kind: AuctionKind, film: &Film) -> PlatformResult<Option<ShownFilm>> {
        if self.film_problem(kind, film).await?.is_some() {
            return Ok(None);
        }
        Ok(Url::parse(&film.address).ok().map(|url| {
            let path = url.path().to_ascii_lowercase();
            ShownFilm {
                address: film.address.clone(),
                origin: url.origin().ascii_serialization(),
                is_video: VIDEO_ENDS.iter().any(|end| path.ends_with(end)),
                delay_seconds: film.delay_seconds,
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_film_has_an_https_address_and_a_delay_of_up_to_two_minutes() {
        assert_eq!(read(" ", None), Ok(None));
        let film = |address: &str, delay_seconds| Some(Film { address: address.to_owned(), delay_seconds });
        assert_eq!(
            read(" https://Live.example.com/a.m3u8 ", Some(10)),
            Ok(film("https://live.example.com/a.m3u8", Some(10)))
        );
        assert_eq!(read("https://live.example.com", None), Ok(film("https://live.example.com/", None)));
        let long = format!("https://live.example.com/{}", "x".repeat(500));
        for (address, delay, wrong) in [
            ("http://live.example.com/a.mp4", None, "must begin with https://"),
            ("javascript:alert(1)", None, "must begin with https://"),
            ("live.example.com", None, "is not an address"),
            ("https://ann:key@live.example.com/", None, "no user name"),
            (long.as_str(), None, "more than 500"),
            ("https://live.example.com/", Some(0), "1 to 120 seconds"),
            ("https://live.example.com/", Some(121), "1 to 120 seconds"),
            ("", Some(10), "without the address"),
        ] {
            let problem = read(address, delay).unwrap_err();
            assert!(problem.message.contains(wrong), "{address}: {}", problem.message);
        }
    }
}
