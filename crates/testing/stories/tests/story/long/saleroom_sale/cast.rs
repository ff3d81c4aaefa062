//! The bidders of the sale: each has a browser, a screen, a language, and a way to use the pages.

use std::path::PathBuf;

use platform_core::port::Language;
use platform_words::{Currency, Value, Words, own_name, tag};
use serde_json::json;
use testkit::browser::{Browser, ColorScheme, Page, layout_faults};

use crate::support::WAIT_MAX;

/// Longer than the time in which a second press counts as one double press with the first.
const PAUSE: &str = "new Promise((resolve) => setTimeout(resolve, 450))";

/// How a bidder uses the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Pointer,
    /// The browser runs no script.
    WithoutScript,
    /// No pointer.
    Keyboard,
}

/// A bidder before they arrive.
pub struct Role {
    /// Name of the screen in the names of pictures.
    pub screen: &'static str,
    pub name: &'static str,
    pub email: &'static str,
    language: Language,
    size: (u32, u32),
    scheme: ColorScheme,
    way: Way,
}

pub const CAST: [Role; 5] = [
    Role {
        screen: "1-desktop-en",
        name: "Olive Marsh",
        email: "olive@example.com",
        language: Language::English,
        size: (1_280, 900),
        scheme: ColorScheme::Light,
        way: Way::Pointer,
    },
    Role {
        screen: "2-phone-de",
        name: "Jörg Brandt",
        email: "joerg@example.com",
        language: Language::German,
        size: (390, 844),
        scheme: ColorScheme::Dark,
        way: Way::Pointer,
    },
    Role {
        screen: "3-phone-fr",
        name: "Amélie Roux",
        email: "amelie@example.com",
        language: Language::French,
        size: (390, 844),
        scheme: ColorScheme::Light,
        way: Way::WithoutScript,
    },
    Role {
        screen: "4-desktop-es",
        name: "Carmen Ruiz",
        email: "carmen@example.com",
        language: Language::Spanish,
        size: (1_280, 900),
        scheme: ColorScheme::Dark,
        way: Way::Pointer,
    },
    Role {
        screen: "5-phone-it",
        name: "Luca Ferri",
        email: "luca@example.com",
        language: Language::Italian,
        size: (320, 568),
        scheme: ColorScheme::Light,
        way: Way::Keyboard,
    },
];

pub struct Bidder {
    pub role: &'static Role,
    pub words: Words,
    pub page: Page,
    _browser: Browser,
    pictures: Option<PathBuf>,
}

impl Bidder {
    /// Opens the pages of the house, and chooses the language at their foot.
    pub async fn arrive(role: &'static Role, house: &str, pictures: Option<PathBuf>) -> Self {
        let browser = Browser::start().await.unwrap();
        let page = browser.page().await.unwrap();
        page.resize_to(role.size.0, role.size.1).await.unwrap();
        page.prefer(role.scheme).await.unwrap();
        if role.way == Way::WithoutScript {
            page.disable_script().await.unwrap();
        }
        let bidder = Self { role, words: Words::in_language(role.language), page, _browser: browser, pictures };
        bidder.opens(house).await;
        if role.language != Language::English {
            bidder.acts(own_name(role.language)).await;
        }
        let language = format!("document.documentElement.lang === '{}'", tag(role.language));
        bidder.page.wait_until(&language).await.unwrap();
        bidder
    }

    pub fn has_script(&self) -> bool {
        self.role.way != Way::WithoutScript
    }

    /// An amount as the bidder's language writes it.
    pub fn pounds(&self, pounds: i64) -> String {
        Currency::new("GBP").in_language(self.role.language).show(pounds * 100)
    }

    /// A message in the language of the bidder.
    pub fn text(&self, key: &str) -> String {
        self.words.of(key).into_owned()
    }

    /// A message about an amount.
    pub fn about(&self, key: &str, pounds: i64) -> String {
        self.words.fill(key, "amount", self.pounds(pounds))
    }

    pub fn with<const N: usize>(&self, key: &str, values: [(&str, Value<'_>); N]) -> String {
        self.words.with(key, values)
    }

    pub async fn opens(&self, url: &str) {
        self.page.evaluate("window.isLeft = true").await.unwrap();
        self.page.open(url).await.unwrap();
        self.page.wait_until("window.isLeft !== true && document.readyState === 'complete'").await.unwrap();
    }

    /// The open page shows a text.
    pub async fn reads(&self, text: &str) {
        let shown = self.page.wait_until_shown(text).await;
        shown.unwrap_or_else(|error| panic!("{} does not read “{text}”: {error}", self.role.name));
    }

    /// The page shows a text as soon as it knows it: by itself, or loaded again where it has no script.
    pub async fn comes_to_read(&self, url: &str, text: &str) {
        if self.has_script() {
            return self.reads(text).await;
        }
        let found = async {
            self.opens(url).await;
            while !self.page.text("document.body.innerText").await.unwrap().contains(text) {
                self.opens(url).await;
            }
        };
        let in_time = tokio::time::timeout(WAIT_MAX, found).await;
        in_time.unwrap_or_else(|_| panic!("{} never reads “{text}”", self.role.name));
    }

    /// Waits for what takes longer than a page does.
    pub async fn waits_until(&self, condition: &str) {
        let found = async { while self.page.wait_until(condition).await.is_err() {} };
        let in_time = tokio::time::timeout(WAIT_MAX, found).await;
        in_time.unwrap_or_else(|_| panic!("{} waits in vain until {condition}", self.role.name));
    }

    /// The line beside the clock of the lot begins as a message does.
    pub async fn note_begins(&self, key: &str, variable: &str) {
        let message = self.words.fill(key, variable, "{}");
        let wanted = json!(message.split("{}").next());
        let note = format!("document.querySelector('[data-live=note]').textContent.startsWith({wanted})");
        self.page.wait_until(&note).await.unwrap();
    }

    /// Follows the link, or presses the button, with these words, and waits for the next page.
    pub async fn acts(&self, words: &str) {
        let words = words.replace(['\u{a0}', '\u{202f}'], " ");
        if self.role.way != Way::Keyboard {
            return self.page.click_through(&words).await.unwrap();
        }
        let named = format!(
            "(element) => (element.getAttribute('aria-label') ?? element.textContent).replace(/\\s+/g, ' ').trim() === {}",
            json!(words)
        );
        self.page.tab_to(&named).await.unwrap();
        self.page.evaluate("window.isLeft = true").await.unwrap();
        self.page.press("Enter").await.unwrap();
        self.page.wait_until("window.isLeft !== true && document.readyState === 'complete'").await.unwrap();
    }

    /// Presses what a selector finds.
    pub async fn presses(&self, selector: &str) {
        if self.role.way != Way::Keyboard {
            return self.page.click_element(selector).await.unwrap();
        }
        self.focuses(selector).await;
        let is_box = format!("document.querySelector({}).type === 'checkbox'", json!(selector));
        let key = if self.page.evaluate(&is_box).await.unwrap() == true { " " } else { "Enter" };
        self.page.press(key).await.unwrap();
    }

    async fn focuses(&self, selector: &str) {
        self.page.tab_to(&format!("(element) => element.matches({})", json!(selector))).await.unwrap();
    }

    pub async fn fills(&self, id: &str, text: &str) {
        if self.role.way != Way::Keyboard {
            return self.page.fill(id, text).await.unwrap();
        }
        self.focuses(&format!("#{id}")).await;
        self.page.evaluate("document.activeElement.select()").await.unwrap();
        self.page.enter_text(text).await.unwrap();
    }

    /// Presses a button of the bid box, and again when it asks.
    pub async fn bids(&self, form: &str, question: &str) {
        let button = format!("[data-bid={form}] button");
        self.presses(&button).await;
        self.reads(question).await;
        if !self.has_script() {
            return self.presses("[data-bid=asked] button").await;
        }
        self.page.evaluate(PAUSE).await.unwrap();
        self.presses(&button).await;
    }

    /// Bids what the button says.
    pub async fn bids_next(&self, pounds: i64) {
        self.reads(&self.about("bid", pounds)).await;
        self.bids("next", &self.about("bid-confirm", pounds)).await;
    }

    /// Enters a maximum or a commission bid, and confirms the amount that the server has read.
    pub async fn bids_up_to(&self, typed: &str, pounds: i64) {
        self.fills("amount", typed).await;
        match self.role.way {
            Way::Keyboard => self.page.press("Enter").await.unwrap(),
            Way::Pointer | Way::WithoutScript => self.presses("[data-bid=max] button").await,
        }
        self.reads(&self.about("bid-confirm-maximum", pounds)).await;
        if self.has_script() {
            self.page.evaluate(PAUSE).await.unwrap();
        }
        self.presses("[data-bid=asked] button").await;
    }

    /// Looks at the page: nothing is cut at its size, and it leaves a picture.
    pub async fn looks(&self, step: &str) {
        self.page.wait_until("document.readyState === 'complete'").await.unwrap();
        let faults = layout_faults(&self.page).await.unwrap();
        assert!(faults.is_empty(), "{step}, {}: {faults:?}", self.role.screen);
        if let Some(folder) = &self.pictures {
            self.page.evaluate("for (const image of document.images) image.loading = 'eager'").await.unwrap();
            self.page.wait_until("[...document.images].every((image) => image.complete)").await.unwrap();
            let file = folder.join(format!("{step}-{}.png", self.role.screen));
            std::fs::write(file, self.page.screenshot().await.unwrap()).unwrap();
        }
    }
}

/// Errors of a page's console, without the answers that say why something was not done.
pub fn errors(page: &Page) -> Vec<String> {
    let is_refusal = |error: &String| error.contains("409 (Conflict)") || error.contains("422 (Unprocessable");
    page.console_errors().into_iter().filter(|error| !is_refusal(error)).collect()
}
