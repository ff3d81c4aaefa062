//! Registers a bidder, from the register of the house or a new one, and edits paddle, name, limit and note.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page_as};
use platform_core::Scope;
use platform_core::bidders::{FoundParties, NewRegistration, PartyInput, PartyKind, RegistrationPatch};
use platform_core::port::{Page, Party, PartyDetails, Registration, RegistrationStatus};
use uuid::Uuid;

use super::place::{self, Done, Place};
use crate::admin::Admin;
use crate::paddles;
use crate::page_error::PageError;
use crate::people::likely::{LikelyRow, identified};
use crate::sale::Sale;
use crate::sale::{labels, refusal};
use crate::session::{PathIds, Section, Session};

/// Records of the register that the page lists.
const FOUND_MAX: usize = 20;
/// The value of a ticked box.
const KEEP: &str = "yes";

#[derive(Template)]
#[template(path = "registrations/edit.html")]
struct EditPage {
    frame: Frame,
    sale_title: String,
    path: String,
    title: String,
    action: &'static str,
    action_path: String,
    version: i64,
    /// The part of the list to which the form leads back.
    list: String,
    fields: Vec<FormField>,
    errors: ErrorSummary,
    /// The search in the register; none for a user who may not read it, and for an existing registration.
    register: Option<Register>,
    /// The record that the registration will refer to, with its name.
    party: Option<(Uuid, String)>,
    /// The record of an existing registration.
    record: Option<Uuid>,
    /// Records of the register that are likely about the new bidder, and what identifies them.
    likely: Vec<LikelyRow>,
    sure: String,
}

/// What the page shows of the register of the house.
#[derive(Default)]
struct Register {
    text: String,
    found: Vec<Known>,
    /// How many the search found.
    count: String,
}

/// A person or firm to choose.
struct Known {
    uuid: Uuid,
    name: String,
    detail: String,
    is_blocked: bool,
}

impl Known {
    fn of(party: Party) -> Self {
        let details = party.details;
        let detail = [details.reference, details.email, details.phone].into_iter().flatten();
        Self {
            uuid: party.uuid,
            name: details.name,
            detail: detail.collect::<Vec<_>>().join(" · "),
            is_blocked: party.block.is_some(),
        }
    }
}

/// The form of a new registration. The query can name a record of the register, or words to search it with.
pub(super) async fn new_page(
    session: Session,
    PathIds([auction]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let Some(party) = chosen(&session, &sale, &query).await? else {
        let register = search(&session, &sale, query.text("person")).await?;
        let shown = Shown { register, ..Shown::default() };
        return show(&session, &sale, shown, &FormFields::default(), &FieldErrors::default(), StatusCode::OK);
    };
    let details = &party.details;
    let limit = details.limit.as_ref().filter(|limit| limit.currency.as_str() == sale.currency.code());
    let mut values = form_urlencoded::Serializer::new(String::new());
    values.append_pair("name", &details.name).append_pair("email", details.email.as_deref().unwrap_or_default());
    values.append_pair("limit", &limit.map(|limit| sale.currency.plain(limit.amount)).unwrap_or_default());
    let values = FormFields::of_query(&values.finish())?;
    let shown = Shown { party: Some((party.uuid, party.details.name)), ..Shown::default() };
    show(&session, &sale, shown, &values, &FieldErrors::default(), StatusCode::OK)
}

/// The record of the register that a form or a query names, if it is of the house of the sale.
async fn chosen(session: &Session, sale: &Sale, fields: &FormFields) -> Result<Option<Party>, PageError> {
    let Some(uuid) = fields.non_empty("party").and_then(|uuid| Uuid::try_parse(uuid).ok()) else { return Ok(None) };
    let mut party = session.platform().party(&session.caller, uuid).await?;
    if party.merged.is_some() {
        party = session.platform().party(&session.caller, party.record()).await?;
    }
    Ok(Some(party).filter(|party| party.customer == sale.auction.customer))
}

/// Searches the register of the house; none for a user who may not read it.
async fn search(session: &Session, sale: &Sale, text: &str) -> Result<Option<Register>, PageError> {
    if !session.may(Scope::PartiesRead) {
        return Ok(None);
    }
    if text.trim().is_empty() {
        return Ok(Some(Register::default()));
    }
    let page = Page { after: None, limit: FOUND_MAX };
    let (caller, house) = (&session.caller, sale.auction.customer);
    let FoundParties { parties, count } =
        session.platform().find_parties(caller, house, (PartyKind::All, text), page).await?;
    let count = labels::count(count, "record", "records");
    Ok(Some(Register { text: text.to_owned(), found: parties.into_iter().map(Known::of).collect(), count }))
}

/// Registers the bidder, or shows the form again with what is wrong.
pub(super) async fn register(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let mut errors = FieldErrors::default();
    let optional = |name: &str| form.non_empty(name).map(str::to_owned);
    let is_pending = form.text("status") == RegistrationStatus::Pending.as_str();
    let party = chosen(&session, &sale, &form).await?;
    let mut shown = Shown { party: party.map(|party| (party.uuid, party.details.name)), ..Shown::default() };
    let mut new = NewRegistration {
        paddle: optional("paddle"),
        party: shown.party.as_ref().map(|(uuid, _)| *uuid),
        name: optional("name"),
        email: optional("email"),
        limit: limit(&sale, &form, &mut errors),
        note: optional("note"),
        status: if is_pending { RegistrationStatus::Pending } else { RegistrationStatus::Approved },
    };
    check_paddle(&session, &sale, &form, None, &mut errors).await?;
    if errors.is_empty() && new.party.is_none() && form.text("keep") == KEEP {
        // Kept for the form if the registration is refused, so that the next try adds no second record.
        match add_to_register(&session, &sale, &new, (&form, &mut errors)).await? {
            Added::Record(party) => shown.party = Some(party),
            Added::None => {}
            Added::Likely(likely) => {
                shown.likely = likely;
                return show(&session, &sale, shown, &form, &errors, StatusCode::UNPROCESSABLE_ENTITY);
            }
        }
        new.party = shown.party.as_ref().map(|(uuid, _)| *uuid);
    }
    if errors.is_empty() {
        match session.platform().register_bidder(&session.caller, auction, &new, None).await {
            Ok(created) => {
                let uuid = created.fresh()?.uuid;
                return Ok(admin.redirect(&Place::default().path(&sale, Done::Registered, &[uuid])).into_response());
            }
            Err(error) => refusal::add_to(&mut errors, error)?,
        }
    }
    show(&session, &sale, shown, &form, &errors, StatusCode::UNPROCESSABLE_ENTITY)
}

/// What became of a new bidder in the register of the house.
enum Added {
    /// Nothing was added.
    None,
    Record((Uuid, String)),
    /// Nothing was added, because the register likely has the person: the form asks.
    Likely(Vec<LikelyRow>),
}

/// Adds a new bidder to the register of the house. One without a name stays a registration of this sale only.
async fn add_to_register(
    session: &Session,
    sale: &Sale,
    new: &NewRegistration,
    (form, errors): (&FormFields, &mut FieldErrors),
) -> Result<Added, PageError> {
    let Some(name) = new.name.clone().filter(|_| session.may(Scope::PartiesWrite)) else { return Ok(Added::None) };
    let details = PartyDetails { name, is_bidder: true, email: new.email.clone(), ..PartyDetails::default() };
    let (platform, house) = (session.platform(), sale.auction.customer);
    let found = platform.likely_duplicates_of(&session.caller, house, &details).await?;
    let likely: Vec<LikelyRow> = found.iter().map(LikelyRow::of).collect();
    if !likely.is_empty() && form.text("sure") != identified(&likely) {
        return Ok(Added::Likely(likely));
    }
    let input = PartyInput { details, document: None };
    match platform.create_party(&session.caller, house, &input).await {
        Ok(party) => Ok(Added::Record((party.uuid, party.details.name))),
        Err(error) => refusal::add_to(errors, error).map(|()| Added::None),
    }
}

/// The form of a registration.
pub(super) async fn page(
    session: Session,
    PathIds([auction, id]): PathIds<2>,
    QueryFields(opened): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let found = session.platform().registration(&session.caller, (auction, id)).await?;
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("paddle", &found.paddle).append_pair("name", found.name.as_deref().unwrap_or_default());
    query.append_pair("email", found.email.as_deref().unwrap_or_default());
    query.append_pair("limit", &found.limit.map(|limit| sale.currency.plain(limit)).unwrap_or_default());
    query.append_pair("note", found.note.as_deref().unwrap_or_default());
    query.append_pair(place::FIELD, opened.text(place::FIELD));
    let values = FormFields::of_query(&query.finish())?;
    show(&session, &sale, Shown::of(&found), &values, &FieldErrors::default(), StatusCode::OK)
}

/// Saves the fields, or shows the form again with what is wrong.
pub(super) async fn save(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, id]): PathIds<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let found = session.platform().registration(&session.caller, (auction, id)).await?;
    let mut errors = FieldErrors::default();
    let optional = |name: &str| Some(form.non_empty(name).map(str::to_owned));
    let patch = RegistrationPatch {
        paddle: form.non_empty("paddle").map(str::to_owned),
        party: None,
        name: form.non_empty("name").map(str::to_owned),
        email: optional("email"),
        limit: Some(limit(&sale, &form, &mut errors)),
        note: optional("note"),
    };
    check_paddle(&session, &sale, &form, Some(&found.paddle), &mut errors).await?;
    if errors.is_empty() {
        let version = form.text("version").parse().ok();
        match session.platform().change_registration(&session.caller, (auction, id), &patch, version).await {
            Ok(_) => {
                let path = Place::of_form(&form).path(&sale, Done::Edited, &[id]);
                return Ok(admin.redirect(&path).into_response());
            }
            Err(error) => refusal::add_to(&mut errors, error)?,
        }
    }
    show(&session, &sale, Shown::of(&found), &form, &errors, StatusCode::UNPROCESSABLE_ENTITY)
}

/// Asks once about a paddle that looks like a registered one. `own` is the present paddle of the registration.
async fn check_paddle(
    session: &Session,
    sale: &Sale,
    form: &FormFields,
    own: Option<&str>,
    errors: &mut FieldErrors,
) -> Result<(), PageError> {
    let Some(paddle) = form.non_empty("paddle").filter(|paddle| *paddle != form.text("confirmed")) else {
        return Ok(());
    };
    let similar = session.platform().similar_paddle(&session.caller, sale.auction.uuid, paddle).await?;
    if let Some(similar) = similar.filter(|similar| Some(similar.paddle.as_str()) != own) {
        errors.add("paddle", paddles::did_you_mean(&similar));
        errors.add("confirmed", format!("Choose “Yes” if {paddle} is another bidder."));
    }
    Ok(())
}

fn limit(sale: &Sale, form: &FormFields, errors: &mut FieldErrors) -> Option<i64> {
    let text = form.non_empty("limit")?;
    let amount = sale.currency.parse(text);
    if let Err(wrong) = &amount {
        errors.add("limit", wrong.as_str());
    }
    amount.ok()
}

/// What the form is about.
#[derive(Default)]
struct Shown<'a> {
    /// None for a new one.
    registration: Option<&'a Registration>,
    register: Option<Register>,
    party: Option<(Uuid, String)>,
    /// Records that are likely about the new bidder.
    likely: Vec<LikelyRow>,
}

impl<'a> Shown<'a> {
    fn of(registration: &'a Registration) -> Self {
        Self { registration: Some(registration), ..Self::default() }
    }
}

fn show(
    session: &Session,
    sale: &Sale,
    Shown { registration, register, party, likely }: Shown<'_>,
    values: &FormFields,
    errors: &FieldErrors,
    status: StatusCode,
) -> Result<Response, PageError> {
    let record = registration.and_then(|own| own.party).filter(|_| session.may(Scope::PartiesRead));
    let paddle = FormField::text("paddle", "Paddle", values.text("paddle"));
    let hint =
        if registration.is_none() { "Empty: the next number." } else { "It can change until the paddle has bid." };
    let paddle = if registration.is_none() { paddle.optional() } else { paddle.required() };
    let mut fields = vec![paddle.hint(hint)];
    let asked = values.non_empty("confirmed").filter(|confirmed| *confirmed == values.text("paddle"));
    if !errors.of("confirmed").is_empty() || asked.is_some() {
        let (paddle, chosen) = (values.text("paddle"), values.text("confirmed"));
        let yes = format!("Yes, {paddle} is another bidder");
        let choices = vec![Choice::of("", "No", chosen), Choice::of(paddle, yes, chosen)];
        fields.push(FormField::select("confirmed", "Take a paddle that looks like another", choices));
    }
    fields.extend([
        FormField::text("name", "Name", values.text("name")).optional().hint("Empty: named later."),
        FormField::text("email", "E-mail address", values.text("email")).optional().hint(
            match (registration, record) {
                (Some(_), Some(_)) => "For this sale. Mails go to the address in the register.",
                _ => "",
            },
        ),
        FormField::text("limit", format!("Spending limit, {}", sale.currency.code()), values.text("limit"))
            .optional()
            .hint("What the bidder may lead and buy in this auction. Empty: no limit."),
        FormField::text("note", "Note for staff", values.text("note")).optional().whole_row(),
    ]);
    if registration.is_none() {
        let chosen = values.text("status");
        let choices =
            vec![Choice::of("approved", "Approved", chosen), Choice::of("pending", "Waiting for a decision", chosen)];
        fields.push(FormField::select("status", "Status", choices));
        if party.is_none() && session.may(Scope::PartiesWrite) {
            let keep = FormField::tick("keep", "Add to the bidders of the house", KEEP);
            let is_kept = values.non_empty("shown").is_none() || values.text("keep") == KEEP;
            fields.push(keep.ticked(is_kept).hint("One record for all sales. It needs a name."));
        }
    }
    let path = sale.path("/registrations");
    let action = if registration.is_none() { "Register bidder" } else { "Save registration" };
    let title = registration.map_or(action.to_owned(), |own| format!("Edit registration of paddle {}", own.paddle));
    let fields: Vec<FormField> = fields.into_iter().map(|field| field.with(errors)).collect();
    let page = EditPage {
        frame: session.frame(format!("{title} · {}", sale.title()), Section::Auctions),
        title,
        sale_title: sale.title(),
        action,
        action_path: registration.map_or(format!("{path}/new"), |own| format!("{path}/{}/edit", own.uuid)),
        path,
        version: registration.map_or(0, |own| own.version),
        list: Place::of_form(values).query(),
        errors: ErrorSummary::of_fields(errors, &fields),
        fields,
        register,
        party,
        record,
        sure: identified(&likely),
        likely,
    };
    render_page_as(status, &page)
}
