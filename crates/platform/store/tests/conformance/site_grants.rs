//! Grants of bidders to web sites: their codes and tokens work once, and they end with the account's sessions.

use kit_identity::sessions::SessionsToEnd;
use kit_identity::user::Change;
use platform_core::port::{
    BidderAccount, BidderAccountChange, SiteGrant, SiteGrantsToEnd, SiteToken, SiteTokenKind, StoreError,
};
use uuid::Uuid;

use super::bidder_accounts::{account, open};
use super::given::{Shared, at, caller_uuid};

const SITE: &str = "https://www.example.com";

fn grant(number: usize, account: &BidderAccount, origin: &str) -> SiteGrant {
    SiteGrant {
        uuid: caller_uuid(600 + number),
        account: account.id,
        origin: origin.into(),
        redirect: format!("{origin}/back?a='1'"),
        challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".into(),
        code: [u8::try_from(number).unwrap(); 32],
        code_expires_at: at(100),
        redeemed_at: None,
        created_at: at(40),
        last_used_at: at(40),
        expires_at: at(1_000),
    }
}

fn token(hash: u8, grant: &SiteGrant, kind: SiteTokenKind, expires_at: i64) -> SiteToken {
    SiteToken { hash: [hash; 32], grant: grant.uuid, kind, expires_at: at(expires_at), used_at: None }
}

fn pair(hash: u8, grant: &SiteGrant) -> Vec<SiteToken> {
    vec![token(hash, grant, SiteTokenKind::Access, 300), token(hash + 1, grant, SiteTokenKind::Refresh, 1_000)]
}

pub(super) async fn a_code_and_a_refresh_token_work_once(store: Shared) {
    let ann = account(1, 1, "ann@example.com");
    open(&store, &ann).await;
    let given = grant(1, &ann, SITE);
    assert!(matches!(store.begin_site_grant(given.clone(), 2, 9).await, Err(StoreError::Conflict)), "another version");
    store.begin_site_grant(given.clone(), 1, 9).await.unwrap();
    assert_eq!(store.site_grant_by_code([1; 32]).await.unwrap(), Some(given.clone()));
    assert_eq!(store.site_grant_by_code([2; 32]).await.unwrap(), None);
    assert_eq!(store.site_grants(ann.id).await.unwrap(), [], "the site has no token yet");

    let redeemed = async |hash| store.redeem_site_code(given.uuid, at(50), pair(hash, &given)).await;
    redeemed(10).await.unwrap();
    assert!(matches!(redeemed(20).await, Err(StoreError::Conflict)), "the code was used");
    assert!(store.site_token([20; 32]).await.unwrap().is_none());
    let used = SiteGrant { redeemed_at: Some(at(50)), last_used_at: at(50), ..given.clone() };
    let [access, refresh] = pair(10, &given).try_into().unwrap();
    assert_eq!(store.site_token([10; 32]).await.unwrap(), Some((access, used.clone(), ann.clone())));
    assert_eq!(store.site_token([11; 32]).await.unwrap(), Some((refresh, used.clone(), ann.clone())));
    assert_eq!(store.site_grants(ann.id).await.unwrap(), [used]);

    let rotated = async |hash| store.rotate_site_tokens(refresh, at(60), pair(hash, &given)).await;
    rotated(30).await.unwrap();
    assert!(matches!(rotated(40).await, Err(StoreError::Conflict)), "the token was used");
    let found = async |hash: u8| store.site_token([hash; 32]).await.unwrap().map(|(token, ..)| token.used_at);
    assert_eq!(found(10).await, None, "an access token ends with the next one");
    assert_eq!(found(11).await, Some(Some(at(60))), "a used refresh token is known");
    assert_eq!((found(30).await, found(31).await, found(40).await), (Some(None), Some(None), None));
    assert_eq!(store.site_grants(ann.id).await.unwrap()[0].last_used_at, at(60));

    assert_eq!(store.end_site_grants(SiteGrantsToEnd::One(given.uuid)).await.unwrap(), 1);
    assert_eq!(store.end_site_grants(SiteGrantsToEnd::One(given.uuid)).await.unwrap(), 0);
    assert_eq!((found(11).await, found(30).await, found(31).await), (None, None, None));
    assert!(matches!(rotated(50).await, Err(StoreError::Conflict)), "the grant has ended");
    assert!(matches!(redeemed(60).await, Err(StoreError::Conflict)), "the grant has ended");
}

/// A grant with its tokens, the access token's hash being `10 * number`.
async fn redeem(store: &Shared, number: u8, account: &BidderAccount, version: i64, origin: &str) {
    let given = grant(usize::from(number), account, origin);
    store.begin_site_grant(given.clone(), version, 3).await.unwrap();
    store.redeem_site_code(given.uuid, at(50), pair(10 * number, &given)).await.unwrap();
}

pub(super) async fn grants_end_by_number_site_and_age(store: Shared) {
    let (ann, bo) = (account(1, 1, "ann@example.com"), account(2, 1, "bo@example.com"));
    open(&store, &ann).await;
    open(&store, &bo).await;
    for (number, origin) in [(1, SITE), (2, SITE), (3, "https://other.example"), (4, SITE)] {
        redeem(&store, number, &ann, 1, origin).await;
    }
    redeem(&store, 5, &bo, 1, SITE).await;
    let works = async |number: u8| store.site_token([10 * number; 32]).await.unwrap().is_some();
    assert!(!works(1).await, "a fourth grant ends the oldest");
    let of_ann: Vec<Uuid> = store.site_grants(ann.id).await.unwrap().iter().map(|grant| grant.uuid).collect();
    assert_eq!(of_ann, [caller_uuid(604), caller_uuid(603), caller_uuid(602)]);
    assert_eq!(store.end_site_grants(SiteGrantsToEnd::OfSite(ann.id, SITE.into())).await.unwrap(), 2);
    assert_eq!((works(2).await, works(3).await, works(4).await, works(5).await), (false, true, false, true));

    // An unused code is void at its time, an access token at its own, and a grant at its end.
    store.begin_site_grant(grant(6, &ann, SITE), 1, 3).await.unwrap();
    assert_eq!(store.delete_expired_site_access(at(100), 9).await.unwrap(), 0);
    assert_eq!(store.delete_expired_site_access(at(101), 9).await.unwrap(), 1);
    assert_eq!(store.site_grant_by_code([6; 32]).await.unwrap(), None);
    assert!(works(3).await);
    assert_eq!(store.delete_expired_site_access(at(301), 1).await.unwrap(), 1, "one of two access tokens");
    assert_eq!(store.delete_expired_site_access(at(301), 9).await.unwrap(), 1);
    assert!(!works(3).await && !works(5).await);
    assert_eq!(store.site_grants(bo.id).await.unwrap().len(), 1);
    assert!(store.delete_expired_site_access(at(1_001), 9).await.unwrap() >= 2);
    assert!(store.site_grants(bo.id).await.unwrap().is_empty());
    assert!(store.site_token([51; 32]).await.unwrap().is_none());
}

pub(super) async fn grants_end_with_the_sessions_of_their_account(store: Shared) {
    let change = async |account: &BidderAccount, ending: SessionsToEnd<Uuid>| {
        let change = Change::to(account.clone()).ending(ending);
        store.change_bidder_account(BidderAccountChange { change, link: None, party: None }).await.unwrap();
        store.bidder_account(account.id).await.unwrap().unwrap()
    };
    let mut ann = account(1, 1, "ann@example.com");
    let bo = account(2, 1, "bo@example.com");
    open(&store, &ann).await;
    open(&store, &bo).await;
    redeem(&store, 9, &bo, 1, SITE).await;
    let works = async |number: u8| store.site_token([10 * number; 32]).await.unwrap().is_some();
    let session = caller_uuid(700);
    for (number, ending, lasts) in [
        (1, SessionsToEnd::Nothing, true),
        (2, SessionsToEnd::One(ann.id, session), true),
        (3, SessionsToEnd::AllBut(ann.id, session), false),
        (4, SessionsToEnd::AllOf(ann.id), false),
    ] {
        redeem(&store, number, &ann, ann.version, SITE).await;
        ann = change(&ann, ending).await;
        assert_eq!(works(number).await, lasts, "{ending:?}");
    }
    redeem(&store, 5, &ann, ann.version, SITE).await;
    store.delete_bidder_account(ann.id, ann.version).await.unwrap();
    assert!(!works(5).await, "the account is deleted");
    assert!(works(9).await, "another account is not concerned");
}
