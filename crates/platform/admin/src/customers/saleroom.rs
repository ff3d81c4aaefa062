//! The saleroom of a house: its address, whether it is open, its colour, and its rules.

use axum::response::{IntoResponse as _, Response};
use kit_design::field_group::FieldGroup;
use kit_design::fields::{FieldErrors, FormFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use platform_core::port::{House, HouseSaleroom, Language, OutageEnds, RegistrationRule};
use platform_core::saleroom::{OUTAGE_MINUTES_MAX, SALEROOM_ADDRESS_CHARS_MAX};
use platform_core::{Colour, PlatformError};
use platform_words::own_name;
use uuid::Uuid;

use crate::form_page::{FormPage, Refused};
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

/// The value of a ticked box.
const YES: &str = "yes";
/// The choices of what happens to ends in an outage.
const AT_THEIR_TIME: &str = "at_their_time";
const GO_ON: &str = "go_on";

/// The values of the form: those that staff typed, or the stored ones.
struct Typed {
    saleroom: HouseSaleroom,
    colour: String,
    outage_ends: String,
    outage_minutes: String,
    version: i64,
}

impl Typed {
    fn stored(house: &House) -> Self {
        let saleroom = house.saleroom.clone();
        let (outage_ends, outage_minutes) = match saleroom.outage_ends {
            None => ("", String::new()),
            Some(OutageEnds::AtTheirTime) => (AT_THEIR_TIME, String::new()),
            Some(OutageEnds::AfterMinutes(minutes)) => (GO_ON, minutes.to_string()),
        };
        Self {
            colour: saleroom.colour.map(|colour| colour.to_string()).unwrap_or_default(),
            outage_ends: outage_ends.to_owned(),
            outage_minutes,
            saleroom,
            version: house.version,
        }
    }

    /// The fields of a form, and the faults of those that have no value.
    fn read(form: &FormFields) -> (Self, FieldErrors) {
        let mut faults = FieldErrors::default();
        let is_ticked = |name: &str| form.text(name) == YES;
        let rule = RegistrationRule::ALL.into_iter().find(|rule| rule.as_str() == form.text("registration"));
        let (outage_ends, outage_minutes) = (form.text("outageEnds"), form.text("outageMinutes").trim());
        let colour = form.text("colour").trim();
        let saleroom = HouseSaleroom {
            address: form.non_empty("address").map(str::to_owned),
            is_open: is_ticked("open"),
            registration: rule.unwrap_or_default(),
            asks_phone: is_ticked("asksPhone"),
            asks_address: is_ticked("asksAddress"),
            outage_ends: match outage_ends {
                AT_THEIR_TIME => Some(OutageEnds::AtTheirTime),
                // Zero is not possible, so a text that is no number is refused with the same words.
                GO_ON => Some(OutageEnds::AfterMinutes(outage_minutes.parse().unwrap_or_default())),
                _ => None,
            },
            colour: match colour {
                "" => None,
                text => Colour::readable(text).map_err(|fault| faults.add("colour", fault)).ok(),
            },
            languages: read_languages(form),
            // They have a form of their own.
            sites: Vec::new(),
        };
        let typed = Self {
            saleroom,
            colour: colour.to_owned(),
            outage_ends: outage_ends.to_owned(),
            outage_minutes: outage_minutes.to_owned(),
            version: form.text("version").parse().unwrap_or_default(),
        };
        (typed, faults)
    }
}

pub(super) async fn page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let house = session.platform().house(&session.caller, uuid).await?;
    form(&session, &house, Typed::stored(&house), &FieldErrors::default()).await?.open()
}

pub(super) async fn save(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form_fields): SubmittedForm,
) -> Result<Response, PageError> {
    let (typed, faults) = Typed::read(&form_fields);
    let (platform, caller) = (session.platform(), &session.caller);
    let refused = if faults.is_empty() {
        match platform.change_saleroom(caller, uuid, typed.saleroom.clone(), Some(typed.version)).await {
            Ok(_) => {
                let path = format!("/customers/{uuid}?done=saleroom#house");
                return Ok(session.admin.redirect(&path).into_response());
            }
            Err(PlatformError::PreconditionFailed { .. }) => {
                Refused::by_page("", "Someone else changed the house since you opened this page. Open the page again.")
            }
            Err(error) => Refused::from(error, &[])?,
        }
    } else {
        Refused::of_errors(faults)
    };
    let house = platform.house(caller, uuid).await?;
    form(&session, &house, typed, &refused.errors).await?.refuse(&refused)
}

/// The ticked languages; none for all, so that the saleroom also gets a language that a later version adds.
fn read_languages(form: &FormFields) -> Vec<Language> {
    let ticked = |language: &Language| form.all("languages").any(|name| name == language.name());
    let languages: Vec<Language> = Language::ALL.into_iter().filter(ticked).collect();
    if languages.len() == Language::ALL.len() { Vec::new() } else { languages }
}

fn rule_words(rule: RegistrationRule) -> &'static str {
    match rule {
        RegistrationRule::Closed => "Bidders have no accounts: bids reach the house by other ways",
        RegistrationRule::ByStaff => "Bidders with an account, after staff approve their registration for the sale",
        RegistrationRule::AtOnce => "Bidders with an account get a paddle at once",
    }
}

async fn form(session: &Session, house: &House, typed: Typed, errors: &FieldErrors) -> Result<FormPage, PageError> {
    let customer = session.platform().customer(&session.caller, house.customer).await?;
    let path = format!("/customers/{}", house.customer);
    let base = &session.admin.config().saleroom_url;
    let mut page = FormPage::new(session.frame("Saleroom", Section::Customers), (path.as_str(), customer.name), format!("{path}/saleroom"))
        .intro("Everyone can read the pages of an open saleroom: announced sales, their lots on view, prices, and results. Drafts, reserves and names of bidders appear nowhere.")
        .hidden("version", typed.version.to_string())
        .further(super::domain::path(house.customer), "Put the saleroom at a domain of the house")
        .button("Save saleroom");
    if base.is_empty() {
        let text = "This server has no saleroom: the operator sets saleroom.public_url first.";
        return Ok(page.hindered_by(text));
    }
    if !session.platform().sends_mail() {
        page = page.causes(
            "All salerooms of this server are closed for the moment, because it sends no mail: the operator sets mail.smtp_url and mail.from. You can enter everything now.",
        );
    }
    Ok(page.groups([pages_group(&typed, base, errors), bidders_group(&typed, errors), outage_group(&typed, errors)]))
}

fn pages_group(typed: &Typed, base: &str, errors: &FieldErrors) -> FieldGroup {
    let address = FormField::text("address", "Address", typed.saleroom.address.clone().unwrap_or_default())
        .hint(format!("Lower-case letters, digits and hyphens, at most {SALEROOM_ADDRESS_CHARS_MAX}. The pages are at {base}/ and this address. A link with an earlier address leads nowhere."));
    let colour = FormField::text("colour", "Colour of links and buttons", typed.colour.as_str())
        .optional()
        .chars_max(7)
        .attribute("spellcheck", "false")
        .attribute("placeholder", "#0d6b57")
        .hint("# and six hexadecimal digits, such as #0d6b57. White text on it, and it on a light page, need a contrast of 4.5:1. Dark pages get a lighter shade.");
    let open = FormField::tick("open", "Open: everyone can read the pages", YES).ticked(typed.saleroom.is_open);
    let choice = |language: Language| Choice::new(language.name(), own_name(language), typed.saleroom.offers(language));
    let languages = FormField::boxes("languages", "Languages", Language::ALL.map(choice).into()).hint(
        "A page has the language that the visitor chose, or else one that the browser asks for, or else that of the house's mails. Without a tick, all.",
    );
    FieldGroup::new("pages", "Pages", [address.required(), colour, languages, open].map(|field| field.with(errors)))
}

fn bidders_group(typed: &Typed, errors: &FieldErrors) -> FieldGroup {
    let rule = typed.saleroom.registration.as_str();
    let choices = RegistrationRule::ALL.map(|other| Choice::of(other.as_str(), rule_words(other), rule));
    let rule = FormField::radios("registration", "Who may bid online", choices.into()).whole_row();
    let phone = FormField::tick("asksPhone", "Ask for a telephone number at sign-up", YES);
    let address = FormField::tick("asksAddress", "Ask for a postal address at sign-up", YES);
    let fields = [rule, phone.ticked(typed.saleroom.asks_phone), address.ticked(typed.saleroom.asks_address)];
    FieldGroup::new("bidders", "Bidders", fields.map(|field| field.with(errors)))
}

fn outage_group(typed: &Typed, errors: &FieldErrors) -> FieldGroup {
    let choices = [
        (AT_THEIR_TIME, "Lots end at their time, with the bids that they have"),
        (GO_ON, "Lots go on for the minutes below after the server runs again"),
    ];
    let choices = choices.map(|(value, words)| Choice::of(value, words, &typed.outage_ends));
    let ends = FormField::radios("outageEnds", "Lots of timed auctions whose end passes in an outage", choices.into());
    let minutes = FormField::text("outageMinutes", "Minutes", typed.outage_minutes.as_str())
        .optional()
        .short()
        .attribute("inputmode", "numeric")
        .hint(format!("1 to {OUTAGE_MINUTES_MAX}, for lots that go on."));
    FieldGroup::new("outages", "Outages", [ends, minutes].map(|field| field.with(errors)))
        .hint("An open saleroom needs this choice. State it in your conditions of sale.")
}

/// The saleroom on the page of the customer: its address for a link if it is open, and its state in words; none when the server
/// has no saleroom.
pub(super) async fn state(
    session: &Session,
    house: &House,
) -> Result<Option<(Option<String>, &'static str)>, PageError> {
    let Some(base) = session.platform().saleroom_base(house.customer).await? else { return Ok(None) };
    let address = house.saleroom.address.as_ref().filter(|_| house.saleroom.is_open);
    Ok(Some(match address {
        Some(_) if !session.platform().sends_mail() => (None, "closed: no mail server is set"),
        Some(address) => (Some(format!("{base}/{address}")), "open"),
        None => (None, "closed"),
    }))
}

/// The path of the form.
pub(super) fn path(customer: Uuid) -> String {
    format!("/customers/{customer}/saleroom")
}
