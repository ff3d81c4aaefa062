//! The administration in a real browser, from an empty installation to users of each role.

use crate::administration::{Administration, EMAIL, PASSWORD, assert_accessible, desk_page};

/// Links of the navigation that each role sees, in order.
const NAVIGATION: &[(&str, &str)] = &[
    ("operator", "Today, Auctions, Customers, Auctioneers, Bidders and consignors, System, Test clock"),
    ("clerk", "Today, Auctions, System"),
    ("support", "Today, Auctions, Customers, Auctioneers, Bidders and consignors, API keys, System"),
    ("viewer", "Today, Auctions, Customers, Auctioneers, System"),
];
const LINKS: &str =
    "[...document.querySelectorAll('.side-open nav a span:first-child')].map((a) => a.textContent).join(', ')";

#[tokio::test(flavor = "multi_thread")]
async fn the_first_administrator_is_set_up_from_an_empty_installation() {
    let administration = Administration::open().await;
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;
    page.wait_until_shown("You are signed in as the first administrator.").await.unwrap();
    assert_eq!(page.text("document.cookie").await.unwrap(), "", "a script can read the session");
    for path in [
        "/",
        "/customers",
        "/customers/new",
        "/auctioneers",
        "/auctioneers/new",
        "/users",
        "/users/new",
        "/users/invite",
        "/api-keys",
        "/api-keys/new",
        "/audit",
        "/system",
        "/test-clock",
        "/account",
        "/account/password",
        "/account/second-factor",
    ] {
        page.open(&administration.url(path)).await.unwrap();
        page.wait_until_at(&format!("/admin{path}")).await.unwrap();
        assert_accessible(&page).await;
    }

    // The code is invalid after its use, and an installation with users offers no set-up.
    page.click("Sign out").await.unwrap();
    page.wait_until_shown("You are signed out.").await.unwrap();
    assert!(!page.text("document.body.innerText").await.unwrap().contains("first administrator"));
    page.open(&administration.url("/set-up")).await.unwrap();
    page.wait_until_at("/admin/sign-in").await.unwrap();
    administration.sign_in(&page, EMAIL, PASSWORD).await;
    assert_eq!(page.console_errors(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_role_sees_only_its_links_and_may_call_only_its_actions() {
    let administration = Administration::open().await;
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;
    let mut passwords = Vec::new();
    for (role, _) in NAVIGATION {
        page.open(&administration.url("/users/new")).await.unwrap();
        page.wait_until_at("/admin/users/new").await.unwrap();
        page.fill("email", &format!("{role}@hartley.example")).await.unwrap();
        page.evaluate(&format!("document.querySelector('[name=role][value={role}]').click()")).await.unwrap();
        page.click_through("Create user").await.unwrap();
        page.wait_until_shown("signs in with this password").await.unwrap();
        passwords.push(page.text("document.getElementById('secret-1').textContent").await.unwrap());
    }
    page.open(&administration.url("/customers/new")).await.unwrap();
    page.wait_until_at("/admin/customers/new").await.unwrap();
    page.fill("name", "Hartley & Sons").await.unwrap();
    page.click_through("Create customer").await.unwrap();
    page.wait_until_shown("Nothing is sent").await.unwrap();
    let customer = page.text("location.pathname").await.unwrap();
    let customer = customer.strip_prefix("/admin").unwrap();

    for ((role, links), password) in NAVIGATION.iter().zip(&passwords) {
        administration.begin_sign_in(&page, &format!("{role}@hartley.example"), password).await;
        // The password that the administrator saw only allows the user to choose another one.
        page.wait_until_at("/admin/account/password").await.unwrap();
        page.fill("old", password).await.unwrap();
        for id in ["new", "repeated"] {
            page.fill(id, PASSWORD).await.unwrap();
        }
        page.click_through("Change password").await.unwrap();
        page.wait_until_shown("Your password was changed.").await.unwrap();
        assert_eq!(page.text(LINKS).await.unwrap(), *links, "{role}");
        page.open(&administration.url("/users")).await.unwrap();
        page.wait_until_shown("You are not allowed to do this").await.unwrap();
        page.wait_until_shown(&format!("Your role is {role}. This needs the role administrator.")).await.unwrap();
        page.open(&administration.url(&format!("{customer}/connection"))).await.unwrap();
        let shown = if *role == "support" { "Save and test connection" } else { "the role administrator or support" };
        page.wait_until_shown(shown).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_administration_works_without_script() {
    let administration = Administration::open().await;
    let page = desk_page(&administration.browser).await;
    page.disable_script().await.unwrap();
    administration.set_up(&page).await;
    page.resize(390).await.unwrap();
    page.click("Menu").await.unwrap();
    page.click("Customers").await.unwrap();
    page.wait_until_at("/admin/customers").await.unwrap();
    page.click("Create customer").await.unwrap();
    page.wait_until_at("/admin/customers/new").await.unwrap();
    page.fill("name", "Hartley & Sons").await.unwrap();
    page.click("Create customer").await.unwrap();
    page.wait_until_shown("The customer was created.").await.unwrap();
}
