//! Subjects and texts with placeholders such as `{paddle}`. Pure functions.

use crate::error::Problem;
use crate::port::{MailText, StoredMail};
use crate::steps::input::{check_lines, check_text};

/// Characters of a subject.
pub const MAIL_SUBJECT_CHARS_MAX: usize = 150;
/// Characters of a text.
pub const MAIL_TEXT_CHARS_MAX: usize = 4_000;

/// What a placeholder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholder {
    /// Name of the bidder.
    Bidder,
    /// Paddle number.
    Paddle,
    /// Title of the sale.
    Sale,
    /// When bidding or the webcast starts.
    Starts,
    /// When the first lots of a timed sale end.
    Ends,
    /// A sentence that the sale is live.
    Live,
    /// Name of the house.
    House,
    /// E-mail address and telephone number of the house.
    Contact,
    /// Lot number.
    Lot,
    /// Title of the lot.
    Title,
    /// Price of the lot.
    Price,
    /// Price of the lot with premium and taxes.
    Total,
    /// When an offer ends.
    Until,
    /// What staff wrote to the bidder.
    Text,
    /// The page that the mail is about.
    Page,
    /// The page that ends mails of this kind.
    EndMails,
}

impl Placeholder {
    /// The placeholders of the texts that a house may replace.
    pub const OF_HOUSE: [Self; 10] = [
        Self::Bidder,
        Self::Paddle,
        Self::Sale,
        Self::Starts,
        Self::Ends,
        Self::Live,
        Self::House,
        Self::Contact,
        Self::Page,
        Self::EndMails,
    ];
    /// The placeholders that only notices have.
    const OF_NOTICES: [Self; 6] = [Self::Lot, Self::Title, Self::Price, Self::Total, Self::Until, Self::Text];

    /// The name between braces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bidder => "bidder",
            Self::Paddle => "paddle",
            Self::Sale => "sale",
            Self::Starts => "starts",
            Self::Ends => "ends",
            Self::Live => "live",
            Self::House => "house",
            Self::Contact => "contact",
            Self::Lot => "lot",
            Self::Title => "title",
            Self::Price => "price",
            Self::Total => "total",
            Self::Until => "until",
            Self::Text => "text",
            Self::Page => "page",
            Self::EndMails => "end_mails",
        }
    }

    /// What it stands for, for people.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Bidder => "name of the bidder",
            Self::Paddle => "paddle number",
            Self::Sale => "title of the sale",
            Self::Starts => "when bidding opens, or the webcast begins",
            Self::Ends => "when the first lots of a timed sale end",
            Self::Live => "the sentence that the sale is live; no value before",
            Self::House => "name of the house",
            Self::Contact => "e-mail address and telephone number of the house",
            Self::Lot => "lot number",
            Self::Title => "title of the lot",
            Self::Price => "price of the lot",
            Self::Total => "price of the lot with premium and taxes; no value where they add nothing",
            Self::Until => "the time before which the bidder can answer",
            Self::Text => "what staff wrote to the bidder",
            Self::Page => "the page of the saleroom that the mail is about; no value for bidders without an account",
            Self::EndMails => "the page that ends mails of this kind; no value for bidders without an account",
        }
    }
}

/// The values of the placeholders of one mail. None for a value that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MailValues {
    /// Name of the bidder.
    pub bidder: Option<String>,
    /// Paddle number.
    pub paddle: Option<String>,
    /// Title of the sale.
    pub sale: Option<String>,
    /// When bidding or the webcast starts.
    pub starts: Option<String>,
    /// When the first lots of a timed sale end.
    pub ends: Option<String>,
    /// A sentence that the sale is live.
    pub live: Option<String>,
    /// Name of the house.
    pub house: Option<String>,
    /// E-mail address and telephone number of the house.
    pub contact: Option<String>,
    /// Lot number.
    pub lot: Option<String>,
    /// Title of the lot.
    pub title: Option<String>,
    /// Price of the lot.
    pub price: Option<String>,
    /// Price of the lot with premium and taxes.
    pub total: Option<String>,
    /// When an offer ends.
    pub until: Option<String>,
    /// What staff wrote to the bidder.
    pub text: Option<String>,
    /// The page that the mail is about.
    pub page: Option<String>,
    /// The page that ends mails of this kind.
    pub end_mails: Option<String>,
}

impl MailValues {
    fn of(&self, placeholder: Placeholder) -> Option<&str> {
        let value = match placeholder {
            Placeholder::Bidder => &self.bidder,
            Placeholder::Paddle => &self.paddle,
            Placeholder::Sale => &self.sale,
            Placeholder::Starts => &self.starts,
            Placeholder::Ends => &self.ends,
            Placeholder::Live => &self.live,
            Placeholder::House => &self.house,
            Placeholder::Contact => &self.contact,
            Placeholder::Lot => &self.lot,
            Placeholder::Title => &self.title,
            Placeholder::Price => &self.price,
            Placeholder::Total => &self.total,
            Placeholder::Until => &self.until,
            Placeholder::Text => &self.text,
            Placeholder::Page => &self.page,
            Placeholder::EndMails => &self.end_mails,
        };
        value.as_deref()
    }
}

/// A subject and a text whose placeholders have their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedMail {
    /// One line.
    pub subject: String,
    /// Lines of text.
    pub text: String,
}

impl From<&StoredMail> for RenderedMail {
    fn from(stored: &StoredMail) -> Self {
        Self { subject: stored.mail.subject.clone(), text: stored.mail.text.clone() }
    }
}

impl MailText {
    /// All problems of subject and text, at `{pointer}/subject` and `{pointer}/text`.
    pub fn problems(&self, pointer: &str) -> Vec<Problem> {
        let checked = [
            ("subject", &self.subject, check_text(&self.subject, MAIL_SUBJECT_CHARS_MAX)),
            ("text", &self.text, check_lines(&self.text, MAIL_TEXT_CHARS_MAX)),
        ];
        let problem = |(field, template, checked): (&str, &String, Result<(), String>)| {
            let message = checked.and_then(|()| check_placeholders(template)).err()?;
            Some(Problem::new(format!("{pointer}/{field}"), message))
        };
        checked.into_iter().filter_map(problem).collect()
    }

    /// Subject and text with the values. A line of the text in which a placeholder has no value is left out.
    pub fn render(&self, values: &MailValues) -> RenderedMail {
        let subject = fill(&self.subject, values).0;
        let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut text = String::new();
        for line in self.text.lines() {
            let (line, is_complete) = fill(line, values);
            // No two empty lines where a paragraph was left out.
            let is_wanted = is_complete && !(line.trim().is_empty() && (text.is_empty() || text.ends_with("\n\n")));
            if is_wanted {
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
        RenderedMail { subject, text: format!("{}\n", text.trim_end()) }
    }
}

/// A part of a template: text, or what is between braces.
enum Part<'a> {
    Text(&'a str),
    Braces(&'a str),
    /// A brace without its counterpart.
    Loose(char),
}

fn parts(template: &str) -> Vec<Part<'_>> {
    let (mut parts, mut rest) = (Vec::new(), template);
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        parts.push(Part::Text(before));
        let end = from[1..].find(['{', '}', '\n']).map(|end| end + 1);
        match end.filter(|end| from.starts_with('{') && from[*end..].starts_with('}')) {
            Some(end) => {
                parts.push(Part::Braces(&from[1..end]));
                rest = &from[end + 1..];
            }
            None => {
                parts.push(Part::Loose(if from.starts_with('{') { '{' } else { '}' }));
                rest = &from[1..];
            }
        }
    }
    parts.push(Part::Text(rest));
    parts
}

fn placeholder(name: &str) -> Option<Placeholder> {
    Placeholder::OF_HOUSE.into_iter().chain(Placeholder::OF_NOTICES).find(|placeholder| placeholder.name() == name)
}

fn check_placeholders(template: &str) -> Result<(), String> {
    let all = || Placeholder::OF_HOUSE.map(|placeholder| format!("{{{}}}", placeholder.name())).join(", ");
    for part in parts(template) {
        match part {
            Part::Braces(name) if !placeholder(name).is_some_and(|found| Placeholder::OF_HOUSE.contains(&found)) => {
                return Err(format!("has {{{name}}}, which is no placeholder: write one of {}", all()));
            }
            Part::Loose(brace) => {
                return Err(format!(
                    "has a {brace} that belongs to no placeholder: remove it, or write one of {}",
                    all()
                ));
            }
            Part::Text(_) | Part::Braces(_) => {}
        }
    }
    Ok(())
}

/// The template with the values, and whether every placeholder has one.
fn fill(template: &str, values: &MailValues) -> (String, bool) {
    let (mut filled, mut is_complete) = (String::new(), true);
    for part in parts(template) {
        match part {
            Part::Text(text) => filled.push_str(text),
            Part::Loose(brace) => filled.push(brace),
            Part::Braces(name) => match placeholder(name).and_then(|placeholder| values.of(placeholder)) {
                Some(value) => filled.push_str(value),
                None => is_complete = false,
            },
        }
    }
    (filled, is_complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(subject: &str, text: &str) -> MailText {
        MailText { subject: subject.into(), text: text.into() }
    }

    #[test]
    fn a_line_without_its_value_is_left_out() {
        let template = text(
            "{sale}: paddle {paddle}",
            "Dear {bidder},\n\nyour paddle is {paddle}.\n\nIt begins: {starts}\n\nCall {contact}\n\n\n{house}\n\n",
        );
        let values = MailValues {
            paddle: Some("12".into()),
            house: Some("Hartley".into()),
            contact: Some("020 7946".into()),
            ..MailValues::default()
        };
        let rendered = template.render(&values);
        assert_eq!(rendered.subject, ": paddle 12");
        assert_eq!(rendered.text, "your paddle is 12.\n\nCall 020 7946\n\nHartley\n");
        let named = MailValues { bidder: Some("Ann {paddle}".into()), sale: Some("Silver".into()), ..values };
        let rendered = template.render(&named);
        assert_eq!(rendered.subject, "Silver: paddle 12");
        assert!(rendered.text.starts_with("Dear Ann {paddle},\n\nyour paddle"), "values hold no placeholders");
    }

    #[test]
    fn what_is_no_placeholder_is_named_with_those_that_are() {
        assert_eq!(text("{sale}", "{bidder}\n{paddle} {starts} {ends} {house} {contact}").problems("/a"), []);
        for (template, wrong) in [
            ("Dear {bider},", "has {bider}, which is no placeholder: write one of {bidder}, {paddle}, {sale}"),
            ("{ bidder }", "has { bidder }, which is no placeholder"),
            ("{}", "has {}, which is no placeholder"),
            ("a { b", "has a { that belongs to no placeholder"),
            ("a } b", "has a } that belongs to no placeholder"),
            ("{bidder\n}", "has a { that belongs to no placeholder"),
            ("{{bidder}}", "has a { that belongs to no placeholder"),
            (" \n ", "is empty"),
            ("a\u{7}", "control character"),
        ] {
            let problems = text("Subject", template).problems("/texts/approved");
            assert_eq!(problems.len(), 1, "{template}");
            assert_eq!(problems[0].pointer, "/texts/approved/text");
            assert!(problems[0].message.contains(wrong), "{template:?}: {}", problems[0].message);
        }
        let long = text(&"s".repeat(MAIL_SUBJECT_CHARS_MAX + 1), &"t".repeat(MAIL_TEXT_CHARS_MAX + 1)).problems("");
        assert_eq!(long.iter().map(|problem| &*problem.pointer).collect::<Vec<_>>(), ["/subject", "/text"]);
    }
}
