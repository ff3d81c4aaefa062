//! The texts of pages in the five languages, from the message files in `messages/` (Project Fluent).
//!
//! A message that a language lacks is shown in English, and one that no file has by its name; both are logged. Tests hold the files
//! against each other and against the sources of the pages.

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use platform_core::port::Language;
use platform_rules::Auction;
use unic_langid::LanguageIdentifier;

use crate::{Currency, SaleZone, percent};

type Bundle = FluentBundle<FluentResource>;

/// A value that a message shows. A number also chooses among its plurals.
pub type Value<'a> = FluentValue<'a>;

static BUNDLES: LazyLock<[Bundle; 5]> = LazyLock::new(|| Language::ALL.map(bundle));

/// The texts of pages in one language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Words(Language);

/// The name of a message that stands in a table; the messages that a page names directly are found by themselves. A test compares
/// all names with the message files.
pub const fn key(name: &'static str) -> &'static str {
    name
}

impl Words {
    /// The texts in a language.
    pub const fn in_language(language: Language) -> Self {
        Self(language)
    }

    /// The texts of the page that answers this request; English outside of requests to a site in several languages.
    pub fn of_request() -> Self {
        let lang = kit_design::texts::of_request().lang;
        Self(Language::ALL.into_iter().find(|language| tag(*language) == lang).unwrap_or_default())
    }

    /// The language.
    pub fn language(self) -> Language {
        self.0
    }

    /// The language as HTML and browsers name it, such as `en`.
    pub fn tag(self) -> &'static str {
        tag(self.0)
    }

    /// A text without variables.
    pub fn of(self, key: &str) -> Cow<'static, str> {
        self.format(key, None)
    }

    /// A text with one variable, shown as it is.
    pub fn fill(self, key: &str, name: &str, value: impl Display) -> String {
        self.with(key, [(name, Value::from(value.to_string()))])
    }

    /// A text with several variables, or with a number that chooses the plural.
    pub fn with<const N: usize>(self, key: &str, values: [(&str, Value<'_>); N]) -> String {
        self.format(key, Some(&values.into_iter().collect())).into_owned()
    }

    /// The currency of an auction, with amounts as this language writes them.
    pub fn currency(self, auction: &Auction) -> Currency {
        Currency::of(auction).in_language(self.0)
    }

    /// The time zone of an auction, with times as this language writes them.
    pub fn zone(self, auction: &Auction) -> SaleZone {
        self.zone_named(&auction.time_zone)
    }

    /// The time zone with this IANA name.
    pub fn zone_named(self, name: &str) -> SaleZone {
        SaleZone::named(name).in_language(self.0)
    }

    /// A rate: `17.5 %`, `17,5 %`.
    pub fn percent(self, basis_points: u32) -> String {
        let shown = percent::show(basis_points);
        if self.0 == Language::English { shown } else { shown.replace('.', ",") }
    }

    fn format(self, key: &str, values: Option<&FluentArgs<'_>>) -> Cow<'static, str> {
        let found = text(self.0, key, values).or_else(|| {
            tracing::error!(key, lang = self.tag(), "a page needs a message that its language lacks");
            text(Language::English, key, values)
        });
        found.unwrap_or_else(|| Cow::Owned(key.to_owned()))
    }
}

/// The language as HTML and browsers name it.
pub const fn tag(language: Language) -> &'static str {
    match language {
        Language::English => "en",
        Language::German => "de",
        Language::French => "fr",
        Language::Spanish => "es",
        Language::Italian => "it",
    }
}

/// The name of a language in that language.
pub const fn own_name(language: Language) -> &'static str {
    match language {
        Language::English => "English",
        Language::German => "Deutsch",
        Language::French => "Français",
        Language::Spanish => "Español",
        Language::Italian => "Italiano",
    }
}

const fn source(language: Language) -> &'static str {
    match language {
        Language::English => include_str!("../messages/en.ftl"),
        Language::German => include_str!("../messages/de.ftl"),
        Language::French => include_str!("../messages/fr.ftl"),
        Language::Spanish => include_str!("../messages/es.ftl"),
        Language::Italian => include_str!("../messages/it.ftl"),
    }
}

fn bundle(language: Language) -> Bundle {
    let id: LanguageIdentifier = tag(language).parse().unwrap_or_default();
    let mut bundle = Bundle::new_concurrent(vec![id]);
    // Pages have one direction, so values need no marks around them.
    bundle.set_use_isolating(false);
    // A file with an error still has its other messages; a test refuses the error.
    let resource = FluentResource::try_new(source(language).to_owned()).unwrap_or_else(|(resource, _)| resource);
    if bundle.add_resource(resource).is_err() {
        tracing::error!(lang = tag(language), "a message file has a message twice");
    }
    bundle
}

fn text(language: Language, key: &str, values: Option<&FluentArgs<'_>>) -> Option<Cow<'static, str>> {
    let bundle = BUNDLES.iter().zip(Language::ALL).find_map(|(bundle, own)| (own == language).then_some(bundle))?;
    let pattern = bundle.get_message(key)?.value()?;
    let mut errors = Vec::new();
    let text = bundle.format_pattern(pattern, values, &mut errors);
    if !errors.is_empty() {
        tracing::error!(key, lang = tag(language), ?errors, "a message was shown without a value");
    }
    Some(text)
}

#[cfg(test)]
#[path = "words/tests.rs"]
mod tests;
