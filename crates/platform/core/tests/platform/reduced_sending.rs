//! Many items that end at once, and the events that stand back meanwhile.

use std::time::Duration;

use platform_core::PlatformConfig;
use platform_core::config::TimerConfig;
use platform_core::sales::new_item::NewItem;

use crate::fixture::TestPlatform;
use crate::provider::{Provider, Reply};
use crate::publishing::pending;

#[tokio::test]
async fn when_many_items_have_ended_at_once_a_lane_sends_as_much_as_ever() {
    let hanging = Provider::start([]).await;
    hanging.otherwise(Reply::Hang);
    let timers = TimerConfig { batch_items_max: 10, ..TimerConfig::default() };
    let fixture = TestPlatform::connected(&hanging, PlatformConfig { timers, ..PlatformConfig::default() }).await;
    let items = (1..=100).map(|lot: u32| NewItem::new(lot.to_string(), "A chair")).collect();
    fixture.create(&fixture.timed(Duration::from_secs(60), items)).await;
    // While they ended, lanes held back: none of the requests under way is answered, and yet the others follow.
    fixture.clock.advance(Duration::from_secs(60));
    hanging.request(64).await;
    assert_eq!(pending(&fixture).await, (101, 0));
}
