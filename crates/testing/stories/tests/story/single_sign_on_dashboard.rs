//! Single sign-on to the dashboard: which user a person of the issuer is, and who is none, on both stores.

use serde_json::{Value, json};
use testkit::web::Browser;

use crate::misbehaving_issuer::Token;
use crate::single_sign_on_refusals::{ANN, Installation};

const PASSWORD: &str = "correct horse battery";

/// The browser of a user who joined an account with a password, by a link that the operator copied.
async fn join(installation: &Installation, account: &str, name: &str, email: &str) -> Browser {
    let code = ["provider", "account", "sign-in-code", account, "--json"];
    let link = installation.launch.run_command(&code).unwrap()["url"].as_str().unwrap().to_owned();
    use_link(installation, &link, name, email).await
}

async fn use_link(installation: &Installation, link: &str, name: &str, email: &str) -> Browser {
    let mut browser = installation.dashboard();
    browser.post("/join", &[("key", link)]).await.is(303);
    let joining = [("name", name), ("email", email), ("password", PASSWORD)];
    browser.post("/join/account", &joining).await.is(303);
    browser
}

/// The id of the user with this name, from the list of users.
async fn user_id(browser: &mut Browser, name: &str) -> String {
    let page = browser.get("/users").await;
    let row = page.text.split("<tr>").skip(1).find(|row| row.contains(name)).expect("the user is listed");
    row.split_once("/users/").unwrap().1.split_once('"').unwrap().0.to_owned()
}

fn bea() -> Value {
    json!({ "sub": "bea", "email": "bea@hartley.example", "name": "Bea Hartley", "groups": ["sales"] })
}

async fn the_issuer_decides_who_signs_in_to_the_dashboard(database: Option<String>) {
    let installation = Installation::open(database).await;
    let (mut ann, mut bea) = (installation.dashboard(), installation.dashboard());
    let outside = installation.sign_in_as(&mut ann, json!({ "groups": [] })).await;
    outside.is(422).shows("You are in no group that may sign in here");
    // The first user of the account joins by single sign-on.
    installation.sign_in_as(&mut ann, json!({})).await.leads_to("/users");
    ann.get("/users").await.is(200).shows("Ann Hartley").shows("Single sign-on");
    ann.get("/profile").await.is(200).shows("You have none and sign in by single sign-on");
    let demoted = installation.sign_in_as(&mut ann, json!({ "groups": ["sales"] })).await;
    demoted.is(422).shows("you are the last one who can sign in");
    let bea_claims = json!({ "sub": "bea", "email": "bea@hartley.example", "name": "", "groups": ["admins"] });
    installation.sign_in_as(&mut bea, bea_claims).await.leads_to("/users");
    bea.get("/users").await.is(200).shows("bea@hartley.example");
    installation.sign_in_as(&mut ann, json!({ "groups": ["sales"] })).await.leads_to("/users");
    ann.get("/users/invite").await.is(403);
    bea.get("/activity").await.is(200).shows("because of the groups at").shows("by: single sign-on");

    // A user of another account signs in with the password only, because the setting names one account.
    let other = installation.launch.create_provider_account("Another house").unwrap();
    assert_ne!(other, installation.account);
    let email = "cleo@another.example";
    let mut cleo = join(&installation, &other, "Cleo", email).await;
    let refused = installation.sign_in_as(&mut cleo, json!({ "sub": "cleo", "email": email })).await;
    refused.is(422).shows("Users of your account sign in with a password");

    // Without the link, the verified address links again.
    let page = bea.get("/users").await;
    let rows: Vec<&str> = page.text.split("<tr>").filter(|row| row.contains("Ann Hartley")).collect();
    let uuid = rows[0].split_once("/users/").unwrap().1.split_once('"').unwrap().0.to_owned();
    bea.post(&format!("/users/{uuid}/unlink"), &[]).await.is(303);
    bea.get(&format!("/users/{uuid}")).await.is(200).shows("Nothing yet");
    installation.sign_in_as(&mut ann, json!({ "sub": "ann-again" })).await.leads_to("/users");
    installation.server.kill();
}

/// Several first sign-ins of one person arrive at once: each of them is signed in, as one user.
async fn first_sign_ins_at_once_are_one_user(database: Option<String>) {
    const AT_ONCE: usize = 6;
    let installation = Installation::open(database).await;
    for at_dashboard in [true, false] {
        let mut begun = Vec::new();
        for _ in 0..AT_ONCE {
            let mut browser = if at_dashboard { installation.dashboard() } else { installation.administration() };
            let back = installation.begin(&mut browser, Token::Claims(bea())).await;
            begun.push((browser, back));
        }
        installation.issuer.answer_together(AT_ONCE);
        let arriving = begun.into_iter().map(|(mut browser, back)| {
            tokio::spawn(async move {
                let answer = browser.get(&back).await;
                (browser, answer)
            })
        });
        for arrived in arriving.collect::<Vec<_>>() {
            let (mut browser, answer) = arrived.await.unwrap();
            answer.leads_to("/users");
            let path = if at_dashboard { "/users" } else { "/account" };
            browser.get(path).await.is(200);
        }
    }
    installation.server.kill();
}

/// Who is removed stays out until an Admin invites them.
async fn a_removed_user_does_not_come_back_by_single_sign_on(database: Option<String>) {
    let installation = Installation::open(database).await;
    let (mut ann, mut eve) = (installation.dashboard(), installation.dashboard());
    installation.sign_in_as(&mut ann, json!({})).await.leads_to("/users");
    installation.sign_in_as(&mut eve, bea()).await.leads_to("/users");
    let id = user_id(&mut ann, "Bea Hartley").await;
    ann.get(&format!("/users/{id}/remove")).await.is(200).shows("until an Admin invites");
    ann.post(&format!("/users/{id}/remove"), &[]).await.is(303);
    let removed = "Your user was removed: ask an administrator for an invitation";
    installation.sign_in_as(&mut eve, bea()).await.is(422).shows(removed);
    let mut renamed = bea();
    renamed["email"] = json!("bea.hartley@hartley.example");
    installation.sign_in_as(&mut eve, renamed).await.is(422).shows(removed);
    ann.get("/users").await.is(200).hides("bea@hartley.example");

    let invited = ann.post("/users/invite", &[("note", "Bea"), ("role", "viewer")]).await;
    let link = invited.is(200).text_of("link");
    let mut bea_again = use_link(&installation, &link, "Bea again", "bea@hartley.example").await;
    let back = installation.begin_at(&mut bea_again, "/profile/single-sign-on", Token::Claims(bea())).await;
    bea_again.get(&back).await.leads_to("/profile?done=linked");
    installation.sign_in_as(&mut eve, bea()).await.leads_to("/users");
    installation.server.kill();
}

/// Who joins with a password can write any address. Only its owner's password and the issuer together link a user.
async fn an_address_that_a_user_only_wrote_finds_no_user(database: Option<String>) {
    let installation = Installation::open(database).await;
    let mut mallory = join(&installation, &installation.account, "Mallory", ANN).await;
    let mut ann = installation.dashboard();
    let refused = installation.sign_in_as(&mut ann, json!({})).await;
    refused.is(422).shows("A user with your e-mail address joined with a password");
    assert!(ann.cookies.is_empty(), "{:?}", ann.cookies);

    // Mallory can't link the profile to another person, and the issuer does not sign Mallory in as Ann.
    let (start, other) = ("/profile/single-sign-on", "At Hartley you are not the person with your e-mail address here");
    mallory.get("/profile").await.is(200).shows("Link to Hartley").shows("Not linked");
    let back = installation.begin_at(&mut mallory, start, Token::Claims(bea())).await;
    mallory.get(&back).await.is(422).shows(other);
    let unverified = Token::Claims(json!({ "email_verified": false }));
    let back = installation.begin_at(&mut mallory, start, unverified).await;
    mallory.get(&back).await.is(422).shows("has not verified your e-mail address");
    mallory.get("/profile").await.is(200).shows("Not linked");

    // The owner of an address links it once, and signs in at the issuer from then on.
    let mut cleo = join(&installation, &installation.account, "Cleo", "cleo@hartley.example").await;
    let claims = json!({ "sub": "cleo", "email": "cleo@hartley.example" });
    let back = installation.begin_at(&mut cleo, start, Token::Claims(claims.clone())).await;
    cleo.get(&back).await.leads_to("/profile?done=linked");
    cleo.get("/profile?done=linked").await.is(200).shows("Your profile is linked").hides("Link to Hartley");
    let mut elsewhere = installation.dashboard();
    installation.sign_in_as(&mut elsewhere, claims.clone()).await.leads_to("/users");
    // The address stays confirmed without the link.
    let id = user_id(&mut cleo, "Cleo").await;
    cleo.post(&format!("/users/{id}/unlink"), &[]).await.is(303);
    installation.sign_in_as(&mut elsewhere, claims).await.leads_to("/users");
    installation.dashboard().get(start).await.leads_to("/sign-in?next=%2Fprofile%2Fsingle-sign-on");
    installation.server.kill();
}

async fn postgres() -> Option<String> {
    Some(testkit::postgres::fresh_database().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_issuer_decides_who_signs_in_to_the_dashboard_on_both_stores() {
    the_issuer_decides_who_signs_in_to_the_dashboard(None).await;
    the_issuer_decides_who_signs_in_to_the_dashboard(postgres().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn first_sign_ins_at_once_are_one_user_on_both_stores() {
    first_sign_ins_at_once_are_one_user(None).await;
    first_sign_ins_at_once_are_one_user(postgres().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_user_does_not_come_back_by_single_sign_on_on_both_stores() {
    a_removed_user_does_not_come_back_by_single_sign_on(None).await;
    a_removed_user_does_not_come_back_by_single_sign_on(postgres().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_a_user_only_wrote_finds_no_user_on_both_stores() {
    an_address_that_a_user_only_wrote_finds_no_user(None).await;
    an_address_that_a_user_only_wrote_finds_no_user(postgres().await).await;
}
