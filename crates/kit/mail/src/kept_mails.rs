//! Mails that a demonstration without a mail server would send. They stay in the memory of the process.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use kit_runtime::clock::SharedClock;

use crate::{Mail, one_line};

/// Mails kept, at most. The oldest are dropped first.
pub const KEPT_MAX: usize = 200;

/// The latest [`KEPT_MAX`] mails.
pub struct KeptMails {
    clock: SharedClock,
    mails: Mutex<VecDeque<KeptMail>>,
}

/// Mails contain links that sign people in, so nothing of them is printed.
impl fmt::Debug for KeptMails {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("KeptMails").finish_non_exhaustive()
    }
}

/// A mail, as its recipient would read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptMail {
    /// Its number, from 1 in the order of sending.
    pub number: u64,
    /// When it was sent.
    pub at: Timestamp,
    /// Name and address of the sender.
    pub from: String,
    /// Address of the recipient.
    pub to: String,
    /// Address for replies, if it differs from the sender's.
    pub reply_to: Option<String>,
    /// Subject, one line.
    pub subject: String,
    /// Text.
    pub text: String,
}

impl KeptMails {
    /// No mails yet.
    pub fn new(clock: SharedClock) -> Self {
        Self { clock, mails: Mutex::default() }
    }

    /// All mails, the latest first.
    pub fn latest(&self) -> Vec<KeptMail> {
        self.locked().iter().rev().cloned().collect()
    }

    /// A mail; none if it was never sent or is dropped.
    pub fn get(&self, number: u64) -> Option<KeptMail> {
        self.locked().iter().find(|mail| mail.number == number).cloned()
    }

    pub(crate) fn keep(&self, from: &str, mail: &Mail) {
        let at = self.clock.now();
        let mut mails = self.locked();
        let number = mails.back().map_or(0, |latest| latest.number) + 1;
        if mails.len() >= KEPT_MAX {
            mails.pop_front();
        }
        mails.push_back(KeptMail {
            number,
            at,
            from: from.to_owned(),
            to: mail.to.clone(),
            reply_to: mail.reply_to.clone(),
            subject: one_line(&mail.subject),
            text: mail.text.clone(),
        });
    }

    fn locked(&self) -> MutexGuard<'_, VecDeque<KeptMail>> {
        self.mails.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kit_runtime::clock::TestClock;

    use super::*;
    use crate::{Mailer, SendError};

    #[tokio::test]
    async fn the_latest_mails_are_kept_as_their_recipients_would_read_them() {
        let mails = Arc::new(KeptMails::new(Arc::new(TestClock::default())));
        let mailer = Mailer::into_memory(mails.clone(), "Lotwire <lotwire@example.com>").unwrap();
        for number in 0..=KEPT_MAX {
            let sender_name = Some("Hartley & Sons".to_owned());
            let (to, subject) = ("ann@example.com".to_owned(), format!("Your paddle\n{number}"));
            mailer.send(&Mail { to, subject, text: "Hello".into(), sender_name, ..Mail::default() }).await.unwrap();
        }
        let wrong = mailer.send(&Mail { to: "no address".into(), ..Mail::default() }).await;
        assert!(matches!(wrong, Err(SendError::Invalid(_))), "{wrong:?}");
        let kept = mails.latest();
        assert_eq!((kept.len(), kept[0].number, kept[199].number), (200, 201, 2));
        assert_eq!(kept[0].from, "Hartley & Sons <lotwire@example.com>");
        assert_eq!((kept[0].subject.as_str(), kept[0].text.as_str()), ("Your paddle 200", "Hello"));
        assert_eq!((mails.get(1), mails.get(201)), (None, Some(kept[0].clone())));
        assert!(!format!("{mails:?}").contains("ann@"));
    }
}
