//! Settings of the App Portal, and codes of its preview.

use provider_core::Colour;
use provider_core::model::Role;
use provider_core::model::{
    ActorKind, AppToken, Capability, LogoType, PortalLogo, PortalSettings, Preview, TokenMaker,
};
use provider_core::port::{LogoChange, StoreError};

use super::given::*;

pub(super) async fn settings_of_the_portal_are_replaced_and_the_logo_stays(store: Shared) {
    let org = id("org", 1);
    let refused = store.put_portal_settings(&org, PortalSettings::default(), LogoChange::Keep, entry(1)).await;
    assert!(matches!(refused, Err(StoreError::NotFound)));
    store.create_account(account(1)).await.unwrap();
    assert_eq!(store.portal_settings(&org).await.unwrap(), None);
    let settings = PortalSettings {
        colour: Colour::parse("#0d6b57"),
        embed_origins: vec!["https://a.example".to_owned(), "https://b.example:8443".to_owned()],
        logo_type: Some(LogoType::Webp),
        logo_version: Some("0123456789abcdef".to_owned()),
    };
    let logo = PortalLogo { media_type: LogoType::Webp, bytes: vec![0, 255, 1] };
    store.put_portal_settings(&org, settings.clone(), LogoChange::Set(logo.clone()), entry(1)).await.unwrap();
    assert_eq!(store.portal_settings(&org).await.unwrap(), Some(settings.clone()));
    let plain = PortalSettings { colour: None, embed_origins: Vec::new(), ..settings };
    store.put_portal_settings(&org, plain.clone(), LogoChange::Keep, entry(2)).await.unwrap();
    assert_eq!(store.portal_settings(&org).await.unwrap(), Some(plain));
    assert_eq!(store.portal_logo(&org).await.unwrap(), Some(logo));
    store.put_portal_settings(&org, PortalSettings::default(), LogoChange::Remove, entry(3)).await.unwrap();
    assert_eq!(store.portal_settings(&org).await.unwrap(), Some(PortalSettings::default()));
    assert_eq!(store.portal_logo(&org).await.unwrap(), None);
}

pub(super) async fn a_code_of_the_portal_is_exchanged_once(store: Shared) {
    routes(&store, 0).await;
    let token = AppToken {
        id: id("apptk", 1),
        hash: [1; 32],
        account: id("org", 1),
        application: id("app", 1),
        capabilities: [Capability::ViewBase].into(),
        feature_flags: Default::default(),
        session_id: Some(id("usr", 1).to_string()),
        created_at: at(0),
        expires_at: at(600),
        last_used_at: None,
        maker: TokenMaker { kind: ActorKind::User, id: id("usr", 1), name: "Ann".to_owned() },
        preview: Some(Preview { session: id("ses", 1), role: Role::Support }),
    };
    store.create_app_token(super::access::new_token(token.clone()), 9).await.unwrap();
    let exchange = async |new: u8, now: i64| store.exchange_app_token([1; 32], [new; 32], at(9_000), at(now)).await;
    assert!(!exchange(2, 600).await.unwrap(), "it has expired");
    assert!(exchange(2, 599).await.unwrap());
    assert!(!exchange(3, 599).await.unwrap(), "it was used");
    assert_eq!(store.app_token_by_hash([1; 32]).await.unwrap(), None);
    let exchanged = AppToken { hash: [2; 32], expires_at: at(9_000), ..token };
    assert_eq!(store.app_token_by_hash([2; 32]).await.unwrap(), Some(exchanged));
}
