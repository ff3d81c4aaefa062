//! Users, invitations, sessions, and the limit on sign-in attempts.

use std::time::Duration;

use kit_identity::second_factor::CodeUse;
use kit_identity::throttle::{Attempt, AttemptsToReturn};
use kit_identity::user::{Change, OpenIdentity, Totp, TotpChange};
use kit_runtime::vault::Sealed;
use provider_core::model::Role;
use provider_core::model::{Id, Invitation, Profile, User, UserSession};
use provider_core::port::{
    AcceptedInvitation, InvitedUser, Order, SessionsToEnd, StoreError, UserChange, UserChangeResult,
};

use super::given::*;

pub(super) fn user(number: usize, role: Role) -> User {
    let profile = Profile { account: id("org", 1), name: format!("Pérson {number}"), role, is_email_confirmed: false };
    let email = format!("user{number}@example.com");
    let user = User::new(id("usr", number), email, "$argon2id$".to_owned(), at(1), profile);
    User { signed_in_at: Some(at(1)), ..user }
}

fn session(number: usize, user: usize) -> UserSession {
    UserSession {
        id: id("ses", number),
        hash: [number as u8; 32],
        user: id("usr", user),
        address: Some("192.0.2.1".to_owned()),
        browser: Some("Firefox".to_owned()),
        created_at: at(10),
        expires_at: at(1_000),
        last_used_at: at(10),
    }
}

fn invitation(number: usize) -> Invitation {
    Invitation {
        id: id("inv", number),
        account: id("org", 1),
        role: Role::Member,
        user: None,
        note: "Bob of the warehouse".to_owned(),
        created_by: "Ann".to_owned(),
        maker: None,
        created_at: at(2),
        hash: [number as u8; 32],
        expires_at: at(500),
    }
}

fn joining(user: User) -> InvitedUser {
    InvitedUser::New(Box::new(user))
}

/// The user joins by an invitation of the same number, with a session of that number.
async fn join(store: &Shared, number: usize, role: Role) -> Result<(), StoreError> {
    store.create_invitation(invitation(number), 99, entry(1)).await.unwrap();
    accept(store, number, joining(user(number, role)), number).await
}

/// The user joins by an invitation of this number.
pub(super) async fn join_as(store: &Shared, number: usize, user: User) {
    store.create_invitation(invitation(number), 99, entry(1)).await.unwrap();
    accept(store, number, joining(user), number).await.unwrap();
}

async fn accept(store: &Shared, number: usize, user: InvitedUser, session_of: usize) -> Result<(), StoreError> {
    let (invitation, session) = (id("inv", number).to_string(), session(number, session_of));
    store.accept_invitation(AcceptedInvitation { invitation, user, session, activity: entry(2) }).await
}

fn changing(change: Change<Id, Profile>) -> UserChange {
    UserChange { change, activity: None }
}

fn change(user: User) -> UserChange {
    changing(Change::to(user))
}

pub(super) async fn a_user_joins_once_with_an_invitation(store: Shared) {
    let refused = store.create_invitation(invitation(1), 9, entry(1)).await;
    assert!(matches!(refused, Err(StoreError::NotFound)), "there is no such account");
    store.create_account(account(1)).await.unwrap();
    join(&store, 1, Role::Admin).await.unwrap();
    assert_eq!(store.user(&id("usr", 1)).await.unwrap(), Some(user(1, Role::Admin)));
    assert_eq!(store.user_by_email("user1@example.com").await.unwrap(), Some(user(1, Role::Admin)));
    assert_eq!(store.user_by_email("user2@example.com").await.unwrap(), None);
    assert_eq!(store.session_by_hash([1; 32]).await.unwrap(), Some((session(1, 1), user(1, Role::Admin))));
    let again = accept(&store, 1, joining(user(2, Role::Admin)), 2).await;
    assert!(matches!(again, Err(StoreError::NotFound)), "it was used");

    store.create_invitation(invitation(3), 9, entry(1)).await.unwrap();
    assert_eq!(store.invitation_by_hash([3; 32]).await.unwrap(), Some(invitation(3)));
    let same_address = User { email: "user1@example.com".to_owned(), ..user(3, Role::Viewer) };
    let taken = accept(&store, 3, joining(same_address), 3).await;
    assert!(matches!(taken, Err(StoreError::Taken("email"))));
    assert_eq!(store.invitations(&id("org", 1), whole(Order::Descending)).await.unwrap(), [invitation(3)]);
    assert!(!store.delete_invitation(&id("org", 2), &id("inv", 3), entry(3)).await.unwrap());
    assert!(store.delete_invitation(&id("org", 1), &id("inv", 3), entry(3)).await.unwrap());
    assert_eq!(store.invitation_by_hash([3; 32]).await.unwrap(), None);
    join(&store, 4, Role::Viewer).await.unwrap();
    let users = store.users(&id("org", 1), whole(Order::Ascending)).await.unwrap();
    assert_eq!(users, [user(1, Role::Admin), user(4, Role::Viewer)]);
    assert_eq!(store.users(&id("org", 2), whole(Order::Ascending)).await.unwrap(), []);
}

pub(super) async fn a_link_for_a_new_password_changes_the_user(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    join(&store, 1, Role::Admin).await.unwrap();
    for number in [2, 3] {
        let link = Invitation { user: Some(id("usr", 1)), ..invitation(number) };
        store.create_invitation(link, 9, entry(1)).await.unwrap();
    }
    assert_eq!(store.invitation_by_hash([2; 32]).await.unwrap(), None, "the newer link replaced it");
    let with_password = User { password_hash: "new".to_owned(), ..user(1, Role::Admin) };
    let stale = User { version: 7, ..with_password.clone() };
    let ending = SessionsToEnd::AllOf(id("usr", 1));
    let reset = |user| InvitedUser::Existing(Box::new(changing(Change::to(user).ending(ending.clone()))));
    assert!(matches!(accept(&store, 3, reset(stale), 1).await, Err(StoreError::Conflict)));
    accept(&store, 3, reset(with_password.clone()), 1).await.unwrap();
    let changed = User { version: 2, ..with_password };
    assert_eq!(store.session_by_hash([1; 32]).await.unwrap(), None, "the older session ended");
    assert_eq!(store.session_by_hash([3; 32]).await.unwrap(), Some((session(3, 1), changed)));
}

pub(super) async fn a_person_of_an_issuer_is_linked_to_one_user(store: Shared) {
    let person = |subject: &str| OpenIdentity { issuer: "https://id.example.com".into(), subject: subject.into() };
    let linked = |user: User, subject: &str| User { openid: Some(person(subject)), ..user };
    let found = async |subject: &str| store.user_by_openid(&person(subject)).await.unwrap().map(|user| user.id);
    let confirmed = |user: User| User { profile: Profile { is_email_confirmed: true, ..user.profile.clone() }, ..user };
    let ann = confirmed(linked(user(1, Role::Admin), "ann"));
    let refused = store.create_user(ann.clone(), 9, entry(1)).await;
    assert!(matches!(refused, Err(StoreError::NotFound)), "there is no such account");
    store.create_account(account(1)).await.unwrap();
    store.create_user(ann.clone(), 2, entry(1)).await.unwrap();
    assert_eq!(store.user_by_openid(&person("ann")).await.unwrap(), Some(ann.clone()));
    assert_eq!((found("Ann").await, found("an\0n").await), (None, None));
    for taken in [linked(user(2, Role::Viewer), "ann"), User { email: ann.email.clone(), ..user(2, Role::Viewer) }] {
        let taken = store.create_user(taken, 9, entry(2)).await;
        assert!(matches!(taken, Err(StoreError::Taken(_))), "{taken:?}");
    }
    store.create_user(user(2, Role::Viewer), 2, entry(2)).await.unwrap();
    let third = store.create_user(user(3, Role::Viewer), 2, entry(3)).await;
    assert!(matches!(third, Err(StoreError::LimitReached)), "{third:?}");
    assert_eq!(store.user(&id("usr", 3)).await.unwrap(), None);

    let bea = confirmed(linked(user(2, Role::Viewer), "bea"));
    store.change_user(change(bea.clone())).await.unwrap();
    assert_eq!(store.user_by_openid(&person("bea")).await.unwrap(), Some(User { version: 2, ..bea }));
    store.create_user(user(3, Role::Viewer), 9, entry(3)).await.unwrap();
    let taken = store.change_user(change(linked(user(3, Role::Viewer), "bea"))).await;
    assert!(matches!(taken, Err(StoreError::Taken("openid"))), "{taken:?}");
    store.change_user(change(User { version: 2, ..user(2, Role::Viewer) })).await.unwrap();
    assert_eq!(found("bea").await, None, "a change without the link removes it");
    store.change_user(change(linked(user(3, Role::Viewer), "bea"))).await.unwrap();
    assert_eq!(found("bea").await, Some(id("usr", 3)));
}

pub(super) async fn an_account_keeps_an_admin(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    join(&store, 1, Role::Admin).await.unwrap();
    join(&store, 2, Role::Viewer).await.unwrap();
    let demoted = |number| change(user(number, Role::Member));
    assert_eq!(store.change_user(demoted(1)).await.unwrap(), UserChangeResult::LastAdmin);
    let removed = store.remove_user(user(1, Role::Admin), 9, entry(3)).await.unwrap();
    assert_eq!(removed, UserChangeResult::LastAdmin);
    let promoted = change(user(2, Role::Admin));
    assert_eq!(store.change_user(promoted.clone()).await.unwrap(), UserChangeResult::Done);
    assert!(matches!(store.change_user(promoted).await, Err(StoreError::Conflict)), "the version is another");
    assert_eq!(store.change_user(demoted(1)).await.unwrap(), UserChangeResult::Done);
    let member = User { version: 2, ..user(1, Role::Member) };
    assert_eq!(store.user(&id("usr", 1)).await.unwrap(), Some(member.clone()));
    let removed = store.remove_user(member, 9, entry(4)).await.unwrap();
    assert_eq!(removed, UserChangeResult::Done);
    assert_eq!(store.user(&id("usr", 1)).await.unwrap(), None);
    assert_eq!(store.session_by_hash([1; 32]).await.unwrap(), None);
}

pub(super) async fn two_admins_can_not_remove_each_other(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    join(&store, 1, Role::Admin).await.unwrap();
    join(&store, 2, Role::Admin).await.unwrap();
    let remove = |number| store.remove_user(user(number, Role::Admin), 9, entry(3));
    let (one, two) = tokio::join!(remove(1), remove(2));
    let mut results = [one.unwrap(), two.unwrap()];
    results.sort_by_key(|result| *result == UserChangeResult::LastAdmin);
    assert_eq!(results, [UserChangeResult::Done, UserChangeResult::LastAdmin]);
    assert_eq!(store.users(&id("org", 1), whole(Order::Ascending)).await.unwrap().len(), 1);
}

pub(super) async fn a_session_is_found_until_it_ends(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    join(&store, 1, Role::Admin).await.unwrap();
    let stale = store.begin_session(session(2, 1), 7, 9, entry(3)).await;
    assert!(matches!(stale, Err(StoreError::Conflict)));
    for number in 2..=4 {
        store.begin_session(session(number, 1), 1, 9, entry(3)).await.unwrap();
    }
    let signed_in = User { signed_in_at: Some(at(10)), ..user(1, Role::Admin) };
    assert_eq!(store.session_by_hash([2; 32]).await.unwrap(), Some((session(2, 1), signed_in)));
    for used_at in [90, 40] {
        store.touch_session(&id("ses", 2), at(used_at)).await.unwrap();
    }
    let listed = store.sessions(&id("usr", 1), 3).await.unwrap();
    let used = UserSession { last_used_at: at(90), ..session(2, 1) };
    assert_eq!(listed, [session(4, 1), session(3, 1), used]);

    let end = async |ending| store.end_sessions(ending, Some(entry(4))).await.unwrap();
    assert_eq!(end(SessionsToEnd::Nothing).await, 0);
    assert_eq!(end(SessionsToEnd::One(id("usr", 1), id("ses", 9))).await, 0);
    assert_eq!(end(SessionsToEnd::One(id("usr", 1), id("ses", 4))).await, 1);
    assert_eq!(end(SessionsToEnd::AllBut(id("usr", 1), id("ses", 2))).await, 2);
    assert!(store.session_by_hash([2; 32]).await.unwrap().is_some());
    assert_eq!(end(SessionsToEnd::AllOf(id("usr", 1))).await, 1);
    assert_eq!(store.sessions(&id("usr", 1), 9).await.unwrap(), []);
}

pub(super) async fn only_the_newest_sessions_stay(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    join(&store, 1, Role::Admin).await.unwrap();
    for number in 2..=4 {
        store.begin_session(session(number, 1), 1, 2, entry(3)).await.unwrap();
    }
    let ids: Vec<_> = store.sessions(&id("usr", 1), 9).await.unwrap().into_iter().map(|session| session.id).collect();
    assert_eq!(ids, [id("ses", 4), id("ses", 3)]);
}

pub(super) async fn codes_work_once(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    join(&store, 1, Role::Admin).await.unwrap();
    let of = id("usr", 1);
    assert!(!store.use_code(&of, CodeUse::Step(5)).await.unwrap(), "there is no second factor");
    let totp = Totp { secret: Sealed::from_text("v1.sealed".to_owned()), step: 5, confirmed_at: Some(at(7)) };
    let set = TotpChange::Set(totp.clone(), vec![[1; 32], [2; 32]]);
    store.change_user(changing(Change { totp: set, ..Change::to(user(1, Role::Admin)) })).await.unwrap();
    let with_factor = User { version: 2, totp: Some(totp), ..user(1, Role::Admin) };
    assert_eq!(store.user(&of).await.unwrap(), Some(with_factor.clone()));
    for (step, used) in [(5, false), (6, true), (6, false), (4, false), (7, true)] {
        assert_eq!(store.use_code(&of, CodeUse::Step(step)).await.unwrap(), used, "step {step}");
    }
    assert!(store.use_code(&of, CodeUse::Recovery([1; 32])).await.unwrap());
    assert!(!store.use_code(&of, CodeUse::Recovery([1; 32])).await.unwrap());
    assert!(!store.use_code(&of, CodeUse::Recovery([3; 32])).await.unwrap());
    assert_eq!(store.recovery_codes(&of).await.unwrap(), 1);
    let (old, new) = (Sealed::from_text("v1.sealed".to_owned()), Sealed::from_text("v1.again".to_owned()));
    assert_eq!(store.all_second_factors(None, 9).await.unwrap(), [(of.clone(), old.clone())]);
    assert_eq!(store.all_second_factors(Some(of.clone()), 9).await.unwrap(), []);
    for resealed in [1, 0] {
        let secrets = vec![(of.clone(), old.clone(), new.clone())];
        assert_eq!(store.reseal_second_factors(secrets).await.unwrap(), resealed);
    }
    assert_eq!(store.all_second_factors(None, 9).await.unwrap(), [(of.clone(), new)]);
    store.change_user(changing(Change { totp: TotpChange::Remove, ..Change::to(with_factor) })).await.unwrap();
    assert_eq!(store.recovery_codes(&of).await.unwrap(), 0);
    assert_eq!(store.user(&of).await.unwrap().unwrap().totp, None);
}

pub(super) async fn attempts_run_out_and_refill(store: Shared) {
    let attempt =
        |subject| Attempt { subject: [subject; 32], refill_interval: Duration::from_millis(100), attempts_max: 2 };
    let take = async |subjects: &[u8], now: i64| {
        let attempts = subjects.iter().map(|subject| attempt(*subject)).collect();
        store.take_sign_in_attempts(attempts, at(now)).await.unwrap()
    };
    assert_eq!(take(&[1, 2], 0).await, None);
    assert_eq!(take(&[1], 0).await, None);
    assert_eq!(take(&[1, 2], 0).await, Some(at(100)), "the first is used up");
    assert_eq!(take(&[2], 0).await, None, "a refused attempt took nothing from the second");
    assert_eq!(take(&[2], 0).await, Some(at(100)));
    store.return_sign_in_attempts(AttemptsToReturn { full: vec![[1; 32]], back: vec![attempt(2)] }).await.unwrap();
    assert_eq!(take(&[1, 2], 0).await, None);
    assert_eq!(take(&[2], 0).await, Some(at(100)));
    assert_eq!(take(&[2], 100).await, None);
}

pub(super) async fn an_account_has_no_more_users_than_it_may(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    join(&store, 1, Role::Admin).await.unwrap();
    store.create_invitation(invitation(2), 2, entry(1)).await.unwrap();
    let refused = store.create_invitation(invitation(3), 2, entry(1)).await;
    assert!(matches!(refused, Err(StoreError::LimitReached)));
    assert_eq!(store.invitation_by_hash([3; 32]).await.unwrap(), None);
    // A link for a new password adds no user.
    let link = Invitation { user: Some(id("usr", 1)), ..invitation(4) };
    store.create_invitation(link, 2, entry(1)).await.unwrap();
}

pub(super) async fn what_expired_is_deleted_a_few_at_a_time(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    join(&store, 1, Role::Admin).await.unwrap();
    for number in 2..=4 {
        let expires_at = at(number as i64 * 100);
        let session = UserSession { expires_at, last_used_at: at(50), ..session(number, 1) };
        store.begin_session(session, 1, 9, entry(3)).await.unwrap();
    }
    store.create_invitation(invitation(9), 9, entry(1)).await.unwrap();
    assert_eq!(store.delete_expired_sessions(at(350), at(0), 1).await.unwrap(), 1);
    assert_eq!(store.delete_expired_sessions(at(350), at(0), 9).await.unwrap(), 1);
    assert_eq!(store.sessions(&id("usr", 1), 9).await.unwrap().len(), 2);
    assert_eq!(store.delete_expired_sessions(at(350), at(60), 9).await.unwrap(), 2, "unused");
    assert_eq!(store.delete_expired_sessions(at(501), at(60), 9).await.unwrap(), 1, "the invitation");
    assert_eq!(store.invitation_by_hash([9; 32]).await.unwrap(), None);
}

pub(super) async fn links_end_with_the_role_admin_of_their_maker(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    for (number, role) in [(1, Role::Admin), (2, Role::Admin), (3, Role::Admin), (4, Role::Member)] {
        join(&store, number, role).await.unwrap();
    }
    let made = |number, maker| Invitation { maker: Some(id("usr", maker)), ..invitation(number) };
    for (number, maker) in [(11, 1), (12, 2), (13, 3)] {
        store.create_invitation(made(number, maker), 99, entry(1)).await.unwrap();
    }
    assert_eq!(store.invitation_by_hash([12; 32]).await.unwrap(), Some(made(12, 2)));
    let link = Invitation { user: Some(id("usr", 1)), ..made(14, 2) };
    store.create_invitation(link, 99, entry(1)).await.unwrap();
    let admin = user(2, Role::Admin);
    let renamed = User { profile: Profile { name: "Renamed".to_owned(), ..admin.profile.clone() }, ..admin };
    store.change_user(change(renamed.clone())).await.unwrap();
    assert!(store.invitation_by_hash([12; 32]).await.unwrap().is_some(), "an Admin's links stay");
    let profile = Profile { role: Role::Member, ..renamed.profile.clone() };
    let demoted = User { profile, version: 2, ..renamed };
    store.change_user(change(demoted)).await.unwrap();
    store.remove_user(user(3, Role::Admin), 9, entry(3)).await.unwrap();
    for (number, stays) in [(11, true), (12, false), (13, false), (14, false)] {
        assert_eq!(store.invitation_by_hash([number; 32]).await.unwrap().is_some(), stays, "link {number}");
    }
    // A request of a user who was an Admin when it arrived.
    for (number, maker) in [(15, 2), (16, 3), (17, 4)] {
        let late = store.create_invitation(made(number, maker), 99, entry(1)).await;
        assert!(matches!(late, Err(StoreError::Conflict)), "{late:?}");
        assert_eq!(store.invitation_by_hash([number as u8; 32]).await.unwrap(), None);
    }
}

pub(super) async fn a_session_is_found_by_its_id(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    join(&store, 1, Role::Admin).await.unwrap();
    let found = store.session(&id("ses", 1)).await.unwrap();
    assert_eq!(found, Some((session(1, 1), user(1, Role::Admin))));
    store.end_sessions(SessionsToEnd::AllOf(id("usr", 1)), None).await.unwrap();
    assert_eq!(store.session(&id("ses", 1)).await.unwrap(), None);
}
