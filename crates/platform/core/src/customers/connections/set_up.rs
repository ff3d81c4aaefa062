//! Connects a customer in steps, each of which can be repeated: account and key, application, event types, test.
//!
//! Only the account and its key need the embedded provider. The other steps are requests with the customer's key, which are the
//! same for a remote provider.

use uuid::Uuid;

use super::ExistingTexts;
use crate::error::{PlatformError, PlatformResult};
use crate::{Caller, Platform, Scope};

/// A step of connecting a customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetUpStep {
    /// The account at the provider and its API key.
    Account,
    /// The consumer application.
    Application,
    /// The event types that the platform announces.
    EventTypes,
    /// A request for the application. Its success resumes a parked queue.
    Test,
}

impl SetUpStep {
    /// All steps in their order.
    pub const ALL: [Self; 4] = [Self::Account, Self::Application, Self::EventTypes, Self::Test];
}

/// How far a connection was set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetUp {
    /// The step that failed, with the cause and what to do; none when all are done. The steps before it are done.
    pub failed: Option<(SetUpStep, String)>,
}

impl Platform {
    /// Connects a customer: opens its account at the embedded provider, unless an API key was entered, creates the application,
    /// unless one was entered, registers the event types, and tests the connection. It ends at the first step that the
    /// provider does not do. Repeating the call makes what is missing, and nothing twice.
    ///
    /// Errors: `forbidden`, `not_found` (customer), `not_connected` (no key was entered, and this process opens no account).
    pub async fn set_up_connection(&self, caller: &Caller, customer: Uuid) -> PlatformResult<SetUp> {
        caller.require(Scope::CustomersWrite)?;
        for step in SetUpStep::ALL {
            let done = match step {
                SetUpStep::Account => self.open_account(caller, customer).await,
                SetUpStep::Application => self.create_application(caller, customer).await,
                SetUpStep::EventTypes => {
                    self.register_event_types(caller, customer, ExistingTexts::Keep).await.map(drop)
                }
                SetUpStep::Test => self.test_and_resume(caller, customer).await.map(drop),
            };
            match done {
                Ok(()) => {}
                Err(PlatformError::Provider { text, .. }) => return Ok(SetUp { failed: Some((step, text)) }),
                Err(error) => return Err(error),
            }
        }
        Ok(SetUp { failed: None })
    }
}
