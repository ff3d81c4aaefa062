//! The picture of the lot in the ring, at the desk and on the screens.

use image::{DynamicImage, ImageFormat};
use platform_core::Caller;
use platform_core::Role;
use platform_core::images::{ImageFile, SameName};
use platform_rules::item::ItemEdit;
use serde_json::Value;

use crate::fixture::{Fixture, named};

#[tokio::test]
async fn the_desk_and_the_screens_show_the_first_image_of_the_lot_in_the_ring() {
    let fixture = Fixture::new().await;
    let mut file = std::io::Cursor::new(Vec::new());
    DynamicImage::new_rgb8(40, 30).write_to(&mut file, ImageFormat::Png).unwrap();
    let file = ImageFile { name: "1.png".into(), content: file.into_inner().into() };
    let uploaded =
        fixture.platform.upload_image(&Caller::command_line(), fixture.lots[0], file, SameName::Replace).await;
    let picture = format!("/admin/images/{}/1280", uploaded.unwrap().0.uuid);
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await;
    assert_eq!(desk.at("/lot/picture"), &Value::from(picture.as_str()));
    let operator = fixture.user("two", Role::Operator).await.1;
    for screen in ["room", "speaker"] {
        let shown = fixture.get(&operator, &format!("/webcasts/{}/{screen}", fixture.webcast)).await;
        assert!(shown.text.contains(&format!("src=\"{picture}\"")), "{screen}: {}", shown.text);
    }
}

#[tokio::test]
async fn a_lot_without_images_has_no_picture() {
    let fixture = Fixture::new().await;
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await;
    assert_eq!(desk.at("/lot/picture"), &Value::Null);
    for screen in ["room", "speaker"] {
        let shown = fixture.get(&desk.token, &format!("/webcasts/{}/{screen}", fixture.webcast)).await;
        assert!(shown.is(200).text.contains("Lot") && !shown.text.contains("<img"), "{screen}: {}", shown.text);
    }
}

#[tokio::test]
async fn a_picture_at_another_site_is_shown_and_stays_at_the_hammer() {
    let fixture = Fixture::new().await;
    let address = "https://pictures.example/1.jpg";
    let staff = Caller::command_line();
    let edit = ItemEdit { image_url: Some(Some(address.into())), ..ItemEdit::default() };
    fixture.platform.change_item(&staff, fixture.lots[0], &edit, None).await.unwrap();
    let mut desk = fixture.desk("one").await;
    let token = desk.token.clone();
    let pages = async || {
        for path in ["room", "speaker"].map(|screen| format!("/webcasts/{}/{screen}", fixture.webcast)) {
            let shown = fixture.get(&token, &path).await;
            assert!(shown.text.contains(&format!("<img src=\"{address}\"")), "{path}: {}", shown.text);
        }
    };
    desk.give(named("send")).await;
    assert_eq!(desk.at("/lot/picture"), address);
    pages().await;
    desk.give(named("pass")).await;
    assert_eq!((desk.at("/lot"), desk.at("/lastPicture")), (&Value::Null, &Value::from(address)));
    pages().await;
    let lots = format!("/auctions/{}/lots", fixture.webcast);
    for (path, is_allowed) in [
        (format!("/webcasts/{}/desk", fixture.webcast), true),
        (format!("/webcasts/{}/room", fixture.webcast), true),
        (lots.clone(), true),
        (format!("{lots}/{}", fixture.lots[0]), true),
        (format!("/auctions/{}/results", fixture.webcast), false),
    ] {
        let shown = fixture.get(&desk.token, &path).await;
        let policy = shown.headers["content-security-policy"].to_str().unwrap();
        assert_eq!(policy.contains("img-src 'self' https: http:;"), is_allowed, "{path}: {policy}");
    }
}
