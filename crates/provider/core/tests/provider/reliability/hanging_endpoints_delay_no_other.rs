//! Endpoints that hang delay no other endpoint.

use std::time::Duration;

use provider_core::ProviderConfig;

use crate::fixture::{Fixture, quick};
use crate::receiver::{Receiver, Reply};

#[tokio::test]
async fn hanging_endpoints_do_not_delay_a_healthy_one() {
    let config = ProviderConfig { request_timeout: Duration::from_secs(60), ..quick() };
    let fixture = Fixture::new(config).await;
    let hanging = Receiver::start(|_| Reply::Never).await;
    for _ in 0..50 {
        fixture.endpoint(&hanging.url()).await;
    }
    let mut healthy = Receiver::start(|_| Reply::Status(200)).await;
    fixture.endpoint(&healthy.url()).await;
    for _ in 0..200 {
        fixture.send().await;
        tokio::time::timeout(Duration::from_secs(5), healthy.next()).await.unwrap();
    }
}
