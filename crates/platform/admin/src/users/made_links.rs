//! What ends with a user's access: the links that they made, on the page that confirms the change, and the new links after it.

use axum::response::{IntoResponse as _, Response};
use kit_design::fields::FormFields;
use kit_design::form_field::{Choice, FormField};
use kit_design::relative_time::RelativeTime;
use platform_core::port::ScreenKind;
use platform_core::users::{ChangedUser, MadeByUser, MadeScreenLink, ScreenLinksToEnd};
use uuid::Uuid;

use crate::form_page::FormPage;
use crate::labels;
use crate::page_error::PageError;
use crate::session::{Section, Session};
use crate::shown_once::{ShownOnce, ShownSecret};

/// The field of the links that end at once.
const END: &str = "end";

fn name(kind: ScreenKind) -> &'static str {
    match kind {
        ScreenKind::Room => "Room screen",
        ScreenKind::Speaker => "Speaker's view",
    }
}

/// The page that confirms the change, with what ends.
pub(super) fn listed(page: FormPage, session: &Session, made: &MadeByUser) -> FormPage {
    let page = made.invitations.iter().fold(page, |page, invitation| {
        let role = platform_core::Role::parse(&invitation.role).map_or("unknown", labels::role);
        page.causes(format!("Their invitation of {} (role {role}) is withdrawn.", invitation.email))
    });
    let page = page.causes("API keys that they know go on working. Revoke those under API keys.");
    if made.screen_links.is_empty() {
        return page;
    }
    let choice = |made: &MadeScreenLink| {
        let (link, now) = (&made.link, session.now());
        let used = link.last_used_at.map_or_else(
            || "Never opened.".to_owned(),
            |at| format!("Last used {}.", RelativeTime::new(at, now).words()),
        );
        Choice::new(link.uuid.to_string(), format!("{} of \u{201c}{}\u{201d}", name(link.kind), made.sale), false)
            .hint(used)
    };
    let choices = made.screen_links.iter().map(choice).collect();
    page.causes("Links of screens that they made are replaced: the next page shows the new links, once, and they are yours.")
        .causes("A screen goes on with its old link until the new one is opened, for at most an hour, so that no room goes dark. Open the new link on the screen itself, and nowhere else before.")
        .fields(vec![FormField::boxes(END, "End these links at once instead; their screens go dark", choices)])
}

/// The links that the form ends at once.
pub(super) fn chosen(form: &FormFields) -> ScreenLinksToEnd {
    ScreenLinksToEnd::These(form.all(END).filter_map(|text| Uuid::try_parse(text).ok()).collect())
}

/// The page after the change: the new links, or the page of the user.
pub(super) fn after(session: &Session, changed: &ChangedUser) -> Result<Response, PageError> {
    let path = format!("/users/{}", changed.user.id);
    if changed.new_screen_links.is_empty() {
        return Ok(session.admin.redirect(&format!("{path}?done=user-saved")).into_response());
    }
    let site = session.admin.site();
    let secrets = changed.new_screen_links.iter().map(|new| {
        let url = new.url(&format!("{}{}", site.origin, site.base));
        ShownSecret::link(format!("{} of \u{201c}{}\u{201d}", name(new.link.kind), new.sale), url)
    });
    let page = ShownOnce {
        frame: session.frame("New links of screens", Section::Users),
        intro: "The user was changed. Open each link on its screen, or scan its code there, within an hour: the old link ends when you do."
            .to_owned(),
        secrets: secrets.collect(),
        next: (path, "Go to the user"),
    };
    page.show()
}
