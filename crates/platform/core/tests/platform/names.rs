//! Names of users: who gives them, who sees them, and what is refused.

use kit_runtime::vault::Secret;
use platform_core::access::access_log::AccessEvent;
use platform_core::port::{Page, User};
use platform_core::users::{Client, NewUser, SignIn, UserName};
use platform_core::{Caller, PlatformError, Role};

use crate::fixture::TestPlatform;

const PASSWORD: &[u8] = b"correct horse battery";

async fn create(fixture: &TestPlatform, email: &str, name: Option<&str>, role: Role) -> Result<User, PlatformError> {
    let new = NewUser {
        email: email.into(),
        name: name.map(str::to_owned),
        role,
        password: Some(Secret::new(PASSWORD.to_vec())),
        must_change_password: false,
    };
    fixture.platform.create_user(&fixture.caller, new, None).await?.fresh().map(|created| created.user)
}

async fn signed_in(fixture: &TestPlatform, email: &str) -> Caller {
    let password = Secret::new(PASSWORD.to_vec());
    let sign_in = SignIn { email: email.to_owned(), password, code: None, client: Client::default() };
    let signed_in = fixture.platform.sign_in(&sign_in, None).await.unwrap().fresh().unwrap();
    fixture.platform.authenticate(signed_in.token.expose_str().unwrap()).await.unwrap()
}

#[tokio::test]
async fn an_administrator_and_the_user_change_a_name_and_sessions_go_on() {
    let fixture = TestPlatform::new().await;
    let (platform, operator) = (&fixture.platform, &fixture.caller);
    let bob = create(&fixture, "bob@example.com", None, Role::Viewer).await.unwrap();
    create(&fixture, "ann@example.com", Some("Ann Hartley"), Role::Administrator).await.unwrap();
    let own = signed_in(&fixture, "bob@example.com").await;
    let named = platform.name_user(operator, bob.id, Some(1), Some("Bob")).await.unwrap();
    assert_eq!((named.profile.name.as_deref(), named.version), (Some("Bob"), 2));
    let stale = platform.name_user(operator, bob.id, Some(1), Some("Robert")).await.unwrap_err();
    assert_eq!(stale.code(), "precondition_failed");
    assert_eq!(platform.me(&own).await.unwrap().0.profile.name.as_deref(), Some("Bob"), "the session ended");
    let named = platform.name_self(&own, Some("Robert Miller")).await.unwrap();
    assert_eq!(named.profile.name.as_deref(), Some("Robert Miller"));
    assert_eq!(platform.name_self(&own, Some("Robert Miller")).await.unwrap().version, named.version);
    assert_eq!(platform.name_self(&own, Some("")).await.unwrap().profile.name, None);
    // A viewer names no other user, and a key has no name.
    let refused = platform.name_user(&own, bob.id, None, Some("Boss")).await.unwrap_err();
    assert_eq!(refused.code(), "forbidden");
    assert_eq!(platform.name_self(operator, Some("Boss")).await.unwrap_err().code(), "forbidden");

    let page = Page { after: None, limit: 50 };
    let rows = platform.access_log(operator, page).await.unwrap();
    let named = rows.iter().rev().filter_map(|row| match &row.content.event {
        AccessEvent::UserNamed { user, name } => Some((row.content.actor.clone(), *user, name.clone())),
        _ => None,
    });
    let by = format!("user:{}", bob.id);
    let name = |name: &str| Some(name.to_owned());
    assert_eq!(
        named.collect::<Vec<_>>(),
        [
            ("command-line".to_owned(), bob.id, name("Bob")),
            (by.clone(), bob.id, name("Robert Miller")),
            (by, bob.id, None)
        ]
    );
}

#[tokio::test]
async fn a_name_that_hides_characters_or_looks_like_an_address_is_refused() {
    let fixture = TestPlatform::new().await;
    let bob = create(&fixture, "bob@example.com", None, Role::Viewer).await.unwrap();
    for name in ["Ann\u{202e}", "\u{2067}Ann", "A\u{200b}nn", "ann@example.com", "Ann\n", " ", &"n".repeat(101)] {
        for refused in [
            create(&fixture, "eve@example.com", Some(name), Role::Viewer).await.unwrap_err(),
            fixture.platform.name_user(&fixture.caller, bob.id, None, Some(name)).await.unwrap_err(),
        ] {
            let PlatformError::Invalid(problems) = refused else { panic!("{name:?}: {refused:?}") };
            assert_eq!(problems[0].pointer, "/name", "{name:?}");
        }
    }
    assert_eq!(fixture.platform.user(&fixture.caller, bob.id).await.unwrap().profile.name, None);
}

#[tokio::test]
async fn colleagues_see_names_and_only_those_who_may_read_users_see_addresses() {
    let fixture = TestPlatform::new().await;
    let ann = create(&fixture, "ann@example.com", Some("Ann Hartley"), Role::Administrator).await.unwrap();
    let bob = create(&fixture, "bob@example.com", None, Role::Viewer).await.unwrap();
    let actors = [format!("user:{}", ann.id), format!("user:{}", bob.id), "command-line".into(), "user:unknown".into()];
    let seen_by = async |caller: &Caller| {
        let names = fixture.platform.user_names(caller, actors.iter().map(String::as_str)).await.unwrap();
        [ann.id, bob.id].map(|uuid| names.get(&uuid).and_then(UserName::shown).map(str::to_owned))
    };
    let shown = |name: &str| Some(name.to_owned());
    let viewer = Caller { scopes: Role::Viewer.scopes(), ..fixture.caller.clone() };
    assert_eq!(seen_by(&fixture.caller).await, [shown("Ann Hartley"), shown("bob@example.com")]);
    assert_eq!(seen_by(&viewer).await, [shown("Ann Hartley"), None]);
    assert_eq!(seen_by(&signed_in(&fixture, "bob@example.com").await).await[1], shown("bob@example.com"));
    let of_a_customer = Caller { customer: Some(fixture.customer.uuid), ..fixture.caller.clone() };
    assert_eq!(seen_by(&of_a_customer).await, [None, None], "a customer's API key sees the staff");
}
