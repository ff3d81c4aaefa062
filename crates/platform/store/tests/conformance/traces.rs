//! The position in a trace of the request that changed a status.

use contract::ItemStatus;
use kit_runtime::trace::{RequestOrigin, TraceParent};
use platform_core::port::{Change, OutboxEvent, OvertakenPolicy, PublishResult};

use super::given::{Shared, announced, at, commit_to, connected_sale, customer_uuid, item_uuid, node, outcome, whole};

pub(super) async fn an_outbox_row_has_the_trace_of_the_request_that_changed_the_status(store: Shared) {
    connected_sale(&store, 3).await;
    let trace: TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap();
    let of = |position| Some(RequestOrigin { request_id: "req-1".into(), position });
    let sold = async |number: usize, origin, assign_to| {
        let item = store.item(item_uuid(number)).await.unwrap().unwrap();
        let change = Change { origin, ..announced(item, ItemStatus::Sold, at(number as i64)) };
        commit_to(&store, change, assign_to).await.unwrap()
    };
    let traces = |events: &[OutboxEvent]| events.iter().map(|event| event.trace_parent).collect::<Vec<_>>();
    let claim = async || store.claim_outbox(node(1), customer_uuid(1), at(9), 10).await.unwrap();

    // From the commit, in memory.
    let assigned = sold(1, of(Some(trace)), Some(node(1))).await.assigned;
    assert_eq!(traces(&assigned), [Some(trace)]);
    // From the table: a request with and one without a trace, and a worker.
    let released = vec![outcome(assigned[0].cursor, PublishResult::Released)];
    store.record_outbox_outcomes(released, at(5)).await.unwrap();
    sold(2, of(None), None).await;
    sold(3, None, None).await;
    let claimed = claim().await;
    assert_eq!(traces(&claimed), [Some(trace), None, None]);
    // Through the quarantine.
    let cursor = claimed[0].cursor;
    let refused = vec![outcome(cursor, PublishResult::Quarantined { error: "422".into() })];
    store.record_outbox_outcomes(refused, at(5)).await.unwrap();
    let quarantined = store.quarantined(customer_uuid(1), whole()).await.unwrap();
    assert_eq!(quarantined[0].event.trace_parent, Some(trace));
    store.requeue_quarantined(customer_uuid(1), vec![cursor], OvertakenPolicy::Send, None).await.unwrap();
    assert_eq!(traces(&claim().await), [Some(trace)]);
}
