//! The request that the current task handles.

use std::sync::Arc;

use super::TraceParent;

tokio::task_local! {
    static CURRENT: RequestOrigin;
}

/// A request, as what it causes names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestOrigin {
    /// The request id of its log lines and its response.
    pub request_id: Arc<str>,
    /// Its position in a trace, if it has one.
    pub position: Option<TraceParent>,
}

/// The current request; none outside of a request, such as in a worker.
pub fn current() -> Option<RequestOrigin> {
    CURRENT.try_with(Clone::clone).ok()
}

/// The position in a trace of the current request.
pub fn current_position() -> Option<TraceParent> {
    CURRENT.try_with(|origin| origin.position).ok().flatten()
}

/// Runs `future` as the handling of a request.
pub fn in_scope<F: Future>(origin: RequestOrigin, future: F) -> impl Future<Output = F::Output> + use<F> {
    CURRENT.scope(origin, future)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_request_is_known_while_it_is_handled_and_not_in_a_task_that_it_starts() {
        let position = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().ok();
        let origin = RequestOrigin { request_id: "req-1".into(), position };
        assert_eq!((current(), current_position()), (None, None));
        let (inside, in_task) = in_scope(origin.clone(), async {
            let in_task = tokio::spawn(async { current() }).await.unwrap();
            (current(), in_task)
        })
        .await;
        assert_eq!((inside, in_task, current()), (Some(origin), None, None));
    }
}
