//! Users whom an account removed: single sign-on does not add them again.

use kit_identity::user::OpenIdentity;
use provider_core::model::{Profile, Role, User};
use provider_core::port::{UserChangeResult, UserCreationResult};

use super::given::*;
use super::users::{join_as, user};

const REMOVED_MAX: usize = 3;

/// A user of this number whom single sign-on creates, for a person with this subject.
fn person(number: usize, subject: &str) -> User {
    let issuer = "https://id.example.com".to_owned();
    User { openid: Some(OpenIdentity { issuer, subject: subject.into() }), ..user(number, Role::Member) }
}

async fn create(store: &Shared, user: User) -> UserCreationResult {
    store.create_user(user, 9_999, entry(1)).await.unwrap()
}

async fn remove(store: &Shared, user: User) {
    assert_eq!(store.remove_user(user, REMOVED_MAX, entry(1)).await.unwrap(), UserChangeResult::Done);
}

pub(super) async fn a_removed_user_is_added_again_only_by_an_invitation(store: Shared) {
    for number in [1, 2] {
        store.create_account(account(number)).await.unwrap();
    }
    assert_eq!(create(&store, person(1, "ann")).await, UserCreationResult::Done);
    remove(&store, person(1, "ann")).await;
    let elsewhere = User { email: "ann.hartley@example.com".to_owned(), ..person(2, "ann") };
    let renamed = User { email: user(1, Role::Member).email, ..person(2, "another") };
    for back in [person(1, "ann"), renamed.clone(), elsewhere] {
        assert_eq!(create(&store, back.clone()).await, UserCreationResult::Removed, "{back:?}");
        assert_eq!(store.user(&back.id).await.unwrap(), None);
    }
    // Another person, and the same one in another account.
    assert_eq!(create(&store, person(3, "bea")).await, UserCreationResult::Done);
    let profile = Profile { account: id("org", 2), ..renamed.profile.clone() };
    let other = User { profile, ..person(4, "ann") };
    assert_eq!(create(&store, other.clone()).await, UserCreationResult::Done);
    remove(&store, other).await;

    // An invitation counts for the address with which the person joins.
    join_as(&store, 5, user(5, Role::Member)).await;
    assert_eq!(create(&store, renamed.clone()).await, UserCreationResult::Removed);
    join_as(&store, 6, User { email: renamed.email.clone(), ..user(6, Role::Member) }).await;
    remove(&store, User { email: renamed.email.clone(), ..user(6, Role::Member) }).await;
    assert_eq!(create(&store, renamed).await, UserCreationResult::Removed, "the user was removed again");
    // The invitation was for the address. The person who had been linked to it stays known.
    let elsewhere = User { email: "ann.hartley@example.com".to_owned(), ..person(7, "ann") };
    assert_eq!(create(&store, elsewhere).await, UserCreationResult::Removed);
}

pub(super) async fn the_users_whom_an_account_removed_last_are_kept(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    for number in 0..=REMOVED_MAX {
        let user = person(number, &number.to_string());
        assert_eq!(create(&store, user.clone()).await, UserCreationResult::Done);
        remove(&store, user).await;
    }
    assert_eq!(create(&store, person(1, "1")).await, UserCreationResult::Removed);
    assert_eq!(create(&store, person(0, "0")).await, UserCreationResult::Done, "the oldest is forgotten");
}
