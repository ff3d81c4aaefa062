//! Who may sign in: which user a person of the issuer is, and which role their groups give. Pure: the wing loads the users and
//! commits what follows.

use kit_identity::user::{Change, OpenIdentity, User};

use crate::claims::Person;
use crate::error::OpenIdError;
use crate::relying_party::RelyingParty;

/// Single sign-on of one wing. `R` is the wing's role.
#[derive(Debug, Clone)]
pub struct SingleSignOn<R> {
    /// The client of the issuer.
    pub party: RelyingParty,
    /// Groups with the role that each gives. The first one that the person is in counts. Empty: roles are given in this
    /// installation, and groups don't count.
    pub roles: Vec<(String, R)>,
    /// A person without a user gets one, with the role of their groups.
    pub creates_users: bool,
}

/// The decision on a person: the user, and the change that the caller commits before the session begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission<I, P, R> {
    /// The user is linked to the person. They get the role, if there is one.
    Known(User<I, P>, Option<R>),
    /// The change links the user to the person. Then they get the role, if there is one.
    Link(Box<Change<I, P>>, Option<R>),
    /// There is no user: one with this address, this role and this link is created.
    Create {
        /// E-mail address.
        email: String,
        /// The role.
        role: R,
        /// The link.
        identity: OpenIdentity,
    },
}

impl<R: Copy> SingleSignOn<R> {
    /// The role that the person's groups give.
    fn role(&self, person: &Person) -> Option<R> {
        let role = self.roles.iter().find(|(group, _)| person.groups.contains(group));
        role.map(|(_, role)| *role)
    }

    /// Decides which user the person is. `linked` is the user who is linked to the person, and `by_email` the one with the
    /// person's address.
    ///
    /// Errors: `email_missing`, `email_not_verified`, `linked_to_another`, `no_user`, `no_group`, `disabled`.
    pub fn admit<I: Clone, P: Clone>(
        &self,
        person: &Person,
        linked: Option<User<I, P>>,
        by_email: Option<User<I, P>>,
    ) -> Result<Admission<I, P, R>, OpenIdError> {
        let issuer = || self.party.issuer_name().to_owned();
        let identity = OpenIdentity { issuer: person.issuer.clone(), subject: person.subject.clone() };
        // Another sign-in of the person linked the user after `linked` was read.
        let is_linked_now = by_email.as_ref().is_some_and(|user| user.openid.as_ref() == Some(&identity));
        let linked = if is_linked_now { linked.or(by_email.clone()) } else { linked };
        let role = self.role(person);
        let enabled = |user: User<I, P>| if user.disabled_at.is_some() { Err(OpenIdError::Disabled) } else { Ok(user) };
        let in_group = || {
            let is_in = self.roles.is_empty() || role.is_some();
            if is_in { Ok(()) } else { Err(OpenIdError::NoGroup { issuer: issuer() }) }
        };
        if let Some(user) = linked {
            let user = enabled(user)?;
            in_group()?;
            return Ok(Admission::Known(user, role));
        }
        let email = person.email.clone().ok_or_else(|| OpenIdError::EmailMissing { issuer: issuer() })?;
        if !person.is_email_verified {
            return Err(OpenIdError::EmailNotVerified { issuer: issuer() });
        }
        if let Some(user) = by_email {
            let user = enabled(user)?;
            if user.openid.is_some() {
                return Err(OpenIdError::LinkedToAnother);
            }
            in_group()?;
            return Ok(Admission::Link(Box::new(Change::to(User { openid: Some(identity), ..user })), role));
        }
        if !self.creates_users {
            return Err(OpenIdError::NoUser { issuer: issuer() });
        }
        let role = role.ok_or_else(|| OpenIdError::NoGroup { issuer: issuer() })?;
        Ok(Admission::Create { email, role, identity })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use kit_outbound::RootCertStore;
    use kit_runtime::clock::TestClock;

    use super::*;
    use crate::settings::OpenIdSettings;

    fn single_sign_on(roles: &[(&str, char)], creates_users: bool) -> SingleSignOn<char> {
        let settings = OpenIdSettings {
            issuer: "https://id.example.com".into(),
            client_id: "lotwire".into(),
            client_secret: None,
            redirect_uri: String::new(),
            scopes: Vec::new(),
            groups_claim: "groups".into(),
            name: String::new(),
            extra_roots: RootCertStore::empty(),
        };
        let clock = Arc::new(TestClock::new(Timestamp::UNIX_EPOCH));
        let party = RelyingParty::new("test", settings, !roles.is_empty(), clock);
        let roles = roles.iter().map(|(group, role)| ((*group).to_owned(), *role)).collect();
        SingleSignOn { party, roles, creates_users }
    }

    fn person(groups: &[&str]) -> Person {
        Person {
            issuer: "https://id.example.com".into(),
            subject: "7".into(),
            email: Some("ann@example.com".into()),
            is_email_verified: true,
            name: None,
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        }
    }

    fn user(id: u32) -> User<u32, ()> {
        User::new(id, "ann@example.com".into(), String::new(), Timestamp::UNIX_EPOCH, ())
    }

    fn identity() -> OpenIdentity {
        OpenIdentity { issuer: "https://id.example.com".into(), subject: "7".into() }
    }

    const ROLES: &[(&str, char)] = &[("admins", 'a'), ("clerks", 'c')];

    #[test]
    fn a_linked_user_signs_in_whatever_the_address_is_with_the_role_of_the_first_group() {
        let linked = || Some(User { openid: Some(identity()), ..user(1) });
        let without = Person { email: None, is_email_verified: false, ..person(&["clerks", "admins"]) };
        let admitted = single_sign_on(ROLES, false).admit(&without, linked(), None);
        assert_eq!(admitted, Ok(Admission::Known(linked().unwrap(), Some('a'))));
        let meanwhile = single_sign_on(ROLES, true).admit(&person(&["clerks"]), None, linked());
        assert_eq!(meanwhile, Ok(Admission::Known(linked().unwrap(), Some('c'))), "linked since it was looked for");
        let none = single_sign_on(&[], false).admit(&person(&["admins"]), linked(), Some(user(2)));
        assert_eq!(none, Ok(Admission::Known(linked().unwrap(), None)), "roles are given here");
        let outside = single_sign_on(ROLES, true).admit(&person(&["Admins"]), linked(), None);
        assert_eq!(outside.unwrap_err().code(), "no_group");
        let disabled = linked().map(|user| User { disabled_at: Some(Timestamp::UNIX_EPOCH), ..user });
        assert_eq!(single_sign_on(&[], false).admit(&person(&[]), disabled, None), Err(OpenIdError::Disabled));
    }

    #[test]
    fn a_user_is_linked_once_and_by_a_verified_address_only() {
        let sso = single_sign_on(&[], false);
        let Ok(Admission::Link(change, None)) = sso.admit(&person(&[]), None, Some(user(1))) else { panic!() };
        assert_eq!((change.expected_version, change.user.version), (1, 2));
        assert_eq!(change.user.openid, Some(identity()));
        let unverified = Person { is_email_verified: false, ..person(&[]) };
        let refused = |person: &Person, user| sso.admit(person, None, Some(user)).unwrap_err().code();
        assert_eq!(refused(&unverified, user(1)), "email_not_verified");
        assert_eq!(refused(&Person { email: None, ..person(&[]) }, user(1)), "email_missing");
        let other = OpenIdentity { subject: "8".into(), ..identity() };
        assert_eq!(refused(&person(&[]), User { openid: Some(other), ..user(1) }), "linked_to_another");
        assert_eq!(refused(&person(&[]), User { disabled_at: Some(Timestamp::UNIX_EPOCH), ..user(1) }), "disabled");
        let outside = single_sign_on(ROLES, true).admit(&person(&[]), None, Some(user(1)));
        assert_eq!(outside.unwrap_err().code(), "no_group");
    }

    #[test]
    fn a_user_is_created_only_when_that_is_allowed_and_a_group_gives_a_role() {
        let admit = |creates, person: &Person| single_sign_on(ROLES, creates).admit::<u32, ()>(person, None, None);
        let created = Admission::Create { email: "ann@example.com".into(), role: 'c', identity: identity() };
        assert_eq!(admit(true, &person(&["clerks"])), Ok(created));
        assert_eq!(admit(false, &person(&["clerks"])).unwrap_err().code(), "no_user");
        assert_eq!(admit(true, &person(&["buyers"])).unwrap_err().code(), "no_group");
        let unverified = Person { is_email_verified: false, ..person(&["clerks"]) };
        assert_eq!(admit(true, &unverified).unwrap_err().code(), "email_not_verified");
    }
}
