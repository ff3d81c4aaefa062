//! The script that shows a sale in a page of a house's own web site. It is the same for all houses: its element names house and sale.
//! It carries its words in all languages, from the message files.

use std::sync::LazyLock;

use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use platform_core::port::Language;
use platform_words::{Words, key, tag};
use serde_json::{Map, Value};

pub(crate) const ROUTE: &str = "/embed.js";

/// Where the script has its words.
const WORDS_PLACE: &str = "/* words */ {}";
/// The name of each text in the script, its message, and the variable that the script fills.
const WORDS: [(&str, &str, &str); 12] = [
    ("hammer", key("lot-hammer-price"), ""),
    ("unsold", key("lot-unsold"), ""),
    ("passed", key("lot-passed"), ""),
    ("price", key("embed-price"), ""),
    ("start", key("lot-starts-at"), ""),
    ("total", key("lot-total"), "amount"),
    ("estimate", key("lot-estimate"), "amount"),
    ("ends", key("lot-ends"), "time"),
    ("more", key("embed-more"), ""),
    ("all", key("catalogue-all"), ""),
    ("bid", key("embed-bid"), ""),
    ("look", key("embed-look"), ""),
];
const FAILED: &str = key("embed-failed");

static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    let words = Language::ALL.map(|language| (tag(language).to_owned(), words(Words::in_language(language))));
    let words = Value::Object(words.into_iter().collect());
    include_str!("embed/embed.js").replacen(WORDS_PLACE, &words.to_string(), 1)
});

/// The texts of the script in one language, with `{}` for what the script fills in.
fn words(words: Words) -> Value {
    let text = |(name, message, variable): (&str, &str, &str)| {
        let text =
            if variable.is_empty() { words.of(message).into_owned() } else { words.fill(message, variable, "{}") };
        (name.to_owned(), Value::String(text))
    };
    Value::Object(WORDS.into_iter().chain([("failed", FAILED, "")]).map(text).collect::<Map<_, _>>())
}
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Pages of every site may load it: it has nothing of a house in it.
pub(crate) async fn script() -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/javascript; charset=utf-8")),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (CROSS_ORIGIN_RESOURCE_POLICY, HeaderValue::from_static("cross-origin")),
    ];
    (headers, SCRIPT.as_str()).into_response()
}

#[cfg(test)]
mod tests {
    use super::{SCRIPT, WORDS_PLACE};

    #[test]
    fn the_script_is_small_and_writes_no_markup() {
        assert!(SCRIPT.len() <= 12 * 1024, "{} bytes", SCRIPT.len());
        for word in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "cookie ="]
        {
            assert!(!SCRIPT.contains(word), "{word}");
        }
    }

    #[test]
    fn the_script_has_its_words_in_all_languages() {
        assert!(!SCRIPT.contains(WORDS_PLACE));
        for words in [
            r#""bid":"Bid in the saleroom""#,
            r#""bid":"Im Auktionssaal bieten""#,
            r#""more":"Afficher plus de lots""#,
            r#""estimate":"Estimación {}""#,
            r#""unsold":"Invenduto""#,
        ] {
            assert!(SCRIPT.contains(words), "{words}");
        }
    }
}
