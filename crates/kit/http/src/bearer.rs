//! The token of an `Authorization: Bearer …` header.

use http::HeaderMap;
use http::header::AUTHORIZATION;

/// Why a request has no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BearerError {
    /// The request has no `Authorization` header.
    #[error("the Authorization header is missing; send it as `Authorization: Bearer <key>`")]
    Missing,
    /// The header is not `Bearer` and a token, or occurs more than once.
    #[error("the Authorization header can't be read; send it once, as `Authorization: Bearer <key>`")]
    Malformed,
}

/// The token, if the header is present exactly once. The scheme is case-insensitive (RFC 9110, section 11.1).
pub fn token(headers: &HeaderMap) -> Result<&str, BearerError> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let first = values.next().ok_or(BearerError::Missing)?;
    let text = first.to_str().ok().filter(|_| values.next().is_none());
    let (scheme, token) = text.and_then(|text| text.split_once(' ')).ok_or(BearerError::Malformed)?;
    let token = token.trim();
    let is_bearer = scheme.eq_ignore_ascii_case("bearer") && !token.is_empty();
    is_bearer.then_some(token).ok_or(BearerError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_from_one_bearer_header_only() {
        let read = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            token(&headers).map(str::to_owned)
        };
        assert_eq!(read(&["Bearer abc"]), Ok("abc".to_owned()));
        assert_eq!(read(&["bearer  abc "]), Ok("abc".to_owned()));
        assert_eq!(read(&[]), Err(BearerError::Missing));
        for values in [&[""][..], &["Basic abc"], &["Bearer"], &["Bearer "], &["Bearer a", "Bearer b"]] {
            assert_eq!(read(values), Err(BearerError::Malformed), "{values:?}");
        }
    }
}
