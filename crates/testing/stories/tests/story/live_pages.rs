//! Many live pages of one sale in one browser: hidden pages leave their connections to those in use.

use testkit::browser::Browser;

use crate::clerks_desk::DeskFixture;

/// More than a browser opens to one server over HTTP/1.1.
const ROOM_SCREENS: usize = 8;

#[tokio::test(flavor = "multi_thread")]
async fn the_desk_works_beside_eight_room_screens_that_are_hidden() {
    let sale = DeskFixture::open(2).await;
    let browser = Browser::with_windows().await.unwrap();
    let desk = sale.desk(&browser).await;
    let room = sale.launch.platform_url() + &format!("/admin/webcasts/{}/room", sale.webcast);
    let mut screens = Vec::new();
    for _ in 0..ROOM_SCREENS {
        // Each tab hides the one before it.
        let screen = browser.tab().await.unwrap();
        screen.open(&room).await.unwrap();
        screen.wait_until("document.getElementById('stale')?.hidden === true").await.unwrap();
        screens.push(screen);
    }
    assert_eq!(screens[0].text("document.visibilityState").await.unwrap(), "hidden");
    desk.page.show().await.unwrap();

    desk.does("n", "Lot 1 is in the ring").await;
    desk.does("+", "£100 from the room").await;
    desk.does("F9", "Lot 1 sold at £100").await;

    // A screen that comes to the front shows the present state of the sale.
    let is_sold = "document.querySelector('.word')?.textContent === 'Sold'";
    assert_eq!(screens[0].text(&format!("String({is_sold})")).await.unwrap(), "false");
    screens[0].show().await.unwrap();
    screens[0].wait_until(is_sold).await.unwrap();
}
