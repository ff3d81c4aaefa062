//! Papers of a sale: who may print which, and what they contain.

use image::{DynamicImage, ImageFormat};
use platform_core::Caller;
use platform_core::Role;
use platform_core::bidders::NewRegistration;
use platform_core::bidding::absentee_bids::NewAbsenteeBid;
use platform_core::images::{ImageFile, SameName};
use platform_core::port::RegistrationStatus;
use platform_core::ring::NewTelephoneBooking;
use platform_rules::item::ItemEdit;

use crate::fixture::{Fixture, named};

const ALL: [&str; 5] = ["catalogue", "clerking", "paddles", "book", "results"];

impl Fixture {
    fn paper(&self, paper: &str) -> String {
        format!("/auctions/{}/print{paper}", self.webcast)
    }

    async fn register(&self, paddle: &str, name: &str, limit: Option<i64>, status: RegistrationStatus) {
        let new = NewRegistration {
            paddle: Some(paddle.into()),
            party: None,
            name: Some(name.into()),
            email: Some("bea@example.com".into()),
            limit,
            note: None,
            status,
        };
        self.platform.register_bidder(&Caller::command_line(), self.webcast, &new, None).await.unwrap();
    }
}

#[tokio::test]
async fn each_role_prints_what_it_sees_on_screen() {
    let fixture = Fixture::new().await;
    let (clerk, assigned) = fixture.user("assigned", Role::Clerk).await;
    fixture.platform.assign_clerk(&Caller::command_line(), fixture.webcast, clerk).await.unwrap();
    let ring = ["catalogue", "clerking", "paddles", "book", "results"];
    let others = ["catalogue", "clerking", "results"];
    for (role, token, papers, sees_reserve) in [
        (Role::Administrator, fixture.user("admin", Role::Administrator).await.1, &ring[..], true),
        (Role::Operator, fixture.user("operator", Role::Operator).await.1, &ring[..], true),
        (Role::Clerk, assigned, &ring[..], true),
        (Role::Clerk, fixture.user("unassigned", Role::Clerk).await.1, &others[..], false),
        (Role::Support, fixture.user("support", Role::Support).await.1, &others[..], false),
        (Role::Viewer, fixture.user("viewer", Role::Viewer).await.1, &others[..], false),
    ] {
        let index = fixture.get(&token, &fixture.paper("")).await;
        index.is(200);
        for paper in ALL {
            let path = fixture.paper(&format!("/{paper}"));
            let is_listed = index.text.contains(&format!("href=\"/admin{path}\""));
            let status = fixture.get(&token, &path).await.status;
            assert_eq!(
                (is_listed, status == 200),
                (papers.contains(&paper), papers.contains(&paper)),
                "{role:?} {path}"
            );
            assert!(status == 200 || status == 403, "{role:?} {path}: {status}");
        }
        let sheets = fixture.get(&token, &fixture.paper("/clerking")).await;
        sheets.is(200).shows("A bureau").shows("£150");
        let has_reserve = ["£123.45", ">Reserve<", ">Confidential<"].map(|text| sheets.text.contains(text));
        assert_eq!(has_reserve, [sees_reserve; 3], "{role:?}: {}", sheets.text);
        // The catalogue is for bidders: it shows the reserve to no role.
        fixture.get(&token, &fixture.paper("/catalogue")).await.hides("£123.45").hides("Confidential");
    }
}

#[tokio::test]
async fn a_paper_says_what_it_is() {
    let fixture = Fixture::new().await;
    let operator = fixture.user("one", Role::Operator).await.1;
    for (paper, name) in [
        ("/catalogue?size=a5", "Catalogue"),
        ("/clerking", "Clerking sheets"),
        ("/paddles", "Paddle list"),
        ("/book", "Commission book"),
        ("/book?show=telephone", "Telephone bids"),
        ("/results", "Results"),
        ("/results?show=prices", "Prices realised"),
        ("/results?show=buyers", "Results by buyer"),
    ] {
        let shown = fixture.get(&operator, &fixture.paper(paper)).await;
        let letterhead = shown.is(200).between("<div class=\"letterhead\">", "</div>");
        for text in [
            name,
            "Hartley &#38; Sons",
            "&#60;script&#62;",
            "Starts Sat 21 Nov 2026, 10:00\u{a0}GMT",
            "Printed Sat 21 Nov 2026, 10:00\u{a0}GMT by one@example.com",
            &fixture.webcast.to_string(),
        ] {
            assert!(letterhead.contains(text), "{paper}: {text} is missing in {letterhead}");
        }
        assert!(!shown.text.contains("<script>"), "{paper}: {}", shown.text);
    }
    let viewer = fixture.get(&operator, &format!("/auctions/{}", fixture.webcast)).await;
    viewer.shows(&format!("href=\"/admin{}\"", fixture.paper("")));
}

#[tokio::test]
async fn the_catalogue_has_pictures_that_load_before_it_is_printed() {
    let fixture = Fixture::new().await;
    let (operator, staff) = (fixture.user("one", Role::Operator).await.1, Caller::command_line());
    let mut file = std::io::Cursor::new(Vec::new());
    DynamicImage::new_rgb8(640, 480).write_to(&mut file, ImageFormat::Png).unwrap();
    let file = ImageFile { name: "1.png".into(), content: file.into_inner().into() };
    let uploaded = fixture.platform.upload_image(&staff, fixture.lots[0], file, SameName::Replace).await.unwrap();
    let given = "https://pictures.example/3.jpg";
    let edit = ItemEdit {
        image_url: Some(Some(given.into())),
        description: Some("Oak, about 1780.\nRestored.".into()),
        ..ItemEdit::default()
    };
    fixture.platform.change_item(&staff, fixture.lots[2], &edit, None).await.unwrap();
    let to = contract::ItemStatus::Withdrawn;
    fixture.platform.change_item_status(&staff, fixture.lots[3], to, None, None, None).await.unwrap();

    let shown = fixture.get(&operator, &fixture.paper("/catalogue")).await;
    let small = format!("<img src=\"/admin/images/{}/320\" width=\"320\" height=\"240\"", uploaded.0.uuid);
    shown.is(200).shows(&small).shows(&format!("<img src=\"{given}\"")).shows("Oak, about 1780.\nRestored.");
    assert_eq!((shown.text.matches("<img src").count(), shown.text.matches("loading=\"eager\"").count()), (3, 2));
    shown.hides("loading=\"lazy\"").shows("from\u{a0}£150").shows("class=\"with-side paper a4 catalogue\"");
    shown.shows("1 withdrawn lot is left out.").hides("A chest");
    let policy = shown.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("img-src 'self' https: http:;"), "{policy}");
    let shown = fixture.get(&operator, &fixture.paper("/catalogue?size=a5&pictures=no")).await;
    shown.is(200).hides("/320\"").hides(given).shows("A bureau").shows("class=\"with-side paper a5 catalogue\"");
}

#[tokio::test]
async fn lots_are_chosen_by_number() {
    let fixture = Fixture::with_more_lots(300).await;
    let operator = fixture.user("one", Role::Operator).await.1;
    let sheets = fixture.get(&operator, &fixture.paper("/clerking")).await;
    sheets.is(200).shows("304 lots");
    assert_eq!(sheets.text.matches("<th scope=\"row\"").count(), 304, "more lots than one read loads");
    let sheets = fixture.get(&operator, &fixture.paper("/clerking?lots=1,+3-4,+999")).await;
    sheets.shows("Lots 1, 3-4, 999: 3 lots").shows("No lot of this sale has these numbers: 999.");
    assert_eq!(sheets.text.matches("<th scope=\"row\"").count(), 3);
    fixture.get(&operator, &fixture.paper("/clerking?lots=9-3")).await.is(400).shows("begins after its end");
}

#[tokio::test]
async fn the_paddle_list_and_the_book_name_bidders() {
    let fixture = Fixture::new().await;
    let (operator, staff) = (fixture.user("one", Role::Operator).await.1, Caller::command_line());
    fixture.register("101", "Zoe Archer", Some(1_000_000), RegistrationStatus::Approved).await;
    fixture.register("12", "Bea Bidder", None, RegistrationStatus::Approved).await;
    fixture.register("13", "Cy Waiting", None, RegistrationStatus::Pending).await;
    let list = fixture.get(&operator, &fixture.paper("/paddles")).await;
    list.is(200).shows("Confidential").shows("2 approved paddles").shows("£10,000").hides("Cy Waiting");
    list.hides("bea@example.com");
    let place = |answer: &testkit::web::Answer, text: &str| answer.text.find(text).unwrap();
    assert!(place(&list, "Bea Bidder") < place(&list, "Zoe Archer"), "12 comes before 101");
    let list = fixture.get(&operator, &fixture.paper("/paddles?which=all&order=name")).await;
    list.is(200).shows("3 registrations").shows("Waiting");
    assert!(place(&list, "Bea Bidder") < place(&list, "Cy Waiting"), "by name");

    let maximum = NewAbsenteeBid { bidder: "12".into(), maximum: 125_000_000, unusual_amount: true };
    fixture.platform.place_absentee_bid(&staff, fixture.lots[2], &maximum, None, None).await.unwrap();
    let booking =
        NewTelephoneBooking { paddle: "101".into(), telephone: "+44 20 7946 0000".into(), line: "Ann".into() };
    fixture.platform.book_telephone_bid(&staff, fixture.lots[1], &booking).await.unwrap();
    let book = fixture.get(&operator, &fixture.paper("/book")).await;
    book.is(200).shows("1 bid on lots to come").shows("Bea Bidder").shows("£1,250,000.00").hides("+44 20");
    let telephone = fixture.get(&operator, &fixture.paper("/book?show=telephone")).await;
    telephone.is(200).shows("Zoe Archer").shows("+44 20 7946 0000").hides("£1,250,000.00").shows("Confidential");
    let timed = fixture.timed_auction().await;
    fixture.get(&operator, &format!("/auctions/{timed}/print/book")).await.is(404);
}

#[tokio::test]
async fn results_are_printed_with_buyers_or_as_prices_alone() {
    let fixture = Fixture::new().await;
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await.give(named("pass")).await.give(named("send")).await;
    desk.give(serde_json::json!({ "command": "bid", "bidder": "12" })).await.give(named("sell")).await;
    let token = desk.token.clone();
    let results = fixture.get(&token, &fixture.paper("/results")).await;
    results.is(200).shows("2 results").shows("Paddle 12").shows("£100.00").shows("1 sold").shows("Passed");
    results.hides("Confidential").shows("results can change until the auction is archived");
    let prices = fixture.get(&token, &fixture.paper("/results?show=prices")).await;
    prices.is(200).shows("£100").hides("Paddle 12");
    fixture.get(&token, &fixture.paper("/results?show=buyers")).await.is(200).shows("1 buyer").shows("£100.00");
    // What was sold is filled in on the clerking sheets.
    let sheets = fixture.get(&token, &fixture.paper("/clerking")).await;
    sheets.shows("<td class=\"number write\">£100</td><td class=\"write short\">12</td>");
}
