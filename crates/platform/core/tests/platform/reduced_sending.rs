//! Publishing while many items end at once.

use std::time::Duration;

use platform_core::PlatformConfig;
use platform_core::config::TimerConfig;
use platform_core::sales::new_item::NewItem;

use crate::fixture::TestPlatform;
use crate::provider::{Provider, Reply};
use crate::publishing::pending;

#[tokio::test]
async fn after_many_items_have_ended_a_lane_uses_its_full_concurrency() {
    let hanging = Provider::start([]).await;
    hanging.otherwise(Reply::Hang);
    let timers = TimerConfig { batch_items_max: 10, ..TimerConfig::default() };
    let fixture = TestPlatform::connected(&hanging, PlatformConfig { timers, ..PlatformConfig::default() }).await;
    let items = (1..=100).map(|lot: u32| NewItem::new(lot.to_string(), "A chair")).collect();
    fixture.create(&fixture.timed(Duration::from_secs(60), items)).await;
    // Lanes send less while the items end. The provider answers no request, so 64 concurrent requests show the full limit.
    fixture.clock.advance(Duration::from_secs(60));
    hanging.request(64).await;
    assert_eq!(pending(&fixture).await, (101, 0));
}
