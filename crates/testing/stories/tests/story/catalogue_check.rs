//! A house's file with ambiguous or invalid amounts: each is refused in its cell, corrected on the page, and imported.

use serde_json::json;
use testkit::browser::Page;
use testkit::site::CustomerSite;

use crate::administration::{Administration, assert_accessible, desk_page};

const CATALOGUE: &str = "Los-Nr.;Bezeichnung;Schätzpreis von;Schätzpreis bis;Startpreis\n\
     1;Kaminuhr;£1.2k;2.000,00;50p\n2;Kanne;12 or 15;€50;10,00\n3;Besteck;£25.00;40,00;\n";

async fn choose_file(page: &Page, name: &str, content: &str) {
    let script = format!(
        "(() => {{ const files = new DataTransfer(); files.items.add(new File([{}], {})); \
         document.getElementById('file').files = files.files; return true; }})()",
        json!(content),
        json!(name)
    );
    page.evaluate(&script).await.unwrap();
}

/// Types into the field of a cell.
async fn mend(page: &Page, label: &str, text: &str) {
    let field = format!("document.querySelector('[aria-label={}]')", json!(label));
    page.evaluate(&format!("{field}.value = {}", json!(text))).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clerk_corrects_the_cells_of_a_catalogue_without_another_upload() {
    let administration = Administration::open().await;
    let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
    let auction = json!({ "kind": "timed", "title": "Uhren", "endsAt": site.in_ms(3_600_000) });
    let auction = site.create_auction(auction).await.unwrap();
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;

    page.open(&administration.url(&format!("/auctions/{auction}/lots/import"))).await.unwrap();
    page.wait_until("document.getElementById('file') !== null").await.unwrap();
    choose_file(&page, "haus.csv", CATALOGUE).await;
    page.click_through("Upload file").await.unwrap();
    for shown in [
        "“£1.2k” is not one amount.",
        "“50p” is not one amount.",
        "“12 or 15” is not one amount.",
        "“€50” is in another currency than the sale.",
        "Nothing is imported while a cell has an error.",
    ] {
        page.wait_until_shown(shown).await.unwrap();
    }
    // The house's headers are mapped, and each select shows its whole text.
    let chosen = "[...document.querySelectorAll('td select')].map((field) => field.value).join()";
    assert_eq!(page.text(chosen).await.unwrap(), "lot_number,title,low_estimate,high_estimate,opening_bid");
    let is_whole = "[...document.querySelectorAll('td select')].every((field) => { const copy = field.cloneNode(true); \
         copy.style = 'width: auto; max-width: none; position: absolute'; field.after(copy); \
         const needed = copy.offsetWidth; copy.remove(); return field.offsetWidth >= needed; })";
    page.wait_until(is_whole).await.unwrap();
    assert_accessible(&page).await;

    for (label, text) in [
        ("Schätzpreis von, line 2", "1200"),
        ("Startpreis, line 2", "0.50"),
        ("Schätzpreis von, line 3", "12,50"),
        ("Schätzpreis bis, line 3", "50"),
    ] {
        mend(&page, label, text).await;
    }
    page.click_through("Check again").await.unwrap();
    page.wait_until_shown("Mended cells").await.unwrap();
    // Each value stands beside the text that it was read from.
    for shown in ["£1,200.00", "£12.50", "£2,000.00", "£25.00"] {
        page.wait_until_shown(shown).await.unwrap();
    }
    assert_accessible(&page).await;
    // A cell that is changed after the check is checked before the import.
    mend(&page, "Schätzpreis von, line 4", "30").await;
    page.click_through("Import 3 lots").await.unwrap();
    page.wait_until_shown("You changed cells or columns after the last check.").await.unwrap();
    page.wait_until_shown("£30.00").await.unwrap();
    page.click_through("Import 3 lots").await.unwrap();
    page.wait_until_shown("The catalogue was imported.").await.unwrap();
    let items = site.items(&auction).await.unwrap();
    let amounts: Vec<_> = items
        .iter()
        .map(|item| ["lowEstimate", "highEstimate", "openingBid"].map(|field| item[field].as_i64().unwrap()))
        .collect();
    assert_eq!(amounts, [[120_000, 200_000, 50], [1_250, 5_000, 1_000], [3_000, 4_000, 0]]);
    assert_eq!(page.console_errors(), Vec::<String>::new());
}
