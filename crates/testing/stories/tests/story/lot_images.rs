//! Images of a webcast in a browser: an auctioneer uploads files that find their lots by name, assigns one that does not, and
//! sees them on the page of the lot, in the list of lots, on the clerk's desk and on the room screen.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use testkit::browser::Page;
use testkit::picture::picture;
use testkit::site::CustomerSite;

use crate::administration::{Administration, assert_accessible, desk_page};

/// A picture on the page that was loaded and has pixels.
fn is_loaded(selector: &str) -> String {
    format!(
        "(() => {{ const image = document.querySelector({}); return image !== null && image.complete && image.naturalWidth > 0; }})()",
        json!(selector)
    )
}

fn file(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// The rows of the results, each as "file lot result".
async fn results(page: &Page) -> Vec<String> {
    let rows = "[...document.querySelectorAll('#file-rows tr')].map((row) => [...row.children].map((cell) => \
         cell.textContent.trim()).join(' ')).sort().join('\\n')";
    page.text(rows).await.unwrap().lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_auctioneer_uploads_images_by_their_names_and_the_desk_shows_them() {
    let administration = Administration::open().await;
    let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
    let lots = ["Bureau", "Teapot", "Two hares"];
    let items: Vec<_> = (1..)
        .zip(lots)
        .map(|(lot, title)| json!({ "lotNumber": lot.to_string(), "title": title, "openingBid": 10_000 }))
        .collect();
    let webcast = json!({ "title": "Winter sale", "kind": "webcast", "status": "LIVE", "startsAt": site.in_ms(-1_000), "items": items });
    let webcast = site.create_auction(webcast).await.unwrap();
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;

    let folder = tempfile::tempdir().unwrap();
    let files = [
        file(folder.path(), "Lot 1 (2).jpg", &picture(1)),
        file(folder.path(), "001.jpg", &picture(2)),
        file(folder.path(), "2-a.jpg", &picture(3)),
        file(folder.path(), "DSC_0815.jpg", &picture(4)),
        file(folder.path(), "2.jpg", b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"),
    ];
    page.open(&administration.url(&format!("/auctions/{webcast}/lots"))).await.unwrap();
    page.wait_until_shown("Two hares").await.unwrap();
    page.click_through("Upload images").await.unwrap();
    page.wait_until_shown("or drop them here").await.unwrap();
    assert_accessible(&page).await;
    page.choose_files("files", &files.each_ref().map(PathBuf::as_path)).await.unwrap();
    page.click("Upload images").await.unwrap();
    page.wait_until_shown("3 of 5 files are at their lots. 1 was refused. 1 waits for a lot.").await.unwrap();
    assert_eq!(
        results(&page).await,
        [
            "001.jpg 1 Added",
            "2-a.jpg 2 Added",
            "2.jpg 2 RefusedThe file is an SVG image or a web page, which may contain script: export the picture as JPEG or PNG.Try again",
            "Lot 1 (2).jpg 1 Added",
        ]
    );
    assert_accessible(&page).await;

    // An unknown lot number is reported beside the file; an existing one uploads it.
    let field = page.text("document.querySelector('#tray-files input').id").await.unwrap();
    for (number, shown) in
        [("99", "No lot has the number 99."), ("3", "4 of 5 files are at their lots. 1 was refused.")]
    {
        page.fill(&field, number).await.unwrap();
        page.click("Upload to these lots").await.unwrap();
        page.wait_until_shown(shown).await.unwrap();
    }
    page.wait_until("document.getElementById('tray').hidden").await.unwrap();

    // An archive is uploaded like the images in it; an image that matches no lot waits for a lot number.
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, seed) in [("photos/3-2.jpg", 5), ("photos/IMG_7.jpg", 6)] {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(&picture(seed)).unwrap();
    }
    let archive = file(folder.path(), "photos.zip", &archive.finish().unwrap().into_inner());
    page.choose_files("files", &[archive.as_path()]).await.unwrap();
    page.click("Upload images").await.unwrap();
    page.wait_until_shown("5 of 7 files are at their lots. 1 was refused. 1 waits for a lot.").await.unwrap();
    page.wait_until_shown("The name does not begin with a lot number.").await.unwrap();
    assert_accessible(&page).await;
    let field = page.text("document.querySelector('#tray-files input').id").await.unwrap();
    page.fill(&field, "2").await.unwrap();
    page.click("Upload to these lots").await.unwrap();
    page.wait_until_shown("6 of 7 files are at their lots. 1 was refused.").await.unwrap();
    let rows = results(&page).await;
    for row in ["photos/3-2.jpg 3 Added", "photos/IMG_7.jpg 2 Added", "photos.zip  Read"] {
        assert!(rows.iter().any(|found| found == row), "{row:?} is not in {rows:?}");
    }
    // An archive without images says so in its row.
    let empty = zip::ZipWriter::new(std::io::Cursor::new(Vec::new())).finish().unwrap().into_inner();
    let empty = file(folder.path(), "empty.zip", &empty);
    page.choose_files("files", &[empty.as_path()]).await.unwrap();
    page.click("Upload images").await.unwrap();
    page.wait_until_shown("The archive has no images.").await.unwrap();
    assert_accessible(&page).await;

    // The list of lots, and the page of a lot with both images in the order of their names.
    page.click_through("Show lots").await.unwrap();
    page.wait_until("document.querySelectorAll('.grid img.thumb').length === 3").await.unwrap();
    page.wait_until(&is_loaded(".grid img.thumb")).await.unwrap();
    page.click_through("1").await.unwrap();
    page.wait_until_shown("2 images").await.unwrap();
    let names = "[...document.querySelectorAll('.pictures .name')].map((name) => name.textContent).join(', ')";
    assert_eq!(page.text(names).await.unwrap(), "001.jpg, Lot 1 (2).jpg");
    page.wait_until(&is_loaded(".pictures li:last-child img")).await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Make image 2 the first").await.unwrap();
    page.wait_until_shown("The image is the first now.").await.unwrap();
    assert_eq!(page.text(names).await.unwrap(), "Lot 1 (2).jpg, 001.jpg");

    // The desk and the room screen show the first image of the lot in the ring.
    let items = site.items(&webcast).await.unwrap();
    let ring = format!("/api/v1/auctions/{webcast}/ring");
    let etag = site.platform.get(&ring).await.unwrap().etag;
    site.platform
        .post_if_match(&format!("{ring}/send"), etag.as_ref(), &json!({ "item": items[0]["uuid"] }))
        .await
        .unwrap();
    for (screen, picture) in [("desk", ".picture img"), ("room", ".show img"), ("speaker", ".picture img")] {
        page.open(&administration.url(&format!("/webcasts/{webcast}/{screen}"))).await.unwrap();
        page.wait_until_at(&format!("/admin/webcasts/{webcast}/{screen}")).await.unwrap();
        page.wait_until(&is_loaded(picture)).await.unwrap();
    }
    assert_eq!(
        page.console_errors().iter().filter(|error| !error.contains("422")).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
}
