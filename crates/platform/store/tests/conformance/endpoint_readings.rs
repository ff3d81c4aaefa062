//! What was read of customers' endpoints: claims, endpoints, deliveries.

use contract::ItemStatus;
use jiff::Timestamp;
use platform_core::port::{
    AccessChange, DeliveryState, EndpointCondition, EndpointReading, EndpointRecord, EventDelivery, FailedAttempt,
    ReadingClaim, ReadingEnd, ReadingFigures, ReadingOutcome, StartFrom, UndeliveredOfSale,
};

use super::access_changes::AccessChanges as _;
use super::given::{
    Shared, announced, at, auction_uuid, commit_to, connected_sale, consumer, customer_uuid, item_uuid, node,
};

fn endpoint(id: &str, condition: EndpointCondition) -> EndpointRecord {
    EndpointRecord {
        id: id.to_owned(),
        host: "hooks.example.com".to_owned(),
        description: "Größe\u{0}".to_owned(),
        condition,
        since: Some(at(7)),
        may_be_earlier: true,
        last_failure: Some(FailedAttempt { at: at(8), status_code: 500 }),
        last_success_at: None,
        figures: None,
        details_read_at: None,
        read_at: at(9),
    }
}

fn delivery(item: usize, sequence: i64, endpoint: &str, state: DeliveryState, read_ms: i64) -> EventDelivery {
    let subject = item_uuid(item);
    EventDelivery {
        subject,
        sequence,
        endpoint: endpoint.to_owned(),
        event_id: format!("{subject}.{sequence}"),
        state,
        accepted_at: at(sequence),
        read_at: at(read_ms),
    }
}

async fn claims(store: &Shared, now: i64, until: i64) -> Vec<ReadingClaim> {
    store.claim_endpoint_readings(at(now), at(until), 9).await.unwrap()
}

async fn end(store: &Shared, claim: ReadingClaim, outcome: ReadingOutcome, ended: i64) {
    let detail = (outcome != ReadingOutcome::Read).then(|| "403".to_owned());
    let end = ReadingEnd { claim, outcome, detail, at: at(ended), next_at: at(ended + 300), soon_at: at(ended + 30) };
    store.end_endpoint_reading(end).await.unwrap();
}

async fn stored(store: &Shared) -> Option<EndpointReading> {
    store.endpoint_readings(vec![customer_uuid(1), customer_uuid(9)]).await.unwrap().pop()
}

pub(super) async fn a_reading_is_claimed_once_and_due_again_at_its_time(store: Shared) {
    assert!(claims(&store, 1, 100).await.is_empty(), "a customer without a connection was claimed");
    let mut half = consumer(2);
    half.api_key = None;
    store.put_consumer(half, StartFrom::Now).await.unwrap();
    store.put_consumer(consumer(1), StartFrom::Now).await.unwrap();
    let customer = customer_uuid(1);
    let first = ReadingClaim { customer, until: at(100), published_at: None };
    let at_once = tokio::join!(claims(&store, 1, 100), claims(&store, 1, 101), claims(&store, 1, 102));
    let at_once: Vec<ReadingClaim> = [at_once.0, at_once.1, at_once.2].concat();
    assert_eq!(at_once.len(), 1, "concurrent nodes claimed the same customer: {at_once:?}");
    let claim = at_once[0];
    assert!(claims(&store, 99, 200).await.is_empty());
    // A claim that was not ended expires; what its node still records is dropped.
    let second = claims(&store, 102, 202).await;
    assert_eq!(second, [ReadingClaim { until: at(202), ..first }]);
    assert!(
        !store
            .record_endpoints(claim, vec![endpoint("ep_1", EndpointCondition::Failing)], false, at(103))
            .await
            .unwrap()
    );
    assert!(!store.record_event_deliveries(claim, None, Vec::new()).await.unwrap());
    end(&store, claim, ReadingOutcome::Read, 103).await;
    assert_eq!(stored(&store).await.unwrap().outcome, ReadingOutcome::Never);

    end(&store, second[0], ReadingOutcome::NoRight, 110).await;
    let refused = stored(&store).await.unwrap();
    assert_eq!(
        (refused.outcome, refused.outcome_since, refused.tried_at),
        (ReadingOutcome::NoRight, Some(at(110)), Some(at(110)))
    );
    assert_eq!((refused.detail.as_deref(), refused.read_at), (Some("403"), None));
    assert!(claims(&store, 409, 500).await.is_empty());
    let third = claims(&store, 410, 500).await[0];
    end(&store, third, ReadingOutcome::NoRight, 420).await;
    assert_eq!(stored(&store).await.unwrap().outcome_since, Some(at(110)), "the outcome is the same since then");
    // A reading of another connection does not wait.
    store.put_consumer(consumer(1), StartFrom::Now).await.unwrap();
    assert_eq!(claims(&store, 421, 521).await.len(), 1);
}

pub(super) async fn a_reading_is_brought_forward_and_not_too_far(store: Shared) {
    store.put_consumer(consumer(1), StartFrom::Now).await.unwrap();
    let customer = customer_uuid(1);
    let forward = async |now: i64, published: Option<Timestamp>| {
        store.bring_endpoint_readings_forward(vec![customer, customer_uuid(9)], at(now), 30, published).await.unwrap();
    };
    let first = claims(&store, 1, 100).await[0];
    end(&store, first, ReadingOutcome::Read, 10).await;
    forward(20, Some(at(20))).await;
    assert!(claims(&store, 39, 200).await.is_empty(), "a reading began sooner than 30 ms after the last one");
    let second = claims(&store, 40, 200).await[0];
    assert_eq!(second.published_at, Some(at(20)));
    // During a reading it is brought forward for the next one, and the claim stays.
    forward(41, None).await;
    assert!(claims(&store, 42, 300).await.is_empty());
    end(&store, second, ReadingOutcome::Read, 50).await;
    assert!(claims(&store, 79, 300).await.is_empty());
    let third = claims(&store, 80, 300).await[0];
    assert_eq!(third.published_at, Some(at(20)), "a call without a time deleted the time");
    end(&store, third, ReadingOutcome::Read, 90).await;
    assert!(claims(&store, 389, 500).await.is_empty());
    assert_eq!(claims(&store, 390, 500).await.len(), 1);
    // A later time does not postpone a reading.
    forward(900, None).await;
    assert_eq!(claims(&store, 500, 600).await.len(), 1);
}

pub(super) async fn endpoints_and_deliveries_read_back_until_the_application_changes(store: Shared) {
    connected_sale(&store, 2).await;
    let claim = claims(&store, 1, 100).await[0];
    let endpoints = vec![endpoint("ep_1", EndpointCondition::Failing), endpoint("ep_2", EndpointCondition::Delivering)];
    assert!(store.record_endpoints(claim, endpoints.clone(), true, at(9)).await.unwrap());
    let reading = stored(&store).await.unwrap();
    assert_eq!((reading.outcome, reading.read_at, reading.has_more), (ReadingOutcome::Read, Some(at(9)), true));
    assert_eq!(reading.endpoints, endpoints);

    let changed = EndpointRecord { details_read_at: Some(at(20)), ..endpoints[0].clone() };
    use DeliveryState::{Delivered, Failed, Waiting};
    let deliveries = vec![
        delivery(1, 1, "ep_1", Waiting, 20),
        delivery(1, 1, "ep_2", Delivered, 20),
        delivery(1, 2, "ep_1", Failed, 20),
        delivery(2, 1, "ep_1", Delivered, 20),
    ];
    assert!(store.record_event_deliveries(claim, Some(changed.clone()), deliveries.clone()).await.unwrap());
    assert_eq!(stored(&store).await.unwrap().endpoints, [changed, endpoints[1].clone()]);
    assert_eq!(store.event_deliveries(item_uuid(1)).await.unwrap(), deliveries[..3]);
    let of_sale = UndeliveredOfSale { count: 2, oldest_at: Some(at(1)) };
    assert_eq!(store.undelivered_of_sale(customer_uuid(1), auction_uuid(1)).await.unwrap(), of_sale);
    assert_eq!(
        store.undelivered_of_sale(customer_uuid(1), auction_uuid(2)).await.unwrap(),
        UndeliveredOfSale::default()
    );

    // One of them is delivered; a delivered event keeps the time at which it was first read.
    let again = vec![
        delivery(1, 1, "ep_1", Delivered, 30),
        delivery(1, 1, "ep_2", Delivered, 30),
        delivery(1, 2, "ep_1", Failed, 30),
        delivery(2, 2, "ep_2", Waiting, 25),
    ];
    assert!(store.record_event_deliveries(claim, None, again).await.unwrap());
    let read: Vec<_> =
        store.event_deliveries(item_uuid(1)).await.unwrap().into_iter().map(|row| (row.state, row.read_at)).collect();
    assert_eq!(read, [(Delivered, at(30)), (Delivered, at(20)), (Failed, at(30))]);
    let undelivered = async |after: i64, limit| {
        let found = store.undelivered_events(customer_uuid(1), at(after), limit).await.unwrap();
        found.into_iter().map(|row| (row.subject, row.sequence)).collect::<Vec<_>>()
    };
    assert_eq!(undelivered(0, 9).await, [(item_uuid(2), 2), (item_uuid(1), 2)]);
    assert_eq!(undelivered(0, 1).await, [(item_uuid(2), 2)]);
    assert_eq!(undelivered(2, 9).await, []);

    // An endpoint that is gone lacks no event. It may be one of those beyond the limit if there are more.
    assert!(store.record_endpoints(claim, vec![endpoints[0].clone()], true, at(40)).await.unwrap());
    assert_eq!(undelivered(0, 9).await.len(), 2);
    assert!(store.record_endpoints(claim, vec![endpoints[0].clone()], false, at(41)).await.unwrap());
    assert_eq!(undelivered(0, 9).await, [(item_uuid(1), 2)]);
    assert_eq!(store.event_deliveries(item_uuid(1)).await.unwrap().len(), 3, "a delivery is history");
    end(&store, claim, ReadingOutcome::Read, 50).await;

    // Another key keeps what was read, another application does not.
    store.put_consumer(consumer(1), StartFrom::Now).await.unwrap();
    assert_eq!(stored(&store).await.unwrap().endpoints.len(), 1);
    let mut other = consumer(1);
    other.application_id = Some("app_other".into());
    store.put_consumer(other.clone(), StartFrom::Now).await.unwrap();
    assert_eq!(stored(&store).await, None);
    assert!(store.event_deliveries(item_uuid(1)).await.unwrap().is_empty());
    let claim = claims(&store, 60, 160).await[0];
    assert!(store.record_endpoints(claim, endpoints.clone(), false, at(61)).await.unwrap());
    other.provider = platform_core::port::ProviderAddress::Embedded;
    store.put_consumer(other, StartFrom::Now).await.unwrap();
    assert!(!store.record_endpoints(claim, endpoints.clone(), false, at(62)).await.unwrap());
    let claim = claims(&store, 63, 163).await[0];
    assert!(store.record_endpoints(claim, endpoints, false, at(64)).await.unwrap());
    let disconnect = AccessChange::Disconnect(customer_uuid(1));
    store.apply_access_change(disconnect, "{}".to_owned()).await.unwrap();
    assert_eq!(stored(&store).await, None);
    assert!(!store.record_event_deliveries(claim, None, Vec::new()).await.unwrap());
    // What is announced goes on as before.
    let item = store.item(item_uuid(2)).await.unwrap().unwrap();
    commit_to(&store, announced(item, ItemStatus::Sold, at(70)), Some(node(1))).await.unwrap();
}

pub(super) async fn the_oldest_reading_and_keys_without_the_right_are_counted(store: Shared) {
    assert_eq!(store.reading_figures().await.unwrap(), ReadingFigures::default());
    for number in [1, 2] {
        store.put_consumer(consumer(number), StartFrom::Now).await.unwrap();
    }
    let figures = |oldest, without_right| ReadingFigures { oldest_at: Some(at(oldest)), without_right };
    assert_eq!(store.reading_figures().await.unwrap(), figures(3, 0), "it counts from the connection");
    let mut claimed = claims(&store, 10, 100).await;
    claimed.sort_by_key(|claim| claim.customer);
    end(&store, claimed[0], ReadingOutcome::NoRight, 20).await;
    assert_eq!(store.reading_figures().await.unwrap(), figures(3, 1));
    end(&store, claimed[1], ReadingOutcome::Read, 30).await;
    assert_eq!(store.reading_figures().await.unwrap(), figures(20, 1));
}
