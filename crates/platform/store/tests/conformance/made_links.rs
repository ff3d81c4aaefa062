//! Links that users create end with the access of their creator.

use kit_identity::user::Change;
use platform_core::port::{
    AccessChange, AccessChangeResult, Invitation, MadeLinks, Predecessor, ScreenKind, ScreenLink, SessionsToEnd,
    StoreError, User, UserChange, UserChangeResult,
};

use super::access_changes::AccessChanges as _;
use super::given::{Shared, at, auction_uuid, caller_uuid, user, whole};

fn actor(number: usize) -> String {
    format!("user:{}", caller_uuid(number))
}

fn invitation(number: usize, maker: usize) -> Invitation {
    Invitation {
        uuid: caller_uuid(number),
        email: format!("invited{number}@example.com"),
        role: "administrator".into(),
        hash: [number as u8; 32],
        created_at: at(1),
        created_by: actor(maker),
        expires_at: at(500),
    }
}

fn link(webcast: usize, kind: ScreenKind, number: usize, maker: usize) -> ScreenLink {
    ScreenLink {
        uuid: caller_uuid(number),
        auction: auction_uuid(webcast),
        kind,
        shows_reserve: kind == ScreenKind::Speaker,
        hash: [number as u8; 32],
        created_at: at(5),
        created_by: actor(maker),
        expires_at: at(500),
        last_used_at: None,
        predecessor: None,
    }
}

/// A link with which user 1 replaces another link.
fn successor(of: &ScreenLink, number: usize) -> ScreenLink {
    let predecessor = Some(Predecessor { hash: of.hash, until: at(100) });
    ScreenLink { uuid: caller_uuid(number), hash: [number as u8; 32], created_by: actor(1), predecessor, ..of.clone() }
}

fn disabled(number: usize, role: &str, replaced: Vec<ScreenLink>) -> UserChange {
    let user = User { disabled_at: Some(at(9)), ..user(number, role) };
    let change = Change::to(user).ending(SessionsToEnd::AllOf(caller_uuid(number)));
    UserChange { change, made_links: MadeLinks::End(replaced), answer: None }
}

async fn apply(store: &Shared, change: AccessChange) -> Result<AccessChangeResult, StoreError> {
    store.apply_access_change(change, "{}".to_owned()).await
}

/// Users 1 to 3, of whom the third is an operator, an invitation by each administrator, and screen links.
async fn made(store: &Shared) -> (ScreenLink, ScreenLink, ScreenLink) {
    for (number, role) in [(1, "administrator"), (2, "administrator"), (3, "operator")] {
        store.create_user(user(number, role), None).await.unwrap();
    }
    for (number, maker) in [(11, 1), (12, 2)] {
        apply(store, AccessChange::CreateInvitation(invitation(number, maker), 9)).await.unwrap();
    }
    let (room, speaker, other) =
        (link(1, ScreenKind::Room, 21, 2), link(1, ScreenKind::Speaker, 22, 2), link(2, ScreenKind::Room, 23, 3));
    for one in [&room, &speaker, &other] {
        apply(store, AccessChange::PutScreenLink(one.clone())).await.unwrap();
    }
    (room, speaker, other)
}

pub(super) async fn links_end_with_the_access_of_their_creator(store: Shared) {
    let (room, speaker, other) = made(&store).await;
    assert_eq!(store.screen_links_by(&actor(2)).await.unwrap(), [room.clone(), speaker.clone()]);
    let new = successor(&room, 31);
    // A link that was replaced meanwhile can't be replaced again.
    let stale = successor(&ScreenLink { hash: [99; 32], ..speaker.clone() }, 32);
    let change = AccessChange::ChangeUser(disabled(2, "administrator", vec![new.clone(), stale]));
    assert_eq!(apply(&store, change).await.unwrap(), AccessChangeResult::User(UserChangeResult::Done));
    assert_eq!(store.invitations(whole()).await.unwrap(), [invitation(11, 1)]);
    assert_eq!(store.screen_links_by(&actor(2)).await.unwrap(), []);
    assert_eq!(store.screen_links_by(&actor(1)).await.unwrap(), [new]);
    assert_eq!(store.screen_link_by_hash(speaker.hash).await.unwrap(), None);
    assert_eq!(store.screen_link_by_hash(other.hash).await.unwrap(), Some(other.clone()));
    apply(&store, AccessChange::RemoveUser(caller_uuid(3), 1)).await.unwrap();
    assert_eq!(store.screen_link_by_hash(other.hash).await.unwrap(), None);
}

pub(super) async fn a_replaced_link_works_until_the_new_one_is_used(store: Shared) {
    let (room, ..) = made(&store).await;
    let new = successor(&room, 31);
    store.change_user(disabled(2, "administrator", vec![new.clone()])).await.unwrap();
    store.touch_screen_link(room.hash, at(20)).await.unwrap();
    for hash in [room.hash, new.hash] {
        assert_eq!(
            store.screen_link_by_hash(hash).await.unwrap(),
            Some(new.clone()),
            "using the old link changed the new one"
        );
    }
    store.touch_screen_link(new.hash, at(30)).await.unwrap();
    assert_eq!(store.screen_link_by_hash(room.hash).await.unwrap(), None);
    let used = ScreenLink { last_used_at: Some(at(30)), predecessor: None, ..new.clone() };
    assert_eq!(store.screen_link_by_hash(new.hash).await.unwrap(), Some(used));
}

/// The request of the user was running when the user lost access.
pub(super) async fn a_user_who_lost_access_creates_no_link(store: Shared) {
    made(&store).await;
    store.change_user(disabled(2, "administrator", Vec::new())).await.unwrap();
    for maker in [2, 3, 9] {
        let late = apply(&store, AccessChange::CreateInvitation(invitation(40 + maker, maker), 9)).await;
        assert!(matches!(late, Err(StoreError::Conflict)), "{maker}: {late:?}");
    }
    for maker in [2, 9] {
        let late = apply(&store, AccessChange::PutScreenLink(link(3, ScreenKind::Room, 50 + maker, maker))).await;
        assert!(matches!(late, Err(StoreError::Conflict)), "{maker}: {late:?}");
    }
    assert_eq!(store.screen_links(auction_uuid(3)).await.unwrap(), []);
    let operators = link(3, ScreenKind::Room, 60, 3);
    apply(&store, AccessChange::PutScreenLink(operators)).await.unwrap();
}
