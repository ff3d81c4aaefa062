//! The fields of a lot that a cell of the grid, or the form of a lot, edits.

use platform_rules::item::ItemEdit;
use platform_rules::{Hidden, Item};
use uuid::Uuid;

use super::consignors::Consignors;
use platform_words::Currency;

/// A field of a lot that is typed as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    LotNumber,
    Title,
    Description,
    Category,
    ImageUrl,
    LowEstimate,
    HighEstimate,
    OpeningBid,
    Reserve,
    BuyNow,
    FixedIncrement,
    Vendor,
}

impl Column {
    /// All fields, in the order of the form.
    pub(crate) const ALL: [Self; 12] = [
        Self::LotNumber,
        Self::Title,
        Self::Description,
        Self::LowEstimate,
        Self::HighEstimate,
        Self::OpeningBid,
        Self::Reserve,
        Self::BuyNow,
        Self::FixedIncrement,
        Self::Category,
        Self::Vendor,
        Self::ImageUrl,
    ];

    /// The name in forms and addresses: the field's name in the API.
    pub(crate) fn name(self) -> &'static str {
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
            Self::BuyNow => "buyNow",
            Self::FixedIncrement => "fixedIncrement",
            Self::Vendor => "vendor",
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::LotNumber => "Lot number",
            Self::Title => "Title",
            Self::Description => "Description",
            Self::Category => "Category",
            Self::ImageUrl => "Image address",
            Self::LowEstimate => "Low estimate",
            Self::HighEstimate => "High estimate",
            Self::OpeningBid => "Opening bid",
            Self::Reserve => "Reserve",
            Self::BuyNow => "Buy-now price",
            Self::FixedIncrement => "Fixed increment",
            Self::Vendor => "Consignor",
        }
    }

    /// The field of that name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    /// True for a text of several lines.
    pub(crate) fn has_lines(self) -> bool {
        self == Self::Description
    }

    pub(crate) fn is_amount(self) -> bool {
        use Column::{BuyNow, FixedIncrement, HighEstimate, LowEstimate, OpeningBid, Reserve};
        matches!(self, LowEstimate | HighEstimate | OpeningBid | Reserve | BuyNow | FixedIncrement)
    }

    fn amount(self, item: &Item) -> Option<i64> {
        match self {
            Self::LowEstimate => item.low_estimate,
            Self::HighEstimate => item.high_estimate,
            Self::OpeningBid => Some(item.opening_bid).filter(|amount| *amount > 0),
            Self::Reserve => item.reserve.map(Hidden::reveal),
            Self::BuyNow => item.buy_now,
            Self::FixedIncrement => item.fixed_increment,
            _ => None,
        }
    }

    /// The value as a page shows it; empty without one.
    pub(crate) fn shown(self, item: &Item, currency: &Currency, consignors: &Consignors) -> String {
        if self.is_amount() {
            return self.amount(item).map(|amount| currency.show(amount)).unwrap_or_default();
        }
        self.field(item, currency, consignors)
    }

    /// The value as a field of a form has it.
    pub(crate) fn field(self, item: &Item, currency: &Currency, consignors: &Consignors) -> String {
        match self {
            Self::LotNumber => item.lot_number.clone(),
            Self::Title => item.title.clone(),
            Self::Description => item.description.clone(),
            Self::Category => item.category.clone().unwrap_or_default(),
            Self::ImageUrl => item.image_url.clone().unwrap_or_default(),
            Self::Vendor => consignors.label(item),
            amount => amount.amount(item).map(|amount| currency.plain(amount)).unwrap_or_default(),
        }
    }

    /// Sets the field of an edit to a typed value; the vendor to a UUID, which [`super::consignors::TypedConsignor`] finds. An error
    /// is for the person who typed it.
    pub(crate) fn set(self, edit: &mut ItemEdit, text: &str, currency: &Currency) -> Result<(), String> {
        let amount = || if text.is_empty() { Ok(None) } else { currency.parse(text).map(Some) };
        match self {
            Self::LotNumber => edit.lot_number = Some(text.to_owned()),
            Self::Title => edit.title = Some(text.to_owned()),
            Self::Description => edit.description = Some(text.replace("\r\n", "\n")),
            Self::Category => edit.category = Some(Some(text.to_owned()).filter(|text| !text.is_empty())),
            Self::ImageUrl => edit.image_url = Some(Some(text.to_owned()).filter(|text| !text.is_empty())),
            Self::LowEstimate => edit.low_estimate = Some(amount()?),
            Self::HighEstimate => edit.high_estimate = Some(amount()?),
            Self::OpeningBid => edit.opening_bid = Some(amount()?.unwrap_or(0)),
            Self::Reserve => edit.reserve = Some(amount()?.map(Hidden::new)),
            Self::BuyNow => edit.buy_now = Some(amount()?),
            Self::FixedIncrement => edit.fixed_increment = Some(amount()?),
            Self::Vendor if text.is_empty() => edit.vendor = Some(None),
            Self::Vendor => {
                let vendor =
                    Uuid::try_parse(text).map_err(|_| "Write a consignor of the house, or nothing.".to_owned())?;
                edit.vendor = Some(Some(vendor));
            }
        }
        Ok(())
    }
}
