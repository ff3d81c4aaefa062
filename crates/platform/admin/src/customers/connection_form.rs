//! Entering or changing a customer's connection.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page, render_page_as};
use kit_runtime::vault::Secret;
use platform_core::PlatformError;
use platform_core::customers::connections::{ConnectConsumer, ConsumerState, CredentialTest, ProviderChoice};
use platform_core::port::{Customer, ProviderAddress, StartFrom};

use super::set_up;
use crate::form_page::{Refused, at_fields};
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

/// What the user typed; the key is never shown again.
#[derive(Default)]
struct Typed {
    provider: String,
    url: String,
    application: String,
    /// A new application is created.
    creates_application: bool,
    start: String,
    cursor: String,
}

impl Typed {
    fn of(state: Option<&ConsumerState>) -> Self {
        let Some(state) = state else { return Self { provider: "configured".into(), ..Self::default() } };
        let (provider, url) = match &state.provider {
            ProviderAddress::Embedded => ("embedded", String::new()),
            ProviderAddress::Url(url) => ("address", url.clone()),
        };
        let application = state.application_id.clone().unwrap_or_default();
        Self { provider: provider.to_owned(), url, application, ..Self::default() }
    }

    fn read(form: &FormFields) -> Self {
        let text = |name| form.text(name).to_owned();
        Self {
            provider: text("provider"),
            url: text("url"),
            application: text("application"),
            creates_application: form.text("applicationFrom") == "new",
            start: text("start"),
            cursor: text("cursor"),
        }
    }

    fn connect(&self, key: &str, errors: &mut FieldErrors) -> ConnectConsumer {
        let provider = match self.provider.as_str() {
            "embedded" => ProviderChoice::Embedded,
            "address" if self.url.is_empty() => {
                errors.add("url", "is empty: enter the address of the provider, such as https://api.example.com");
                ProviderChoice::Kept
            }
            "address" => ProviderChoice::Of(self.url.clone()),
            _ => ProviderChoice::Configured,
        };
        let start = match (self.start.as_str(), self.cursor.parse()) {
            ("cursor", Ok(cursor)) => StartFrom::Cursor(cursor),
            ("cursor", Err(_)) => {
                errors.add("cursor", "is not a whole number: write a cursor of the event feed, such as 0");
                StartFrom::Now
            }
            _ => StartFrom::Now,
        };
        ConnectConsumer {
            provider,
            application_id: Some(self.application.clone()).filter(|text| !text.is_empty() && !self.creates_application),
            api_key: Some(key).filter(|key| !key.is_empty()).map(|key| Secret::new(key.as_bytes().to_vec())),
            start,
        }
    }

    fn fields(&self, entered: Entered, refused: &Refused) -> Vec<FormField> {
        let is = |provider| self.provider == provider;
        let key = FormField::secret("apiKey", "API key", "off").fault(refused.of("apiKey"));
        let key_hint = if entered.has_key {
            "A key is there; it is never shown. Leave this empty to keep it. Another provider needs its own key."
        } else {
            "The key of the customer's account at the provider. It is encrypted and never shown again."
        };
        let application_from = FormField::radios(
            "applicationFrom",
            "Application",
            vec![
                Choice::new("existing", "An existing one", !self.creates_application)
                    .hint("Enter its identifier below."),
                Choice::new("new", "A new one", self.creates_application)
                    .hint("The platform creates it with the customer's name, and registers both event types."),
            ],
        );
        let fields = vec![
            FormField::radios(
                "provider",
                "Provider",
                vec![
                    Choice::new(
                        "configured",
                        "The one of the configuration",
                        is("configured") || self.provider.is_empty(),
                    )
                    .hint("The embedded provider, unless the configuration names another one."),
                    Choice::new("embedded", "Embedded", is("embedded")).hint("The provider of this installation."),
                    Choice::new("address", "At an address", is("address")).hint("In the cloud or self-hosted."),
                ],
            )
            .fault(refused.of("provider")),
            FormField::text("url", "Address of the provider", &self.url)
                .chars_max(2_000)
                .required()
                .kind("url", "off")
                .hint("Only for a provider at an address, such as https://api.eu.example.com.")
                .optional()
                .fault(refused.of("url")),
            application_from,
            FormField::text("application", "Identifier of the application", &self.application)
                .chars_max(256)
                .required()
                .hint("It begins with app_.")
                .optional()
                .fault(refused.of("application")),
            key.hint(key_hint).optional(),
            FormField::radios(
                "start",
                "Begin with",
                vec![
                    Choice::new("now", "The next event", self.start != "cursor"),
                    Choice::new("cursor", "Events after a cursor", self.start == "cursor").hint(
                        "Announced events after it that are not waiting yet are published first. 0: all of them.",
                    ),
                ],
            ),
            FormField::text("cursor", "Cursor", &self.cursor)
                .chars_max(20)
                .required()
                .hint("Only with events after a cursor: a cursor of the event feed.")
                .optional()
                .fault(refused.of("cursor")),
        ];
        // An application that was entered is changed, not replaced by a new one.
        let is_shown = |field: &FormField| !entered.has_application || field.name() != "applicationFrom";
        fields.into_iter().filter(is_shown).collect()
    }
}

/// What the connection has already.
#[derive(Clone, Copy)]
struct Entered {
    has_key: bool,
    has_application: bool,
}

impl Entered {
    fn of(state: Option<&ConsumerState>) -> Self {
        Self {
            has_key: state.is_some_and(|state| state.has_api_key),
            has_application: state.is_some_and(|state| state.application_id.is_some()),
        }
    }
}

/// The page with the form, and with the button that needs no form.
#[derive(Template)]
#[template(path = "customers/connection.html")]
struct ConnectionPage {
    frame: Frame,
    name: String,
    /// Address of the customer's page.
    path: String,
    /// The platform opens an account at the embedded provider.
    opens_account: bool,
    errors: ErrorSummary,
    fields: Vec<FormField>,
}

impl ConnectionPage {
    fn new(
        session: &Session,
        customer: &Customer,
        state: Option<&ConsumerState>,
        typed: &Typed,
        refused: &Refused,
    ) -> Self {
        let fields = typed.fields(Entered::of(state), refused);
        Self {
            frame: session.frame("Connect customer", Section::Customers),
            name: customer.name.clone(),
            path: format!("{}/customers/{}", session.admin.site().base, customer.uuid),
            opens_account: state.is_none() && session.platform().opens_accounts(),
            errors: ErrorSummary::of_fields(&refused.errors, &fields),
            fields,
        }
    }
}

/// The connection, if there is one.
async fn consumer(session: &Session, customer: &Customer) -> Result<Option<ConsumerState>, PageError> {
    match session.platform().consumer(&session.caller, customer.uuid).await {
        Err(PlatformError::NotFound(_)) => Ok(None),
        state => Ok(Some(state?)),
    }
}

/// The form.
pub(super) async fn page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let customer = session.platform().customer(&session.caller, uuid).await?;
    let state = consumer(&session, &customer).await?;
    let typed = Typed::of(state.as_ref());
    render_page(&ConnectionPage::new(&session, &customer, state.as_ref(), &typed, &Refused::default()))
}

/// Saves the connection, and asks the provider for the application.
pub(super) async fn save(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    const FIELDS: &[(&str, &str)] =
        &[("/providerUrl", "url"), ("/applicationId", "application"), ("/apiKey", "apiKey"), ("/startFrom", "cursor")];
    let platform = session.platform();
    let customer = platform.customer(&session.caller, uuid).await?;
    let typed = Typed::read(&form);
    let mut errors = FieldErrors::default();
    let connect = typed.connect(form.text("apiKey"), &mut errors);
    let state = consumer(&session, &customer).await?;
    if typed.creates_application && form.text("apiKey").is_empty() && !Entered::of(state.as_ref()).has_key {
        errors.add("apiKey", "is empty: the application is created with it");
    }
    if typed.creates_application && typed.start == "cursor" {
        errors.add(
            "cursor",
            "is for an application that has endpoints: begin with the next event, add the endpoints, and then choose the cursor \
             below Change connection",
        );
    }
    let problems = platform.problems_of_connection(&session.caller, uuid, &connect).await?;
    errors.add_found(at_fields(problems, FIELDS));
    let refused = if errors.is_empty() {
        match platform.connect_consumer(&session.caller, uuid, &connect).await {
            Ok(state) if typed.creates_application && state.application_id.is_none() => {
                let done = platform.set_up_connection(&session.caller, uuid).await?;
                return set_up::answer(&session, &customer, done);
            }
            Ok(state) => {
                let done = match state.tested {
                    Some(CredentialTest::Accepted) => "connected",
                    Some(CredentialTest::Refused(_)) => "connection-saved",
                    None => "connection-incomplete",
                };
                return Ok(session.admin.redirect(&format!("/customers/{uuid}?done={done}")).into_response());
            }
            Err(error) => Refused::from(error, FIELDS)?,
        }
    } else {
        Refused::of_errors(errors)
    };
    render_page_as(refused.status, &ConnectionPage::new(&session, &customer, state.as_ref(), &typed, &refused))
}
