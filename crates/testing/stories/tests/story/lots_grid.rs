//! The grid of lots in the browser: it scrolls over a long catalogue, takes blocks of a spreadsheet, fills down, moves lots
//! and undoes it all.

use serde_json::json;
use testkit::browser::Page;
use testkit::site::CustomerSite;

use crate::administration::{Administration, assert_accessible, desk_page};

const LOTS: usize = 600;

async fn press(page: &Page, key: &str, with: &str) {
    let script = format!(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', {with}: true, bubbles: true, cancelable: true }}))"
    );
    page.evaluate(&script).await.unwrap();
}

async fn paste(page: &Page, text: &str) {
    let script = format!(
        "(() => {{ const data = new DataTransfer(); data.setData('text/plain', {}); document.activeElement.dispatchEvent( \
         new ClipboardEvent('paste', {{ clipboardData: data, bubbles: true, cancelable: true }})); return true; }})()",
        json!(text)
    );
    page.evaluate(&script).await.unwrap();
}

/// Focuses the cell of a lot.
pub async fn focus(page: &Page, lot: usize, column: &str) {
    let script = format!("document.querySelector('#lot-{} a.cell[data-c={column}]').focus()", lot - 1);
    page.evaluate(&script).await.unwrap();
}

/// The texts of the cells of a lot.
pub async fn cells(page: &Page, lot: usize) -> String {
    let script =
        format!("[...document.querySelectorAll('#lot-{} a.cell')].map((cell) => cell.textContent).join('|')", lot - 1);
    page.text(&script).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_works_on_a_long_catalogue_as_in_a_spreadsheet() {
    let administration = Administration::open().await;
    let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
    let items: Vec<_> =
        (1..=LOTS).map(|lot| json!({ "lotNumber": lot.to_string(), "title": format!("Clock {lot}") })).collect();
    let auction = json!({ "kind": "timed", "title": "Clocks", "endsAt": site.in_ms(3_600_000), "items": items });
    let auction = site.create_auction(auction).await.unwrap();
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;
    page.open(&administration.url(&format!("/auctions/{auction}/lots"))).await.unwrap();
    page.wait_until_shown("Clock 64").await.unwrap();
    assert_accessible(&page).await;

    // A pasted block contains one invalid amount: the other cells are saved, and the error stays in its cell.
    focus(&page, 2, "title").await;
    paste(&page, "Mantel clock\t20\t40\r\nLongcase clock\tcheap\t60\r\n\"A \"\"Vienna\"\" clock\"\t30\t50\r\n").await;
    page.wait_until("document.getElementById('grid-notice').textContent.includes('8 of 9 cells changed. 1 refused')")
        .await
        .unwrap();
    assert_eq!(cells(&page, 2).await, "Mantel clock|£20|£40|–|–");
    assert_eq!(cells(&page, 4).await, "A \"Vienna\" clock|£30|£50|–|–");
    page.wait_until("document.querySelector('#lot-2 .fault').textContent.includes('“cheap” is not one amount')")
        .await
        .unwrap();
    let wrong = "document.querySelector('#lot-2 .cell-form input[name=value]').value";
    assert_eq!(page.text(wrong).await.unwrap(), "cheap");
    assert_accessible(&page).await;
    // The refused value is corrected in its cell.
    page.evaluate(&format!("{wrong} = '35'")).await.unwrap();
    page.evaluate("document.querySelector('#lot-2 .cell-form').requestSubmit()").await.unwrap();
    page.wait_until("document.getElementById('grid-status').textContent === 'Lot 3 saved.'").await.unwrap();

    // The value of the first selected cell goes down, and is undone.
    focus(&page, 2, "lowEstimate").await;
    for _ in 0..3 {
        press(&page, "ArrowDown", "shiftKey").await;
    }
    page.wait_until("document.querySelectorAll('td.picked').length === 4").await.unwrap();
    press(&page, "d", "ctrlKey").await;
    page.wait_until("document.querySelector('#lot-4 a.cell[data-c=lowEstimate]').textContent === '£20'").await.unwrap();
    page.wait_until("document.getElementById('grid-notice').textContent.includes('3 of 3 cells changed')")
        .await
        .unwrap();
    press(&page, "z", "ctrlKey").await;
    page.wait_until("document.querySelector('#lot-4 a.cell[data-c=lowEstimate]').textContent === '–'").await.unwrap();
    page.wait_until("document.getElementById('grid-notice').textContent.includes('That was the undo.')").await.unwrap();
    assert_eq!(cells(&page, 3).await, "Longcase clock|£35|£60|–|–");

    // Lot 1 moves down by one place, and back.
    focus(&page, 1, "title").await;
    press(&page, "ArrowDown", "altKey").await;
    page.wait_until("document.querySelector('#lot-1 th').textContent.trim() === '1'").await.unwrap();
    page.wait_until_shown("The lot was moved.").await.unwrap();
    page.click("Undo").await.unwrap();
    page.wait_until("document.querySelector('#lot-0 th').textContent.trim() === '1'").await.unwrap();

    // The document stays small while the whole catalogue is scrolled, and the address keeps the position.
    page.evaluate("document.querySelector('#lot-0 input[name=lot]').click()").await.unwrap();
    let end = "window.scrollTo(0, document.documentElement.scrollHeight)";
    for lot in (127..LOTS).step_by(64) {
        page.evaluate(end).await.unwrap();
        page.wait_until(&format!("document.getElementById('lot-{lot}') !== null")).await.unwrap();
    }
    page.evaluate(end).await.unwrap();
    page.wait_until(&format!("document.getElementById('lot-{}') !== null", LOTS - 1)).await.unwrap();
    let rows = page.text("String(document.querySelectorAll('[data-grid] tbody tr').length)").await.unwrap();
    assert!(rows.parse::<usize>().unwrap() <= 5 * 64, "{rows} rows");
    page.wait_until("new URLSearchParams(location.search).has('after')").await.unwrap();
    let kept =
        "document.querySelectorAll('#bulk [data-parked]').length === 1 && document.getElementById('lot-0') === null";
    assert_eq!(page.text(&format!("String({kept})")).await.unwrap(), "true", "scrolling removed the selection");
    assert_accessible(&page).await;
    // Then the grid is scrolled back to its beginning.
    for _ in 0..60 {
        page.evaluate("window.scrollTo(0, 0)").await.unwrap();
        page.evaluate("window.dispatchEvent(new WheelEvent('wheel', { deltaY: -100 }))").await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(250)).await;
        if page.text("String(document.getElementById('lot-0') !== null)").await.unwrap() == "true" {
            break;
        }
    }
    page.wait_until("document.querySelector('#lot-0 input[name=lot]')?.checked === true").await.unwrap();
    // A refused cell is the response 422, which a browser reports.
    let errors = page.console_errors();
    assert!(errors.iter().all(|error| error.contains("the server responded with a status of 422")), "{errors:?}");
}

/// The numbers of the first lots in running order.
async fn order(page: &Page, lots: usize) -> String {
    let numbers = "[...document.querySelectorAll('[data-grid] tbody th')].map((cell) => cell.textContent.trim())";
    page.text(&format!("{numbers}.slice(0, {lots}).join(' ')")).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn any_number_of_moves_and_edits_is_undone_in_turn() {
    let administration = Administration::open().await;
    let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
    let items: Vec<_> =
        (1..=6).map(|lot| json!({ "lotNumber": lot.to_string(), "title": format!("Clock {lot}") })).collect();
    let auction = json!({ "kind": "timed", "title": "Clocks", "endsAt": site.in_ms(3_600_000), "items": items });
    let auction = site.create_auction(auction).await.unwrap();
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;
    page.open(&administration.url(&format!("/auctions/{auction}/lots"))).await.unwrap();
    page.wait_until_shown("Clock 6").await.unwrap();
    let first =
        "[...document.querySelectorAll('[data-grid] tbody th')].map((cell) => cell.textContent.trim()).join(' ')";
    let until = async |order: &str| page.wait_until(&format!("{first} === '{order}'")).await.unwrap();

    // Lot 1 moves down twice, its title changes, and lot 6 moves up.
    focus(&page, 1, "title").await;
    press(&page, "ArrowDown", "altKey").await;
    until("2 1 3 4 5 6").await;
    focus(&page, 2, "title").await;
    press(&page, "ArrowDown", "altKey").await;
    until("2 3 1 4 5 6").await;
    focus(&page, 3, "title").await;
    paste(&page, "Mantel clock\t20\r\n").await;
    page.wait_until("document.getElementById('grid-notice').textContent.includes('2 of 2 cells changed')")
        .await
        .unwrap();
    focus(&page, 6, "title").await;
    press(&page, "ArrowUp", "altKey").await;
    until("2 3 1 4 6 5").await;

    // Four times Ctrl+Z at once: each undo waits for the one before it.
    page.evaluate("document.activeElement.blur()").await.unwrap();
    for _ in 0..4 {
        let key = "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'z', ctrlKey: true, bubbles: true, cancelable: true }))";
        page.evaluate(key).await.unwrap();
    }
    until("1 2 3 4 5 6").await;
    page.wait_until("document.querySelector('#lot-0 a.cell[data-c=title]').textContent === 'Clock 1'").await.unwrap();
    assert_eq!(order(&page, 6).await, "1 2 3 4 5 6");
    assert_eq!(cells(&page, 1).await, "Clock 1|–|–|–|–");

    // A change that another user made in between is not undone.
    focus(&page, 1, "title").await;
    press(&page, "ArrowDown", "altKey").await;
    until("2 1 3 4 5 6").await;
    let lots = site.items(&auction).await.unwrap();
    let uuid = lots[1]["uuid"].as_str().unwrap();
    let change = json!({ "items": [{ "item": uuid, "patch": { "title": "Changed by another" } }] });
    site.platform.post(&format!("/api/v1/auctions/{auction}/items/changes"), &change).await.unwrap();
    press(&page, "z", "ctrlKey").await;
    page.wait_until("document.getElementById('grid-notice').textContent.includes('Nothing was moved')").await.unwrap();
    assert_eq!(order(&page, 6).await, "2 1 3 4 5 6");
}
