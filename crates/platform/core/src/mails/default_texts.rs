//! The texts of mails that a house did not replace, in each language. A file has the subject, an empty line and the text.

use platform_rules::AuctionKind;

use crate::port::{HouseMails, Language, MailKind, MailText};

/// The text of a kind of mail in a language.
pub fn default_text(language: Language, kind: MailKind) -> MailText {
    let file = match (language, kind) {
        (Language::English, MailKind::Approved) => include_str!("texts/english/approved.txt"),
        (Language::English, MailKind::Declined) => include_str!("texts/english/declined.txt"),
        (Language::English, MailKind::Suspended) => include_str!("texts/english/suspended.txt"),
        (Language::English, MailKind::Reminder) => include_str!("texts/english/reminder.txt"),
        (Language::English, MailKind::Outbid) => include_str!("texts/english/outbid.txt"),
        (Language::English, MailKind::Won) => include_str!("texts/english/won.txt"),
        (Language::English, MailKind::NotWon) => include_str!("texts/english/not_won.txt"),
        (Language::English, MailKind::SaleBegan) => include_str!("texts/english/sale_began.txt"),
        (Language::English, MailKind::LotSoon) => include_str!("texts/english/lot_soon.txt"),
        (Language::English, MailKind::LimitGranted) => include_str!("texts/english/limit_granted.txt"),
        (Language::English, MailKind::LimitDeclined) => include_str!("texts/english/limit_declined.txt"),
        (Language::English, MailKind::Message) => include_str!("texts/english/message.txt"),
        (Language::English, MailKind::Offer) => include_str!("texts/english/offer.txt"),
        (Language::German, MailKind::Approved) => include_str!("texts/german/approved.txt"),
        (Language::German, MailKind::Declined) => include_str!("texts/german/declined.txt"),
        (Language::German, MailKind::Suspended) => include_str!("texts/german/suspended.txt"),
        (Language::German, MailKind::Reminder) => include_str!("texts/german/reminder.txt"),
        (Language::German, MailKind::Outbid) => include_str!("texts/german/outbid.txt"),
        (Language::German, MailKind::Won) => include_str!("texts/german/won.txt"),
        (Language::German, MailKind::NotWon) => include_str!("texts/german/not_won.txt"),
        (Language::German, MailKind::SaleBegan) => include_str!("texts/german/sale_began.txt"),
        (Language::German, MailKind::LotSoon) => include_str!("texts/german/lot_soon.txt"),
        (Language::German, MailKind::LimitGranted) => include_str!("texts/german/limit_granted.txt"),
        (Language::German, MailKind::LimitDeclined) => include_str!("texts/german/limit_declined.txt"),
        (Language::German, MailKind::Message) => include_str!("texts/german/message.txt"),
        (Language::German, MailKind::Offer) => include_str!("texts/german/offer.txt"),
        (Language::French, MailKind::Approved) => include_str!("texts/french/approved.txt"),
        (Language::French, MailKind::Declined) => include_str!("texts/french/declined.txt"),
        (Language::French, MailKind::Suspended) => include_str!("texts/french/suspended.txt"),
        (Language::French, MailKind::Reminder) => include_str!("texts/french/reminder.txt"),
        (Language::French, MailKind::Outbid) => include_str!("texts/french/outbid.txt"),
        (Language::French, MailKind::Won) => include_str!("texts/french/won.txt"),
        (Language::French, MailKind::NotWon) => include_str!("texts/french/not_won.txt"),
        (Language::French, MailKind::SaleBegan) => include_str!("texts/french/sale_began.txt"),
        (Language::French, MailKind::LotSoon) => include_str!("texts/french/lot_soon.txt"),
        (Language::French, MailKind::LimitGranted) => include_str!("texts/french/limit_granted.txt"),
        (Language::French, MailKind::LimitDeclined) => include_str!("texts/french/limit_declined.txt"),
        (Language::French, MailKind::Message) => include_str!("texts/french/message.txt"),
        (Language::French, MailKind::Offer) => include_str!("texts/french/offer.txt"),
        (Language::Spanish, MailKind::Approved) => include_str!("texts/spanish/approved.txt"),
        (Language::Spanish, MailKind::Declined) => include_str!("texts/spanish/declined.txt"),
        (Language::Spanish, MailKind::Suspended) => include_str!("texts/spanish/suspended.txt"),
        (Language::Spanish, MailKind::Reminder) => include_str!("texts/spanish/reminder.txt"),
        (Language::Spanish, MailKind::Outbid) => include_str!("texts/spanish/outbid.txt"),
        (Language::Spanish, MailKind::Won) => include_str!("texts/spanish/won.txt"),
        (Language::Spanish, MailKind::NotWon) => include_str!("texts/spanish/not_won.txt"),
        (Language::Spanish, MailKind::SaleBegan) => include_str!("texts/spanish/sale_began.txt"),
        (Language::Spanish, MailKind::LotSoon) => include_str!("texts/spanish/lot_soon.txt"),
        (Language::Spanish, MailKind::LimitGranted) => include_str!("texts/spanish/limit_granted.txt"),
        (Language::Spanish, MailKind::LimitDeclined) => include_str!("texts/spanish/limit_declined.txt"),
        (Language::Spanish, MailKind::Message) => include_str!("texts/spanish/message.txt"),
        (Language::Spanish, MailKind::Offer) => include_str!("texts/spanish/offer.txt"),
        (Language::Italian, MailKind::Approved) => include_str!("texts/italian/approved.txt"),
        (Language::Italian, MailKind::Declined) => include_str!("texts/italian/declined.txt"),
        (Language::Italian, MailKind::Suspended) => include_str!("texts/italian/suspended.txt"),
        (Language::Italian, MailKind::Reminder) => include_str!("texts/italian/reminder.txt"),
        (Language::Italian, MailKind::Outbid) => include_str!("texts/italian/outbid.txt"),
        (Language::Italian, MailKind::Won) => include_str!("texts/italian/won.txt"),
        (Language::Italian, MailKind::NotWon) => include_str!("texts/italian/not_won.txt"),
        (Language::Italian, MailKind::SaleBegan) => include_str!("texts/italian/sale_began.txt"),
        (Language::Italian, MailKind::LotSoon) => include_str!("texts/italian/lot_soon.txt"),
        (Language::Italian, MailKind::LimitGranted) => include_str!("texts/italian/limit_granted.txt"),
        (Language::Italian, MailKind::LimitDeclined) => include_str!("texts/italian/limit_declined.txt"),
        (Language::Italian, MailKind::Message) => include_str!("texts/italian/message.txt"),
        (Language::Italian, MailKind::Offer) => include_str!("texts/italian/offer.txt"),
    };
    parse(file)
}

/// The text of the test mail in a language. `{contact}` is the address for replies.
pub(super) fn test_text(language: Language) -> MailText {
    parse(match language {
        Language::English => include_str!("texts/english/test.txt"),
        Language::German => include_str!("texts/german/test.txt"),
        Language::French => include_str!("texts/french/test.txt"),
        Language::Spanish => include_str!("texts/spanish/test.txt"),
        Language::Italian => include_str!("texts/italian/test.txt"),
    })
}

/// The text of the mail with the link that opens an account. The link replaces `<link>`.
pub(super) fn link_text(language: Language) -> MailText {
    parse(match language {
        Language::English => include_str!("texts/english/link.txt"),
        Language::German => include_str!("texts/german/link.txt"),
        Language::French => include_str!("texts/french/link.txt"),
        Language::Spanish => include_str!("texts/spanish/link.txt"),
        Language::Italian => include_str!("texts/italian/link.txt"),
    })
}

/// The sentence that a sale is live, in a language.
pub(super) fn live_text(language: Language, kind: AuctionKind) -> &'static str {
    match (language, kind) {
        (Language::English, AuctionKind::Webcast) => "The sale is live now.",
        (Language::English, AuctionKind::Timed) => "Bidding is open now.",
        (Language::German, AuctionKind::Webcast) => "Die Auktion läuft jetzt live.",
        (Language::German, AuctionKind::Timed) => "Sie können jetzt bieten.",
        (Language::French, AuctionKind::Webcast) => "La vente a lieu en direct en ce moment.",
        (Language::French, AuctionKind::Timed) => "Les enchères sont ouvertes.",
        (Language::Spanish, AuctionKind::Webcast) => "La subasta está en directo ahora.",
        (Language::Spanish, AuctionKind::Timed) => "Las pujas están abiertas.",
        (Language::Italian, AuctionKind::Webcast) => "L'asta è in diretta ora.",
        (Language::Italian, AuctionKind::Timed) => "Le offerte sono aperte.",
    }
}

fn parse(file: &str) -> MailText {
    let (subject, text) = file.split_once("\n\n").unwrap_or((file, ""));
    MailText { subject: subject.to_owned(), text: text.trim_end().to_owned() }
}

impl HouseMails {
    /// The text of a kind of mail: the house's own, or the default in its language.
    pub fn text(&self, kind: MailKind) -> MailText {
        self.texts.get(&kind).cloned().unwrap_or_else(|| default_text(self.language, kind))
    }

    /// Without replaced texts that are the default of a language, so that they follow another choice of the language.
    pub fn without_defaults(mut self) -> Self {
        self.texts.retain(|kind, text| {
            Language::ALL.into_iter().all(|language| {
                default_text(language, *kind)
                    != MailText { subject: text.subject.clone(), text: text.text.trim_end().to_owned() }
            })
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mails::template::MailValues;

    #[test]
    fn every_default_text_is_valid_and_complete_without_a_date_or_a_name() {
        for language in Language::ALL {
            for kind in MailKind::OF_HOUSE {
                let text = default_text(language, kind);
                assert_eq!(text.problems(""), [], "{language:?} {kind:?}");
                for placeholder in ["{bidder}", "{sale}", "{contact}", "{house}"] {
                    assert!(text.text.contains(placeholder), "{language:?} {kind:?} lacks {placeholder}");
                }
                let values = MailValues {
                    sale: Some("Silver".into()),
                    paddle: Some("12".into()),
                    house: Some("Hartley".into()),
                    ..MailValues::default()
                };
                let rendered = text.render(&values);
                assert!(rendered.text.contains("Silver") && rendered.text.ends_with("\n\nHartley\n"), "{rendered:?}");
                assert!(!rendered.text.contains(['{', '}']) && !rendered.subject.contains(['{', '}']), "{rendered:?}");
            }
        }
    }

    #[test]
    fn every_test_mail_names_the_house_and_the_address_for_replies() {
        for language in Language::ALL {
            let text = test_text(language);
            assert_eq!(text.problems(""), [], "{language:?}");
            let house = MailValues { house: Some("Hartley".into()), ..MailValues::default() };
            let rendered = text.render(&MailValues { contact: Some("bids@hartley.example".into()), ..house.clone() });
            assert!(
                rendered.subject.contains("Hartley") && rendered.text.contains("bids@hartley.example"),
                "{rendered:?}"
            );
            assert!(text.render(&house).text.contains("Hartley"), "{language:?}");
        }
    }

    #[test]
    fn a_text_that_is_a_default_follows_the_language() {
        let mut mails = HouseMails { language: Language::French, ..HouseMails::default() };
        mails.texts.insert(MailKind::Approved, default_text(Language::German, MailKind::Approved));
        let own = MailText { subject: "Welcome".into(), text: "Come in.".into() };
        mails.texts.insert(MailKind::Reminder, own.clone());
        let mails = mails.without_defaults();
        assert_eq!(mails.text(MailKind::Approved), default_text(Language::French, MailKind::Approved));
        assert_eq!(mails.text(MailKind::Reminder), own);
    }
}
