//! Images of lots: on the page of a lot, many at once by their file names, and who sees them.

use contract::AuctionStatus;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use platform_core::Role;
use platform_core::images::ItemImage;

use crate::sale_fixture::{Sale, staff};
use testkit::web::Answer;

fn picture(colour: u8, format: ImageFormat) -> Vec<u8> {
    let image = DynamicImage::ImageRgb8(RgbImage::from_pixel(40, 30, Rgb([colour, 90, 120])));
    let mut file = std::io::Cursor::new(Vec::new());
    image.write_to(&mut file, format).unwrap();
    file.into_inner()
}

fn jpeg(colour: u8) -> Vec<u8> {
    picture(colour * 40, ImageFormat::Jpeg)
}

/// A small PNG file that claims to have this many pixels at each side.
fn bomb(side: u32) -> Vec<u8> {
    let bit = |sum: u32, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
    let crc32 = |bytes: &[u8]| !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), bit));
    let mut file = picture(1, ImageFormat::Png);
    file[16..20].copy_from_slice(&side.to_be_bytes());
    file[20..24].copy_from_slice(&side.to_be_bytes());
    let sum = crc32(&file[12..29]);
    file[29..33].copy_from_slice(&sum.to_be_bytes());
    file
}

impl Sale {
    async fn images(&self, place: usize) -> Vec<ItemImage> {
        self.fixture.platform.images(&staff(), self.auction, &[self.items[place].uuid]).await.unwrap()
    }

    async fn image_names(&self, place: usize) -> Vec<String> {
        self.images(place).await.into_iter().map(|image| image.file_name).collect()
    }
}

/// The names of listed files with their badges and words, without tags.
fn results(answer: &Answer, list: &str) -> String {
    let part = answer.between(list, "</section>");
    let mut out = String::new();
    let mut is_tag = false;
    for char in part.chars() {
        match char {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                out.push(' ');
            }
            _ if !is_tag => out.push(char),
            _ => {}
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn a_lot_gets_images_which_are_ordered_and_removed_with_confirmation() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A jug"]).await;
    sale.operator.get(&sale.lot(0, "")).await.shows("Images appear here.").shows("Add images");
    let (front, back) = (jpeg(1), jpeg(2));
    // Two pictures of a phone, which have one name.
    let files: [(&str, &[u8]); 2] = [("image.jpg", &front), ("image.jpg", &back)];
    let added = sale.operator.upload_all(&sale.lot(0, "/images"), &files).await;
    added.leads_to(&sale.lot(0, "?done=images#images"));
    let images = sale.images(0).await;
    assert_eq!(images.len(), 2);
    let page = sale.operator.get(&sale.lot(0, "?done=images")).await;
    page.shows("The images were stored.").shows("2 images").shows("alt=\"Image 2 of lot 1\"").shows("40 × 30 px");

    // The same file again changes nothing.
    sale.operator.upload_all(&sale.lot(0, "/images"), &files[..1]).await.is(303);
    assert_eq!(sale.images(0).await, images);

    let second = images[1].uuid;
    let first = sale.operator.submit(&sale.lot(0, &format!("/images/{second}/first")), &[]).await;
    first.shows("The image is the first now.");
    assert_eq!(sale.images(0).await[0].uuid, second);
    let remove = sale.lot(0, &format!("/images/{second}/remove"));
    let confirm = sale.operator.get(&remove).await;
    confirm.is(200).shows("Remove image 1 of lot 1").shows("The next image becomes the first");
    assert_eq!(sale.images(0).await.len(), 2, "asking removes nothing");
    sale.operator.submit(&remove, &[]).await.shows("The image was removed.").shows("1 image<");
    assert_eq!(sale.images(0).await[0].uuid, images[0].uuid);
    sale.operator.get(&remove).await.is(404);
    sale.operator.post(&remove, &[]).await.is(404);
}

#[tokio::test]
async fn each_refused_file_says_why_beside_its_name_and_the_others_are_stored() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A jug"]).await;
    let large = vec![0xff; (25 << 20) + 1];
    let good = jpeg(1);
    let (bomb_of_pixels, bomb_of_sides) = (bomb(20_000), bomb(4_000_000));
    let files: [(&str, &[u8]); 9] = [
        ("script.jpg", b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"),
        ("<b>page</b>.jpg", b"\xef\xbb\xbf <!doctype html><script>alert(1)</script>"),
        ("phone.heic", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"),
        ("pixels.png", &bomb_of_pixels),
        ("sides.png", &bomb_of_sides),
        ("large.jpg", &large),
        ("moving.gif", b"GIF89a......"),
        ("broken.jpg", b"\xff\xd8\xff\xe0 nothing follows"),
        ("good.jpg", &good),
    ];
    let page = sale.operator.upload_all(&sale.lot(0, "/images"), &files).await;
    page.is(422).hides("<b>page</b>");
    let shown = results(&page, "file-results");
    for words in [
        "script.jpg The file is an SVG image or a web page, which may contain script: export the picture as JPEG or PNG.",
        ".jpg The file is an SVG image or a web page",
        "phone.heic The image is HEIC, which browsers don't show: on an iPhone",
        "pixels.png The image has 20000 x 20000 pixels: at most 50 megapixels are possible, so make it smaller.",
        "sides.png The image has a side of more than 30000 pixels, or more than 50 megapixels: make it smaller.",
        "large.jpg The image has more than 25 MiB: make it smaller.",
        "moving.gif The file is not a JPEG, PNG or WebP image: export it as one of these.",
        "broken.jpg The file is not a readable JPEG, PNG or WebP image: export it again.",
        "Added good.jpg",
    ] {
        let words = words.replace('\'', "&#39;");
        assert!(shown.contains(&words), "{words:?} is not in:\n{shown}");
    }
    assert_eq!(sale.image_names(0).await, ["good.jpg"]);
    sale.operator.upload_all(&sale.lot(0, "/images"), &[]).await.is(422).shows("Choose one or more images.");
}

#[tokio::test]
async fn a_picture_with_a_page_behind_it_is_stored_as_a_picture_only() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A jug"]).await;
    let polyglot = [jpeg(1), b"<html><script>alert(1)</script></html>".to_vec()].concat();
    sale.operator.upload_all(&sale.lot(0, "/images"), &[("1.jpg", &polyglot)]).await.is(303);
    let image = sale.images(0).await[0].uuid;
    let shown = sale.operator.get(&format!("/images/{image}/full")).await;
    assert!(!shown.is(200).bytes.windows(6).any(|part| part == b"script"));
    assert_eq!(shown.headers["content-type"], "image/jpeg");
    assert_eq!(shown.headers["x-content-type-options"], "nosniff");
}

#[tokio::test]
async fn many_images_find_their_lots_by_their_names() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A jug", "A bowl"]).await;
    let path = sale.path("/images");
    sale.operator.get(&sale.path("/lots")).await.shows("Upload images");
    sale.operator
        .get(&path)
        .await
        .is(200)
        .shows("012_1.jpg")
        .shows("multiple")
        .hides("Result</th></tr></thead><tbody id=\"file-rows\"><tr>");
    let images: Vec<Vec<u8>> = (0..6).map(jpeg).collect();
    let files: [(&str, &[u8]); 7] = [
        ("001_10.jpg", &images[0]),
        ("Lot 1 (2).jpg", &images[1]),
        ("2.webp", &picture(9, ImageFormat::WebP)),
        ("1.jpg", &images[2]),
        ("IMG_0001.jpg", &images[3]),
        ("99.jpg", &images[4]),
        ("2-a.jpg", b"<svg/>"),
    ];
    let page = sale.operator.upload_all(&path, &files).await;
    page.is(200).shows("4 of 7 files are at their lots, 1 refused, 2 without a lot. The others are listed first.");
    let shown = results(&page, "id=\"file-rows\"");
    for words in [
        "IMG_0001.jpg None Unmatched The name does not begin with a lot number. Rename the file",
        "99.jpg None Unmatched No lot has the number 99.",
        "2-a.jpg 2 Refused The file is an SVG image",
        "001_10.jpg 1 Added",
        "2.webp 2 Added",
    ] {
        assert!(shown.contains(words), "{words:?} is not in:\n{shown}");
    }
    // In the order of their names, not of their arrival.
    assert_eq!(sale.image_names(0).await, ["1.jpg", "Lot 1 (2).jpg", "001_10.jpg"]);

    // The same files again change nothing; a changed file replaces the image in its place.
    let files: [(&str, &[u8]); 2] = [("1.jpg", &images[2]), ("Lot 1 (2).jpg", &images[5])];
    let page = sale.operator.upload_all(&path, &files).await;
    let shown = results(&page, "id=\"file-rows\"");
    assert!(shown.contains("1.jpg 1 Already there") && shown.contains("Lot 1 (2).jpg 1 Replaced"), "{shown}");
    assert_eq!(sale.image_names(0).await, ["1.jpg", "Lot 1 (2).jpg", "001_10.jpg"]);
    sale.operator.upload_all(&path, &[]).await.is(422).shows("Choose one or more images.");
}

#[tokio::test]
async fn the_script_matches_names_and_sends_one_image_a_request() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A jug"]).await;
    let item = sale.items[0].uuid;
    let matched = sale.operator.post(&sale.path("/images/match"), &[("name", "01-2.jpg"), ("name", "x.jpg")]).await;
    let expected = format!(
        "{{\"files\":[{{\"item\":\"{item}\",\"lotNumber\":\"1\"}},{{\"why\":\"the name does not begin with a lot number\"}}]}}"
    );
    assert_eq!(matched.is(200).text, expected);
    let one = sale.path(&format!("/images/one?item={item}&name=01-2.jpg"));
    assert_eq!(sale.operator.send(&one, &jpeg(1)).await.is(200).text, "{\"state\":\"Added\"}");
    assert_eq!(sale.operator.send(&one, &jpeg(1)).await.is(200).text, "{\"state\":\"Already there\"}");
    assert_eq!(sale.operator.send(&one, &jpeg(2)).await.is(200).text, "{\"state\":\"Replaced\"}");
    sale.operator.send(&one, &vec![0; (25 << 20) + 1]).await.is(422).shows("has more than 25 MiB");
    sale.operator.send(&one, b"<svg/>").await.is(422).shows("\"why\":\"The file is an SVG image");
    let elsewhere = sale.path(&format!("/images/one?item={}&name=1.jpg", sale.auction));
    sale.operator.send(&elsewhere, &jpeg(1)).await.is(404);
    assert_eq!(sale.images(0).await.len(), 1);
}

#[tokio::test]
async fn pictures_are_shown_through_the_session_and_only_those_who_edit_lots_change_them() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A jug", "A bowl"]).await;
    sale.operator.upload_all(&sale.path("/images"), &[("1.jpg", &jpeg(1))]).await.is(200);
    let image = sale.images(0).await[0].uuid;
    let small = format!("/images/{image}/320");
    let grid = sale.operator.get(&sale.path("/lots")).await;
    grid.shows(&format!("src=\"/admin{small}\""));
    assert_eq!(grid.text.matches("src=\"/admin/images/").count(), 1, "the other lot has no picture");
    let shown = sale.operator.get(&small).await;
    assert_eq!(shown.is(200).headers["cache-control"], "private, no-cache");
    assert_eq!(shown.headers["content-type"], "image/jpeg");
    sale.operator.get(&format!("/images/{image}/640")).await.is(404);
    sale.operator.get("/images/x/320").await.is(404);
    sale.fixture.visitor().get(&small).await.is(404);

    let mut viewer = sale.fixture.signed_in(Role::Viewer).await;
    viewer.get(&small).await.is(200);
    viewer.get(&sale.lot(0, "")).await.shows("alt=\"Image 1 of lot 1\"").hides("Add images").hides("Remove</a>");
    let (remove, first) =
        (sale.lot(0, &format!("/images/{image}/remove")), sale.lot(0, &format!("/images/{image}/first")));
    viewer.get(&sale.path("/images")).await.is(403);
    viewer.get(&remove).await.is(403);
    for path in [sale.path("/images"), sale.lot(0, "/images"), remove, first, sale.path("/images/match")] {
        viewer.upload_all(&path, &[("2.jpg", &jpeg(2))]).await.is(403);
    }
    // A form of another site changes nothing.
    sale.operator.origin = Some("http://evil.test".to_owned());
    sale.operator.upload_all(&sale.path("/images"), &[("2.jpg", &jpeg(2))]).await.is(403);
    assert!(sale.images(1).await.is_empty());
}

#[tokio::test]
async fn images_of_announced_lots_are_public_and_those_of_a_closed_sale_do_not_change() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A jug"]).await;
    sale.operator.upload_all(&sale.lot(0, "/images"), &[("1.jpg", &jpeg(1))]).await.is(303);
    let image = sale.images(0).await[0].uuid;
    let shown = sale.fixture.visitor().get(&format!("/images/{image}/1280")).await;
    assert_eq!(shown.is(200).headers["cache-control"], "private, max-age=3600");
    sale.bid(0, "7", 6_000).await;
    sale.end().await;
    let closed = AuctionStatus::Reconciliation;
    sale.fixture.platform.change_auction_status(&staff(), sale.auction, closed, None, None).await.unwrap();
    let mut operator = sale.sign_in_again().await;
    operator.get(&sale.path("/images")).await.shows("images of its lots no longer change").hides("type=\"file\"");
    operator.get(&sale.lot(0, "")).await.hides("Add images").shows("alt=\"Image 1 of lot 1\"");
    // The list of lots offers nothing that is refused from now on.
    let grid = operator.get(&sale.path("/lots")).await;
    grid.is(200).shows("Export CSV").hides("Selected lots").hides("Select lot 1").hides("Open a cell to edit it");
    operator.upload_all(&sale.lot(0, "/images"), &[("2.jpg", &jpeg(2))]).await.is(409);
    operator.upload_all(&sale.path("/images"), &[("1-2.jpg", &jpeg(2))]).await.is(409);
    assert_eq!(sale.images(0).await.len(), 1);
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    use std::io::Write as _;
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[tokio::test]
async fn an_archive_of_images_is_taken_like_its_images() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["Teapot", "Jug"]).await;
    let page = sale.operator.get(&sale.path("/images")).await;
    page.is(200).shows("or a zip of them, at most 200 MiB and 2000 files").shows(".zip");
    let (one, two, other) = (jpeg(1), jpeg(2), jpeg(3));
    let photos = archive(&[
        ("sale/Lot 1 (2).jpg", &two),
        ("sale/001.jpg", &one),
        ("__MACOSX/sale/._001.jpg", b"x"),
        ("sale/2.jpg", b"no image"),
        ("sale/99.jpg", &other),
    ]);
    let bomb = archive(&[("2.jpg", &vec![0; 30 << 20])]);
    let files =
        [("photos.ZIP", &photos[..]), ("bomb.zip", &bomb), ("wrong.zip", b"PK no archive"), ("2-2.jpg", &other)];
    let page = sale.operator.upload_all(&sale.path("/images"), &files).await;
    let listed = results(page.is(200), "<tbody id=\"file-rows\">");
    for row in [
        "sale/001.jpg 1 Added",
        "sale/Lot 1 (2).jpg 1 Added",
        "sale/99.jpg None Unmatched No lot has the number 99. Rename the file",
        "wrong.zip None Refused The file is not a ZIP archive, or it is damaged.",
        "2.jpg 2 Refused The image has more than 25 MiB: make it smaller.",
        "2-2.jpg 2 Added",
    ] {
        assert!(listed.contains(row), "{row:?} is not in:\n{listed}");
    }
    assert_eq!(sale.image_names(0).await, ["001.jpg", "Lot 1 (2).jpg"]);
    // The script gets a line for each image. The same archive again changes nothing.
    let path = sale.path("/images/archive?name=photos.zip");
    let answer = sale.operator.send(&path, &photos).await;
    let lines: Vec<serde_json::Value> =
        answer.is(200).text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let states: Vec<_> =
        lines.iter().map(|line| (line["name"].as_str().unwrap(), line["state"].as_str().unwrap())).collect();
    assert_eq!(states[..2], [("sale/Lot 1 (2).jpg", "Already there"), ("sale/001.jpg", "Already there")]);
    assert_eq!((states.len(), lines[1]["lotNumber"].as_str(), states[3].1), (4, Some("1"), "Unmatched"));
    assert_eq!(sale.image_names(0).await.len(), 2);
    // The line of an image without a lot says where the archive has it.
    assert_eq!((lines[3]["isUnmatched"].as_bool(), lines[0].get("packed")), (Some(true), None));
    let packed = &lines[3]["packed"];
    let end = packed["offset"].as_u64().unwrap() + packed["bytes"].as_u64().unwrap();
    assert!(packed["isDeflated"] == true && usize::try_from(end).unwrap() < photos.len(), "{packed}");
}

#[tokio::test]
async fn two_images_of_one_name_and_an_empty_archive_are_named() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["Teapot"]).await;
    let (one, two) = (jpeg(1), jpeg(2));
    let photos = archive(&[("a/1.jpg", &one), ("b/1.jpg", &two)]);
    let (empty, hidden) = (archive(&[]), archive(&[("__MACOSX/._1.jpg", b"x")]));
    let files = [("photos.zip", &photos[..]), ("empty.zip", &empty), ("hidden.zip", &hidden), ("IMG_7.jpg", &two)];
    let page = sale.operator.upload_all(&sale.path("/images"), &files).await;
    page.is(200).shows("1 of 5 files are at their lots, 3 refused, 1 without a lot.");
    let listed = results(&page, "<tbody id=\"file-rows\">");
    for row in [
        "a/1.jpg 1 Added",
        "b/1.jpg None Refused “a/1.jpg” in this archive has the same file name. Rename one of them",
        "empty.zip None Refused The archive has no images.",
        "hidden.zip None Refused The archive has no images.",
    ] {
        assert!(listed.contains(row), "{row:?} is not in:\n{listed}");
    }
    assert_eq!(sale.image_names(0).await, ["1.jpg"]);
}

#[tokio::test]
async fn an_archive_takes_no_room_of_a_catalogue_and_is_deleted_with_its_request() {
    let sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let (platform, user) = (&sale.fixture.platform, staff());
    let mut catalogue = platform.begin_catalogue_upload(&user, sale.auction, "house.csv").await.unwrap();
    catalogue.write(b"lot,title\n1,Teapot\n").await.unwrap();
    let catalogue = catalogue.finish().await.unwrap();
    let mut archives = Vec::new();
    let refused = loop {
        match platform.begin_archive_upload(&user, sale.auction, "photos.zip").await {
            Ok(mut archive) => {
                archive.write(b"PK").await.unwrap();
                archives.push(archive.finish_archive().await.unwrap());
            }
            Err(refused) => break refused,
        }
    };
    assert_eq!(refused.code(), "uploads_full");
    assert!(platform.catalogue_upload(&user, sale.auction, catalogue.uuid).await.unwrap().is_some());
    drop(archives);
    let has_room = async {
        while platform.begin_archive_upload(&user, sale.auction, "photos.zip").await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), has_room).await.expect("dropped archives are deleted");
}
