//! Lists of endpoints: found by a text, those that fail first, with exact totals.

use provider_core::model::Endpoint;
use provider_core::model::counts::Hour;
use provider_core::port::{CountScope, EndpointFilter, EndpointPage, EndpointPageKey, EndpointState};

use super::given::*;

fn numbers(page: &EndpointPage) -> Vec<usize> {
    page.rows.iter().map(|row| row.endpoint.id[3..].parse().unwrap()).collect()
}

/// Six endpoints of the first application, of which the 4th has failed longer than the 2nd and the 3rd is disabled, and one
/// endpoint of the second application.
async fn endpoints(store: &Shared) {
    let version = routes(store, 6).await;
    store.create_application(application(2), None).await.unwrap();
    let other = Endpoint { application: id("app", 2), description: "Tower 50% _Bridge_".to_owned(), ..endpoint(7) };
    store.create_endpoint(other, usize::MAX, None).await.unwrap();
    update_endpoint(&**store, Endpoint { disabled: true, ..endpoint(3) }).await.unwrap();
    accepted(store, vec![sent(1, version + 1, &[(2, Some(1)), (4, Some(1))])], at(0)).await;
    let fails = |number, endpoint, ms| failed(attempt(number, 1, endpoint, at(ms)), 1, 5_000);
    store.record_attempts(vec![fails(1, 4, 10), fails(2, 2, 11)].into(), NO_DELAY).await.unwrap();
}

pub(super) async fn failing_endpoints_are_listed_first_and_every_page_is_reached(store: Shared) {
    endpoints(&store).await;
    let account = id("org", 1);
    let first = EndpointFilter { application: Some(id("app", 1)), ..EndpointFilter::default() };
    let read = async |filter: &EndpointFilter, skipped, with: Option<usize>| {
        let key = EndpointPageKey { with: with.map(|number| id("ep", number)), skipped, limit: 4 };
        store.search_endpoints(&account, filter, &key).await.unwrap()
    };
    let page = read(&first, 0, None).await;
    assert_eq!((numbers(&page), page.skipped, page.totals), (vec![4, 2, 3, 1], 0, [2, 1, 3]));
    assert_eq!(page.rows[0].application_name, application(1).name);
    let stored = store.endpoint(&id("app", 1), &id("ep", 4)).await.unwrap().unwrap();
    assert_eq!(page.rows[0].endpoint, stored);
    let page = read(&first, 4, None).await;
    assert_eq!((numbers(&page), page.skipped, page.totals), (vec![5, 6], 4, [2, 1, 3]));
    // After the end of the list is its last page.
    assert_eq!(read(&first, 400, None).await, page);
    assert_eq!(read(&first, u64::MAX, None).await, page);
    assert_eq!(read(&first, 0, Some(6)).await, page, "the page that contains the endpoint");
    assert_eq!(numbers(&read(&first, 4, Some(4)).await), [4, 2, 3, 1]);
    assert_eq!(read(&first, 4, Some(7)).await, page, "it is of another application");
    for (state, expected) in [
        (EndpointState::Failing, vec![4, 2]),
        (EndpointState::Disabled, vec![3]),
        (EndpointState::Enabled, vec![1, 5, 6]),
    ] {
        let page = read(&EndpointFilter { state: Some(state), ..first.clone() }, 0, None).await;
        assert_eq!((numbers(&page), page.totals), (expected, [2, 1, 3]), "{state:?}");
        assert!(page.rows.iter().all(|row| EndpointState::of(&row.endpoint) == state));
    }
    let page = read(&EndpointFilter::default(), 4, None).await;
    assert_eq!((numbers(&page), page.totals), (vec![5, 6, 7], [2, 1, 4]));
    let key = EndpointPageKey { with: None, skipped: 8, limit: 4 };
    let none = store.search_endpoints(&id("org", 2), &EndpointFilter::default(), &key).await.unwrap();
    assert_eq!(none, EndpointPage::default());
}

pub(super) async fn an_endpoint_is_found_by_its_address_description_id_uid_and_application(store: Shared) {
    endpoints(&store).await;
    let find = async |application: Option<usize>, text: &str| {
        let application = application.map(|number| id("app", number));
        let filter = EndpointFilter { application, text: text.to_owned(), state: None };
        let key = EndpointPageKey { with: None, skipped: 0, limit: 9 };
        let page = store.search_endpoints(&id("org", 1), &filter, &key).await.unwrap();
        assert_eq!(page.totals.iter().sum::<u64>(), page.rows.len() as u64);
        numbers(&page)
    };
    assert_eq!(find(None, "RECEIVER.example/7").await, [7]);
    assert_eq!(find(None, "tower").await, [7]);
    assert_eq!(find(None, "50% _b").await, [7]);
    assert_eq!(find(None, "receiver-5").await, [5]);
    assert_eq!(find(None, &id("ep", 1)).await, [1]);
    assert_eq!(find(None, "takes").await, [4, 2, 3, 1, 5, 6]);
    for of_second in ["Söhne 2", "customer-2", &id("app", 2)] {
        assert_eq!(find(None, of_second).await, [7], "{of_second}");
        // All endpoints of one application would match its name.
        assert!(find(Some(2), of_second).await.is_empty(), "{of_second}");
    }
    assert_eq!(find(Some(1), "").await.len(), 6);
    for none in ["%", "receiver_5", "nothing"] {
        assert!(find(Some(1), none).await.is_empty(), "{none}");
    }
    let mut changed = store.endpoint(&id("app", 1), &id("ep", 5)).await.unwrap().unwrap();
    changed.description = "London".to_owned();
    update_endpoint(&*store, changed).await.unwrap();
    assert_eq!(find(None, "london").await, [5]);
}

pub(super) async fn several_endpoints_are_counted_as_each_one_is(store: Shared) {
    endpoints(&store).await;
    // The ids of these attempts are not made of times.
    let hours = Hour(0)..Hour(i64::MAX);
    let ids = [4, 1, 2].map(|number| id("ep", number));
    let mut expected = Vec::new();
    for endpoint in &ids {
        let counts = store.delivery_counts(&CountScope::Endpoint(endpoint.clone()), hours.clone()).await.unwrap();
        expected.extend(counts.into_iter().map(|(hour, counts)| (endpoint.clone(), hour, counts)));
    }
    assert_eq!(expected.len(), 2);
    let mut counted = store.endpoint_counts(&ids, hours).await.unwrap();
    counted.sort_by(|(one, ..), (other, ..)| other.cmp(one));
    assert_eq!(counted, expected);
    assert!(store.endpoint_counts(&ids, Hour(-1)..Hour(0)).await.unwrap().is_empty());
    assert!(store.endpoint_counts(&[], Hour(0)..Hour(i64::MAX)).await.unwrap().is_empty());
    let waiting = store.waiting_of_endpoints(&ids).await.unwrap();
    for (endpoint, waiting) in ids.iter().zip(&waiting) {
        assert_eq!(*waiting, store.endpoint_waiting(endpoint, None).await.unwrap());
    }
    assert_eq!(waiting.iter().map(|waiting| waiting.retries).collect::<Vec<_>>(), [1, 0, 1]);
}
