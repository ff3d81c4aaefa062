//! Checks of a new item, which a call or a catalogue import enters.

use contract::ItemStatus;
use jiff::Timestamp;
use platform_rules::{AMOUNT_MAX, Auction, AuctionKind};
use url::Url;

use crate::Problem;
pub use crate::port::NewItem;
use crate::steps::input::check_text;

/// Characters of a lot number.
pub const LOT_NUMBER_CHARS_MAX: usize = 32;
/// Characters of a title.
pub const TITLE_CHARS_MAX: usize = 500;
/// Characters of a description.
pub const DESCRIPTION_CHARS_MAX: usize = 20_000;
/// Characters of a category.
pub const CATEGORY_CHARS_MAX: usize = 80;
/// Bytes of an image address.
pub const IMAGE_URL_BYTES_MAX: usize = 2_048;

impl NewItem {
    /// A DRAFT item with nothing but its number and title.
    pub fn new(lot_number: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            lot_number: lot_number.into(),
            title: title.into(),
            description: String::new(),
            category: None,
            image_url: None,
            attachments: Vec::new(),
            low_estimate: None,
            high_estimate: None,
            opening_bid: 0,
            reserve: None,
            buy_now: None,
            vendor: None,
            fixed_increment: None,
            end_time: None,
            status: ItemStatus::Draft,
            images_of: None,
        }
    }

    /// All problems of the item by itself.
    pub(crate) fn problems(&self) -> Vec<(ItemField, String)> {
        let mut problems = Vec::new();
        let mut problem = |field, message: String| problems.push((field, message));
        if let Err(message) = check_text(&self.lot_number, LOT_NUMBER_CHARS_MAX) {
            problem(ItemField::LotNumber, message);
        }
        if let Err(message) = check_text(&self.title, TITLE_CHARS_MAX) {
            problem(ItemField::Title, message);
        }
        if self.description.chars().count() > DESCRIPTION_CHARS_MAX {
            problem(ItemField::Description, format!("is longer than {DESCRIPTION_CHARS_MAX} characters: shorten it"));
        }
        if let Some(Err(message)) = self.category.as_deref().map(|text| check_text(text, CATEGORY_CHARS_MAX)) {
            problem(ItemField::Category, message);
        }
        if let Some(Err(message)) = self.image_url.as_deref().map(image_url) {
            problem(ItemField::ImageUrl, message);
        }
        for (field, amount) in self.amounts() {
            if !(0..=AMOUNT_MAX).contains(&amount) {
                problem(field, format!("must be from 0 to {AMOUNT_MAX} minor units"));
            }
        }
        if self.fixed_increment.is_some_and(|increment| !(1..=AMOUNT_MAX).contains(&increment)) {
            problem(ItemField::FixedIncrement, format!("must be from 1 to {AMOUNT_MAX} minor units"));
        }
        if let Some(buy_now) = self.buy_now {
            let least = self.opening_bid.max(self.reserve.unwrap_or(0)).max(1);
            if !(1..=AMOUNT_MAX).contains(&buy_now) {
                problem(ItemField::BuyNow, format!("must be from 1 to {AMOUNT_MAX} minor units"));
            } else if buy_now < least {
                problem(ItemField::BuyNow, "is below the opening bid or the reserve: raise it, or leave it out".into());
            }
        }
        if let (Some(low), Some(high)) = (self.low_estimate, self.high_estimate)
            && low > high
        {
            problem(ItemField::HighEstimate, "is below the low estimate: raise it, or lower the other".to_owned());
        }
        if let Some(reserve) = self.reserve
            && reserve < self.opening_bid
        {
            // Without the amount, because a caller who may change the opening bid need not know the reserve.
            problem(ItemField::Reserve, "is below the opening bid: raise it, or leave it out".to_owned());
        }
        if let (Some(reserve), Some(high)) = (self.reserve, self.high_estimate)
            && reserve > high
        {
            problem(ItemField::Reserve, "is above the high estimate: lower it, or raise the estimate".to_owned());
        }
        if !matches!(self.status, ItemStatus::Draft | ItemStatus::Live) {
            problem(ItemField::Status, "a new item is DRAFT, or LIVE in a LIVE auction".into());
        }
        problems
    }

    fn amounts(&self) -> impl Iterator<Item = (ItemField, i64)> {
        [
            (ItemField::LowEstimate, self.low_estimate),
            (ItemField::HighEstimate, self.high_estimate),
            (ItemField::OpeningBid, Some(self.opening_bid)),
            (ItemField::Reserve, self.reserve),
        ]
        .into_iter()
        .filter_map(|(field, amount)| Some((field, amount?)))
    }
}

/// The fields of an auction that decide which item fields are valid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ItemContext {
    pub(crate) kind: AuctionKind,
    pub(crate) starts_at: Option<Timestamp>,
}

impl ItemContext {
    pub(crate) fn of(auction: &Auction) -> Self {
        Self { kind: auction.kind, starts_at: auction.starts_at }
    }

    /// Fields of the item that are not valid in this auction, with the problem.
    pub(crate) fn unfitting(self, new: &NewItem) -> impl Iterator<Item = (ItemField, &'static str)> + use<> {
        const TIMED_ONLY: &str = "is for timed auctions only: leave it out";
        let is_timed = self.kind == AuctionKind::Timed;
        let buy_now = (!is_timed && new.buy_now.is_some()).then_some((ItemField::BuyNow, TIMED_ONLY));
        let is_early = new.end_time.zip(self.starts_at).is_some_and(|(end, start)| end <= start);
        let end_time = match new.end_time {
            Some(_) if !is_timed => Some((ItemField::EndTime, TIMED_ONLY)),
            Some(_) if is_early => Some((ItemField::EndTime, "is not after the auction's startsAt")),
            _ => None,
        };
        buy_now.into_iter().chain(end_time)
    }
}

/// The problems of items in their auction.
pub(crate) fn problems_in(setting: ItemContext, items: &[NewItem]) -> impl Iterator<Item = Problem> {
    problems_from(0, setting, items)
}

/// As [`problems_in`], for items that follow `before` others of the same call.
pub(crate) fn problems_from(before: i64, setting: ItemContext, items: &[NewItem]) -> impl Iterator<Item = Problem> {
    let problem = |index: i64, field: ItemField, message: &str| {
        let pointer = format!("/items/{index}/{}", field.json());
        Problem::new(pointer, message)
    };
    (before..).zip(items).flat_map(move |(index, new)| {
        setting.unfitting(new).map(move |(field, message)| problem(index, field, message))
    })
}

/// A field of a new item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemField {
    LotNumber,
    Title,
    Description,
    Category,
    ImageUrl,
    LowEstimate,
    HighEstimate,
    OpeningBid,
    Reserve,
    FixedIncrement,
    BuyNow,
    EndTime,
    Status,
}

impl ItemField {
    /// Its name in JSON.
    pub(crate) fn json(self) -> &'static str {
        match self {
            Self::LotNumber => "lotNumber",
            Self::Title => "title",
            Self::Description => "description",
            Self::Category => "category",
            Self::ImageUrl => "imageUrl",
            Self::LowEstimate => "lowEstimate",
            Self::HighEstimate => "highEstimate",
            Self::OpeningBid => "openingBid",
            Self::Reserve => "reserve",
            Self::FixedIncrement => "fixedIncrement",
            Self::BuyNow => "buyNow",
            Self::EndTime => "endTime",
            Self::Status => "status",
        }
    }
}

fn image_url(value: &str) -> Result<(), String> {
    if value.len() > IMAGE_URL_BYTES_MAX {
        return Err(format!("is longer than {IMAGE_URL_BYTES_MAX} bytes: use a shorter address"));
    }
    match Url::parse(value) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(()),
        _ => Err(format!("{value:?} is not an http or https address: correct it, or leave it empty")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(item: &NewItem) -> Vec<&'static str> {
        item.problems().into_iter().map(|(field, _)| field.json()).collect()
    }

    #[test]
    fn a_complete_item_has_no_problem() {
        let item = NewItem {
            category: Some("Furniture".into()),
            image_url: Some("https://example.com/1.jpg".into()),
            low_estimate: Some(100),
            high_estimate: Some(200),
            opening_bid: 50,
            reserve: Some(100),
            ..NewItem::new("12A", "A chair")
        };
        assert_eq!(fields(&item), [""; 0]);
    }

    #[test]
    fn all_problems_are_reported_at_once() {
        let item = NewItem {
            category: Some("x".repeat(CATEGORY_CHARS_MAX + 1)),
            image_url: Some("javascript:alert(1)".into()),
            low_estimate: Some(-1),
            high_estimate: Some(AMOUNT_MAX + 1),
            status: ItemStatus::Sold,
            ..NewItem::new(" 1", "")
        };
        assert_eq!(
            fields(&item),
            ["lotNumber", "title", "category", "imageUrl", "lowEstimate", "highEstimate", "status"]
        );
    }

    #[test]
    fn amounts_must_fit_each_other() {
        let crossed = NewItem { low_estimate: Some(200), high_estimate: Some(100), ..NewItem::new("1", "x") };
        assert_eq!(fields(&crossed), ["highEstimate"]);
        let below_opening_bid = NewItem { opening_bid: 100, reserve: Some(50), ..NewItem::new("1", "x") };
        assert_eq!(fields(&below_opening_bid), ["reserve"]);
        let too_high = NewItem { high_estimate: Some(100), reserve: Some(150), ..NewItem::new("1", "x") };
        assert_eq!(fields(&too_high), ["reserve"]);
    }
}
