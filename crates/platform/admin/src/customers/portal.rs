//! Links to the App Portal of a customer: support opens it, or sends a link to the house.

use askama::Template;
use axum::response::Response;
use kit_design::fields::SubmittedForm;
use kit_design::frame::{Frame, render_page};
use platform_core::customers::connections::PortalRights;

use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};
use crate::shown_once::{ShownOnce, ShownSecret};

/// The page from which support opens the portal, in another tab.
#[derive(Template)]
#[template(path = "customers/portal.html")]
struct PortalPage {
    frame: Frame,
    name: String,
    /// Address of the customer's page.
    path: String,
    url: String,
}

/// Shows a link to the App Portal, once.
pub(super) async fn link(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (rights, intro) = match form.text("rights") {
        "manage" => (PortalRights::Manage, ""),
        "view" => (
            PortalRights::View,
            "For one hour, the owner of the link sees the endpoints, messages and attempts of the customer's application, and \
             can change nothing. Send it to the house.",
        ),
        _ => (
            PortalRights::ManageLong,
            "The owner of the link can manage the endpoints of the customer's application until it expires. Send it to the \
             customer's engineers only.",
        ),
    };
    let name = session.platform().customer(&session.caller, uuid).await?.name;
    let link = session.platform().portal_link(&session.caller, uuid, rights).await?;
    let url = link.expose_str().unwrap_or_default();
    let path = format!("/customers/{uuid}");
    if rights == PortalRights::Manage {
        let path = format!("{}{path}", session.admin.site().base);
        let frame = session.frame("App Portal", Section::Customers);
        return render_page(&PortalPage { frame, name, path, url: url.to_owned() });
    }
    let page = ShownOnce {
        frame: session.frame("Link to the App Portal", Section::Customers),
        intro: intro.to_owned(),
        secrets: vec![ShownSecret::new("Link", url)],
        next: (path, "Back to the customer"),
    };
    page.show()
}
