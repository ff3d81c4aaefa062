//! A request's body while it arrives: it may not be quiet for too long, and its end wakes nobody for nothing.
//!
//! The server library wakes a connection whenever a piece of its request's body is taken, for it may read the next one then.
//! After the last piece there is none, and the connection's task would run once more for each request with nothing to do. So
//! wakes are held back while a piece is taken, and forgotten when it was the last.

use std::cell::Cell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::task::AtomicWaker;
use hyper::body::{Body, Frame, Incoming};
use tokio::time::Sleep;

thread_local! {
    static TAKING: Cell<WakeMode> = const { Cell::new(WakeMode::Nothing) };
}

/// What this thread does with wakes of connections.
#[derive(Default)]
enum WakeMode {
    /// They go through.
    #[default]
    Nothing,
    /// A piece is being taken: a wake is held back, if one came.
    Piece(Option<Arc<Wakes>>),
}

/// A body of which something has to come every so often.
pub(crate) struct IdleTimeoutBody {
    body: Incoming,
    idle_max: Duration,
    idle_timer: Option<Pin<Box<Sleep>>>,
    /// Whether nothing is left to do for the connection at the body's end. Over HTTP/2 it says that there is room for others.
    ends_quietly: bool,
}

/// A connection whose wakes can be held back.
pub(crate) struct WakeSuppressor<F> {
    connection: F,
    wakes: Arc<Wakes>,
    waker: Waker,
}

/// Hands on the wakes of a connection to its task.
struct Wakes {
    task: AtomicWaker,
}

/// Nothing came for too long.
#[derive(Debug, thiserror::Error)]
#[error("nothing of the body came for {} seconds", .0.as_secs())]
struct BodyIdle(Duration);

impl IdleTimeoutBody {
    pub(crate) fn new(body: Incoming, version: http::Version, idle_max: Duration) -> Self {
        Self { body, idle_max, idle_timer: None, ends_quietly: version < http::Version::HTTP_2 }
    }

    /// The next piece, and the wake that taking it caused.
    fn take(&mut self, context: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        if !self.ends_quietly {
            return Pin::new(&mut self.body).poll_frame(context);
        }
        let holding = SuppressedWakes::begin();
        let piece = Pin::new(&mut self.body).poll_frame(context);
        if let Some(held) = holding.end()
            && !self.body.is_end_stream()
        {
            held.wake();
        }
        piece
    }
}

/// Holds wakes of connections back on this thread until it is dropped, which lets them go.
struct SuppressedWakes {
    before: WakeMode,
}

impl SuppressedWakes {
    fn begin() -> Self {
        Self { before: TAKING.replace(WakeMode::Piece(None)) }
    }

    /// The wake that was held back, and is to be let go or forgotten.
    fn end(self) -> Option<Arc<Wakes>> {
        match TAKING.take() {
            WakeMode::Piece(held) => held,
            WakeMode::Nothing => None,
        }
    }
}

impl Drop for SuppressedWakes {
    fn drop(&mut self) {
        if let WakeMode::Piece(Some(held)) = TAKING.replace(std::mem::take(&mut self.before)) {
            held.wake();
        }
    }
}

impl Body for IdleTimeoutBody {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        if let Poll::Ready(piece) = self.take(context) {
            self.idle_timer = None;
            return Poll::Ready(piece.map(|piece| piece.map_err(Into::into)));
        }
        let idle_max = self.idle_max;
        let idle_timer = self.idle_timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(idle_max)));
        ready!(idle_timer.as_mut().poll(context));
        Poll::Ready(Some(Err(BodyIdle(idle_max).into())))
    }

    // How much is to come is not told. What is too large would be refused unread, and then whoever is still sending would learn
    // no more than that the connection is gone.
    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

impl<F> WakeSuppressor<F> {
    pub(crate) fn new(connection: F) -> Self {
        let wakes = Arc::new(Wakes { task: AtomicWaker::new() });
        Self { connection, waker: Waker::from(Arc::clone(&wakes)), wakes }
    }
}

impl<F: Future + Unpin> Future for WakeSuppressor<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { connection, wakes, waker } = &mut *self;
        wakes.task.register(context.waker());
        Pin::new(connection).poll(&mut Context::from_waker(waker))
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        match TAKING.take() {
            WakeMode::Piece(None) => TAKING.set(WakeMode::Piece(Some(self))),
            taking => {
                TAKING.set(taking);
                self.task.wake();
            }
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        Arc::clone(self).wake();
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http_body_util::{BodyExt as _, Full};
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Woken {
        /// Polls once; how often it was woken meanwhile.
        fn during_poll(self: &Arc<Self>, connection: Pin<&mut impl Future>) -> usize {
            let before = self.0.load(Ordering::Relaxed);
            assert!(connection.poll(&mut Context::from_waker(&Waker::from(Arc::clone(self)))).is_pending());
            self.0.load(Ordering::Relaxed) - before
        }
    }

    /// A connection that answers with the body, and its other end.
    fn echo() -> (impl Future<Output = hyper::Result<()>>, DuplexStream) {
        let (near, far) = tokio::io::duplex(4_096);
        let service = service_fn(async |request: http::Request<Incoming>| {
            let (parts, body) = request.into_parts();
            let body = IdleTimeoutBody::new(body, parts.version, Duration::from_secs(60)).collect().await.unwrap();
            Ok::<_, Infallible>(http::Response::new(Full::new(body.to_bytes())))
        });
        (http1::Builder::new().serve_connection(TokioIo::new(near), service), far)
    }

    async fn answer(far: &mut DuplexStream) -> String {
        let mut bytes = vec![0; 4_096];
        let read = far.read(&mut bytes).await.unwrap();
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    }

    #[tokio::test]
    async fn the_last_chunk_of_a_body_causes_no_wake() {
        const WHOLE: &[u8] = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nwhole";
        let woken = Arc::new(Woken::default());
        for _ in 0..3 {
            let (connection, mut far) = echo();
            far.write_all(WHOLE).await.unwrap();
            assert_eq!(woken.during_poll(pin!(WakeSuppressor::new(pin!(connection)))), 0);
            assert!(answer(&mut far).await.ends_with("\r\n\r\nwhole"));
        }
        let (connection, mut far) = echo();
        far.write_all(WHOLE).await.unwrap();
        assert!(
            woken.during_poll(pin!(connection)) > 0,
            "the library wakes nobody by itself: nothing has to be hushed"
        );
    }

    #[tokio::test]
    async fn a_piece_that_others_follow_wakes_the_connection_for_them() {
        let woken = Arc::new(Woken::default());
        let (connection, mut far) = echo();
        let mut connection = WakeSuppressor::new(Box::pin(connection));
        let mut connection = Pin::new(&mut connection);
        far.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nfirst").await.unwrap();
        assert!(woken.during_poll(connection.as_mut()) > 0);
        woken.during_poll(connection.as_mut());
        far.write_all(b",last").await.unwrap();
        woken.during_poll(connection.as_mut());
        assert!(answer(&mut far).await.ends_with("\r\n\r\nfirst,last"));
    }

    #[test]
    fn a_panic_lets_wakes_go() {
        let woken = Arc::new(Woken::default());
        let mut hushed = WakeSuppressor::new(std::future::pending::<()>());
        assert_eq!(woken.during_poll(Pin::new(&mut hushed)), 0);
        let waker = hushed.waker.clone();
        std::panic::catch_unwind(|| {
            let _holding = SuppressedWakes::begin();
            waker.wake_by_ref();
            assert_eq!(woken.0.load(Ordering::Relaxed), 0);
            std::panic::resume_unwind(Box::new("while a piece is taken"));
        })
        .unwrap_err();
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        assert_eq!(woken.during_poll(Pin::new(&mut hushed)), 0);
        waker.wake_by_ref();
        assert_eq!(woken.0.load(Ordering::Relaxed), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_goes_on_is_not_quiet_for_too_long() {
        let (connection, mut far) = echo();
        tokio::spawn(connection);
        far.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n").await.unwrap();
        for piece in [b"a", b"b", b"c"] {
            tokio::time::sleep(Duration::from_secs(59)).await;
            far.write_all(piece).await.unwrap();
        }
        assert!(answer(&mut far).await.ends_with("\r\n\r\nabc"));
    }
}
