//! The activity log: changes in an account with their actor (user, key or link) and the values before and after.
//!
//! Use cases that change users, keys and settings hand their entry to the store with the change, so that both are
//! committed together. Changes of applications, endpoints and event types, and messages
//! that a person sent again or gave up, are recorded directly after their commit: a
//! crash between the two loses the entry, not the change.
//!
//! Guarantee: no entry contains a password, a key, a token or a signing secret.

mod action;
mod configuration;
mod deliveries;
mod log;

pub use action::Action;
pub(crate) use configuration::Change;
pub use deliveries::TASK_VALUE;
pub use log::{ActivityPage, ActivityQuery};

use crate::caller::{Caller, Scope};
use crate::ids;
use crate::model::hidden_account;
use crate::model::{Account, ActivityEntry, ActorKind, Id, TokenMaker, User};
use crate::provider::Provider;

const VALUE_CHARS_MAX: usize = 500;

/// Who makes a change.
#[derive(Debug, Clone)]
pub(crate) struct Actor {
    account: Id,
    kind: ActorKind,
    id: Id,
    name: String,
}

impl Actor {
    pub(crate) fn of_caller(caller: &Caller) -> Self {
        let kind = match (&caller.scope, &caller.user) {
            (_, Some(_)) => ActorKind::User,
            (Scope::Application(_), None) => ActorKind::PortalLink,
            (Scope::Account, None) if caller.is_operator() => ActorKind::Operator,
            (Scope::Account, None) => ActorKind::ApiKey,
        };
        // Operational webhooks belong to a hidden account; the log is the account's.
        let account = hidden_account::owner(&caller.account).into();
        Self { account, kind, id: caller.key.clone(), name: caller.name.to_string() }
    }

    pub(crate) fn user(user: &User) -> Self {
        let (account, id) = (user.profile.account.clone(), user.id.clone());
        Self { account, kind: ActorKind::User, id, name: user.profile.name.clone() }
    }

    pub(crate) fn operator(account: &Account) -> Self {
        Self::of_caller(&Caller::operator(account))
    }

    /// The actor's id, if the actor is a user.
    pub(crate) fn user_id(&self) -> Option<Id> {
        matches!(self.kind, ActorKind::User).then(|| self.id.clone())
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The actor as the maker of a token.
    pub(crate) fn token_maker(&self) -> TokenMaker {
        TokenMaker { kind: self.kind, id: self.id.clone(), name: self.name.clone() }
    }
}

/// The object of a change: its identifier (id or name), and its name for people.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
}

/// The changed values, before and after.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangedValues {
    before: String,
    after: String,
}

impl ChangedValues {
    /// Adds a value if it changed. None means that the value does not exist.
    pub(crate) fn value(mut self, name: &str, before: Option<&str>, after: Option<&str>) -> Self {
        if before != after {
            push_line(&mut self.before, name, before);
            push_line(&mut self.after, name, after);
        }
        self
    }

    /// Whether no value changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }
}

fn push_line(lines: &mut String, name: &str, value: Option<&str>) {
    let Some(value) = value else { return };
    if !lines.is_empty() {
        lines.push('\n');
    }
    let plain = value.chars().map(|char| if char.is_control() { ' ' } else { char });
    lines.push_str(name);
    lines.push_str(": ");
    lines.extend(plain.take(VALUE_CHARS_MAX));
}

impl Provider {
    /// An entry of the activity log, to be committed with its change.
    pub(crate) fn activity_entry(
        &self,
        actor: &Actor,
        action: Action,
        subject: Subject<'_>,
        values: ChangedValues,
    ) -> ActivityEntry {
        ActivityEntry {
            id: self.ids().make(ids::ACTIVITY),
            account: actor.account.clone(),
            at: self.now(),
            actor_kind: actor.kind,
            actor: actor.id.clone(),
            actor_name: actor.name.clone(),
            action: action.name().to_owned(),
            subject: subject.id.to_owned(),
            subject_name: subject.name.to_owned(),
            before: values.before,
            after: values.after,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_that_differ_are_listed_each_on_one_line() {
        let values = ChangedValues::default()
            .value("name", Some("Old\nname"), Some("New"))
            .value("role", Some("admin"), Some("admin"))
            .value("logo", None, Some("image/png"));
        assert_eq!((values.before.as_str(), values.after.as_str()), ("name: Old name", "name: New\nlogo: image/png"));
        assert!(ChangedValues::default().value("role", None, None).is_empty());
    }
}
