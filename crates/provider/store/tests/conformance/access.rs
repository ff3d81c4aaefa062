//! Settings of accounts, use of keys, tokens of applications.

use provider_core::model::{
    Account, AccountSettings, ActorKind, ApiKey, AppToken, Capability, KeyScope, Preview, Profile, Role, TokenMaker,
    User,
};
use provider_core::port::{Cursor, NewAppToken, Order, StoreError, UserChange};

use super::given::*;

/// A token of the first application, of session `user-<number>`.
fn token(number: usize) -> AppToken {
    AppToken {
        id: id("apptk", number),
        hash: [number as u8; 32],
        account: id("org", 1),
        application: id("app", 1),
        capabilities: [Capability::ViewBase, Capability::ManageEndpoint].into(),
        feature_flags: ["early".to_owned()].into(),
        session_id: Some(format!("user-{number}")),
        created_at: at(1),
        expires_at: at(5_000),
        last_used_at: None,
        maker: TokenMaker { kind: ActorKind::ApiKey, id: id("key", 1), name: "Plätform".to_owned() },
        preview: None,
    }
}

/// What an API key creates.
pub(super) fn new_token(token: AppToken) -> NewAppToken {
    NewAppToken { token, maker_role: None, activity: None }
}

pub(super) async fn an_accounts_settings_are_replaced_and_its_creation_is_not(store: Shared) {
    assert_eq!(reason(store.update_account(account(1), entry(1)).await.unwrap_err()), "not found");
    store.create_account(account(1)).await.unwrap();
    store.create_account(account(2)).await.unwrap();
    let changed =
        Account { name: "Renamed".to_owned(), settings: AccountSettings::default(), created_at: at(77), ..account(1) };
    store.update_account(changed.clone(), entry(1)).await.unwrap();
    let expected = Account { created_at: at(0), ..changed };
    assert_eq!(store.accounts(whole(Order::Ascending)).await.unwrap(), [expected, account(2)]);
}

pub(super) async fn a_keys_last_use_only_moves_on(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    let key = ApiKey {
        id: id("key", 1),
        account: id("org", 1),
        name: "Key".to_owned(),
        hash: [1; 32],
        created_at: at(0),
        expires_at: Some(at(9)),
        last_used_at: None,
        last_used_from: None,
        scopes: Some([KeyScope::Read, KeyScope::Send].into()),
    };
    store.create_api_key(key.clone(), entry(1)).await.unwrap();
    assert_eq!(store.api_key_by_hash([1; 32]).await.unwrap(), Some(key.clone()));
    for used_at in [20, 10] {
        store.touch_api_key(&key.id, at(used_at), Some(format!("192.0.2.{used_at}"))).await.unwrap();
        let used = ApiKey { last_used_at: Some(at(20)), last_used_from: Some("192.0.2.20".to_owned()), ..key.clone() };
        assert_eq!(store.api_key_by_hash([1; 32]).await.unwrap(), Some(used));
    }
    store.touch_api_key(&id("key", 9), at(1), None).await.unwrap();
}

pub(super) async fn a_token_is_found_by_its_hash_as_long_as_its_application_is_there(store: Shared) {
    assert!(matches!(store.create_app_token(new_token(token(1)), 9).await, Err(StoreError::NotFound)));
    routes(&store, 0).await;
    store.create_application(application(2), None).await.unwrap();
    let other = AppToken {
        application: id("app", 2),
        session_id: None,
        feature_flags: Default::default(),
        capabilities: [Capability::ViewBase].into(),
        ..token(2)
    };
    for token in [token(1), other.clone(), token(3)] {
        store.create_app_token(new_token(token), 9).await.unwrap();
    }
    assert_eq!(store.app_token_by_hash([1; 32]).await.unwrap(), Some(token(1)));
    assert_eq!(store.app_token_by_hash([2; 32]).await.unwrap(), Some(other.clone()));
    assert_eq!(store.app_token_by_hash([9; 32]).await.unwrap(), None);

    assert!(
        !store.delete_app_token(&id("app", 2), &id("apptk", 1), None).await.unwrap(),
        "it is another application's"
    );
    assert!(store.delete_app_token(&id("app", 1), &id("apptk", 1), None).await.unwrap());
    assert!(!store.delete_app_token(&id("app", 1), &id("apptk", 1), None).await.unwrap());
    assert_eq!(store.app_token_by_hash([1; 32]).await.unwrap(), None);
    assert!(store.delete_application(&id("org", 1), &id("app", 1)).await.unwrap());
    assert_eq!(store.app_token_by_hash([3; 32]).await.unwrap(), None);
    assert_eq!(store.app_token_by_hash([2; 32]).await.unwrap(), Some(other));
}

pub(super) async fn the_oldest_tokens_of_an_application_go_for_new_ones(store: Shared) {
    routes(&store, 0).await;
    store.create_application(application(2), None).await.unwrap();
    store.create_app_token(new_token(AppToken { application: id("app", 2), ..token(1) }), 2).await.unwrap();
    for number in 2..=5 {
        store.create_app_token(new_token(token(number)), 2).await.unwrap();
    }
    for (number, kept) in [(1, true), (2, false), (3, false), (4, true), (5, true)] {
        assert_eq!(store.app_token_by_hash([number; 32]).await.unwrap().is_some(), kept, "token {number}");
    }
}

pub(super) async fn tokens_end_all_together_or_by_session_and_never_later(store: Shared) {
    routes(&store, 0).await;
    for number in 1..=3 {
        store.create_app_token(new_token(token(number)), 9).await.unwrap();
    }
    store.create_app_token(new_token(AppToken { session_id: None, ..token(4) }), 9).await.unwrap();
    let sessions = vec!["user-2".to_owned(), "user-9".to_owned()];
    store.end_app_tokens(&id("app", 1), Some(sessions), at(100)).await.unwrap();
    store.end_app_tokens(&id("app", 2), None, at(1)).await.unwrap();
    let ends = async || {
        let mut ends = Vec::new();
        for number in 1..=4 {
            ends.push(store.app_token_by_hash([number; 32]).await.unwrap().unwrap().expires_at);
        }
        ends
    };
    assert_eq!(ends().await, [at(5_000), at(100), at(5_000), at(5_000)]);
    store.end_app_tokens(&id("app", 1), None, at(200)).await.unwrap();
    assert_eq!(ends().await, [at(200), at(100), at(200), at(200)]);
}

pub(super) async fn tokens_over_their_time_are_forgotten_a_few_at_a_time(store: Shared) {
    routes(&store, 0).await;
    for number in 1..=5 {
        let expires_at = at(number as i64 * 1_000);
        store.create_app_token(new_token(AppToken { expires_at, ..token(number) }), 9).await.unwrap();
    }
    for forgotten in [2, 1, 0] {
        assert_eq!(store.delete_expired_app_tokens(at(4_000), 2).await.unwrap(), forgotten);
    }
    for number in 1..=5 {
        assert_eq!(store.app_token_by_hash([number; 32]).await.unwrap().is_some(), number >= 4, "token {number}");
    }
}

/// A user of the first account with a token of the same number.
async fn user_with_token(store: &Shared, number: usize, role: Role) -> User {
    let profile = Profile { account: id("org", 1), name: format!("User {number}"), role, is_email_confirmed: false };
    let email = format!("user{number}@example.com");
    let user = User::new(id("usr", number), email, "$argon2id$".to_owned(), at(1), profile);
    let user = User { signed_in_at: Some(at(1)), ..user };
    super::users::join_as(store, number, user.clone()).await;
    store.create_app_token(token_of(&user, number), 99).await.unwrap();
    user
}

/// A token that the user creates.
fn token_of(user: &User, number: usize) -> NewAppToken {
    let maker = TokenMaker { kind: ActorKind::User, id: user.id.clone(), name: user.profile.name.clone() };
    let token = AppToken { maker, ..token(number) };
    NewAppToken { token, maker_role: Some(user.profile.role), activity: Some(entry(number)) }
}

pub(super) async fn tokens_of_a_user_end_with_the_user_and_with_a_lower_role(store: Shared) {
    routes(&store, 0).await;
    let ann = user_with_token(&store, 1, Role::Admin).await;
    let bob = user_with_token(&store, 2, Role::Member).await;
    let cyd = user_with_token(&store, 3, Role::Support).await;
    store.create_app_token(new_token(token(4)), 99).await.unwrap();
    let exist = async || {
        let mut exist = Vec::new();
        for number in 1..=4 {
            exist.push(store.app_token_by_hash([number; 32]).await.unwrap().is_some());
        }
        exist
    };
    let with_role = |user: &User, role| User { profile: Profile { role, ..user.profile.clone() }, ..user.clone() };
    let change = |user: &User, role| UserChange {
        change: kit_identity::user::Change::to(with_role(user, role)),
        activity: None,
    };
    store.change_user(change(&cyd, Role::Member)).await.unwrap();
    assert_eq!(exist().await, [true; 4], "a higher role ends nothing");
    store.change_user(change(&bob, Role::Support)).await.unwrap();
    assert_eq!(exist().await, [true, false, true, true]);
    let refused = store.create_app_token(token_of(&bob, 5), 99).await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "the maker has another role");
    let cyd = User { version: 2, ..with_role(&cyd, Role::Member) };
    store.remove_user(cyd.clone(), 9, entry(9)).await.unwrap();
    assert_eq!(exist().await, [true, false, false, true]);
    let refused = store.create_app_token(token_of(&cyd, 6), 99).await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "the maker was removed");
    assert_eq!(store.app_token(&id("app", 1), &id("apptk", 1)).await.unwrap().unwrap().maker.id, ann.id);
}

pub(super) async fn tokens_are_listed_with_their_last_use_and_revoked_one_by_one(store: Shared) {
    routes(&store, 0).await;
    store.create_application(application(2), None).await.unwrap();
    for number in 1..=3 {
        store.create_app_token(new_token(token(number)), 9).await.unwrap();
    }
    let preview = Some(Preview { session: id("ses", 1), role: Role::Member });
    store.create_app_token(new_token(AppToken { preview, ..token(4) }), 9).await.unwrap();
    store.create_app_token(new_token(AppToken { application: id("app", 2), ..token(5) }), 9).await.unwrap();
    let app = id("app", 1);
    let of_page = async |from| {
        let found = store.app_tokens(&app, page(from, Order::Descending, 2)).await.unwrap();
        found.into_iter().map(|token| token.id).collect::<Vec<_>>()
    };
    assert_eq!(of_page(None).await, [id("apptk", 3), id("apptk", 2)], "previews are not listed");
    assert_eq!(of_page(Some(Cursor::After(id("apptk", 2).to_string()))).await, [id("apptk", 1)]);
    assert_eq!(store.app_token(&app, &id("apptk", 4)).await.unwrap(), None);
    assert_eq!(store.app_token(&app, &id("apptk", 5)).await.unwrap(), None, "it is another application's");

    for used_at in [200, 100] {
        store.touch_app_token(&id("apptk", 2), at(used_at)).await.unwrap();
        let used = AppToken { last_used_at: Some(at(200)), ..token(2) };
        assert_eq!(store.app_token(&app, &id("apptk", 2)).await.unwrap(), Some(used));
    }
    let entries = async || store.activity(&id("org", 1), "", &whole_scan(Order::Descending)).await.unwrap().rows.len();
    let before = entries().await;
    assert!(!store.delete_app_token(&app, &id("apptk", 5), Some(entry(1))).await.unwrap());
    assert_eq!(entries().await, before);
    assert!(store.delete_app_token(&app, &id("apptk", 2), Some(entry(1))).await.unwrap());
    assert_eq!((entries().await, of_page(None).await), (before + 1, vec![id("apptk", 3), id("apptk", 1)]));
}

pub(super) async fn event_types_are_counted_up_to_a_number(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    for name in ["a", "b", "c"] {
        store.create_event_type(event_type(name), None).await.unwrap();
    }
    for (account, count_max, count) in [(1, 9, 3), (1, 2, 2), (2, 9, 0)] {
        assert_eq!(store.event_type_count(&id("org", account), count_max).await.unwrap(), count);
    }
}
