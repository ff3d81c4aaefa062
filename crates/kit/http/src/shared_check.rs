//! A check that callers without a key may request, such as a health check. It runs at most once at a time: callers that
//! arrive while it runs share its next result, so a flood of requests costs no more than one caller.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Extension;
use tokio::sync::Mutex;

/// The extension that a route with a shared check carries.
pub type SharedCheckExtension = Extension<Arc<SharedCheck>>;

/// The latest result of a check; an error is its text.
#[derive(Debug)]
pub struct SharedCheck {
    finished_count: AtomicU64,
    latest: Mutex<Result<(), String>>,
}

impl SharedCheck {
    /// For one route, as the layer of that route.
    pub fn extension() -> SharedCheckExtension {
        Extension(Arc::new(Self { finished_count: AtomicU64::new(0), latest: Mutex::new(Ok(())) }))
    }

    /// The result of a check that ended after this call, in this request or in another one.
    pub async fn result<E: Display>(&self, check: impl Future<Output = Result<(), E>>) -> Result<(), String> {
        let finished_count = self.finished_count.load(Ordering::Acquire);
        let mut latest = self.latest.lock().await;
        if self.finished_count.load(Ordering::Acquire) == finished_count {
            *latest = check.await.map_err(|error| error.to_string());
            self.finished_count.fetch_add(1, Ordering::Release);
        }
        latest.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::future::join_all;

    use super::*;

    #[tokio::test]
    async fn callers_that_arrive_during_a_check_share_one_further_check() {
        let Extension(shared) = SharedCheck::extension();
        let runs = AtomicU64::new(0);
        let check = async || {
            runs.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            Err::<(), _>("the disk is full")
        };
        let results = join_all((0..1000).map(|_| shared.result(check()))).await;
        assert!(results.iter().all(|result| *result == Err("the disk is full".to_owned())));
        assert_eq!(runs.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_later_caller_gets_a_new_result() {
        let Extension(shared) = SharedCheck::extension();
        assert!(shared.result(async { Err("down") }).await.is_err());
        assert_eq!(shared.result(async { Ok::<_, Infallible>(()) }).await, Ok(()));
    }

    #[tokio::test]
    async fn a_caller_that_gives_up_does_not_block_the_others() {
        let Extension(shared) = SharedCheck::extension();
        let given_up = tokio::time::timeout(
            std::time::Duration::ZERO,
            shared.result(std::future::pending::<Result<(), Infallible>>()),
        );
        assert!(given_up.await.is_err());
        assert_eq!(shared.result(async { Ok::<_, Infallible>(()) }).await, Ok(()));
    }
}
