//! Access of web sites to bidders' accounts: what a code and a token are bound to, and what ends them.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use kit_identity::token_hash;
use kit_runtime::vault::Secret;
use platform_core::port::RegistrationRule;
use platform_core::saleroom::{
    AccessRequest, AccountInput, BidderDetails, CodeRedemption, Saleroom, SignedInBidder, SiteTokens,
};
use platform_core::users::Client;
use platform_core::{Platform, PlatformResult};

use crate::saleroom_accounts::{House, code, secret};

const SITE: &str = "https://www.example.com";
const BACK: &str = "https://www.example.com/bids";
const OTHER_SITE: &str = "https://shop.example";
const OTHER_BACK: &str = "https://shop.example/back";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

fn text(secret: &Secret) -> String {
    secret.expose_str().unwrap().to_owned()
}

/// Two houses that list the same two sites, and a bidder of the first.
struct Sites {
    house: House,
    saleroom: Saleroom,
    other: Saleroom,
    ann: SignedInBidder,
    session: String,
}

impl Sites {
    async fn listed() -> Self {
        let house = House::open(RegistrationRule::AtOnce).await;
        let sites = Self::list(&house, &house.saleroom, &format!("{BACK}\n{OTHER_BACK}")).await;
        let other = Self::list(&house, &house.other, &format!("{BACK}\n{OTHER_BACK}")).await;
        let (ann, session) = house.open_account(&sites, "ann@example.com").await;
        Self { saleroom: sites, other, ann, session, house }
    }

    async fn list(house: &House, saleroom: &Saleroom, addresses: &str) -> Saleroom {
        let (platform, customer) = (&house.fixture.platform, saleroom.house.customer);
        platform.change_saleroom_sites(&house.fixture.caller, customer, addresses, None).await.unwrap();
        platform.saleroom(saleroom.house.saleroom.address.as_deref().unwrap()).await.unwrap()
    }

    fn platform(&self) -> &Platform {
        &self.house.fixture.platform
    }

    fn after(&self, wait: Duration) {
        self.house.fixture.clock.advance(wait);
    }

    /// The code that the bidder allows.
    async fn code(&self) -> String {
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(token_hash(VERIFIER));
        let request = AccessRequest::of(&self.saleroom, SITE, BACK).unwrap().with_challenge(&challenge).unwrap();
        let version = self.platform().signed_in_bidder(&self.saleroom, &self.session).await.unwrap();
        let bidder = version.unwrap_or_else(|| self.ann.clone());
        text(&self.platform().allow_site(&self.saleroom, &bidder, request).await.unwrap())
    }

    async fn redeem(&self, code: &str) -> PlatformResult<SiteTokens> {
        let redemption = CodeRedemption { origin: SITE, code, redirect: BACK, verifier: VERIFIER };
        self.platform().redeem_site_code(&self.saleroom, &redemption).await
    }

    async fn tokens(&self) -> (String, String) {
        let tokens = self.redeem(&self.code().await).await.unwrap();
        (text(&tokens.access), text(&tokens.refresh))
    }

    async fn refresh(&self, token: &str) -> Result<(String, String), &'static str> {
        let tokens = self.platform().refresh_site_tokens(&self.saleroom, SITE, token).await;
        tokens.map(|tokens| (text(&tokens.access), text(&tokens.refresh))).map_err(|error| error.code())
    }

    async fn works(&self, access: &str) -> bool {
        let saleroom = self.platform().saleroom("hartley").await.unwrap();
        let found = self.platform().bidder_of_site_token(&saleroom, access).await.unwrap();
        assert!(
            found
                .as_ref()
                .is_none_or(|found| { found.bidder.account.id == self.ann.account.id && found.origin == SITE })
        );
        found.is_some()
    }
}

#[tokio::test]
async fn a_token_acts_for_one_bidder_at_one_house() {
    let sites = Sites::listed().await;
    let (platform, (access, refresh)) = (sites.platform(), sites.tokens().await);
    assert!(access.starts_with("lwa_") && refresh.starts_with("lwr_"));
    assert!(sites.works(&access).await);
    assert!(platform.bidder_of_site_token(&sites.other, &access).await.unwrap().is_none(), "another house");
    for wrong in [&refresh, &sites.session, "lwa_", "", &access[..access.len() - 1]] {
        assert!(!sites.works(wrong).await, "{wrong}");
    }
    // No kind of token signs in where another one does.
    for token in [&access, &refresh] {
        assert!(platform.signed_in_bidder(&sites.saleroom, token).await.unwrap().is_none());
        assert_eq!(code(platform.authenticate(token).await), Some("unauthenticated"));
    }
    let listed = platform.connected_sites(&sites.ann).await.unwrap();
    assert_eq!(listed.iter().map(|grant| grant.origin.as_str()).collect::<Vec<_>>(), [SITE]);
    platform.disconnect_site(&sites.ann, OTHER_SITE).await.unwrap();
    assert!(sites.works(&access).await);
    platform.disconnect_site(&sites.ann, SITE).await.unwrap();
    assert!(!sites.works(&access).await);
    assert_eq!(sites.refresh(&refresh).await, Err("grant_void"));
    assert!(platform.connected_sites(&sites.ann).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_code_is_for_the_site_address_and_verifier_that_it_was_asked_with() {
    let sites = Sites::listed().await;
    let other_verifier = VERIFIER.replacen('d', "e", 1);
    let void = Some("grant_void");
    for (what, origin, redirect, verifier) in [
        ("another site", OTHER_SITE, BACK, VERIFIER),
        ("another address", SITE, "https://www.example.com/bids/", VERIFIER),
        ("no verifier", SITE, BACK, ""),
        ("another verifier", SITE, BACK, &other_verifier),
        ("the challenge for the verifier", SITE, BACK, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
    ] {
        let given = sites.code().await;
        let wrong = CodeRedemption { origin, code: &given, redirect, verifier };
        assert_eq!(code(sites.platform().redeem_site_code(&sites.saleroom, &wrong).await), void, "{what}");
        assert_eq!(code(sites.redeem(&given).await), void, "{what}: the first use ended it");
    }
    let given = sites.code().await;
    let right = CodeRedemption { origin: SITE, code: &given, redirect: BACK, verifier: VERIFIER };
    assert_eq!(code(sites.platform().redeem_site_code(&sites.other, &right).await), void, "another house");
    let given = sites.code().await;
    sites.after(Duration::from_secs(60));
    assert_eq!(code(sites.redeem(&given).await), void, "too late");
    let given = sites.code().await;
    sites.after(Duration::from_secs(59));
    let tokens = sites.redeem(&given).await.unwrap();
    assert!(sites.works(&text(&tokens.access)).await);
    assert_eq!(code(sites.redeem(&given).await), void, "a second use");
    assert!(!sites.works(&text(&tokens.access)).await, "it ends the tokens of the first");
    assert_eq!(sites.refresh(&text(&tokens.refresh)).await, Err("grant_void"));
    for unknown in ["", "lwg_", "lwg_unknown", &"x".repeat(10_000)] {
        assert_eq!(code(sites.redeem(unknown).await), void);
    }
}

#[tokio::test]
async fn a_refresh_token_works_once_and_a_second_use_ends_the_grant() {
    let sites = Sites::listed().await;
    let (first_access, first) = sites.tokens().await;
    let elsewhere = sites.platform().refresh_site_tokens(&sites.saleroom, OTHER_SITE, &first).await;
    assert_eq!(code(elsewhere), Some("grant_void"));
    assert_eq!(code(sites.platform().refresh_site_tokens(&sites.other, SITE, &first).await), Some("grant_void"));
    assert_eq!(sites.refresh(&first_access).await, Err("grant_void"), "an access token is none");
    let (access, second) = sites.refresh(&first).await.unwrap();
    assert!(sites.works(&access).await && !sites.works(&first_access).await);
    sites.after(Duration::from_secs(60 * 60));
    assert!(!sites.works(&access).await, "after one hour");
    let (access, third) = sites.refresh(&second).await.unwrap();
    assert!(sites.works(&access).await);
    assert_eq!(sites.refresh(&first).await, Err("grant_void"), "it was used");
    assert!(!sites.works(&access).await);
    assert_eq!(sites.refresh(&third).await, Err("grant_void"));

    let (_, mut refresh) = sites.tokens().await;
    for _ in 0..2 {
        sites.after(Duration::from_secs(14 * 24 * 60 * 60));
        refresh = sites.refresh(&refresh).await.unwrap().1;
    }
    sites.after(Duration::from_secs(2 * 24 * 60 * 60));
    assert_eq!(sites.refresh(&refresh).await, Err("grant_void"), "30 days after the consent");
    assert!(sites.platform().delete_expired_site_access().await.unwrap() > 0);
}

#[tokio::test]
async fn a_site_ends_its_own_access_and_no_other() {
    let sites = Sites::listed().await;
    let (platform, (access, refresh)) = (sites.platform(), sites.tokens().await);
    for (saleroom, origin) in [(&sites.saleroom, OTHER_SITE), (&sites.other, SITE)] {
        platform.revoke_site_token(saleroom, origin, &refresh).await.unwrap();
        assert!(sites.works(&access).await);
    }
    platform.revoke_site_token(&sites.saleroom, SITE, "lwr_unknown").await.unwrap();
    platform.revoke_site_token(&sites.saleroom, SITE, &refresh).await.unwrap();
    assert!(!sites.works(&access).await);
}

#[tokio::test]
async fn access_ends_with_the_password_the_account_the_person_and_the_listing() {
    let sites = Sites::listed().await;
    let (platform, house) = (sites.platform(), &sites.house);

    let (access, _) = sites.tokens().await;
    Sites::list(house, &sites.saleroom, OTHER_BACK).await;
    assert!(!sites.works(&access).await, "the site is not listed any more");
    Sites::list(house, &sites.saleroom, BACK).await;
    assert!(sites.works(&access).await);

    let link = house.link(&sites.saleroom, "ann@example.com").await;
    let input = AccountInput { details: BidderDetails::default(), password: secret("four green lamps") };
    let signed_in = platform.use_bidder_link(&sites.saleroom, &link, input, &Client::default()).await.unwrap();
    assert!(!sites.works(&access).await, "another password");

    let bidder = platform.signed_in_bidder(&sites.saleroom, &text(&signed_in.token)).await.unwrap().unwrap();
    let sites = Sites { session: text(&signed_in.token), ann: bidder.clone(), ..sites };
    let (access, _) = sites.tokens().await;
    let platform = sites.platform();
    platform.register_for_sale(&sites.saleroom, &bidder, sites.house.items[0].auction, None).await.unwrap();
    assert!(sites.works(&access).await);
    let bidder = platform.signed_in_bidder(&sites.saleroom, &sites.session).await.unwrap().unwrap();
    platform.delete_bidder_account(&bidder, &secret("four green lamps")).await.unwrap();
    assert!(!sites.works(&access).await, "the bidder deleted the account");

    // The same person opens it again, and the house erases them from its register.
    let (ann, session) = sites.house.open_account(&sites.saleroom, "ann@example.com").await;
    let party = ann.account.profile.party.unwrap();
    let sites = Sites { session, ann, ..sites };
    let (access, _) = sites.tokens().await;
    assert!(sites.works(&access).await);
    sites.platform().erase_party(&sites.house.fixture.caller, party, None).await.unwrap();
    assert!(!sites.works(&access).await, "the person was erased");
}
