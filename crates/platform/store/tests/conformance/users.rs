//! Users, sessions, second factors, and attempts to sign in.

use std::time::Duration;

use kit_identity::second_factor::CodeUse;
use kit_identity::throttle::{Attempt, AttemptsToReturn};
use kit_identity::user::{Change, OpenIdentity};
use kit_runtime::vault::Sealed;
use platform_core::port::{
    AccessChange, AccessChangeResult, Invitation, Profile, SealedLocation, SealedReplacement, Session, SessionsToEnd,
    StoreError, Totp, TotpChange, User, UserChange, UserChangeResult,
};

use super::access_changes::AccessChanges as _;
use super::given::{Shared, answer, at, caller_uuid, node, page, user, user_change as change, whole};

fn with_totp(user: User, totp: TotpChange) -> UserChange {
    UserChange { change: Change { totp, ..Change::to(user.clone()) }, ..change(user) }
}

fn session(number: u8, of: usize) -> Session {
    Session {
        id: node(number.into()).0,
        hash: [number; 32],
        user: caller_uuid(of),
        address: Some("192.0.2.7".into()),
        browser: None,
        created_at: at(10),
        expires_at: at(9_000),
        last_used_at: at(10),
    }
}

pub(super) async fn an_email_address_belongs_to_one_user(store: Shared) {
    store.create_user(user(1, "viewer"), None).await.unwrap();
    store.create_user(user(2, "clerk"), Some(answer("made", "{}", at(1)))).await.unwrap();
    let namesake = User { email: user(1, "viewer").email, ..user(3, "viewer") };
    assert!(matches!(store.create_user(namesake, None).await, Err(StoreError::Taken("email"))));
    let again = store.create_user(user(3, "viewer"), Some(answer("made", "{}", at(1)))).await;
    assert!(matches!(again, Err(StoreError::Replayed)));
    assert_eq!(store.user(caller_uuid(2)).await.unwrap(), Some(user(2, "clerk")));
    assert_eq!(store.user_by_email("1@example.com").await.unwrap(), Some(user(1, "viewer")));
    assert_eq!(store.user_by_email("no\0body").await.unwrap(), None);
    assert_eq!(store.users(page(Some(caller_uuid(1)), 5)).await.unwrap(), [user(2, "clerk")]);
    assert_eq!(store.users(whole()).await.unwrap().len(), 2);
}

pub(super) async fn a_setup_code_creates_the_first_user_and_no_other(store: Shared) {
    let first = [1; 32];
    let second = [2; 32];
    assert!(store.put_setup_code(first, at(100), at(1)).await.unwrap());
    assert!(store.put_setup_code(second, at(100), at(1)).await.unwrap(), "the code of a second node was refused");
    assert!(store.has_setup_code(first, at(99)).await.unwrap());
    assert!(!store.has_setup_code(first, at(100)).await.unwrap(), "expired");
    assert!(!store.has_setup_code([3; 32], at(2)).await.unwrap());
    let create = async |number, code, now| {
        let change = AccessChange::CreateFirstUser(user(number, "administrator"), code, now);
        store.apply_access_change(change, "{}".to_owned()).await.unwrap()
    };
    assert_eq!(create(1, [3; 32], at(2)).await, AccessChangeResult::Unchanged);
    assert_eq!(create(1, first, at(100)).await, AccessChangeResult::Unchanged);
    let both = tokio::join!(create(1, first, at(2)), create(2, second, at(2)));
    assert!(matches!(
        both,
        (AccessChangeResult::Done, AccessChangeResult::Unchanged)
            | (AccessChangeResult::Unchanged, AccessChangeResult::Done)
    ));
    assert_eq!(store.users(whole()).await.unwrap().len(), 1);
    assert!(!store.has_setup_code(second, at(2)).await.unwrap());
    assert!(!store.put_setup_code([4; 32], at(100), at(2)).await.unwrap());
    assert_eq!(store.latest_access_entries(None, 9).await.unwrap().len(), 1);
}

pub(super) async fn an_invitation_creates_its_user_once(store: Shared) {
    let invitation = |number: usize, email: &str| Invitation {
        uuid: caller_uuid(number + 100),
        email: email.into(),
        role: "clerk".into(),
        hash: [number as u8; 32],
        created_at: at(5),
        created_by: "user:ada".into(),
        expires_at: at(50),
    };
    let apply = async |change| store.apply_access_change(change, "{}".to_owned()).await;
    let create = async |new, invitations_max| {
        apply(AccessChange::CreateInvitation(new, invitations_max)).await.unwrap() == AccessChangeResult::Done
    };
    assert!(create(invitation(1, "1@example.com"), 2).await && create(invitation(2, "b@example.com"), 2).await);
    assert!(!create(invitation(3, "c@example.com"), 2).await, "the limit of two invitations was exceeded");
    assert!(
        create(invitation(4, "b@example.com"), 2).await,
        "a new invitation of an address does not replace the earlier one"
    );
    let kept = [invitation(1, "1@example.com"), invitation(4, "b@example.com")];
    assert_eq!(store.invitations(whole()).await.unwrap(), kept);
    assert_eq!(store.invitation_by_hash([2; 32]).await.unwrap(), None);
    assert_eq!(store.invitation_by_hash([4; 32]).await.unwrap().as_ref(), Some(&kept[1]));

    let accept = async |code, number, now| {
        apply(AccessChange::AcceptInvitation(code, user(number, "clerk"), now)).await.unwrap()
    };
    assert_eq!(accept([9; 32], 1, at(6)).await, AccessChangeResult::Unchanged);
    assert_eq!(accept([1; 32], 1, at(50)).await, AccessChangeResult::Unchanged, "expired");
    let both = tokio::join!(accept([1; 32], 1, at(6)), accept([1; 32], 1, at(6)));
    assert!(matches!(
        both,
        (AccessChangeResult::Done, AccessChangeResult::Unchanged)
            | (AccessChangeResult::Unchanged, AccessChangeResult::Done)
    ));
    assert_eq!(store.users(whole()).await.unwrap(), [user(1, "clerk")]);
    // Another user has the address by now: the invitation stays.
    let taken = apply(AccessChange::AcceptInvitation([4; 32], user(1, "clerk"), at(6))).await;
    assert!(matches!(taken, Err(StoreError::Taken("email"))), "{taken:?}");
    assert_eq!(store.invitations(whole()).await.unwrap(), kept[1..]);
    let withdraw = || AccessChange::WithdrawInvitation(kept[1].uuid);
    assert_eq!(apply(withdraw()).await.unwrap(), AccessChangeResult::Done);
    assert_eq!(apply(withdraw()).await.unwrap(), AccessChangeResult::Unchanged);
}

pub(super) async fn a_change_of_a_user_needs_its_version_and_ends_the_sessions(store: Shared) {
    for number in [1, 2] {
        store.create_user(user(number, "operator"), None).await.unwrap();
    }
    for (number, of) in [(1, 1), (2, 1), (3, 2)] {
        store.begin_session(session(number, of), 1, 9, None).await.unwrap();
    }
    let known = store.user(caller_uuid(1)).await.unwrap().unwrap();
    assert_eq!((known.signed_in_at, known.version), (Some(at(10)), 1), "a sign-in raised the version");
    let disabled = User {
        disabled_at: Some(at(20)),
        profile: Profile::of_role("viewer"),
        must_change_password: true,
        ..known.clone()
    };
    let ending = SessionsToEnd::AllBut(known.id, session(2, 1).id);
    let ended = Change::to(disabled.clone()).ending(ending);
    let changed = UserChange { change: ended, answer: Some(answer("done", "{}", at(20))), ..change(disabled.clone()) };
    assert_eq!(store.change_user(changed.clone()).await.unwrap(), UserChangeResult::Done);
    assert_eq!(store.user(known.id).await.unwrap(), Some(User { version: 2, ..disabled.clone() }));
    assert_eq!(store.sessions(known.id, whole()).await.unwrap(), [session(2, 1)]);
    assert_eq!(
        store.sessions(caller_uuid(2), whole()).await.unwrap(),
        [session(3, 2)],
        "the sessions of another user ended"
    );
    assert!(matches!(store.change_user(changed.clone()).await, Err(StoreError::Conflict | StoreError::Replayed)));
    let again = UserChange { answer: changed.answer, ..change(User { version: 2, ..disabled }) };
    assert!(matches!(store.change_user(again).await, Err(StoreError::Replayed)));
    let refused = store.begin_session(session(4, 1), 1, 9, None).await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "a session began on an outdated version of the user");
    assert_eq!(store.sessions(known.id, whole()).await.unwrap().len(), 1);
}

pub(super) async fn a_user_has_a_name_or_none(store: Shared) {
    let named = |name: &str, user: User| User {
        profile: Profile { name: Some(name.to_owned()), ..user.profile.clone() },
        ..user
    };
    let (ann, bob) = (named("Zoë O’Neill", user(1, "operator")), user(2, "clerk"));
    for user in [&ann, &bob] {
        store.create_user(user.clone(), None).await.unwrap();
    }
    store.begin_session(session(1, 1), 1, 9, None).await.unwrap();
    let stored = async |user: &User| store.user(user.id).await.unwrap().unwrap().profile;
    assert_eq!((stored(&ann).await, stored(&bob).await), (ann.profile.clone(), bob.profile.clone()));
    let (_, of_session) = store.session_by_hash(session(1, 1).hash).await.unwrap().unwrap();
    assert_eq!(of_session.profile, ann.profile);
    store.change_user(change(named("Bob", bob.clone()))).await.unwrap();
    assert_eq!(stored(&bob).await.name.as_deref(), Some("Bob"));
    store.change_user(change(User { version: 2, ..bob.clone() })).await.unwrap();
    assert_eq!(stored(&bob).await.name, None);
    assert_eq!(store.sessions(ann.id, whole()).await.unwrap(), [session(1, 1)]);
}

pub(super) async fn a_person_of_an_issuer_is_linked_to_one_user(store: Shared) {
    let person = |subject: &str| OpenIdentity { issuer: "https://id.example.com".into(), subject: subject.into() };
    let linked = |user: User, subject: &str| User { openid: Some(person(subject)), ..user };
    let found = async |subject: &str| store.user_by_openid(&person(subject)).await.unwrap().map(|user| user.id);
    let ann = linked(user(1, "administrator"), "ann");
    store.create_user(ann.clone(), None).await.unwrap();
    store.create_user(user(2, "viewer"), None).await.unwrap();
    store.create_user(user(3, "viewer"), None).await.unwrap();
    assert_eq!(store.user_by_openid(&person("ann")).await.unwrap(), Some(ann.clone()));
    assert_eq!((found("Ann").await, found("an\0n").await), (None, None));
    let elsewhere = OpenIdentity { issuer: "https://other.example.com".into(), ..person("ann") };
    assert_eq!(store.user_by_openid(&elsewhere).await.unwrap(), None);

    store.change_user(change(linked(user(2, "viewer"), "bea"))).await.unwrap();
    assert_eq!(found("bea").await, Some(caller_uuid(2)));
    let taken = store.change_user(change(linked(user(3, "viewer"), "bea"))).await;
    assert!(matches!(taken, Err(StoreError::Taken("openid"))), "{taken:?}");
    let taken = store.create_user(linked(user(4, "viewer"), "ann"), None).await;
    assert!(matches!(taken, Err(StoreError::Taken(_))), "{taken:?}");
    // Another change keeps the link; a change without it removes the link, and another user can have it.
    store
        .change_user(change(User { version: 2, must_change_password: true, ..linked(user(2, "viewer"), "bea") }))
        .await
        .unwrap();
    assert_eq!(found("bea").await, Some(caller_uuid(2)));
    store.change_user(change(User { version: 3, ..user(2, "viewer") })).await.unwrap();
    assert_eq!(found("bea").await, None);
    store.change_user(change(linked(user(3, "viewer"), "bea"))).await.unwrap();
    assert_eq!(found("bea").await, Some(caller_uuid(3)));
}

pub(super) async fn concurrent_removals_keep_the_last_administrator(store: Shared) {
    for number in 1..=4 {
        store.create_user(user(number, "administrator"), None).await.unwrap();
    }
    let changes = (1..=4).map(|number| {
        let store = store.clone();
        let before = user(number, "administrator");
        tokio::spawn(async move {
            match number {
                1 => store.remove_user(before.id, 1).await,
                2 => store.change_user(change(User { disabled_at: Some(at(5)), ..before })).await,
                _ => store.change_user(change(User { profile: Profile::of_role("viewer"), ..before })).await,
            }
        })
    });
    let mut refused = 0;
    for change in changes.collect::<Vec<_>>() {
        refused += usize::from(change.await.unwrap().unwrap() == UserChangeResult::LastAdministrator);
    }
    let left = store.users(whole()).await.unwrap();
    assert_eq!(
        (refused, left.iter().filter(|user| platform_core::users::administers(user)).count()),
        (1, 1),
        "{left:?}"
    );
}

pub(super) async fn a_user_who_has_signed_in_is_not_removed(store: Shared) {
    store.create_user(user(1, "viewer"), None).await.unwrap();
    store.create_user(user(2, "viewer"), None).await.unwrap();
    store.begin_session(session(1, 1), 1, 9, None).await.unwrap();
    assert_eq!(store.remove_user(caller_uuid(1), 1).await.unwrap(), UserChangeResult::HasSignedIn);
    assert!(matches!(store.remove_user(caller_uuid(2), 7).await, Err(StoreError::Conflict)));
    assert_eq!(store.remove_user(caller_uuid(2), 1).await.unwrap(), UserChangeResult::Done);
    assert_eq!(store.users(whole()).await.unwrap().len(), 1);
    assert!(matches!(store.remove_user(caller_uuid(2), 1).await, Err(StoreError::Conflict)));
}

pub(super) async fn a_code_of_a_second_factor_is_used_once(store: Shared) {
    let sealed = |text: &str| Sealed::from_text(text);
    store.create_user(user(1, "viewer"), None).await.unwrap();
    assert!(
        !store.use_code(caller_uuid(1), CodeUse::Step(5)).await.unwrap(),
        "a code was accepted without a second factor"
    );
    let totp = Totp { secret: sealed("v1.a.AAAA"), step: 5, confirmed_at: Some(at(3)) };
    let on = with_totp(user(1, "viewer"), TotpChange::Set(totp.clone(), vec![[1; 32], [2; 32]]));
    store.change_user(on).await.unwrap();
    assert!(!store.use_code(caller_uuid(1), CodeUse::Step(5)).await.unwrap());
    let tries = (0..8).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.use_code(caller_uuid(1), CodeUse::Step(6)).await.unwrap() })
    });
    let mut used = 0;
    for one in tries.collect::<Vec<_>>() {
        used += usize::from(one.await.unwrap());
    }
    assert_eq!(used, 1);
    let now = store.user(caller_uuid(1)).await.unwrap().unwrap();
    assert_eq!((now.version, now.totp.as_ref()), (2, Some(&Totp { step: 6, ..totp })));

    assert!(store.use_code(caller_uuid(1), CodeUse::Recovery([2; 32])).await.unwrap());
    for code in [[2; 32], [3; 32]] {
        assert!(!store.use_code(caller_uuid(1), CodeUse::Recovery(code)).await.unwrap());
    }
    assert!(!store.use_code(caller_uuid(2), CodeUse::Recovery([1; 32])).await.unwrap());
    assert_eq!(store.recovery_codes(caller_uuid(1)).await.unwrap(), 1);

    let text = SealedReplacement {
        location: SealedLocation::Totp(now.id),
        old: sealed("v1.a.AAAA"),
        new: sealed("v1.b.AAAA"),
    };
    assert_eq!(store.reseal(vec![text.clone()]).await.unwrap(), 1);
    assert_eq!(store.reseal(vec![text]).await.unwrap(), 0);
    let off = with_totp(now.clone(), TotpChange::Remove);
    assert!(
        matches!(store.change_user(off).await, Err(StoreError::Conflict)),
        "the change restored the old sealed text"
    );
    let now = store.user(now.id).await.unwrap().unwrap();
    assert_eq!(now.totp.as_ref().map(|totp| &totp.secret), Some(&sealed("v1.b.AAAA")));
    store.change_user(with_totp(now, TotpChange::Remove)).await.unwrap();
    assert_eq!(store.user(caller_uuid(1)).await.unwrap().unwrap().totp, None);
    assert_eq!(store.recovery_codes(caller_uuid(1)).await.unwrap(), 0);
}

pub(super) async fn sessions_are_found_by_their_token_until_they_end(store: Shared) {
    store.create_user(user(1, "viewer"), None).await.unwrap();
    for number in 1..=3 {
        store.begin_session(session(number, 1), 1, 9, None).await.unwrap();
    }
    let signed_in = User { signed_in_at: Some(at(10)), ..user(1, "viewer") };
    let found = store.session_by_hash([2; 32]).await.unwrap();
    assert_eq!(found, Some((session(2, 1), signed_in)));
    assert_eq!(store.session_by_hash([9; 32]).await.unwrap(), None);
    store.touch_session(session(2, 1).id, at(70)).await.unwrap();
    store.touch_session(session(2, 1).id, at(60)).await.unwrap();
    let used = Session { last_used_at: at(70), ..session(2, 1) };
    assert_eq!(store.session(used.id).await.unwrap(), Some(used.clone()));
    assert_eq!(store.sessions(caller_uuid(1), page(Some(session(1, 1).id), 1)).await.unwrap(), [used]);

    store.begin_session(session(4, 1), 1, 2, None).await.unwrap();
    let left = async || {
        let left = store.sessions(caller_uuid(1), whole()).await.unwrap();
        left.iter().map(|session| session.hash[0]).collect::<Vec<_>>()
    };
    assert_eq!(left().await, [3, 4], "the two latest sessions did not stay");
    assert_eq!(store.end_sessions(SessionsToEnd::One(caller_uuid(2), session(3, 1).id)).await.unwrap(), 0);
    assert_eq!(store.end_sessions(SessionsToEnd::One(caller_uuid(1), session(3, 1).id)).await.unwrap(), 1);
    assert_eq!(left().await, [4]);
    store.begin_session(session(5, 1), 1, 9, None).await.unwrap();
    assert_eq!(store.end_sessions(SessionsToEnd::AllOf(caller_uuid(1))).await.unwrap(), 2);
    assert_eq!(store.session_by_hash([4; 32]).await.unwrap(), None);
}

pub(super) async fn expired_sessions_are_deleted_in_batches(store: Shared) {
    store.create_user(user(1, "viewer"), None).await.unwrap();
    for number in 1..=4 {
        let expires_at = if number == 4 { at(5) } else { at(9_000) };
        store.begin_session(Session { expires_at, ..session(number, 1) }, 1, 9, None).await.unwrap();
    }
    store.touch_session(session(1, 1).id, at(500)).await.unwrap();
    assert_eq!(store.delete_expired_sessions(at(400), at(100), 2).await.unwrap(), 2);
    assert_eq!(store.delete_expired_sessions(at(400), at(100), 2).await.unwrap(), 1);
    assert_eq!(store.delete_expired_sessions(at(400), at(100), 2).await.unwrap(), 0);
    assert_eq!(store.sessions(caller_uuid(1), whole()).await.unwrap().len(), 1);
}

pub(super) async fn sign_in_attempts_are_counted_together_or_not_at_all(store: Shared) {
    let attempt = |subject, attempts_max| Attempt {
        subject: [subject; 32],
        refill_interval: Duration::from_secs(10),
        attempts_max,
    };
    let (account, address) = (attempt(1, 3), attempt(2, 5));
    let tries = (0..8).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.take_sign_in_attempts(vec![account, address], at(0)).await.unwrap() })
    });
    let mut taken = 0;
    for one in tries.collect::<Vec<_>>() {
        match one.await.unwrap() {
            None => taken += 1,
            Some(allowed_from) => assert_eq!(allowed_from, at(10_000)),
        }
    }
    assert_eq!(taken, 3, "concurrent tries exceeded the limit");
    let full_at = store.allowances_full_at(vec![[9; 32], address.subject, account.subject]).await.unwrap();
    assert_eq!(full_at, [(address.subject, at(30_000)), (account.subject, at(30_000))]);
    let other = attempt(3, 3);
    for _ in 0..2 {
        assert_eq!(
            store.take_sign_in_attempts(vec![other, address], at(0)).await.unwrap(),
            None,
            "refused tries counted towards the other limit"
        );
    }
    assert!(store.take_sign_in_attempts(vec![other, address], at(0)).await.unwrap().is_some());
    store.return_sign_in_attempts(AttemptsToReturn { full: vec![account.subject], back: vec![address] }).await.unwrap();
    assert_eq!(store.take_sign_in_attempts(vec![account, address], at(0)).await.unwrap(), None);
    assert!(store.take_sign_in_attempts(vec![account, address], at(0)).await.unwrap().is_some());
    assert_eq!(store.take_sign_in_attempts(vec![account, address], at(10_000)).await.unwrap(), None);
    assert_eq!(store.delete_expired_sessions(at(9_000_000), at(0), 9).await.unwrap(), 3);
}
