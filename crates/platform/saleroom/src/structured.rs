//! What search engines may state about a page, in the words of <https://schema.org>: a sale is an event, and a lot a product. A lot
//! has an offer only with a price that is certain: the one of buying now while that is possible, or the hammer price.

use std::fmt;

use askama::filters::HtmlSafe;
use contract::ItemStatus;
use jiff::Timestamp;
use platform_core::saleroom::{SaleroomLot, SaleroomSale};
use platform_rules::AuctionKind;
use platform_words::Currency;
use serde_json::{Value, json};

const CONTEXT: &str = "https://schema.org";

/// Facts as the content of a `script` element of the type `application/ld+json`, which no browser runs. The characters that could
/// end the element are escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts(String);

impl HtmlSafe for Facts {}

impl fmt::Display for Facts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Facts {
    fn of(value: &Value) -> Self {
        Self(value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"))
    }

    /// A sale; none before its beginning is known, without which an event is not valid.
    pub(crate) fn of_sale(sale: &SaleroomSale, organizer: &str, url: &str) -> Option<Self> {
        let auction = &sale.auction;
        let starts_at = auction.starts_at?;
        let mut event = json!({
            "@context": CONTEXT, "@type": "SaleEvent", "name": auction.shown_title(), "url": url, "startDate": date(starts_at),
            "location": { "@type": "VirtualLocation", "url": url },
            "organizer": { "@type": "Organization", "name": organizer },
        });
        if auction.kind == AuctionKind::Timed
            && let Some(ends_at) = auction.ends_at.filter(|end| *end > starts_at)
        {
            event["endDate"] = json!(date(ends_at));
        }
        Some(Self::of(&event))
    }

    /// A lot with the address of its first picture.
    pub(crate) fn of_lot(sale: &SaleroomSale, lot: &SaleroomLot, url: &str, image: Option<&str>) -> Self {
        let mut product = json!({
            "@context": CONTEXT, "@type": "Product", "name": lot.title, "sku": lot.lot_number, "url": url,
        });
        if !lot.description.trim().is_empty() {
            product["description"] = json!(lot.description);
        }
        if let Some(image) = image {
            product["image"] = json!(image);
        }
        let certain = match lot.sale.status {
            ItemStatus::Live => lot.sale.buy_now.map(|price| (price, "InStock")),
            ItemStatus::Sold | ItemStatus::SoldBuyNow => lot.sale.price.map(|price| (price, "SoldOut")),
            _ => None,
        };
        if let Some((price, availability)) = certain {
            let currency = Currency::of(&sale.auction);
            product["offers"] = json!({
                "@type": "Offer", "url": url, "price": currency.plain(price), "priceCurrency": currency.code(),
                "availability": format!("{CONTEXT}/{availability}"),
            });
        }
        Self::of(&product)
    }
}

fn date(at: Timestamp) -> String {
    at.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_the_element() {
        let facts = Facts::of(&json!({ "name": "</script><b>&" })).to_string();
        assert!(!facts.contains(['<', '>', '&']), "{facts}");
        assert_eq!(serde_json::from_str::<Value>(&facts).unwrap()["name"], "</script><b>&");
    }
}
