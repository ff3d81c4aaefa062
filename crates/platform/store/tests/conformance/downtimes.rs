//! Downtimes: periods in which no node used the store.

use platform_core::port::Downtime;

use super::given::{Shared, at};

pub(super) async fn a_downtime_is_stored_until_a_node_clears_it(store: Shared) {
    let note = async |ms: i64| store.detect_downtime(at(ms), 3_000).await.unwrap();
    assert_eq!(note(1_000).await, None);
    assert_eq!(note(4_000).await, None, "a gap of the allowed length counted as a downtime");
    let first = Downtime { since: at(4_000), until: at(7_001) };
    assert_eq!(note(7_001).await, Some(first));
    assert_eq!(note(7_500).await, Some(first), "another node does not see the downtime");
    // A heartbeat with an earlier time changes nothing.
    assert_eq!(note(6_000).await, Some(first));
    let both = Downtime { since: at(4_000), until: at(20_000) };
    assert_eq!(note(20_000).await, Some(both), "the second downtime does not extend the one that was not cleared");
    store.clear_downtime(first).await.unwrap();
    assert_eq!(note(20_500).await, Some(both), "clearing an outdated downtime removed the present one");
    store.clear_downtime(both).await.unwrap();
    assert_eq!(note(21_000).await, None);
    assert_eq!(note(90_000).await, Some(Downtime { since: at(21_000), until: at(90_000) }));
    for (ms, is_in) in [(21_000, false), (21_001, true), (90_000, true), (90_001, false)] {
        assert_eq!(Downtime { since: at(21_000), until: at(90_000) }.contains(at(ms)), is_in, "{ms}");
    }
}
