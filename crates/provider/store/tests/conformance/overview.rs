//! What an account's applications and endpoints are together.

use provider_core::model::{Endpoint, Id};
use provider_core::port::{AccountFigures, ApplicationFigures, Cursor, Order};

use super::given::*;

pub(super) async fn applications_have_figures_and_are_found_by_a_part_of_their_name(store: Shared) {
    let version = routes(&store, 3).await;
    store.create_application(application(2), None).await.unwrap();
    let disabled = Endpoint { disabled: true, ..endpoint(3) };
    update_endpoint(&*store, disabled).await.unwrap();
    let version = version + 1;
    let to = &[(1, Some(1)), (2, Some(1))];
    accepted(&store, vec![sent(1, version, to), sent(2, version, to)], at(0)).await;
    let records = vec![
        failed(attempt(1, 1, 1, at(10)), 1, 5),
        succeeded(attempt(2, 1, 2, at(11))),
        failed(attempt(3, 2, 1, at(12)), 2, 5),
        succeeded(attempt(4, 2, 2, at(13))),
    ];
    store.record_attempts(records.into(), NO_DELAY).await.unwrap();

    let [first, second] = [id("app", 1), id("app", 2)];
    let wanted = [second.clone(), first.clone()];
    let figures = ApplicationFigures {
        application: first.clone(),
        endpoints: 3,
        failing: 1,
        disabled: 1,
        last_message_at: Some(at(2)),
    };
    let empty = ApplicationFigures {
        application: second.clone(),
        endpoints: 0,
        failing: 0,
        disabled: 0,
        last_message_at: None,
    };
    assert_eq!(store.application_figures(&wanted).await.unwrap(), [empty, figures]);

    let account = id("org", 1);
    let search = async |text: &str, from: Option<Cursor>, limit| {
        let page = page(from, Order::Ascending, limit);
        let found = store.search_applications(&account, text, page).await.unwrap();
        found.into_iter().map(|application| application.id).collect::<Vec<_>>()
    };
    assert_eq!(search("HAMMER &", None, 9).await, [first.clone(), second.clone()]);
    assert_eq!(search("", None, 1).await, std::slice::from_ref(&first));
    assert_eq!(search("hammer", Some(Cursor::After(first.to_string())), 9).await, std::slice::from_ref(&second));
    assert_eq!(search("Customer-2", None, 9).await, std::slice::from_ref(&second));
    assert_eq!(search(&first, None, 9).await, std::slice::from_ref(&first));
    for none in ["100%", "_ammer", "sold"] {
        assert_eq!(search(none, None, 9).await, [] as [Id; 0], "{none}");
    }
    assert!(store.search_applications(&id("org", 2), "hammer", whole(Order::Ascending)).await.unwrap().is_empty());
}

pub(super) async fn an_accounts_failing_and_subscribed_endpoints_are_found(store: Shared) {
    let account = id("org", 1);
    let figures = async || store.account_figures(&account).await.unwrap();
    store.create_account(super::given::account(1)).await.unwrap();
    assert_eq!(figures().await, AccountFigures::default());
    store.create_application(application(1), None).await.unwrap();
    let all = Endpoint { filter_types: None, ..endpoint(4) };
    let longer = Endpoint { filter_types: Some(vec!["ITEM_STATUS_CHANGE.more".to_owned()]), ..endpoint(5) };
    for endpoint in [endpoint(1), endpoint(2), endpoint(3), all, longer] {
        store.create_endpoint(endpoint, usize::MAX, None).await.unwrap();
    }
    let version = version(&store).await;
    let to = &[(1, Some(1)), (2, Some(1)), (3, Some(1))];
    accepted(&store, vec![sent(1, version, to)], at(0)).await;
    let fails = |number, endpoint, ms| failed(attempt(number, 1, endpoint, at(ms)), 1, 5);
    store.record_attempts(vec![fails(1, 2, 10), fails(2, 1, 11)].into(), NO_DELAY).await.unwrap();
    let all = AccountFigures { applications: 1, endpoints: 5, failing: 2, has_delivery: false };
    assert_eq!(figures().await, all);
    let failing = async |limit| {
        let found = store.failing_endpoints(&account, limit).await.unwrap();
        found.into_iter().map(|endpoint| endpoint.id).collect::<Vec<_>>()
    };
    assert_eq!(failing(9).await, [id("ep", 2), id("ep", 1)]);
    assert_eq!(failing(1).await, [id("ep", 2)]);
    let second = store.endpoint(&id("app", 1), &id("ep", 2)).await.unwrap().unwrap();
    update_endpoint(&*store, Endpoint { disabled: true, ..second }).await.unwrap();
    assert_eq!(failing(9).await, [id("ep", 1)], "a disabled endpoint makes no attempts");
    assert!(store.failing_endpoints(&id("org", 2), 9).await.unwrap().is_empty());

    let subscribed = store.subscribed_endpoints(&account, "ITEM_STATUS_CHANGE", 9).await.unwrap();
    let subscribed: Vec<Id> = subscribed.into_iter().map(|endpoint| endpoint.id).collect();
    assert_eq!(subscribed, [1, 2, 3].map(|number| id("ep", number)));
    assert_eq!(store.subscribed_endpoints(&account, "ITEM_STATUS_CHANGE", 1).await.unwrap().len(), 1);
    assert!(store.subscribed_endpoints(&id("org", 2), "ITEM_STATUS_CHANGE", 9).await.unwrap().is_empty());

    let succeeds = succeeded(attempt(3, 1, 3, at(12)));
    store.record_attempts(vec![succeeds].into(), NO_DELAY).await.unwrap();
    assert_eq!(figures().await, AccountFigures { failing: 1, has_delivery: true, ..all });
    assert_eq!(store.account_figures(&id("org", 2)).await.unwrap(), AccountFigures::default());
}
