//! Error pages: they keep the navigation of a user who is signed in, and say what to do.

use platform_core::Role;

use crate::fixture::Fixture;

#[tokio::test]
async fn an_error_page_keeps_the_navigation_of_a_user_who_is_signed_in() {
    let fixture = Fixture::new();
    let mut viewer = fixture.signed_in(Role::Viewer).await;
    let missing = "/auctions/01a20ffe-0332-7020-bd63-f14308624a7e";
    for (path, status, advice) in [
        ("/nothing-here", 404, "Check the address."),
        (missing, 404, "Check the address."),
        ("/users", 403, "Ask an administrator."),
    ] {
        let page = viewer.get(path).await;
        page.is(status).shows(advice).shows("/admin/sign-out").shows("viewer@example.com").shows("/admin/auctions\"");
        page.hides("/admin/users\"");
    }
    viewer.post("/nothing-here", &[]).await.is(404).shows("/admin/sign-out");

    let mut visitor = fixture.visitor();
    visitor.get("/nothing-here").await.is(404).hides("/admin/sign-out").hides("/admin/auctions\"");
}
