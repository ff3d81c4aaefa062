//! Mails: whether the provider sends any, and how many may go to an address. The worker of alerts sends the queued mails.

mod allowances;

use crate::error::{ProviderError, ProviderResult};
use crate::provider::Provider;

impl Provider {
    /// Whether alerts and invitations are sent by e-mail: the operator set a mail server.
    pub fn sends_mail(&self) -> bool {
        self.config().mailer.is_some()
    }

    /// 400 `mail_not_configured`.
    pub(crate) fn require_mail(&self) -> ProviderResult<()> {
        if self.sends_mail() {
            return Ok(());
        }
        let detail = "this provider sends no e-mail: its operator has to set mail.smtp_url and mail.from".to_owned();
        Err(ProviderError::BadRequest { code: "mail_not_configured", detail })
    }
}
