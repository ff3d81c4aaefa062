//! What an issuer says of a person: the claims of a verified ID token, and of the userinfo endpoint.

use kit_identity::user::{is_email, plain_email};
use serde_json::{Map, Value};

/// Characters of a subject. The standard allows 255 ASCII characters (OpenID Connect Core 1.0, section 2).
const SUBJECT_CHARS_MAX: usize = 255;
/// Characters of a name that is taken over.
const NAME_CHARS_MAX: usize = 100;
/// Groups that are looked at.
const GROUPS_MAX: usize = 2_000;

/// Claims by their name.
pub(crate) type Claims = Map<String, Value>;

/// A person, as their issuer describes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The issuer.
    pub issuer: String,
    /// The person's id at the issuer. It never changes, and no other person gets it.
    pub subject: String,
    /// E-mail address in its stored form, if the issuer gave one that can be an address.
    pub email: Option<String>,
    /// The issuer says that the address is the person's.
    pub is_email_verified: bool,
    /// What people call them.
    pub name: Option<String>,
    /// Their groups.
    pub groups: Vec<String>,
}

impl Person {
    /// The person with these claims. None without a usable subject.
    pub(crate) fn from_claims(issuer: &str, claims: &Claims, groups_claim: &str) -> Option<Self> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        // Compared byte for byte, so nothing is trimmed.
        let subject = claims.get("sub").and_then(Value::as_str)?;
        let is_usable = !subject.is_empty() && subject.chars().count() <= SUBJECT_CHARS_MAX && !has_control(subject);
        let is_email_verified = match claims.get("email_verified") {
            Some(Value::Bool(is_verified)) => *is_verified,
            // Some issuers write the boolean as a text.
            Some(Value::String(text)) => text == "true",
            _ => false,
        };
        is_usable.then(|| Self {
            issuer: issuer.to_owned(),
            subject: subject.to_owned(),
            email: text("email").and_then(stored_email),
            is_email_verified,
            name: text("name")
                .filter(|name| !has_control(name))
                .map(|name| name.chars().take(NAME_CHARS_MAX).collect()),
            groups: groups(claims.get(groups_claim)),
        })
    }
}

/// An address in the form in which users' addresses are stored. None for one that can't be an address, and for one with a letter
/// outside ASCII that the stored form changes: the Kelvin sign becomes a k, so the address would be that of another person.
fn stored_email(email: &str) -> Option<String> {
    let stored = plain_email(email);
    (stored == email.to_ascii_lowercase() && is_email(&stored)).then_some(stored)
}

/// The groups of a claim: a list of texts, or one text. Entries of another kind are no groups.
fn groups(claim: Option<&Value>) -> Vec<String> {
    match claim {
        Some(Value::Array(entries)) => {
            entries.iter().take(GROUPS_MAX).filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(Value::String(group)) => vec![group.clone()],
        _ => Vec::new(),
    }
}

fn has_control(text: &str) -> bool {
    text.chars().any(char::is_control)
}

/// True when the claims of the ID token are not enough, so that the userinfo endpoint is asked.
pub(crate) fn are_incomplete(claims: &Claims, groups_claim: &str, needs_groups: bool) -> bool {
    !claims.contains_key("email")
        || !claims.contains_key("email_verified")
        || (needs_groups && !claims.contains_key(groups_claim))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn person(claims: Value) -> Option<Person> {
        let Value::Object(claims) = claims else { panic!("no object") };
        Person::from_claims("https://id.example.com", &claims, "groups")
    }

    #[test]
    fn a_person_has_an_address_a_name_and_groups() {
        let found = person(json!({
            "sub": "248289761001", "email": " Ann@Example.com", "email_verified": true, "name": "Ann Hartley",
            "groups": ["clerks", 7, "admins"],
        }))
        .unwrap();
        let expected = Person {
            issuer: "https://id.example.com".into(),
            subject: "248289761001".into(),
            email: Some("ann@example.com".into()),
            is_email_verified: true,
            name: Some("Ann Hartley".into()),
            groups: vec!["clerks".into(), "admins".into()],
        };
        assert_eq!(found, expected);
        assert_eq!(person(json!({ "sub": "1", "groups": "clerks" })).unwrap().groups, ["clerks"]);
    }

    #[test]
    fn an_address_that_becomes_another_one_in_its_stored_form_is_none() {
        let email = |text: &str| person(json!({ "sub": "1", "email": text, "email_verified": true })).unwrap().email;
        assert_eq!(email("\u{212a}ate@example.com"), None);
        assert_eq!(email("kate@\u{212a}.example"), None);
        assert_eq!(email("ADM\u{130}N@example.com"), None);
        assert_eq!(email("KATE@Example.com").as_deref(), Some("kate@example.com"));
        assert_eq!(email("k\u{e4}te@example.com").as_deref(), Some("k\u{e4}te@example.com"));
    }

    #[test]
    fn an_address_counts_as_verified_only_when_the_issuer_says_so() {
        for (claim, is_verified) in [
            (json!(true), true),
            (json!("true"), true),
            (json!(false), false),
            (json!("false"), false),
            (json!("TRUE"), false),
            (json!(1), false),
            (Value::Null, false),
        ] {
            let found = person(json!({ "sub": "1", "email": "ann@example.com", "email_verified": claim })).unwrap();
            assert_eq!(found.is_email_verified, is_verified, "{claim}");
        }
        assert!(!person(json!({ "sub": "1", "email": "ann@example.com" })).unwrap().is_email_verified);
    }

    #[test]
    fn claims_that_cannot_be_used_are_left_out_and_a_person_needs_a_subject() {
        let found =
            person(json!({ "sub": " 1 ", "email": "not an address", "name": "a\u{1b}[2J", "groups": {} })).unwrap();
        assert_eq!((found.subject.as_str(), found.email, found.name), (" 1 ", None, None));
        for subject in [json!(""), json!(7), json!("a".repeat(256)), json!("a\nb"), Value::Null] {
            assert_eq!(person(json!({ "sub": subject })), None, "{subject}");
        }
    }

    #[test]
    fn the_userinfo_endpoint_is_asked_for_what_the_token_does_not_have() {
        let incomplete =
            |claims: Value, needs_groups| are_incomplete(claims.as_object().unwrap(), "groups", needs_groups);
        let with_email = json!({ "email": "a@example.com", "email_verified": true });
        assert!(incomplete(json!({}), false) && incomplete(json!({ "email": "a@example.com" }), false));
        assert!(!incomplete(with_email.clone(), false) && incomplete(with_email, true));
    }
}
