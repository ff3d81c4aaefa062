//! The actions that the activity log names.

macro_rules! actions {
    ($($(#[$doc:meta])+ $variant:ident = $name:literal, $words:literal;)+) => {
        /// An action of an actor.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Action {
            $($(#[$doc])+ $variant,)+
        }

        impl Action {
            /// All actions.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The stable name that is stored.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The action in words, which are followed by the subject.
            pub fn words(self) -> &'static str {
                match self { $(Self::$variant => $words),+ }
            }
        }
    };
}

actions! {
    /// A user signed in.
    SignedIn = "user.signed_in", "Signed in";
    /// An invitation was made.
    Invited = "user.invited", "Invited";
    /// The operator made a sign-in code.
    SignInCode = "user.sign_in_code", "Made a sign-in code for";
    /// A link for a new password was made.
    PasswordLink = "user.password_link", "Made a link for a new password of";
    /// An invitation was withdrawn.
    InvitationWithdrawn = "user.invitation_withdrawn", "Withdrew the invitation of";
    /// A user joined by an invitation.
    Joined = "user.joined", "Joined as";
    /// A user's name or role changed.
    UserChanged = "user.changed", "Changed the user";
    /// A user was removed.
    UserRemoved = "user.removed", "Removed the user";
    /// A user's sessions were ended by another user.
    SessionsEnded = "user.sessions_ended", "Ended the sessions of";
    /// A user chose a new password.
    PasswordChanged = "user.password_changed", "Changed the password of";
    /// A user turned the second factor on.
    SecondFactorOn = "user.second_factor_on", "Turned on the second factor of";
    /// A second factor was turned off.
    SecondFactorOff = "user.second_factor_off", "Turned off the second factor of";
    /// A user was linked to a person of the issuer of single sign-on.
    SingleSignOnLinked = "user.single_sign_on_linked", "Linked to single sign-on";
    /// The link of a user to a person of the issuer was removed.
    SingleSignOnUnlinked = "user.single_sign_on_unlinked", "Removed the link to single sign-on of";
    /// An API key was created.
    KeyCreated = "api_key.created", "Created the API key";
    /// The expiry of an API key was changed.
    KeyExpiry = "api_key.expiry_changed", "Changed the expiry of the API key";
    /// An API key was revoked.
    KeyRevoked = "api_key.revoked", "Revoked the API key";
    /// The account was changed.
    AccountChanged = "account.changed", "Changed the account";
    /// Colour, logo or embedding origins of the App Portal were changed.
    PortalSettings = "account.portal_settings_changed", "Changed the App Portal's settings of";
    /// A link that previews the App Portal was made.
    PortalPreviewed = "application.portal_previewed", "Previewed the App Portal of";
    /// A link to the App Portal was made.
    PortalLinkCreated = "application.portal_link_created", "Created a link to the App Portal of";
    /// A link to the App Portal was revoked.
    PortalLinkRevoked = "application.portal_link_revoked", "Revoked a link to the App Portal of";
    /// An alert recipient was added.
    AlertRecipientAdded = "alert_recipient.added", "Added the alert recipient";
    /// An alert recipient was removed.
    AlertRecipientRemoved = "alert_recipient.removed", "Removed the alert recipient";
    /// An application was created.
    ApplicationCreated = "application.created", "Created the application";
    /// An application was changed.
    ApplicationChanged = "application.changed", "Changed the application";
    /// An application was deleted.
    ApplicationDeleted = "application.deleted", "Deleted the application";
    /// An endpoint was created.
    EndpointCreated = "endpoint.created", "Created the endpoint";
    /// An endpoint was changed.
    EndpointChanged = "endpoint.changed", "Changed the endpoint";
    /// An endpoint was deleted.
    EndpointDeleted = "endpoint.deleted", "Deleted the endpoint";
    /// The signing secret of an endpoint was rotated.
    SecretRotated = "endpoint.secret_rotated", "Rotated the signing secret of the endpoint";
    /// A request was signed for a user or the holder of a link, who may send it to the endpoint.
    RequestSigned = "endpoint.request_signed", "Signed a request to the endpoint";
    /// A user sent a message by hand.
    MessageSent = "message.sent", "Sent by hand the message";
    /// The message that an ordering key waited for was skipped.
    MessageSkipped = "endpoint.message_skipped", "Skipped a message to the endpoint";
    /// The message that an ordering key waits for was made due.
    MessageRetried = "endpoint.message_retried", "Retried a message to the endpoint";
    /// A user or the holder of a link resent a message to an endpoint.
    MessageResent = "endpoint.message_resent", "Resent a message to the endpoint";
    /// A background task began to send failed messages again.
    MessagesRecovered = "endpoint.messages_recovered", "Sent failed messages again to the endpoint";
    /// A background task began to send messages that had no attempt.
    MissingMessagesSent = "endpoint.missing_messages_sent", "Sent missing messages to the endpoint";
    /// A background task began to send attempted messages again.
    MessagesReplayed = "endpoint.messages_replayed", "Replayed messages to the endpoint";
    /// A background task that sent messages again was stopped.
    ReplayStopped = "endpoint.replay_stopped", "Stopped sending messages again to the endpoint";
    /// All waiting retries of an endpoint were made due.
    RetriesMadeDue = "endpoint.retries_made_due", "Retried the waiting deliveries of the endpoint";
    /// All waiting deliveries of an endpoint were cancelled.
    DeliveriesCancelled = "endpoint.deliveries_cancelled", "Cancelled what waits for the endpoint";
    /// An event type was created.
    EventTypeCreated = "event_type.created", "Created the event type";
    /// An event type was changed.
    EventTypeChanged = "event_type.changed", "Changed the event type";
    /// An event type was archived.
    EventTypeArchived = "event_type.archived", "Archived the event type";
    /// An event type was deleted.
    EventTypeDeleted = "event_type.deleted", "Deleted the event type";
    /// Event types were imported.
    EventTypesImported = "event_type.imported", "Imported event types";
}

impl Action {
    /// The action of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        let names: BTreeSet<_> = Action::ALL.iter().map(|action| action.name()).collect();
        assert_eq!(names.len(), Action::ALL.len());
        assert!(Action::ALL.iter().all(|action| Action::parse(action.name()) == Some(*action)));
    }
}
