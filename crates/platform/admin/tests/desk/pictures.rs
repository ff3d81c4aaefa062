//! The picture of the lot in the ring, at the desk and on the screens.

use image::{DynamicImage, ImageFormat};
use platform_core::Caller;
use platform_core::Role;
use platform_core::images::{ImageFile, SameName};
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
    let operator = fixture.person("two", Role::Operator).await.1;
    for screen in ["room", "speaker"] {
        let shown = fixture.get(&operator, &format!("/webcasts/{}/{screen}", fixture.webcast)).await;
        assert!(shown.text.contains(&format!("src=\"{picture}\"")), "{screen}: {}", shown.text);
    }
}

#[tokio::test]
async fn a_lot_without_images_has_a_quiet_mark_in_place_of_the_picture() {
    let fixture = Fixture::new().await;
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await;
    assert_eq!(desk.at("/lot/picture"), &Value::Null);
    for screen in ["room", "speaker"] {
        let shown = fixture.get(&desk.token, &format!("/webcasts/{}/{screen}", fixture.webcast)).await;
        assert!(shown.text.contains("no-picture") && !shown.text.contains("<img"), "{screen}: {}", shown.text);
    }
}
