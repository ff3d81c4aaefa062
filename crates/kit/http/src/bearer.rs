//! The token of an `Authorization: Bearer …` header.

use http::HeaderMap;
use http::header::AUTHORIZATION;

/// The token, if the header is present exactly once. The scheme is case-insensitive (RFC 9110, section 11.1).
pub fn token(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (first, None) = (values.next()?, values.next()) else { return None };
    let (scheme, token) = first.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
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
        assert_eq!(read(&["Bearer abc"]), Some("abc".to_owned()));
        assert_eq!(read(&["bearer  abc "]), Some("abc".to_owned()));
        for values in [&[][..], &["Basic abc"], &["Bearer"], &["Bearer "], &["Bearer a", "Bearer b"]] {
            assert_eq!(read(values), None, "{values:?}");
        }
    }
}
