//! The clerks of a webcast: who is assigned, and whom to assign. The page of a user with the role clerk shows the same from
//! the other side: the webcasts.

use std::collections::HashSet;

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use contract::AuctionStatus;
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::fields::{FormFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use platform_core::port::{Page, User};
use platform_core::sales::search::AuctionSearch;
use platform_core::{PlatformError, Role, Scope};
use platform_rules::{Auction, AuctionKind};
use uuid::Uuid;

use super::overview;
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::session::{PathIds, Session};

/// Clerks and webcasts that a list shows at most; no webcast has more clerks.
const LISTED_MAX: usize = 100;

/// Assignments, with a form that adds one.
#[derive(Template)]
#[template(path = "auctions/clerks.html")]
pub(crate) struct ClerksPanel {
    base: String,
    /// Path that the forms are sent to, and the name of the field that they send.
    action: String,
    name: &'static str,
    caption: &'static str,
    assign: &'static str,
    remove: &'static str,
    nothing_to_assign: &'static str,
    rows: Vec<Assigned>,
    field: Option<FormField>,
    faults: Vec<String>,
}

impl askama::filters::HtmlSafe for ClerksPanel {}

struct Assigned {
    id: Uuid,
    words: String,
    /// Path of its page; empty for users who may not see it.
    path: String,
}

/// An assignment that a form asks for.
struct Assignment {
    auction: Uuid,
    user: Uuid,
    is_removal: bool,
}

/// A user in a list from which one is chosen.
fn name_and_address(user: &User) -> String {
    user.profile.name.as_ref().map_or_else(|| user.email.clone(), |name| format!("{name} ({})", user.email))
}

impl ClerksPanel {
    /// The clerks of a webcast, for users who assign them; none on other pages.
    pub(super) async fn of_sale(
        session: &Session,
        sale: &Sale,
        faults: Vec<String>,
    ) -> Result<Option<Self>, PageError> {
        if sale.auction.kind != AuctionKind::Webcast || !sale.may_change(session, Scope::AuctionsWrite) {
            return Ok(None);
        }
        let (platform, caller) = (session.platform(), &session.caller);
        let page = Page { after: None, limit: LISTED_MAX };
        let assigned = platform.clerks(caller, sale.auction.uuid, page).await?;
        let taken: HashSet<Uuid> = assigned.iter().map(|(clerk, _)| clerk.user).collect();
        let free = platform.users_with_clerk_role(caller, page).await?;
        let choices: Vec<Choice> = free
            .iter()
            .filter(|user| !taken.contains(&user.id))
            .map(|user| Choice::of(user.id, name_and_address(user), ""))
            .collect();
        let may_see_users = session.may(Scope::UsersRead);
        let row = |user: User| Assigned {
            id: user.id,
            path: if may_see_users { format!("/users/{}", user.id) } else { String::new() },
            words: name_and_address(&user),
        };
        Ok(Some(Self {
            base: session.admin.site().base.to_string(),
            action: sale.path("/clerks"),
            name: "user",
            caption: "Clerks of this webcast",
            assign: "Assign clerk",
            remove: "Remove clerk",
            nothing_to_assign: "No other user has the role clerk.",
            rows: assigned.into_iter().map(|(_, user)| row(user)).collect(),
            field: (!choices.is_empty()).then(|| FormField::select("user", "User with the role clerk", choices)),
            faults,
        }))
    }

    /// The webcasts of a clerk, for users who assign them.
    pub(crate) async fn of_user(
        session: &Session,
        user: &User,
        faults: Vec<String>,
    ) -> Result<Option<Self>, PageError> {
        if user.profile.role != Role::Clerk.name() || !session.may(Scope::AuctionsWrite) {
            return Ok(None);
        }
        let (platform, caller) = (session.platform(), &session.caller);
        let page = Page { after: None, limit: LISTED_MAX };
        let assigned = platform.webcasts_of_clerk(caller, user.id, page).await?;
        let taken: HashSet<Uuid> = assigned.iter().map(|auction| auction.uuid).collect();
        let wanted = AuctionSearch {
            kind: Some(AuctionKind::Webcast),
            statuses: AuctionStatus::ALL.iter().copied().filter(|status| *status != AuctionStatus::Archived).collect(),
            ..AuctionSearch::default()
        };
        let page = Page { after: None, limit: LISTED_MAX };
        let found = platform.search_auctions(caller, &wanted, page).await?;
        let words = |own: &Auction| format!("{} ({})", own.shown_title(), own.status.label());
        let free = found.entries.iter().filter(|own| !taken.contains(&own.uuid));
        let choices: Vec<Choice> = free.map(|own| Choice::of(own.uuid, words(own), "")).collect();
        let row = |own: &Auction| Assigned { id: own.uuid, words: words(own), path: format!("/auctions/{}", own.uuid) };
        Ok(Some(Self {
            base: session.admin.site().base.to_string(),
            action: format!("/users/{}/webcasts", user.id),
            name: "auction",
            caption: "Webcasts of this clerk",
            assign: "Assign webcast",
            remove: "Remove from webcast",
            nothing_to_assign: "No other webcast is open.",
            rows: assigned.iter().map(row).collect(),
            field: (!choices.is_empty()).then(|| FormField::select("auction", "Webcast", choices)),
            faults,
        }))
    }
}

/// `POST /auctions/{auction}/clerks`: assigns a clerk, or removes one.
pub(super) async fn change(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let assignment = Assignment { auction, user: uuid_of(&form, "user")?, is_removal: is_removal(&form) };
    match apply(&session, &assignment).await? {
        Ok(done) => Ok(admin.redirect(&format!("/auctions/{auction}?done={done}")).into_response()),
        Err(fault) => overview::show(&session, auction, &FormFields::default(), vec![fault]).await,
    }
}

/// `POST /users/{user}/webcasts`: assigns the clerk to a webcast, or removes them from one. The inner error says why
/// not.
pub(crate) async fn change_of_user(
    session: &Session,
    user: Uuid,
    form: &FormFields,
) -> Result<Result<&'static str, String>, PageError> {
    apply(session, &Assignment { auction: uuid_of(form, "auction")?, user, is_removal: is_removal(form) }).await
}

fn is_removal(form: &FormFields) -> bool {
    form.text("do") == "remove"
}

fn uuid_of(form: &FormFields, name: &str) -> Result<Uuid, ErrorPage> {
    Uuid::try_parse(form.text(name)).map_err(|_| ErrorPage::bad_request("The form names no clerk and webcast."))
}

async fn apply(session: &Session, wanted: &Assignment) -> Result<Result<&'static str, String>, PageError> {
    let Assignment { auction, user, is_removal } = *wanted;
    let (platform, caller) = (session.platform(), &session.caller);
    let done = if is_removal {
        platform.unassign_clerk(caller, auction, user).await.map(|()| "clerk-removed")
    } else {
        platform.assign_clerk(caller, auction, user).await.map(|_| "clerk-assigned")
    };
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(error @ (PlatformError::Rejected(_) | PlatformError::User(_) | PlatformError::Busy)) => {
            Ok(Err(sentence(&error.to_string())))
        }
        Err(error) => Err(error.into()),
    }
}
