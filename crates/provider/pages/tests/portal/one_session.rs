//! Two portals in one browser: the tab of the application whose link was opened first.

use provider_core::{Created, PortalAccessInput};

use crate::fixture::{Fixture, application, at};

#[tokio::test]
async fn a_tab_of_another_application_explains_itself_and_its_forms_change_nothing() {
    let fixture = Fixture::new().await;
    let own = fixture.endpoint(at("https://example.com/own")).await;
    let mut browser = fixture.visitor().await;
    let form = browser.get("/endpoints/new").await;
    form.is(200).shows(&format!("<input type=\"hidden\" name=\"application\" value=\"{}\">", fixture.app.id));

    let other = application(&fixture.provider, &fixture.account, "Other <b>").await;
    let created =
        fixture
            .provider
            .create_endpoint(&fixture.account, &other.id, at("https://example.com/other"), None, |_| String::new());
    let Created::New(foreign) = created.await.unwrap() else { panic!("no new endpoint") };
    browser.get(&format!("/endpoints/{}", foreign.id)).await.is(404);
    let link =
        fixture.provider.create_portal_access(&fixture.account, &other.id, PortalAccessInput::default()).await.unwrap();
    browser.post("/login", &[("key", &link.token)]).await.leads_to("/endpoints");

    // The first tab.
    let page = browser.get(&format!("/endpoints/{}", own.id)).await;
    page.is(404)
        .shows("This browser is signed in to the portal of “Other &#60;b&#62;”")
        .hides("https://example.com/own");
    browser.get("/messages/msg_1").await.is(404).shows("open the link to its portal again");
    browser.post(&format!("/endpoints/{}/delete", own.id), &[]).await.is(404);
    let typed = [("application", &*fixture.app.id), ("url", "https://example.com/new"), ("types", "all")];
    let refused = browser.post("/endpoints/new", &typed).await;
    refused.is(409).shows("This form belongs to another application").hides(&fixture.app.id);
    let typed = [("application", &*fixture.app.id), ("do", "add"), ("address", "ops@example.com")];
    browser.post("/alerts", &typed).await.is(409).shows("This form belongs to another application");
    browser.get("/endpoints").await.is(200).shows("https://example.com/other").hides("https://example.com/new");
    browser.get(&format!("/endpoints/{}", foreign.id)).await.is(200);

    // A browser without a session does not learn the name of an application.
    browser.cookies.clear();
    browser.get(&format!("/endpoints/{}", own.id)).await.leads_to("/login");
    browser.get("/nowhere").await.is(404).hides("This browser is signed in");
    let mut again = fixture.visitor().await;
    again.get(&format!("/endpoints/{}", own.id)).await.is(200);
    let typed = [("application", &*fixture.app.id), ("url", "https://example.com/new"), ("types", "all")];
    again.post("/endpoints/new", &typed).await.is(303);
}
