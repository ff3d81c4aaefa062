//! What a user of the administration enters in forms: names, a bidder with a likely duplicate, the house, and mails to bidders.

use serde_json::json;

use super::{LONG_BIDDER, LONG_EMAIL, LONG_HOUSE, LONG_USER, ShowcaseError, other};
use crate::browser::Page;
use crate::picture::picture;
use crate::site::CustomerSite;

/// Gives the user and the customer their names.
pub(super) async fn name_user_and_house(page: &Page, platform_url: &str, customer: &str) -> Result<(), ShowcaseError> {
    let house = format!("/admin/customers/{customer}/rename");
    for (path, name, button, shown) in [
        ("/admin/account/name", LONG_USER, "Save name", "The name was saved"),
        (house.as_str(), LONG_HOUSE, "Rename customer", "The customer was renamed"),
    ] {
        page.open(&format!("{platform_url}{path}")).await?;
        page.wait_until_at(path).await?;
        page.fill("name", name).await?;
        page.click_through(button).await?;
        page.wait_until_shown(shown).await?;
    }
    Ok(())
}

/// Adds a bidder to the register of the customer, and returns to the first page.
pub(super) async fn add_bidder(page: &Page, platform_url: &str) -> Result<(), ShowcaseError> {
    page.open(&format!("{platform_url}/admin/people/new")).await?;
    page.wait_until_at("/admin/people/new").await?;
    for (field, text) in [
        ("name", LONG_BIDDER),
        ("reference", "B-1042"),
        ("email", LONG_EMAIL),
        ("phone", "+44 20 7946 0018"),
        ("line1", "12 Cooper Street"),
        ("city", "Bath"),
        ("postcode", "BA1 1AA"),
        ("document", "passport"),
        ("currency", "GBP"),
        ("deposit", "5000"),
        ("limit", "1250000"),
        ("note", "Pays by transfer within a week. Call after 18:00."),
    ] {
        page.fill(field, text).await?;
    }
    page.click_through("Add person or firm").await?;
    page.wait_until_shown("The record was added").await?;
    add_likely_duplicate(page, platform_url).await?;
    page.open(&format!("{platform_url}/admin")).await?;
    Ok(page.wait_until_at("/admin").await?)
}

/// Adds a second record of the same bidder, so that the register proposes to merge them.
async fn add_likely_duplicate(page: &Page, platform_url: &str) -> Result<(), ShowcaseError> {
    page.open(&format!("{platform_url}/admin/people/new")).await?;
    page.wait_until_at("/admin/people/new").await?;
    for (field, text) in [
        ("name", "Featherstonehaugh-Cholmondeley, M."),
        ("reference", "V-77"),
        ("email", &LONG_EMAIL.to_uppercase()),
        ("phone", "020 7946 0018"),
        ("line1", "The Old Rectory, Church Lane"),
        ("city", "Bath"),
        ("postcode", "BA2 6QA"),
        ("currency", "GBP"),
        ("deposit", "2500"),
        ("limit", "400000"),
        ("note", "Gate code 12. Collects on Mondays."),
    ] {
        page.fill(field, text).await?;
    }
    page.click_through("Add person or firm").await?;
    page.wait_until_shown("Nothing was added yet.").await?;
    page.click_through("Add as a new record").await?;
    Ok(page.wait_until_shown("The record was added").await?)
}

/// Enters what the customer says of itself, with two versions of its conditions, and returns to the first page.
pub(super) async fn describe_house(page: &Page, platform_url: &str, customer: &str) -> Result<(), ShowcaseError> {
    let path = format!("/admin/customers/{customer}");
    page.open(&format!("{platform_url}{path}/house")).await?;
    page.wait_until_at(&format!("{path}/house")).await?;
    for (field, text) in [
        ("currency", "GBP"),
        ("timeZone", "Europe/London"),
        ("email", "bids@hartley.example"),
        ("phone", "+44 1225 960 0117"),
        ("website", "https://www.hartley.example"),
        ("line1", "The Old Corn Exchange"),
        ("line2", "3 Queen Charlotte Street"),
        ("city", "Bath"),
        ("postcode", "BA1 2NF"),
        ("about", "Auctioneers of furniture, clocks and works of art since 1887. Two sales a month."),
        ("payment", "By bank transfer or debit card within seven days of the sale."),
        (
            "collection",
            "From the saleroom until the Friday after the sale, 10:00 to 17:00. After that, storage is charged.",
        ),
    ] {
        page.fill(field, text).await?;
    }
    let logo = tempfile::Builder::new().suffix(".jpg").tempfile().map_err(other)?;
    std::fs::write(logo.path(), picture(3)).map_err(other)?;
    page.choose_files("logo", &[logo.path()]).await?;
    page.click_through("Save house").await?;
    page.wait_until_shown("The house was saved").await?;
    for clause in ["The highest bidder is the buyer.", "The highest bidder is the buyer. Bids are in pounds."] {
        page.open(&format!("{platform_url}{path}/conditions")).await?;
        page.wait_until_at(&format!("{path}/conditions")).await?;
        let text = format!("1. {clause}\n2. The buyer pays the hammer price, the premium and the taxes on both.");
        page.fill("text", &text).await?;
        page.click_through("Add version").await?;
        page.wait_until_shown("The version was added").await?;
    }
    page.open(&format!("{platform_url}/admin")).await?;
    Ok(page.wait_until_at("/admin").await?)
}

/// Turns mails to bidders on, and approves some whose mails wait, because no server takes them. Returns to the first page.
pub(super) async fn write_to_bidders(
    page: &Page,
    platform_url: &str,
    site: &CustomerSite,
) -> Result<(), ShowcaseError> {
    let path = format!("/admin/customers/{}/mails/texts", site.customer);
    page.open(&format!("{platform_url}{path}")).await?;
    page.wait_until_at(&path).await?;
    page.click("Write to bidders when their registration is approved, declined or suspended").await?;
    page.click_through("Save texts").await?;
    page.wait_until_shown("The texts were saved").await?;
    let preview = site.platform.get("/api/v1/auctions?status=PREVIEW").await?;
    let auction = preview.text("/data/0/uuid")?.to_owned();
    for (paddle, name, email) in [
        ("214", LONG_BIDDER, Some(LONG_EMAIL)),
        ("215", "Jean-Baptiste de la Rochefoucauld", Some("jb@rochefoucauld.example")),
        ("216", "Ida Okonkwo", None),
    ] {
        let registration = json!({ "paddle": paddle, "name": name, "email": email, "status": "approved" });
        site.platform.post(&format!("/api/v1/auctions/{auction}/registrations"), &registration).await?;
    }
    page.open(&format!("{platform_url}/admin")).await?;
    Ok(page.wait_until_at("/admin").await?)
}
