//! Users: the list, creation with a password that is shown once, roles, and the end of sessions.

mod detail;
mod invitations;
mod made_links;

use askama::Template;
use axum::Router;
use axum::response::Response;
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use kit_http::page_routes::{form, get, post};
use platform_core::Role;
use platform_core::Scope::{UsersRead, UsersWrite};
use platform_core::port::{Page as ListPage, User};
use platform_core::users::{NAME_CHARS_MAX, NewUser, UserWithPassword};
use uuid::Uuid;

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::form_page::{FormPage, Refused};
use crate::page_error::PageError;
use crate::session::{Section, Session};
use crate::shown_once::{ShownOnce, ShownSecret};
use crate::{labels, notice};
use invitations::InvitationRow;

/// Users on one page of the list.
const LISTED: usize = 100;

pub(crate) const PAGES: &[Page] = &[
    ("GET", "/users", Need::Has(UsersRead)),
    ("GET", "/users/new", Need::Has(UsersWrite)),
    ("POST", "/users/new", Need::Has(UsersWrite)),
    ("GET", "/users/invite", Need::Has(UsersWrite)),
    ("POST", "/users/invite", Need::Has(UsersWrite)),
    ("POST", "/users/invitations/{invitation}/withdraw", Need::Has(UsersWrite)),
    ("GET", "/users/{user}", Need::Has(UsersRead)),
    ("GET", "/users/{user}/name", Need::Has(UsersWrite)),
    ("POST", "/users/{user}/name", Need::Has(UsersWrite)),
    ("POST", "/users/{user}/role", Need::Has(UsersWrite)),
    ("GET", "/users/{user}/disable", Need::Has(UsersWrite)),
    ("POST", "/users/{user}/disable", Need::Has(UsersWrite)),
    ("POST", "/users/{user}/enable", Need::Has(UsersWrite)),
    ("GET", "/users/{user}/password", Need::Has(UsersWrite)),
    ("POST", "/users/{user}/password", Need::Has(UsersWrite)),
    ("POST", "/users/{user}/require-password", Need::Has(UsersWrite)),
    ("GET", "/users/{user}/second-factor-off", Need::Has(UsersWrite)),
    ("POST", "/users/{user}/second-factor-off", Need::Has(UsersWrite)),
    ("GET", "/users/{user}/unlink", Need::Has(UsersWrite)),
    ("POST", "/users/{user}/unlink", Need::Has(UsersWrite)),
    ("POST", "/users/{user}/webcasts", Need::Has(UsersRead)),
    ("POST", "/users/{user}/end-sessions", Need::Has(UsersWrite)),
    ("GET", "/users/{user}/remove", Need::Has(UsersWrite)),
    ("POST", "/users/{user}/remove", Need::Has(UsersWrite)),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/users", get(list))
        .route("/users/new", form(new_page, create))
        .route("/users/invite", form(invitations::page, invitations::invite))
        .route("/users/invitations/{invitation}/withdraw", post(invitations::withdraw))
        .route("/users/{user}", get(detail::page))
        .route("/users/{user}/name", form(detail::name_page, detail::change_name))
        .route("/users/{user}/role", post(detail::change_role))
        .route("/users/{user}/disable", form(detail::disable_page, detail::disable))
        .route("/users/{user}/enable", post(detail::enable))
        .route("/users/{user}/password", form(detail::password_page, detail::reset_password))
        .route("/users/{user}/require-password", post(detail::require_password))
        .route("/users/{user}/second-factor-off", form(detail::second_factor_page, detail::second_factor_off))
        .route("/users/{user}/unlink", form(detail::unlink_page, detail::unlink))
        .route("/users/{user}/webcasts", post(detail::change_webcast))
        .route("/users/{user}/end-sessions", post(detail::end_sessions))
        .route("/users/{user}/remove", form(detail::remove_page, detail::remove))
}

/// A user in the list.
struct UserRow {
    uuid: Uuid,
    /// The name, or else the e-mail address.
    shown: String,
    /// The e-mail address of a user with a name.
    address: Option<String>,
    role: &'static str,
    is_disabled: bool,
    must_change_password: bool,
    has_second_factor: bool,
    signs_in_with: &'static str,
    signed_in: Option<RelativeTime>,
}

#[derive(Template)]
#[template(path = "users/list.html")]
struct ListTemplate {
    frame: Frame,
    rows: Vec<UserRow>,
    invitations: Vec<InvitationRow>,
    next: Option<Uuid>,
    may_write: bool,
}

/// What a user signs in with.
fn signs_in_with(user: &User) -> &'static str {
    match (user.has_password(), user.openid.is_some()) {
        (true, false) => "Password",
        (true, true) => "Single sign-on, password",
        (false, true) => "Single sign-on",
        (false, false) => "Nothing yet",
    }
}

/// The label of a stored role.
fn role_label(user: &User) -> &'static str {
    Role::parse(&user.profile.role).map_or("Unknown", labels::role)
}

async fn list(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let page = ListPage { after: Uuid::try_parse(query.text("after")).ok(), limit: LISTED + 1 };
    let mut users = session.platform().users(&session.caller, page).await?;
    let has_more = users.len() > LISTED;
    users.truncate(LISTED);
    let now = session.now();
    let row = |user: User| UserRow {
        uuid: user.id,
        role: role_label(&user),
        is_disabled: user.disabled_at.is_some(),
        must_change_password: user.must_change_password,
        has_second_factor: user.has_second_factor(),
        signs_in_with: signs_in_with(&user),
        signed_in: user.signed_in_at.map(|at| RelativeTime::new(at, now)),
        address: user.profile.name.as_ref().map(|_| user.email.clone()),
        shown: user.profile.name.unwrap_or(user.email),
    };
    let open = session.platform().invitations(&session.caller).await?;
    render_page(&ListTemplate {
        invitations: open.into_iter().map(|one| InvitationRow::new(one, &session)).collect(),
        frame: session.frame("Users", Section::Users).with_notice(notice::from_query(&query)),
        next: users.last().map(|user| user.id).filter(|_| has_more),
        rows: users.into_iter().map(row).collect(),
        may_write: session.may(UsersWrite),
    })
}

/// The roles with what each may do.
fn role_choices(chosen: Role) -> Vec<Choice> {
    let choice =
        |role: Role| Choice::new(role.name(), labels::role(role), role == chosen).hint(labels::role_meaning(role));
    Role::ALL.into_iter().map(choice).collect()
}

fn new_form(session: &Session, form: &FormFields, refused: &Refused) -> FormPage {
    let chosen = Role::parse(form.text("role")).unwrap_or(Role::Viewer);
    FormPage::new(session.frame("Create user", Section::Users), ("/users", "Users"), "/users/new")
        .intro("The next page shows a password, once. Give it to the user. To let the person choose it from the start, invite them instead.")
        .fields(vec![
            FormField::text("email", "E-mail address", form.text("email")).chars_max(254).required()
                .kind("email", "off")
                .fault(refused.of("email")),
            name_field(form.text("name"), refused),
            FormField::radios("role", "Role", role_choices(chosen)).fault(refused.of("role")),
            first_password(form),
        ])
        .button("Create user")
}

/// The name of a user.
pub(crate) fn name_field(value: &str, refused: &Refused) -> FormField {
    FormField::text("name", "Name", value)
        .chars_max(NAME_CHARS_MAX)
        .hint("Colleagues see it in lists and histories. Without a name they see \u{201c}Another user\u{201d}, and administrators the e-mail address.")
        .optional()
        .fault(refused.of("name"))
}

/// What becomes of a password that an administrator has seen. Another one is required unless they choose otherwise.
fn first_password(form: &FormFields) -> FormField {
    let keeps = !requires_new(form);
    let choices = vec![
        Choice::new("new", "The user chooses another one at the next sign-in", !keeps)
            .hint("Only the user knows their password then."),
        Choice::new("keep", "The user may keep it", keeps)
            .hint("You have seen it. Choose this for a program that signs in."),
    ];
    FormField::radios("after", "The password on the next page", choices)
}

/// False only if the form says that the user may keep a password that the administrator has seen.
fn requires_new(form: &FormFields) -> bool {
    form.text("after") != "keep"
}

async fn new_page(session: Session) -> Result<Response, PageError> {
    new_form(&session, &FormFields::default(), &Refused::default()).open()
}

async fn create(session: Session, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let Some(role) = Role::parse(form.text("role")) else {
        let refused = Refused::by_page("role", "is not a role: choose one");
        return new_form(&session, &form, &refused).refuse(&refused);
    };
    let new = NewUser {
        email: form.text("email").to_owned(),
        name: Some(form.text("name").to_owned()),
        role,
        password: None,
        must_change_password: requires_new(&form),
    };
    match session.platform().create_user(&session.caller, new, None).await {
        Ok(created) => show_password(&session, "User created", &created.fresh()?),
        Err(error) => {
            let refused = Refused::from(error, &[])?;
            new_form(&session, &form, &refused).refuse(&refused)
        }
    }
}

/// Shows a generated password, once.
fn show_password(session: &Session, title: &str, made: &UserWithPassword) -> Result<Response, PageError> {
    let then = if made.user.must_change_password { " and then chooses another one" } else { "" };
    let password = made.password.as_ref().and_then(|password| password.expose_str()).unwrap_or_default();
    let page = ShownOnce {
        frame: session.frame(title, Section::Users),
        intro: format!("{} signs in with this password{then}.", made.user.email),
        secrets: vec![ShownSecret::new("Password", password)],
        next: (format!("/users/{}", made.user.id), "Go to the user"),
    };
    page.show()
}
