//! Strong entity tags and `If-Match` (RFC 9110, sections 8.8.3 and 13.1.1).

use http::HeaderMap;
use http::header::IF_MATCH;

/// `If-Match` is malformed or not supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "If-Match must contain one strong entity tag in quotes, such as the one in an ETag header; `*`, lists and weak \
     tags are not accepted"
)]
pub struct InvalidIfMatch;

/// The tag without its quotes, if the header is present.
pub fn if_match(headers: &HeaderMap) -> Result<Option<String>, InvalidIfMatch> {
    let mut values = headers.get_all(IF_MATCH).iter();
    let Some(first) = values.next() else { return Ok(None) };
    let text = first.to_str().map_err(|_| InvalidIfMatch)?.trim();
    let tag = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match tag {
        Some(tag) if values.next().is_none() && !tag.contains('"') && !tag.is_empty() => Ok(Some(tag.to_owned())),
        _ => Err(InvalidIfMatch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_strong_tag_is_accepted() {
        let read = |text: &str| if_match(&HeaderMap::from_iter([(IF_MATCH, text.parse().unwrap())]));
        assert_eq!(if_match(&HeaderMap::new()), Ok(None));
        assert_eq!(read("\"7\""), Ok(Some("7".to_owned())));
        assert_eq!(read(" \"7.2\" "), Ok(Some("7.2".to_owned())));
        for text in ["*", "7", "W/\"7\"", "\"7\", \"8\"", "\"\"", ""] {
            assert_eq!(read(text), Err(InvalidIfMatch), "{text}");
        }
    }
}
