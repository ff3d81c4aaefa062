//! Reads the body of a request whose caller has shown no key yet, such as a sign-in.
//!
//! These bodies are small, have to arrive soon, and have a memory limit of their own. Callers without a key therefore
//! can't use up the memory of the requests with one ([`crate::body_memory`]).

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;

use crate::body_memory::{BodyMemory, UNAUTHENTICATED_BODY_MEMORY};
use crate::json::{self, JsonError};

/// Maximum bytes of such a body.
pub const BYTES_MAX: usize = 8 * 1024;
/// Time in which such a body has to arrive.
const TIME_MAX: Duration = Duration::from_secs(10);

/// Reads the whole body, up to [`BYTES_MAX`]. `BodyMemoryFull` when the bodies of other callers without a key take all
/// of their memory.
pub async fn read(body: Body) -> Result<Bytes, JsonError> {
    read_within(&UNAUTHENTICATED_BODY_MEMORY, body).await
}

async fn read_within(memory: &'static BodyMemory, body: Body) -> Result<Bytes, JsonError> {
    let reading = json::read_within(memory, body, BYTES_MAX);
    tokio::time::timeout(TIME_MAX, reading).await.unwrap_or(Err(JsonError::TimedOut))
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use http_body_util::channel::{Channel, Sender};

    use super::*;

    const HALF: usize = BYTES_MAX / 2;

    /// A body of which the first half has arrived.
    async fn half_sent() -> (Sender<Bytes, std::io::Error>, Body) {
        let (mut sender, body) = Channel::<Bytes, std::io::Error>::new(1);
        sender.send_data(Bytes::from(vec![b' '; HALF])).await.unwrap();
        (sender, Body::new(body))
    }

    #[tokio::test]
    async fn half_sent_bodies_of_callers_without_a_key_use_up_only_their_own_memory() {
        static FEW: BodyMemory = BodyMemory::new(2 * HALF, 0);
        let ((_one, first), (_two, second), (_three, third)) =
            (half_sent().await, half_sent().await, half_sent().await);
        let mut waiting = [first, second].map(|body| Box::pin(read_within(&FEW, body)));
        for reading in &mut waiting {
            assert!(reading.as_mut().now_or_never().is_none());
        }
        assert!(matches!(read_within(&FEW, third).await, Err(JsonError::BodyMemoryFull)));
        assert_eq!(json::read(Body::from("{}")).await.unwrap(), "{}");
        drop(waiting);
        assert_eq!(read_within(&FEW, Body::from("email=a")).await.unwrap(), "email=a");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_is_too_large_or_too_slow_is_rejected() {
        assert!(read(Body::from(vec![b' '; BYTES_MAX])).await.is_ok());
        let error = read(Body::from(vec![b' '; BYTES_MAX + 1])).await.unwrap_err();
        assert!(matches!(error, JsonError::TooLarge { bytes_max: BYTES_MAX }));
        let (_sender, body) = half_sent().await;
        assert!(matches!(read(body).await, Err(JsonError::TimedOut)));
    }
}
