//! The headers of a response as an attempt keeps them: a line `name: value` each.

use http::HeaderMap;
use http::header::SET_COOKIE;

use crate::model::cause::changes_the_page;

/// Bytes of the text; the headers that no longer fit are omitted.
const BYTES_MAX: usize = 4 * 1_024;
const MASKED: &str = "MASKED";
/// The last line of a text that omits headers.
const CUT: &str = "…";

/// The headers in the order of the response. The value of a cookie is masked; its name and attributes stay.
pub(super) fn text(headers: &HeaderMap) -> String {
    let mut text = String::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        let value: String = value.chars().map(|char| if changes_the_page(char) { ' ' } else { char }).collect();
        let value = if *name == SET_COOKIE { masked_cookie(&value) } else { value };
        let bytes = text.len() + name.as_str().len() + value.len() + ": \n".len();
        if bytes + CUT.len() > BYTES_MAX {
            text.push_str(CUT);
            break;
        }
        text.push_str(name.as_str());
        text.push_str(": ");
        text.push_str(&value);
        text.push('\n');
    }
    text
}

fn masked_cookie(cookie: &str) -> String {
    let (pair, attributes) = cookie.split_at(cookie.find(';').unwrap_or(cookie.len()));
    match pair.split_once('=') {
        Some((name, _)) => format!("{name}={MASKED}{attributes}"),
        None => MASKED.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (http::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn values_of_cookies_are_masked_and_their_attributes_stay() {
        let found = text(&headers(&[("date", "today"), ("set-cookie", "sid=secret; Secure"), ("set-cookie", "a=b")]));
        assert_eq!(found, "date: today\nset-cookie: sid=MASKED; Secure\nset-cookie: a=MASKED\n");
        assert_eq!(text(&headers(&[("set-cookie", "secret")])), "set-cookie: MASKED\n");
        assert_eq!(text(&HeaderMap::new()), "");
    }

    #[test]
    fn headers_that_do_not_fit_are_omitted_and_a_mark_says_so() {
        let long = "x".repeat(3_000);
        let found = text(&headers(&[("x-a", &long), ("x-b", &long), ("x-c", "short")]));
        assert!(found.len() <= BYTES_MAX && found.ends_with(CUT), "{}", found.len());
        assert_eq!(found.lines().count(), 2);
    }
}
