//! Settings of the account and of its App Portal.

use crate::fixture::Fixture;

const PNG: &[u8] = include_bytes!("../logo.png");

#[tokio::test]
async fn an_admin_renames_the_account() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    ann.get("/account").await.is(200).shows("Hartley &#38; &#60;Sons&#62;");
    ann.post("/account", &[("name", "")]).await.is(422).shows("must not be empty");
    ann.submit("/account", &[("name", "Hartley")]).await.is(200).shows("The account was renamed.");
    assert_eq!(fixture.provider.account(&fixture.account.id).await.unwrap().name, "Hartley");
    ann.get("/activity").await.shows("Changed the account").shows("<ins>Hartley</ins>");
}

#[tokio::test]
async fn an_admin_sets_colour_logo_and_origins_of_the_portal() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let fields = [("colour", "#0D6B57"), ("origins", "https://console.example.com\r\n\r\nhttp://localhost:3000")];
    ann.upload_fields("/account/portal", &fields, "logo", &[("f", PNG)]).await.leads_to("/account?done=portal");
    let settings = fixture.provider.portal_settings(&fixture.account.id).await.unwrap();
    assert_eq!(settings.colour.unwrap().to_string(), "#0d6b57");
    assert_eq!(settings.embed_origins, ["https://console.example.com", "http://localhost:3000"]);
    let page = ann.get("/account?done=portal").await;
    page.is(200).shows("were saved").shows("value=\"#0d6b57\"").shows("The current logo");
    page.shows("fill=\"#0d6b57\"");
    let logo = ann.get("/account/logo").await;
    assert_eq!((logo.is(200).bytes.as_slice(), &logo.headers["content-type"]), (PNG, &"image/png".parse().unwrap()));
    assert_eq!(logo.headers["x-content-type-options"], "nosniff");

    // No file was chosen: the logo stays.
    ann.upload_fields("/account/portal", &[("colour", ""), ("origins", "")], "logo", &[("f", b"")]).await.is(303);
    let settings = fixture.provider.portal_settings(&fixture.account.id).await.unwrap();
    assert_eq!((settings.colour, settings.embed_origins.len(), settings.logo_version.is_some()), (None, 0, true));
    ann.upload_fields("/account/portal", &[("remove-logo", "yes")], "logo", &[("f", b"")]).await.is(303);
    ann.get("/account/logo").await.is(404);
    ann.get("/activity").await.is(200).shows("Changed the App Portal&#39;s settings of").shows("image/png");
}

#[tokio::test]
async fn errors_in_the_settings_of_the_portal_are_shown_beside_their_field() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let fields = [("colour", "#ffcc00"), ("origins", "https://ok.example\nhttp://evil.example/<path>")];
    let page = ann.upload_fields("/account/portal", &fields, "logo", &[("f", b"<svg onload=alert(1)>")]).await;
    page.is(422).shows("has a contrast of 1.4:1").shows("must be a PNG, JPEG or WebP image");
    page.shows("is not an origin").shows("https://ok.example").hides("<path>");
    let begun = [("colour", ""), ("origins", "")];
    let page = ann.upload_fields("/account/portal", &begun, "logo", &[("f", b"\x89PNG\r\n\x1a\n and no image")]).await;
    page.is(422).shows("be shown as an image: export it again as PNG, JPEG or WebP");
    ann.get("/account/logo").await.is(404);
    let fields = [("colour", "red"), ("origins", "")];
    ann.upload_fields(
        "/account/portal",
        &fields,
        "logo",
        &[("f", &[b"\x89PNG\r\n\x1a\n", &[0; 102_400][..]].concat())],
    )
    .await
    .is(422)
    .shows("must be # and six hexadecimal digits")
    .shows("must have at most 100 KiB");
    assert_eq!(fixture.provider.portal_settings(&fixture.account.id).await.unwrap().colour, None);
    let mut viewer = fixture.invited(&mut ann, "viewer", "Vic").await;
    viewer.get("/account").await.is(200).shows("Only Admins change these settings.").hides("Save name");
    viewer
        .upload_fields("/account/portal", &[("colour", "")], "logo", &[("f", b"")])
        .await
        .is(403)
        .shows("the role Admin");
}
