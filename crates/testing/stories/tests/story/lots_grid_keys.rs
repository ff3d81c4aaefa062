//! The grid of lots with the keyboard: typing, Tab, F2 and Delete; its header, its columns, and a formula for a selection.

use serde_json::json;
use testkit::browser::Page;
use testkit::site::CustomerSite;

use crate::administration::{Administration, assert_accessible, desk_page};
use crate::lots_grid::{cells, focus};

/// A timed auction with this number of lots, whose grid is open.
async fn grid(administration: &Administration, lots: usize) -> Page {
    let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
    let items: Vec<_> =
        (1..=lots).map(|lot| json!({ "lotNumber": lot.to_string(), "title": format!("Clock {lot}") })).collect();
    let auction = json!({ "kind": "timed", "title": "Clocks", "endsAt": site.in_ms(3_600_000), "items": items });
    let auction = site.create_auction(auction).await.unwrap();
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;
    page.open(&administration.url(&format!("/auctions/{auction}/lots"))).await.unwrap();
    page.wait_until_shown("Clock 6").await.unwrap();
    page
}

/// Waits until the cells of a lot are these.
async fn until_cells(page: &Page, lot: usize, texts: &str) {
    let script = "[...document.querySelectorAll('#lot-LOT a.cell')].map((cell) => cell.textContent).join('|')";
    let script = script.replace("LOT", &(lot - 1).to_string());
    page.wait_until(&format!("{script} === {}", json!(texts))).await.unwrap();
}

/// Lot and field of the focused cell, and whether it is open.
async fn focused(page: &Page) -> String {
    let script = "(() => { const cell = document.activeElement; return [cell.closest('tr')?.querySelector('th').textContent.trim(), \
                  cell.dataset.c, cell.matches('.cell-input')].join(' '); })()";
    page.text(script).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_types_a_catalogue_without_the_mouse() {
    let administration = Administration::open().await;
    let page = grid(&administration, 6).await;

    // Typing replaces a title, and goes on in the next cells while the first ones are being saved.
    focus(&page, 1, "title").await;
    page.type_keys("Mantel").await.unwrap();
    assert_eq!(focused(&page).await, "1 title true");
    page.press("Tab").await.unwrap();
    assert_eq!(focused(&page).await, "1 lowEstimate false");
    page.type_keys("120").await.unwrap();
    page.press("Tab").await.unwrap();
    page.type_keys("150").await.unwrap();
    page.press("Enter").await.unwrap();
    assert_eq!(focused(&page).await, "2 highEstimate false");
    until_cells(&page, 1, "Mantel|£120|£150|–|–").await;
    assert_eq!(focused(&page).await, "2 highEstimate false", "answers leave the focus where it is");

    // A refused value stays open with its error, and what is typed after it is saved.
    focus(&page, 2, "openingBid").await;
    page.type_keys("cheap").await.unwrap();
    page.press("Tab").await.unwrap();
    page.type_keys("90").await.unwrap();
    page.press("Tab").await.unwrap();
    assert_eq!(focused(&page).await, "3 title false", "Tab goes on in the next row");
    page.wait_until("document.querySelector('#lot-1 .fault')?.textContent.includes('“cheap” is not one amount')")
        .await
        .unwrap();
    until_cells(&page, 2, "Clock 2|–|–|£90").await;
    let refused = "document.querySelector('#lot-1 .cell-form [name=value]')";
    assert_eq!(page.text(&format!("{refused}.value")).await.unwrap(), "cheap");
    assert_accessible(&page).await;
    page.evaluate(&format!("{refused}.value = '80'; {refused}.focus()")).await.unwrap();
    page.press("Enter").await.unwrap();
    until_cells(&page, 2, "Clock 2|–|–|£80|£90").await;

    // F2 edits what the cell has; Escape leaves it.
    focus(&page, 3, "title").await;
    page.press("F2").await.unwrap();
    page.type_keys("!").await.unwrap();
    let value = "document.activeElement.value";
    assert_eq!(page.text(value).await.unwrap(), "Clock 3!");
    page.press("Escape").await.unwrap();
    assert_eq!((focused(&page).await.as_str(), cells(&page, 3).await.as_str()), ("3 title false", "Clock 3|–|–|–|–"));

    // Delete clears, and each step is undone.
    focus(&page, 2, "reserve").await;
    page.press("Delete").await.unwrap();
    until_cells(&page, 2, "Clock 2|–|–|£80|–").await;
    let undo = "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'z', ctrlKey: true, bubbles: true, cancelable: true }))";
    page.evaluate("document.activeElement.blur()").await.unwrap();
    page.evaluate(undo).await.unwrap();
    until_cells(&page, 2, "Clock 2|–|–|£80|£90").await;
    for _ in 0..4 {
        page.evaluate(undo).await.unwrap();
    }
    until_cells(&page, 1, "Clock 1|–|–|–|–").await;
    // A refused cell is the response 422, which a browser reports.
    let errors = page.console_errors();
    assert!(errors.iter().all(|error| error.contains("the server responded with a status of 422")), "{errors:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_grid_shows_fifteen_rows_below_a_header_that_stays_and_the_columns_that_were_chosen() {
    let administration = Administration::open().await;
    let page = grid(&administration, 64).await;
    page.resize_to(1_440, 900).await.unwrap();
    page.wait_until("innerWidth === 1440").await.unwrap();
    let visible = "String([...document.querySelectorAll('[data-grid] tbody tr')].filter((row) => \
                   row.getBoundingClientRect().bottom <= innerHeight).length)";
    let rows: usize = page.text(visible).await.unwrap().parse().unwrap();
    assert!(rows >= 15, "{rows} rows are visible");
    page.evaluate("window.scrollTo(0, 900)").await.unwrap();
    page.wait_until("window.scrollY === 900").await.unwrap();
    let top = "String(document.querySelector('[data-grid] thead th:nth-child(3)').getBoundingClientRect().top)";
    assert_eq!(page.text(top).await.unwrap(), "0", "the header left the window");
    page.evaluate("window.scrollTo(0, 0)").await.unwrap();

    let headings =
        "[...document.querySelectorAll('[data-grid] thead th')].slice(1).map((one) => one.textContent).join('|')";
    let usual = page.text(headings).await.unwrap();
    assert!(usual.starts_with("Lot|Title|Low est.|High est.|Opening|Reserve|Status|Price|Bids|Ends ("), "{usual}");
    page.click("Columns").await.unwrap();
    assert_accessible(&page).await;
    for words in ["Description", "Consignor", "Bids", "Price"] {
        page.click(words).await.unwrap();
    }
    page.click_through("Show columns").await.unwrap();
    let chosen = page.text(headings).await.unwrap();
    assert!(
        chosen.starts_with("Lot|Title|Description|Consignor|Low est.|High est.|Opening|Reserve|Status|Ends ("),
        "{chosen}"
    );
    page.reload().await.unwrap();
    assert_eq!(page.text(headings).await.unwrap(), chosen, "the browser keeps the choice");

    // A description has lines.
    focus(&page, 1, "description").await;
    page.type_keys("Brass").await.unwrap();
    let line = "document.activeElement.value += '\\nabout 1890'";
    page.evaluate(line).await.unwrap();
    page.press("Enter").await.unwrap();
    page.wait_until("document.getElementById('grid-status').textContent === 'Lot 1 saved.'").await.unwrap();
    let text = "document.querySelector('#lot-0 a.cell[data-c=description]').textContent";
    assert_eq!(page.text(text).await.unwrap(), "Brass\nabout 1890");
    assert_accessible(&page).await;
    assert_eq!(page.console_errors(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_formula_sets_the_reserves_of_a_selection_and_is_undone_in_one_step() {
    let administration = Administration::open().await;
    let page = grid(&administration, 6).await;
    focus(&page, 1, "lowEstimate").await;
    for amount in ["255", "1200"] {
        page.type_keys(amount).await.unwrap();
        page.press("Enter").await.unwrap();
    }
    until_cells(&page, 2, "Clock 2|£1,200|–|–|–").await;
    until_cells(&page, 1, "Clock 1|£255|–|–|–").await;
    for lot in 0..3 {
        page.evaluate(&format!("document.querySelector('#lot-{lot} input[name=lot]').click()")).await.unwrap();
    }
    page.evaluate("document.getElementById('action').value = 'FORMULA'").await.unwrap();
    page.click_through("Continue").await.unwrap();
    page.wait_until_shown("Set an amount of 3 lots by a formula").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Show result").await.unwrap();
    let words = "Reserve = 90\u{a0}% of the low estimate, rounded to the nearest multiple of £10, from the middle up.";
    page.wait_until_shown(words).await.unwrap();
    page.wait_until_shown("2 lots change.").await.unwrap();
    page.wait_until_shown("the result is no amount: 3.").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Set reserve").await.unwrap();
    page.wait_until_shown("2 lots were changed.").await.unwrap();
    let other = desk_page(&administration.browser).await;
    other.open(&page.text("document.querySelector('.button[href$=\"/lots\"]').href").await.unwrap()).await.unwrap();
    until_cells(&other, 1, "Clock 1|£255|–|–|£230").await;
    until_cells(&other, 2, "Clock 2|£1,200|–|–|£1,080").await;
    page.click_through("Undo for 2 lots").await.unwrap();
    page.wait_until_shown("2 lots were changed.").await.unwrap();
    page.click_through("Show lots").await.unwrap();
    until_cells(&page, 1, "Clock 1|£255|–|–|–").await;
    assert_eq!(page.console_errors(), Vec::<String>::new());
}
