//! A notice in words.

use platform_core::notices::{Notice, NoticeKind};
use platform_words::{Currency, SaleZone, Value, Words, key};
use uuid::Uuid;

use crate::house::House;
use crate::offers;

/// A notice as pages show it.
#[derive(Debug, Clone)]
pub(crate) struct NoticeWords {
    pub(crate) id: Uuid,
    /// The item; nil for a notice about a sale.
    pub(crate) item: Uuid,
    /// One sentence, such as `Outbid on lot 12. The price is £540.`
    pub(crate) text: String,
    /// Lines of text that staff wrote; empty for other notices.
    pub(crate) body: String,
    /// The class of its colour.
    pub(crate) kind: &'static str,
    /// The lot's title; empty for a notice about a sale.
    pub(crate) title: String,
    /// The sale's title.
    pub(crate) sale: String,
    /// The page that it is about.
    pub(crate) path: String,
    pub(crate) at: String,
    pub(crate) is_new: bool,
}

impl NoticeWords {
    pub(crate) fn of<const N: usize>(house: &House<N>, notice: &Notice) -> Self {
        let path = format!("{}/sales/{}", house.path(), notice.auction);
        let zone = house.zone(&notice.facts.time_zone);
        // The time of an offer is that of the sale, as on the page of the lot.
        let zone_of_sale = match notice.facts.time_zone.as_str() {
            "" => zone.clone(),
            name => house.words.zone_named(name),
        };
        Self {
            id: notice.uuid,
            item: notice.item.unwrap_or_default(),
            text: text(house.words, &house.saleroom.name, &zone_of_sale, notice),
            body: match notice.kind {
                NoticeKind::Message => notice.facts.text.clone().unwrap_or_default(),
                _ => String::new(),
            },
            kind: kind(notice),
            // The subject of a message is in its text.
            title: if notice.kind == NoticeKind::Message { String::new() } else { notice.facts.title.clone() },
            sale: notice.facts.sale.clone(),
            path: match notice.item {
                Some(_) if notice.kind == NoticeKind::Won => format!("{}/my-bids", house.path()),
                Some(item) => format!("{path}/lots/{item}"),
                None if notice.kind == NoticeKind::Message => format!("{}/notices", house.path()),
                None if notice.kind == NoticeKind::LimitDecided => format!("{path}/register"),
                None => path,
            },
            at: zone.show(notice.at),
            is_new: notice.seen_at.is_none(),
        }
    }
}

fn text(words: Words, house: &str, zone: &SaleZone, notice: &Notice) -> String {
    let lot = || Value::from(notice.facts.lot_number.clone());
    let currency = Currency::new(&notice.facts.currency).in_language(words.language());
    let price = notice.facts.amount.map(|amount| currency.show(amount));
    match (notice.kind, price) {
        (NoticeKind::Outbid, Some(price)) => {
            words.with("notice-outbid", [("lot", lot()), ("price", Value::from(price))])
        }
        (NoticeKind::Outbid, None) => words.with("notice-outbid-only", [("lot", lot())]),
        (NoticeKind::Won, price) => {
            words.with("notice-won", [("lot", lot()), ("price", Value::from(price.unwrap_or_default()))])
        }
        (NoticeKind::NotWon, Some(price)) => {
            words.with("notice-not-won", [("lot", lot()), ("price", Value::from(price))])
        }
        (NoticeKind::NotWon, None) => words.with("notice-unsold", [("lot", lot())]),
        (NoticeKind::SaleBegan, _) => words.of("notice-sale-began").into_owned(),
        (NoticeKind::LotSoon, _) => words.with("notice-lot-soon", [("lot", lot())]),
        (NoticeKind::RegistrationDecided, _) => words.of(decision(notice)).into_owned(),
        (NoticeKind::LimitDecided, Some(price)) => words.fill("notice-limit-granted", "price", price),
        (NoticeKind::Message, _) => {
            words.with("notice-message", [("house", house.into()), ("subject", notice.facts.title.as_str().into())])
        }
        (NoticeKind::Offer, price) => {
            let total = notice.facts.total.map(|total| words.fill("lot-total", "amount", currency.show(total)));
            let until = notice.facts.until.map(|until| zone.show(until)).unwrap_or_default();
            let amounts = (notice.facts.lot_number.as_str(), price.unwrap_or_default(), total.unwrap_or_default());
            offers::in_words(words, amounts, until)
        }
        (NoticeKind::LimitDecided, None) => {
            words.fill("limit-refused", "reason", notice.facts.text.as_deref().unwrap_or_default())
        }
    }
}

fn decision(notice: &Notice) -> &'static str {
    match notice.facts.decision.as_deref() {
        Some("approved") => key("notice-approved"),
        Some("suspended") => key("notice-suspended"),
        _ => key("notice-declined"),
    }
}

fn kind(notice: &Notice) -> &'static str {
    match (notice.kind, notice.facts.decision.as_deref()) {
        (NoticeKind::Won, _)
        | (NoticeKind::RegistrationDecided, Some("approved"))
        | (NoticeKind::LimitDecided, Some("granted")) => "good",
        (NoticeKind::Outbid | NoticeKind::RegistrationDecided | NoticeKind::LimitDecided, _) => "bad",
        (NoticeKind::NotWon, _) => "off",
        (NoticeKind::SaleBegan | NoticeKind::LotSoon | NoticeKind::Message | NoticeKind::Offer, _) => "info",
    }
}

/// What a kind of notice is about, such as `I am outbid`.
pub(super) fn about(words: Words, about: NoticeKind) -> String {
    let name = match about {
        NoticeKind::Outbid => key("notices-about-outbid"),
        NoticeKind::Won => key("notices-about-won"),
        NoticeKind::NotWon => key("notices-about-not-won"),
        NoticeKind::SaleBegan => key("notices-about-sale"),
        NoticeKind::LotSoon => key("notices-about-lot"),
        NoticeKind::RegistrationDecided => key("notices-about-registration"),
        NoticeKind::LimitDecided => key("notices-about-limit"),
        NoticeKind::Message => key("notices-about-message"),
        NoticeKind::Offer => key("notices-about-offer"),
    };
    words.of(name).into_owned()
}

/// The name of a kind, such as `Outbid`.
pub(super) fn name(words: Words, kind: NoticeKind) -> String {
    let name = match kind {
        NoticeKind::Outbid => key("notice-kind-outbid"),
        NoticeKind::Won => key("notice-kind-won"),
        NoticeKind::NotWon => key("notice-kind-not-won"),
        NoticeKind::SaleBegan => key("notice-kind-sale"),
        NoticeKind::LotSoon => key("notice-kind-lot"),
        NoticeKind::RegistrationDecided => key("notice-kind-registration"),
        NoticeKind::LimitDecided => key("notice-kind-limit"),
        NoticeKind::Message => key("notice-kind-message"),
        NoticeKind::Offer => key("notice-kind-offer"),
    };
    words.of(name).into_owned()
}
