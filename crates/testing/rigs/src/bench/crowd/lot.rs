//! The lot that a crowd looks at, and bidders with accounts and paddles. Setting them up is not measured.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use super::bidders::{BidBox, Bidder};
use crate::RigError;
use crate::bench::saleroom::{HOUSE, House, address};
use crate::bench::timers::set_status;
use crate::bench::visitor::Visitor;

const PASSWORD: &str = "three green lamps";
/// Seconds by which a bid extends the end.
pub(super) const EXTENSION_S: u32 = 20;
/// Time until the lot ends, before the sale goes live.
const FAR_MS: i64 = 3_600_000;
/// Bidders who open their accounts at the same time.
const AT_ONCE: usize = 8;
/// Time limit for the mailed links.
const MAILS_MAX: Duration = Duration::from_secs(120);

/// A sale of one lot.
pub(super) struct Lot {
    pub(super) auction: String,
    pub(super) item: String,
}

impl Lot {
    /// Announces the sale.
    pub(super) async fn announce(house: &House) -> Result<Self, RigError> {
        let auction = json!({ "kind": "timed", "title": "The last minute", "endsAt": house.site.in_ms(FAR_MS),
            "extensionSeconds": EXTENSION_S, "charges": { "premiumBasisPoints": 2_500, "premiumTaxBasisPoints": 2_000 },
            "items": [{ "lotNumber": "1", "title": "A lot that all look at", "openingBid": 10_000, "fixedIncrement": 500 }] });
        let auction = house.site.create_auction(auction).await?;
        let items = house.site.items(&auction).await?;
        let item = items.first().and_then(|item| item["uuid"].as_str());
        let item = item.ok_or("the sale has no lot")?.to_owned();
        set_status(&house.site, &auction, "PREVIEW").await?;
        house.site.wait_for_bulk_change(&auction).await?;
        // A new lot is a draft, which no visitor sees.
        let path = format!("/api/v1/items/{item}");
        let seen = house.site.platform.get(&path).await?.etag;
        let shown = json!({ "status": "PREVIEW" });
        house.site.platform.post_if_match(&format!("{path}/status"), seen.as_ref(), &shown).await?;
        Ok(Self { auction, item })
    }

    /// Puts the lot on sale, so that it ends after this time without a bid.
    pub(super) async fn begin_sale(&self, house: &House, ends_in: Duration) -> Result<(), RigError> {
        let (site, path) = (&house.site, format!("/api/v1/auctions/{}", self.auction));
        let seen = site.platform.get(&path).await?.etag;
        let ends = json!({ "endsAt": site.in_ms(ends_in.as_millis() as i64) });
        site.platform.post_if_match(&format!("{path}/ends"), seen.as_ref(), &ends).await?;
        site.wait_for_bulk_change(&self.auction).await?;
        set_status(site, &self.auction, "LIVE").await?;
        Ok(site.wait_for_bulk_change(&self.auction).await?)
    }

    /// Path of the lot's page.
    pub(super) fn path(&self) -> String {
        format!("{HOUSE}/sales/{}/lots/{}", self.auction, self.item)
    }

    /// Bidders who opened accounts by a mailed link, each from an address of their own, and registered for the sale.
    pub(super) async fn bidders(&self, house: &mut House, count: usize) -> Result<Vec<Bidder>, RigError> {
        let site = house.saleroom.first().ok_or("no node")?.clone();
        let email = |number: usize| format!("bidder-{number}@example.com");
        let visitors: Vec<Visitor> = (0..count).map(|number| Visitor::new(&site, address(number))).collect();
        let asking = visitors.into_iter().enumerate().map(|(number, mut visitor)| async move {
            let email = email(number);
            let asked = visitor.post(&format!("{HOUSE}/sign-up"), &[("email", &email)]).await?;
            asked.require(&[200], "asking for a link")?;
            Ok::<_, RigError>(visitor)
        });
        let visitors = in_turns(asking).await?;
        let links = links(house, count).await?;
        let (auction, lot) = (self.auction.clone(), self.path());
        let opening = visitors.into_iter().enumerate().map(|(number, mut visitor)| {
            let (auction, lot, email) = (auction.clone(), lot.clone(), email(number));
            let key = links.get(&email).cloned();
            async move {
                let key = key.ok_or_else(|| format!("no link was mailed to {email}"))?;
                let name = format!("Bidder {number}");
                let fields = [("key", key.as_str()), ("name", &name), ("password", PASSWORD)];
                let opened = visitor.post(&format!("{HOUSE}/sign-up/account"), &fields).await?;
                opened.require(&[303], "opening an account")?;
                let registered = visitor.post(&format!("{HOUSE}/sales/{auction}/register"), &[("lot", "")]).await?;
                registered.require(&[303], "registering")?;
                let page = visitor.get(&lot).await?.require(&[200], "the lot's page")?;
                let shown = BidBox::of(&page).filter(|shown| !shown.paddle.is_empty());
                let paddle = shown.ok_or("the lot's page names no paddle")?.paddle;
                Ok(Bidder { visitor, paddle, lot })
            }
        });
        in_turns(opening).await
    }
}

/// The keys of the mailed links by address.
async fn links(house: &mut House, count: usize) -> Result<HashMap<String, String>, RigError> {
    let deadline = Instant::now() + MAILS_MAX;
    let mut links = HashMap::new();
    while links.len() < count {
        let mail = tokio::time::timeout_at(deadline.into(), house.mails.next()).await;
        let mail = mail.map_err(|_| format!("{} of {count} links were mailed", links.len()))?;
        let mail = mail.ok_or("the mail server has stopped")?;
        let key = mail.text.lines().find(|line| line.starts_with("http")).and_then(|link| link.split_once("?key="));
        links.extend(key.map(|(_, key)| (mail.to, key.trim().to_owned())));
    }
    Ok(links)
}

/// Runs the tasks, [`AT_ONCE`] of them at a time. Returns their results in order.
async fn in_turns<T: Send + 'static>(
    tasks: impl Iterator<Item = impl Future<Output = Result<T, RigError>> + Send + 'static>,
) -> Result<Vec<T>, RigError> {
    let (mut running, mut results) = (JoinSet::new(), Vec::new());
    for (number, task) in tasks.enumerate() {
        if running.len() >= AT_ONCE {
            results.extend(running.join_next().await.transpose()?);
        }
        running.spawn(async move { (number, task.await) });
    }
    while let Some(result) = running.join_next().await {
        results.push(result?);
    }
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}
