//! The health check fails while the platform can't end due items, although the database responds.

use std::time::Duration;

use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::sales::new_item::NewItem;

use crate::fixture::TestPlatform;

#[tokio::test]
async fn health_fails_when_due_items_could_not_be_ended_for_ten_seconds() {
    let fixture = TestPlatform::new().await;
    fixture.create(&fixture.timed(Duration::from_secs(60), vec![NewItem::new("1", "A table")])).await;
    fixture.clock.advance(Duration::from_secs(60));
    let mut worker = ItemEndWorker::new(fixture.platform.clone());

    fixture.faults.fail_commits();
    assert!(worker.run_once(fixture.platform.now()).await.is_err());
    fixture.clock.advance(Duration::from_millis(9_999));
    assert!(worker.run_once(fixture.platform.now()).await.is_err());
    fixture.platform.ping().await.unwrap();
    fixture.clock.advance(Duration::from_millis(1));
    let failed = fixture.platform.ping().await.unwrap_err();
    assert_eq!(failed.code(), "unavailable");
    assert!(failed.full_message().contains("due items could not be ended for 10 s"), "{}", failed.full_message());

    fixture.faults.allow_commits();
    assert_eq!(worker.run_once(fixture.platform.now()).await.unwrap().items, 1);
    fixture.platform.ping().await.unwrap();
}
