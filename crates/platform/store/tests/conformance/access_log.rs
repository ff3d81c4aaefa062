//! Changes of access, and their entries.

use platform_core::audit::{access_begin, access_chain};
use platform_core::port::{
    AccessChange, AccessChangeResult, Clerk, ClerkAssignResult, Profile, StartFrom, StoreError, User, UserChangeResult,
};

use super::given::{
    Shared, answer, at, auction, auction_uuid, caller_uuid, commit, consumer, created, page, user, user_change, whole,
};

fn create(number: usize, role: &str) -> AccessChange {
    AccessChange::CreateUser(user(number, role), None)
}

pub(super) async fn a_change_of_access_is_stored_with_its_entry_or_not_at_all(store: Shared) {
    let change =
        async |change: AccessChange, content: &str| store.apply_access_change(change, content.to_owned()).await;
    let entries = async || store.access_log(whole()).await.unwrap().len();
    assert_eq!(store.access_log_head().await.unwrap(), access_begin());
    assert_eq!(change(create(1, "administrator"), "\"ada\"").await.unwrap(), AccessChangeResult::Done);
    assert!(store.user(caller_uuid(1)).await.unwrap().is_some());

    // A refused change, and a change without an effect, have no entry.
    let namesake = User { id: caller_uuid(2), ..user(1, "viewer") };
    let taken = change(AccessChange::CreateUser(namesake, Some(answer("made", "{}", at(1)))), "no").await;
    assert!(matches!(taken, Err(StoreError::Taken("email"))));
    let made = AccessChange::CreateUser(user(2, "clerk"), Some(answer("made", "{}", at(1))));
    assert_eq!(change(made.clone(), "\"cleo\"").await.unwrap(), AccessChangeResult::Done);
    assert!(matches!(change(made, "no").await, Err(StoreError::Replayed)));
    let last = user_change(User { profile: Profile::of_role("viewer"), ..user(1, "administrator") });
    let refused = change(AccessChange::ChangeUser(last), "no").await.unwrap();
    assert_eq!(refused, AccessChangeResult::User(UserChangeResult::LastAdministrator));
    assert!(matches!(change(AccessChange::RemoveUser(caller_uuid(2), 9), "no").await, Err(StoreError::Conflict)));
    let unknown = AccessChange::RevokeApiKey(caller_uuid(9), at(3));
    assert_eq!(change(unknown, "no").await.unwrap(), AccessChangeResult::Unchanged);
    assert_eq!(
        change(AccessChange::Disconnect(consumer(1).customer), "no").await.unwrap(),
        AccessChangeResult::Unchanged
    );

    commit(&store, created(auction(1))).await.unwrap();
    let assign = |number| {
        let auction = auction_uuid(1);
        let user = caller_uuid(number);
        AccessChange::AssignClerk(Clerk { auction, user, assigned_at: at(5), assigned_by: "user:ada".into() }, 9)
    };
    let off = || AccessChange::UnassignClerk(auction_uuid(1), caller_uuid(2));
    for (what, content, wanted) in [
        (assign(1), "no", AccessChangeResult::Clerk(ClerkAssignResult::NotAClerk)),
        (assign(2), "\"assigned\"", AccessChangeResult::Clerk(ClerkAssignResult::Assigned)),
        (assign(2), "no", AccessChangeResult::Clerk(ClerkAssignResult::AlreadyAssigned)),
        (off(), "\"off\"", AccessChangeResult::Done),
        (off(), "no", AccessChangeResult::Unchanged),
        (AccessChange::PutConsumer(consumer(1), StartFrom::Now), "\"entered\"", AccessChangeResult::Done),
        (AccessChange::Disconnect(consumer(1).customer), "\"ended\"", AccessChangeResult::Disconnected(0)),
        (AccessChange::EntryOnly, "\"happened\"", AccessChangeResult::Done),
    ] {
        assert_eq!(change(what, content).await.unwrap(), wanted);
    }
    assert_eq!(entries().await, 7);
    let contents: Vec<String> =
        store.latest_access_entries(None, 3).await.unwrap().into_iter().map(|entry| entry.content).collect();
    assert_eq!(contents, ["\"happened\"", "\"ended\"", "\"entered\""]);
    let numbers: Vec<i64> =
        store.latest_access_entries(Some(3), 9).await.unwrap().into_iter().map(|entry| entry.number).collect();
    assert_eq!(numbers, [2, 1]);
    assert_eq!(store.access_log(page(Some(6), 9)).await.unwrap()[0].number, 7);
}

pub(super) async fn access_entries_of_concurrent_writers_form_one_chain(store: Shared) {
    let writers = (1..=24).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let change = if number % 3 == 0 { create(number, "viewer") } else { AccessChange::EntryOnly };
            store.apply_access_change(change, number.to_string()).await.unwrap()
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        assert!(writer.await.unwrap().is_recorded());
    }
    let entries = store.access_log(whole()).await.unwrap();
    let mut head = access_begin();
    for entry in &entries {
        head = access_chain(head, &entry.content);
        assert_eq!((entry.number, entry.hash), (head.number, head.hash));
    }
    assert_eq!((entries.len(), store.access_log_head().await.unwrap()), (24, head));
}

pub(super) async fn the_entries_that_name_a_record_are_found(store: Shared) {
    let note = async |content: String| store.apply_access_change(AccessChange::EntryOnly, content).await.unwrap();
    for number in [1, 2, 1, 3, 1] {
        note(format!("{{\"event\":\"partyViewed\",\"details\":{{\"party\":\"{}\"}}}}", caller_uuid(number))).await;
    }
    let naming = async |number, limit| {
        let found = store.access_entries_naming(caller_uuid(number), limit).await.unwrap();
        found.into_iter().map(|entry| entry.number).collect::<Vec<_>>()
    };
    assert_eq!(naming(1, 10).await, [5, 3, 1]);
    assert_eq!(naming(1, 2).await, [5, 3]);
    assert_eq!(naming(4, 10).await, [0; 0]);
}
