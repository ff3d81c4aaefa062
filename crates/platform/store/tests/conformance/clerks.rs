//! Clerks of webcasts.

use contract::AuctionStatus;
use platform_core::port::{Clerk, ClerkAssignResult, Profile, User, UserChangeResult};

use super::access_changes::AccessChanges as _;
use super::given::{
    Shared, at, auction, auction_uuid, caller_uuid, commit, created, page, user, user_change as change, whole,
};

fn clerk(webcast: usize, number: usize) -> Clerk {
    let auction = auction_uuid(webcast);
    let user = caller_uuid(number);
    Clerk { auction, user, assigned_at: at(5), assigned_by: "user:ada".into() }
}

pub(super) async fn clerks_are_assigned_to_webcasts_and_removed(store: Shared) {
    for number in 1..=3 {
        commit(&store, created(auction(number))).await.unwrap();
    }
    for (number, role) in [(1, "clerk"), (2, "clerk"), (3, "viewer"), (4, "clerk")] {
        store.create_user(user(number, role), None).await.unwrap();
    }
    let disabled = User { disabled_at: Some(at(2)), ..user(4, "clerk") };
    store.change_user(change(disabled)).await.unwrap();
    assert_eq!(store.users_with_clerk_role(whole()).await.unwrap(), [user(1, "clerk"), user(2, "clerk")]);
    assert_eq!(store.users_with_clerk_role(page(Some(caller_uuid(1)), 1)).await.unwrap(), [user(2, "clerk")]);

    for (webcast, number) in [(1, 1), (1, 2), (3, 1), (2, 1)] {
        assert_eq!(store.assign_clerk(clerk(webcast, number), 9).await.unwrap(), ClerkAssignResult::Assigned);
    }
    let again = Clerk { assigned_at: at(9), ..clerk(1, 1) };
    assert_eq!(store.assign_clerk(again, 9).await.unwrap(), ClerkAssignResult::AlreadyAssigned);
    for number in [3, 7] {
        assert_eq!(store.assign_clerk(clerk(1, number), 9).await.unwrap(), ClerkAssignResult::NotAClerk);
    }
    let of_first = store.clerks(auction_uuid(1), whole()).await.unwrap();
    assert_eq!(of_first, [(clerk(1, 1), user(1, "clerk")), (clerk(1, 2), user(2, "clerk"))]);
    let rest = store.clerks(auction_uuid(1), page(Some(caller_uuid(1)), 5)).await.unwrap();
    assert_eq!(rest, [(clerk(1, 2), user(2, "clerk"))]);

    let webcasts = async |after, limit| {
        let found = store.webcasts_of_clerk(caller_uuid(1), page(after, limit)).await.unwrap();
        found.into_iter().map(|auction| auction.uuid).collect::<Vec<_>>()
    };
    assert_eq!(webcasts(None, 2).await, [auction_uuid(1), auction_uuid(2)]);
    assert_eq!(webcasts(Some(auction_uuid(2)), 2).await, [auction_uuid(3)]);
    assert!(store.is_clerk(auction_uuid(2), caller_uuid(1)).await.unwrap());
    assert!(!store.is_clerk(auction_uuid(2), caller_uuid(2)).await.unwrap());
    assert!(store.unassign_clerk(auction_uuid(2), caller_uuid(1)).await.unwrap());
    assert!(!store.unassign_clerk(auction_uuid(2), caller_uuid(1)).await.unwrap());
    assert!(!store.is_clerk(auction_uuid(2), caller_uuid(1)).await.unwrap());
    assert_eq!(webcasts(None, 9).await, [auction_uuid(1), auction_uuid(3)]);
}

pub(super) async fn the_webcasts_of_a_clerk_exclude_archived_ones(store: Shared) {
    store.create_user(user(1, "clerk"), None).await.unwrap();
    for number in [1, 2] {
        let mut webcast = auction(number);
        webcast.status = if number == 1 { AuctionStatus::Archived } else { webcast.status };
        commit(&store, created(webcast)).await.unwrap();
        store.assign_clerk(clerk(number, 1), 9).await.unwrap();
    }
    let open = store.webcasts_of_clerk(caller_uuid(1), whole()).await.unwrap();
    assert_eq!(open.iter().map(|auction| auction.uuid).collect::<Vec<_>>(), [auction_uuid(2)]);
}

pub(super) async fn a_change_of_role_removes_concurrent_clerk_assignments(store: Shared) {
    for number in 1..=8 {
        commit(&store, created(auction(number))).await.unwrap();
    }
    store.create_user(user(1, "clerk"), None).await.unwrap();
    store.create_user(user(2, "clerk"), None).await.unwrap();
    store.assign_clerk(clerk(1, 1), 9).await.unwrap();
    store.assign_clerk(clerk(1, 2), 9).await.unwrap();
    let assigning = (2..=8).map(|webcast| {
        let store = store.clone();
        tokio::spawn(async move { store.assign_clerk(clerk(webcast, 1), 9).await.unwrap() })
    });
    let assigning: Vec<_> = assigning.collect();
    let other = change(User { profile: Profile::of_role("operator"), ..user(1, "clerk") });
    assert_eq!(store.change_user(other).await.unwrap(), UserChangeResult::Done);
    for assigned in assigning {
        assert!(matches!(assigned.await.unwrap(), ClerkAssignResult::Assigned | ClerkAssignResult::NotAClerk));
    }
    assert!(store.webcasts_of_clerk(caller_uuid(1), whole()).await.unwrap().is_empty());
    assert!(store.is_clerk(auction_uuid(1), caller_uuid(2)).await.unwrap(), "the assignment of another clerk ended");
    assert_eq!(store.remove_user(caller_uuid(2), 1).await.unwrap(), UserChangeResult::Done);
    assert!(!store.is_clerk(auction_uuid(1), caller_uuid(2)).await.unwrap());
}

pub(super) async fn concurrent_assignments_do_not_exceed_the_clerk_limit(store: Shared) {
    commit(&store, created(auction(1))).await.unwrap();
    for number in 1..=8 {
        store.create_user(user(number, "clerk"), None).await.unwrap();
    }
    let assigning = (1..=8).map(|number| {
        let store = store.clone();
        tokio::spawn(async move { store.assign_clerk(clerk(1, number), 3).await.unwrap() })
    });
    let mut full = 0;
    for assigned in assigning.collect::<Vec<_>>() {
        full += usize::from(assigned.await.unwrap() == ClerkAssignResult::LimitReached);
    }
    assert_eq!((full, store.clerks(auction_uuid(1), whole()).await.unwrap().len()), (5, 3));
}

pub(super) async fn the_latest_report_of_a_desk_is_kept(store: Shared) {
    let reported_at = async |webcast| store.desk_reported_at(auction_uuid(webcast)).await.unwrap();
    assert_eq!(reported_at(1).await, None);
    // Desks at two nodes report in another order than they looked at the clock.
    for second in [5, 9, 7] {
        store.report_desk(auction_uuid(1), at(second)).await.unwrap();
    }
    store.report_desk(auction_uuid(2), at(3)).await.unwrap();
    assert_eq!((reported_at(1).await, reported_at(2).await, reported_at(3).await), (Some(at(9)), Some(at(3)), None));
}
