//! The events of the access log.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What happened. In the log `event` names it, and `details` has its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", content = "details", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AccessEvent {
    /// A user signed in: a session began.
    SignedIn {
        /// The user.
        user: Uuid,
        /// The session.
        session: Uuid,
        /// True when the issuer of single sign-on vouched for the user; else the user gave the password.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        single_sign_on: bool,
    },
    /// A user gave the right password, or the issuer of single sign-on vouched for them, and the sign-in was refused.
    SignInRefused {
        /// The user.
        user: Uuid,
        /// `disabled` or `code_refused`; by single sign-on `disabled`, `no_group`, `linked_to_another` or `last_administrator`.
        reason: String,
    },
    /// The number of sign-ins with a wrong name or password on one node since its last such entry.
    SignInsRefused {
        /// Their number.
        count: u64,
    },
    /// A user was created.
    UserCreated {
        /// The user.
        user: Uuid,
        /// E-mail address. After the user is removed, only this entry has it.
        email: String,
        /// The name, if the user has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The role.
        role: String,
    },
    /// A person was invited, in place of an earlier invitation of the address.
    UserInvited {
        /// The invitation.
        invitation: Uuid,
        /// E-mail address.
        email: String,
        /// The role.
        role: String,
    },
    /// An invitation was withdrawn.
    InvitationWithdrawn {
        /// The invitation.
        invitation: Uuid,
    },
    /// An invited person became a user.
    InvitationAccepted {
        /// The invitation.
        invitation: Uuid,
        /// The user.
        user: Uuid,
        /// E-mail address.
        email: String,
        /// The role.
        role: String,
    },
    /// A user got another role, was disabled or enabled.
    UserChanged {
        /// The user.
        user: Uuid,
        /// The role before.
        role_before: String,
        /// The new role.
        role: String,
        /// True when the user can't sign in any more.
        disabled: bool,
        /// Open invitations by the user that were withdrawn with the change.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        invitations_withdrawn: Vec<Uuid>,
        /// Links of screens by the user that were replaced with the change.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        screen_links_replaced: Vec<Uuid>,
        /// Links of screens by the user that ended with the change.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        screen_links_ended: Vec<Uuid>,
    },
    /// A user got another name, or none.
    UserNamed {
        /// The user.
        user: Uuid,
        /// The new name.
        name: Option<String>,
    },
    /// A user was linked to a person of the issuer of single sign-on, by the e-mail address that the issuer verified.
    SingleSignOnLinked {
        /// The user.
        user: Uuid,
        /// The issuer.
        issuer: String,
        /// The person's id at the issuer.
        subject: String,
    },
    /// The link between a user and a person of the issuer was removed.
    SingleSignOnUnlinked {
        /// The user.
        user: Uuid,
        /// The issuer.
        issuer: String,
        /// The person's id at the issuer.
        subject: String,
    },
    /// A user who had never signed in was removed.
    UserRemoved {
        /// The user.
        user: Uuid,
    },
    /// An administrator set another password for a user.
    PasswordReset {
        /// The user.
        user: Uuid,
    },
    /// A user has to choose another password before anything else.
    NewPasswordRequired {
        /// The user.
        user: Uuid,
    },
    /// A user changed their own password.
    PasswordChanged {
        /// The user.
        user: Uuid,
    },
    /// A user turned their second factor on.
    SecondFactorOn {
        /// The user.
        user: Uuid,
    },
    /// A user's second factor was turned off.
    SecondFactorOff {
        /// The user.
        user: Uuid,
    },
    /// A clerk was assigned to a webcast.
    ClerkAssigned {
        /// The webcast.
        auction: Uuid,
        /// The user.
        user: Uuid,
    },
    /// A clerk was unassigned from a webcast.
    ClerkTakenOff {
        /// The webcast.
        auction: Uuid,
        /// The user.
        user: Uuid,
    },
    /// A link to a screen of a webcast was created, in place of an earlier one of its kind.
    ScreenLinkCreated {
        /// The webcast.
        auction: Uuid,
        /// The link.
        link: Uuid,
        /// `room` or `speaker`.
        kind: String,
        /// When it ends.
        expires_at: jiff::Timestamp,
        /// True when it shows the reserve and the commission book.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        shows_reserve: bool,
    },
    /// A link to a screen of a webcast was revoked.
    ScreenLinkRevoked {
        /// The webcast.
        auction: Uuid,
        /// `room` or `speaker`.
        kind: String,
    },
    /// A caller opened the record of a party in the register of a house.
    PartyViewed {
        /// The party.
        party: Uuid,
    },
    /// A caller opened a registration with what its bidder sent.
    RegistrationViewed {
        /// The registration.
        registration: Uuid,
    },
    /// Staff offered a lot that did not sell to a bidder.
    LotOffered {
        /// The offer.
        offer: Uuid,
        /// The lot.
        item: Uuid,
        /// The registration of the bidder.
        registration: Uuid,
        /// Hammer price, minor units.
        amount: i64,
        /// The bidder can answer before this time.
        until: jiff::Timestamp,
    },
    /// Staff withdrew an offer of a lot.
    LotOfferWithdrawn {
        /// The offer.
        offer: Uuid,
        /// The lot.
        item: Uuid,
    },
    /// A bidder accepted an offer, which sold the lot.
    LotOfferAccepted {
        /// The offer.
        offer: Uuid,
        /// The lot.
        item: Uuid,
        /// The registration of the bidder.
        registration: Uuid,
    },
    /// A bidder declined an offer.
    LotOfferDeclined {
        /// The offer.
        offer: Uuid,
        /// The lot.
        item: Uuid,
        /// The registration of the bidder.
        registration: Uuid,
    },
    /// A caller exported everything that is held about a person.
    PartyExported {
        /// The party.
        party: Uuid,
    },
    /// A caller listed or searched the register of a house. The words of the search are not logged, because they can be a name.
    RegisterListed {
        /// The house.
        customer: Uuid,
        /// Number of records that the caller got.
        records: u64,
    },
    /// A caller exported the register of a house as a file.
    RegisterExported {
        /// The house.
        customer: Uuid,
        /// Number of records at the beginning.
        records: u64,
    },
    /// A caller listed the mails to the bidders of a house.
    MailsListed {
        /// The house.
        customer: Uuid,
        /// Number of mails that the caller got.
        records: u64,
    },
    /// A caller listed the late and withdrawn bids of an auction.
    LateBidsListed {
        /// The auction.
        auction: Uuid,
        /// Number of bids that the caller got.
        records: u64,
    },
    /// A caller opened a mail to a bidder.
    MailViewed {
        /// The mail.
        mail: Uuid,
        /// The registration that it is about.
        registration: Uuid,
    },
    /// A caller looked at a reminder before it was sent: the mail to the first bidder of an auction.
    ReminderPreviewed {
        /// The auction.
        auction: Uuid,
    },
    /// An API key was created.
    KeyCreated {
        /// The key.
        key: Uuid,
        /// Its name.
        name: String,
        /// The customer that it is confined to.
        customer: Option<Uuid>,
        /// What it may do.
        scopes: Vec<String>,
    },
    /// An API key was revoked.
    KeyRevoked {
        /// The key.
        key: Uuid,
    },
    /// A customer's connection to its provider was entered or changed.
    ConnectionEntered {
        /// The customer.
        customer: Uuid,
        /// The provider.
        provider_url: String,
        /// The consumer application.
        application_id: Option<String>,
        /// Whether an API key of the provider was entered with it.
        api_key_entered: bool,
        /// Whether the platform made an API key for it, at the embedded provider.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        api_key_made: bool,
    },
    /// A link to the App Portal of a customer's application was created.
    PortalLinkCreated {
        /// The customer.
        customer: Uuid,
        /// What its owner may do: `all` or `view`.
        rights: String,
        /// When it ends; none if the provider decides.
        expires_at: Option<jiff::Timestamp>,
    },
    /// A customer's connection was deleted with its credentials.
    ConnectionEnded {
        /// The customer.
        customer: Uuid,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_about_clerks_keep_their_documented_names() {
        let (auction, user) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let name = |event: AccessEvent| serde_json::to_value(event).unwrap()["event"].clone();
        assert_eq!(name(AccessEvent::ClerkAssigned { auction, user }), "clerkAssigned");
        assert_eq!(name(AccessEvent::ClerkTakenOff { auction, user }), "clerkTakenOff");
        assert_eq!(name(AccessEvent::ScreenLinkRevoked { auction, kind: "room".into() }), "screenLinkRevoked");
    }
}
