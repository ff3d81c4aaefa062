//! What a house says of itself: a panel on the customer's page, and the form.

use askama::Template;
use askama::filters::HtmlSafe;
use axum::response::{IntoResponse as _, Response};
use contract::models::CurrencyCode;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, UploadForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_core::PlatformError;
use platform_core::Scope::{CustomersWrite, PartiesRead};
use platform_core::customers::house_input::{HOUSE_TEXT_CHARS_MAX, LOGO_BYTES_MAX, WEBSITE_CHARS_MAX};
use platform_core::mails::MailCounts;
use platform_core::port::{House, HouseProfile, Page as ListPage};
use uuid::Uuid;

use super::{domain, saleroom, sites};
use crate::auctions::TIME_ZONES;
use crate::form_page::{Refused, at_fields};
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};
use platform_words::address_fields::{self, TypedAddress, one_line};

/// The house on the page of the customer.
#[derive(Template)]
#[template(path = "customers/house_panel.html")]
pub(super) struct HousePanel {
    path: String,
    logo: Option<LogoImage>,
    facts: Vec<(&'static str, String)>,
    /// Number of the latest conditions of sale.
    conditions: Option<u32>,
    /// The address of the saleroom if it is open, and its state; none when the server has no saleroom.
    saleroom: Option<(Option<String>, &'static str)>,
    saleroom_path: String,
    /// The domain of the house's own, with its state.
    domain: String,
    domain_path: String,
    /// How many web sites the house lists.
    sites: String,
    sites_path: String,
    /// Mails to bidders that wait or failed; none for a user who may not see them.
    mails: Option<String>,
    may_write: bool,
}

impl HtmlSafe for HousePanel {}

/// Where a page loads a logo from, with its size in pixels.
pub(crate) struct LogoImage {
    pub(crate) address: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl LogoImage {
    pub(crate) fn of(session: &Session, house: &House) -> Option<Self> {
        let logo = house.logo.as_ref()?;
        let address = format!("{}/customers/{}/logo/{}", session.admin.site().base, house.customer, logo.uuid);
        Some(Self { address, width: logo.width, height: logo.height })
    }
}

impl HousePanel {
    pub(super) async fn load(session: &Session, customer: Uuid) -> Result<Self, PageError> {
        let (platform, caller) = (session.platform(), &session.caller);
        let house = platform.house(caller, customer).await?;
        let latest = platform.conditions_list(caller, customer, ListPage { after: None, limit: 1 }).await?.pop();
        let mails = match session.may(PartiesRead) {
            true => Some(mails_in_words(platform.mail_counts(caller, customer).await?, platform.sends_mail())),
            false => None,
        };
        Ok(Self {
            path: format!("{}/customers/{customer}", session.admin.site().base),
            logo: LogoImage::of(session, &house),
            facts: facts(&house.profile),
            saleroom: saleroom::state(session, &house).await?,
            saleroom_path: format!("{}{}", session.admin.site().base, saleroom::path(customer)),
            domain: domain::state(session, customer).await?,
            domain_path: format!("{}{}", session.admin.site().base, domain::path(customer)),
            sites: sites::state(&house),
            sites_path: format!("{}{}", session.admin.site().base, sites::path(customer)),
            conditions: latest.map(|latest| latest.number),
            mails,
            may_write: session.may(CustomersWrite),
        })
    }
}

fn mails_in_words(counts: MailCounts, sends_mail: bool) -> String {
    let figures = match counts {
        MailCounts { failed: 0, waiting: 0, .. } => None,
        MailCounts { failed: 0, waiting, .. } => Some(format!("{waiting} waiting")),
        MailCounts { failed, waiting: 0, .. } => Some(format!("{failed} failed")),
        MailCounts { failed, waiting, .. } => Some(format!("{failed} failed, {waiting} waiting")),
    };
    let off = "off: no mail server is set (mail.smtp_url and mail.from in the configuration)";
    match (sends_mail, figures) {
        (true, figures) => figures.unwrap_or_else(|| "none waits".to_owned()),
        (false, None) => off.to_owned(),
        (false, Some(figures)) => format!("{off}; {figures}"),
    }
}

fn facts(profile: &HouseProfile) -> Vec<(&'static str, String)> {
    let currency = profile.currency.map(|currency| currency.as_str().to_owned());
    let facts = [
        ("Currency of new sales", currency),
        ("Time zone of new sales", profile.time_zone.clone()),
        ("Address", profile.address.as_ref().map(one_line)),
        ("E-mail address", profile.email.clone()),
        ("Telephone number", profile.phone.clone()),
        ("Web site", profile.website.clone()),
        ("About the house", profile.about.clone()),
        ("How buyers pay", profile.payment.clone()),
        ("How buyers collect", profile.collection.clone()),
    ];
    facts.into_iter().filter_map(|(words, value)| Some((words, value?))).collect()
}

#[derive(Template)]
#[template(path = "customers/house.html")]
struct HousePage {
    frame: Frame,
    path: String,
    customer: String,
    version: String,
    errors: ErrorSummary,
    sales: Vec<FormField>,
    contact: Vec<FormField>,
    address: [FormField; 6],
    texts: Vec<FormField>,
    logo_field: FormField,
    logo: Option<LogoImage>,
}

/// What the user typed.
#[derive(Default)]
struct Typed {
    version: String,
    currency: String,
    time_zone: String,
    address: TypedAddress,
    email: String,
    phone: String,
    website: String,
    about: String,
    payment: String,
    collection: String,
}

impl Typed {
    fn of(house: &House) -> Self {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let profile = &house.profile;
        Self {
            version: house.version.to_string(),
            currency: profile.currency.map_or_else(String::new, |currency| currency.as_str().to_owned()),
            time_zone: text(&profile.time_zone),
            address: TypedAddress::of(profile.address.as_ref()),
            email: text(&profile.email),
            phone: text(&profile.phone),
            website: text(&profile.website),
            about: text(&profile.about),
            payment: text(&profile.payment),
            collection: text(&profile.collection),
        }
    }

    fn read(form: &FormFields) -> Self {
        let text = |name| form.text(name).trim().to_owned();
        let lines = |name| super::lines(form.text(name));
        Self {
            version: text("version"),
            currency: text("currency").to_uppercase(),
            time_zone: text("timeZone"),
            address: TypedAddress::read(form),
            email: text("email"),
            phone: text("phone"),
            website: text("website"),
            about: lines("about"),
            payment: lines("payment"),
            collection: lines("collection"),
        }
    }

    fn profile(&self, before: &HouseProfile) -> Result<HouseProfile, Refused> {
        let mut errors = FieldErrors::default();
        let optional = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let currency = self.currency.parse::<CurrencyCode>().ok();
        if currency.is_none() && !self.currency.is_empty() {
            errors.add("currency", "is not a currency: write its three letters, such as GBP");
        }
        let profile = HouseProfile {
            currency,
            time_zone: optional(&self.time_zone),
            address: self.address.model(before.address.as_ref(), &mut errors),
            email: optional(&self.email),
            phone: optional(&self.phone),
            website: optional(&self.website),
            about: optional(&self.about),
            payment: optional(&self.payment),
            collection: optional(&self.collection),
        };
        errors.add_found(at_fields(profile.problems(), &address_fields::POINTERS));
        if errors.is_empty() { Ok(profile) } else { Err(Refused::of_errors(errors)) }
    }
}

impl HousePage {
    async fn new(session: &Session, house: &House, typed: &Typed, refused: &Refused) -> Result<Self, PageError> {
        let customer = session.platform().customer(&session.caller, house.customer).await?.name;
        let text = |name, label, value: &str| FormField::text(name, label, value).optional().fault(refused.of(name));
        let area = |name, label, value: &str| {
            let field = FormField::area(name, label, value).chars_max(HOUSE_TEXT_CHARS_MAX);
            field.optional().fault(refused.of(name))
        };
        let sales = vec![
            text("currency", "Currency of new sales", &typed.currency)
                .hint("ISO 4217, such as GBP.")
                .suggesting(crate::auctions::CURRENCIES.iter().copied()),
            text("timeZone", "Time zone of new sales", &typed.time_zone)
                .hint("IANA name, such as Europe/London.")
                .suggesting(TIME_ZONES.iter().copied()),
        ];
        let contact = vec![
            text("email", "E-mail address", &typed.email).chars_max(254),
            text("phone", "Telephone number", &typed.phone).chars_max(60),
            text("website", "Web site", &typed.website)
                .chars_max(WEBSITE_CHARS_MAX)
                .hint("Such as https://www.example.com."),
        ];
        let texts = vec![
            area("about", "About the house", &typed.about),
            area("payment", "How buyers pay", &typed.payment),
            area("collection", "How and until when buyers collect", &typed.collection),
        ];
        let logo_field = FormField::file("logo", "Logo", "image/png,image/jpeg,image/webp")
            .optional()
            .hint(format!(
                "PNG, JPEG or WebP with at most {} KiB. It is printed on the catalogue.",
                LOGO_BYTES_MAX / 1_024
            ))
            .fault(refused.of("logo"));
        let address = typed.address.fields(|name| refused.of(name));
        let all = sales.iter().chain(&contact).chain(&address).chain(&texts).chain([&logo_field]);
        Ok(Self {
            errors: ErrorSummary::of_fields(&refused.errors, all),
            frame: session.frame(format!("House · {customer}"), Section::Customers),
            path: format!("{}/customers/{}", session.admin.site().base, house.customer),
            customer,
            version: typed.version.clone(),
            sales,
            contact,
            address,
            texts,
            logo_field,
            logo: LogoImage::of(session, house),
        })
    }
}

/// `GET /customers/{customer}/house`
pub(super) async fn page(session: Session, PathIds([customer]): PathIds<1>) -> Result<Response, PageError> {
    let house = session.platform().house(&session.caller, customer).await?;
    let page = HousePage::new(&session, &house, &Typed::of(&house), &Refused::default()).await?;
    render_page_as(StatusCode::OK, &page)
}

/// `POST /customers/{customer}/house`: saves the fields, and then the logo if one was chosen or removed.
pub(super) async fn save(
    session: Session,
    PathIds([customer]): PathIds<1>,
    form: UploadForm,
) -> Result<Response, PageError> {
    let (platform, caller) = (session.platform(), &session.caller);
    let mut house = platform.house(caller, customer).await?;
    let mut typed = Typed::read(&form.fields);
    let refused = match typed.profile(&house.profile) {
        Err(refused) => refused,
        Ok(profile) => match platform.change_house(caller, customer, profile, typed.version.parse().ok()).await {
            Err(error) => refused(error)?,
            Ok(changed) => {
                house = changed;
                typed.version = house.version.to_string();
                let logo = match form.file("logo") {
                    Some(file) => Some(Some(file.clone())),
                    None => (form.fields.text("removeLogo") == "yes").then_some(None),
                };
                let changed = match logo {
                    None => Ok(house.clone()),
                    Some(logo) => platform.change_logo(caller, customer, logo).await,
                };
                match changed {
                    Ok(_) => {
                        let path = format!("/customers/{customer}?done=house-saved#house");
                        return Ok(session.admin.redirect(&path).into_response());
                    }
                    Err(error) => self::refused(error)?,
                }
            }
        },
    };
    let page = HousePage::new(&session, &house, &typed, &refused).await?;
    render_page_as(refused.status, &page)
}

fn refused(error: PlatformError) -> Result<Refused, PageError> {
    match error {
        PlatformError::PreconditionFailed { .. } | PlatformError::Busy => Ok(Refused::by_page(
            "",
            "Someone else changed the house since you opened this page. Open it again to see the change.",
        )),
        error => Refused::from(error, &address_fields::POINTERS),
    }
}

/// `GET /customers/{customer}/logo/{logo}`: the content under this UUID never changes.
pub(super) async fn logo(session: Session, PathIds([customer, uuid]): PathIds<2>) -> Result<Response, PageError> {
    let found = session.platform().logo(&session.caller, customer).await?;
    let (_, content) = found.filter(|(logo, _)| logo.uuid == uuid).ok_or_else(ErrorPage::not_found)?;
    Ok(([(CONTENT_TYPE, "image/jpeg"), (CACHE_CONTROL, "private, max-age=3600")], content).into_response())
}
