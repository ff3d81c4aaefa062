//! Setting up the screens of a webcast: links that open them without a sign-in, and exchange rates.

use std::collections::BTreeMap;

use askama::Template;
use axum::Router;
use axum::response::{Redirect, Response};
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_design::qr_code::QrCode;
use kit_design::relative_time::RelativeTime;
use kit_http::page_routes::{get, post};
use kit_identity::one_time::link_with_code;
use platform_core::port::{ScreenKind, ScreenLink};
use platform_core::ring::{GUIDE_RATES_MAX, ScreenLinkOptions, ScreenLinkValidity};
use platform_rules::AuctionKind;
use uuid::Uuid;

use super::rates::{self, RateRow};
use crate::admin::Admin;
use crate::form_page::Refused;
use crate::notice;
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};
use platform_words::SaleZone;

pub(super) fn router() -> Router<Admin> {
    Router::new()
        .route("/webcasts/{webcast}/screens", get(page))
        .route("/webcasts/{webcast}/screens/links", post(create))
        .route("/webcasts/{webcast}/screens/links/revoke", post(revoke))
        .route("/webcasts/{webcast}/screens/rates", post(rates::put))
        .route("/webcasts/{webcast}/screens/rates/remove", post(rates::remove))
}

/// Validities with their texts.
const VALIDITIES: &[(ScreenLinkValidity, &str)] = &[
    (ScreenLinkValidity::Hours12, "12 hours"),
    (ScreenLinkValidity::Hours24, "24 hours"),
    (ScreenLinkValidity::Days3, "3 days"),
    (ScreenLinkValidity::Sale, "The sale, 90 days at most"),
];

#[derive(Template)]
#[template(path = "screens/links.html")]
struct LinksPage {
    frame: Frame,
    webcast: Uuid,
    sale: String,
    currency: String,
    screens: Vec<ScreenRow>,
    validities: Vec<Choice>,
    /// New links can be created: the sale has not ended.
    is_open: bool,
    rates: Vec<RateRow>,
    rates_max: usize,
    fields: Vec<FormField>,
    errors: ErrorSummary,
}

struct ScreenRow {
    kind: &'static str,
    name: &'static str,
    /// The name within a sentence.
    label: &'static str,
    meaning: &'static str,
    /// A link can show the reserve and the commission book.
    can_show_reserve: bool,
    link: Option<LinkRow>,
}

struct LinkRow {
    shows_reserve: bool,
    expires: RelativeTime,
    used: Option<RelativeTime>,
    created: RelativeTime,
    by: String,
}

#[derive(Template)]
#[template(path = "screens/created.html")]
struct CreatedPage {
    frame: Frame,
    webcast: Uuid,
    url: String,
    qr: Option<QrCode>,
    label: &'static str,
    shows_reserve: bool,
    expires: RelativeTime,
}

fn label(kind: ScreenKind) -> &'static str {
    match kind {
        ScreenKind::Room => "room screen",
        ScreenKind::Speaker => "speaker's view",
    }
}

/// `GET /webcasts/{webcast}/screens`
async fn page(
    session: Session,
    PathIds([webcast]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    show(&session, webcast, &query, &FormFields::default(), None).await
}

/// The page, with the form of a rate as it was sent, and why it was refused.
pub(super) async fn show(
    session: &Session,
    webcast: Uuid,
    query: &FormFields,
    form: &FormFields,
    refused: Option<&Refused>,
) -> Result<Response, PageError> {
    let (platform, caller) = (session.platform(), &session.caller);
    let auction = platform.auction(caller, webcast).await?;
    if auction.kind != AuctionKind::Webcast {
        let detail = "This is a timed auction. Only webcasts have a room screen and a speaker's view.";
        return Err(ErrorPage::new(StatusCode::NOT_FOUND, "This sale has no screens", detail).into());
    }
    let links = platform.screen_links(caller, webcast).await?;
    let names = creators(session, &links).await?;
    let (now, zone) = (session.now(), SaleZone::of(&auction));
    let row = |kind: ScreenKind| ScreenRow {
        kind: kind.name(),
        name: super::name(kind),
        label: label(kind),
        meaning: match kind {
            ScreenKind::Room => "Lot, bid and asking price for everyone in the room. No reserve, maximum or name.",
            ScreenKind::Speaker => {
                "For the rostrum: also waiting web bids, whether the reserve is met, and the next lots. Users who see the \
                 reserve and the commission book at the desk see them here, too. A link shows them only if you choose it."
            }
        },
        can_show_reserve: kind == ScreenKind::Speaker,
        link: links.iter().find(|link| link.kind == kind).map(|link| LinkRow {
            shows_reserve: link.shows_reserve,
            expires: zone.relative(link.expires_at, now),
            used: link.last_used_at.map(|at| zone.relative(at, now)),
            created: zone.relative(link.created_at, now),
            by: names.get(&link.created_by).cloned().unwrap_or_default(),
        }),
    };
    let today = now.to_zoned(jiff::tz::TimeZone::get(&auction.time_zone).unwrap_or(jiff::tz::TimeZone::UTC)).date();
    let (fields, errors) = rates::form(form, today, refused);
    let page = LinksPage {
        frame: session.frame("Screens", Section::Auctions).with_notice(notice::from_query(query)),
        webcast,
        screens: ScreenKind::ALL.into_iter().map(row).collect(),
        validities: VALIDITIES.iter().map(|(validity, words)| Choice::of(validity.name(), *words, "24h")).collect(),
        is_open: platform_core::ring::takes_screens(&auction),
        rates: platform.guide_rates(caller, webcast).await?.iter().map(RateRow::new).collect(),
        rates_max: GUIDE_RATES_MAX,
        fields,
        errors,
        currency: auction.currency,
        sale: auction.title,
    };
    render_page_as(refused.map_or(StatusCode::OK, |refused| refused.status), &page)
}

/// The users who created links, as this user may see them.
async fn creators(session: &Session, links: &[ScreenLink]) -> Result<BTreeMap<String, String>, PageError> {
    let names = session.names(links.iter().map(|link| link.created_by.as_str())).await?;
    let shown = names.iter().filter_map(|(uuid, name)| Some((format!("user:{uuid}"), name.shown()?.to_owned())));
    Ok(shown.collect())
}

/// The screen of a form.
fn kind_of(form: &FormFields) -> Result<ScreenKind, ErrorPage> {
    ScreenKind::parse(form.text("kind")).ok_or_else(|| ErrorPage::bad_request("The screen is room or speaker."))
}

/// Creates a link and shows it this once.
async fn create(
    session: Session,
    PathIds([webcast]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    // A caller without access learns nothing about the form.
    session.platform().screen_links(&session.caller, webcast).await?;
    let kind = kind_of(&form)?;
    let validity = ScreenLinkValidity::parse(form.text("valid"))
        .ok_or_else(|| ErrorPage::bad_request("A link is valid for 12h, 24h, 3d or sale."))?;
    let options = ScreenLinkOptions { validity, shows_reserve: !form.text("reserve").is_empty() };
    let auction = session.platform().auction(&session.caller, webcast).await?;
    let made = session.platform().create_screen_link(&session.caller, webcast, kind, options).await?;
    let site = session.admin.site();
    let token = made.token.expose_str().unwrap_or_default();
    let url = link_with_code(&format!("{}{}/screens", site.origin, site.base), token);
    let title = match kind {
        ScreenKind::Room => "Link to the room screen",
        ScreenKind::Speaker => "Link to the speaker's view",
    };
    render_page(&CreatedPage {
        frame: session.frame(title, Section::Auctions),
        webcast,
        qr: QrCode::new(&url, "QR code with the link"),
        url,
        label: label(kind),
        shows_reserve: made.link.shows_reserve,
        expires: SaleZone::of(&auction).relative(made.link.expires_at, session.now()),
    })
}

/// Revokes a link.
async fn revoke(
    session: Session,
    PathIds([webcast]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Redirect, PageError> {
    session.platform().screen_links(&session.caller, webcast).await?;
    session.platform().revoke_screen_link(&session.caller, webcast, kind_of(&form)?).await?;
    Ok(session.admin.redirect(&format!("/webcasts/{webcast}/screens?done=screen-link-revoked")))
}
