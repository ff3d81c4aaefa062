//! `If-None-Match` (RFC 9110, section 13.1.2): conditional GET.

use http::HeaderMap;
use http::header::IF_NONE_MATCH;

/// True when the caller already has the version that `tag` (without quotes) names, so that a GET is answered with 304.
/// The comparison is weak, because a cache may have weakened the tag. A malformed tag matches nothing, and the caller
/// gets the full response.
pub fn matches(headers: &HeaderMap, tag: &str) -> bool {
    let values = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    // The server's tags contain no comma, so a list can be split at commas.
    values.flat_map(|text| text.split(',')).map(str::trim).any(|text| text == "*" || opaque(text) == Some(tag))
}

fn opaque(text: &str) -> Option<&str> {
    text.strip_prefix("W/").unwrap_or(text).strip_prefix('"')?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_the_caller_has_matches() {
        for (given, expected) in [
            (&["\"a1\""][..], true),
            (&["W/\"a1\""], true),
            (&["\"b\", \"a1\""], true),
            (&["\"b\",W/\"a1\" "], true),
            (&["\"b\"", "\"a1\""], true),
            (&["*"], true),
            (&[], false),
            (&["a1"], false),
            (&["\"a1"], false),
            (&["\"A1\""], false),
            (&["\"a\", \"1\""], false),
            (&["", ",,"], false),
        ] {
            let mut headers = HeaderMap::new();
            for text in given {
                headers.append(IF_NONE_MATCH, text.parse().unwrap());
            }
            assert_eq!(matches(&headers, "a1"), expected, "{given:?}");
        }
    }
}
