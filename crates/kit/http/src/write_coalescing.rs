//! Merges small vectored writes, mostly of a head and a body, into one write.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use smallvec::SmallVec;
use tokio::io::AsyncWrite;

/// Maximum size of a merged write.
const BYTES_MAX: usize = 4 * 1024;

/// Writes the slices as one if they are small: copying them costs less than a vectored write.
pub(crate) fn poll_write_coalesced<S: AsyncWrite>(
    stream: Pin<&mut S>,
    context: &mut Context<'_>,
    pieces: &[IoSlice<'_>],
) -> Poll<io::Result<usize>> {
    if pieces.iter().map(|piece| piece.len()).sum::<usize>() > BYTES_MAX {
        return stream.poll_write_vectored(context, pieces);
    }
    let mut joined = SmallVec::<[u8; BYTES_MAX]>::new();
    pieces.iter().for_each(|piece| joined.extend_from_slice(piece));
    stream.poll_write(context, &joined)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    /// Records the size of each write and its number of slices.
    #[derive(Default)]
    struct Writes(Vec<(usize, usize)>);

    impl AsyncWrite for Writes {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            assert!(bytes.is_sorted());
            self.0.push((bytes.len(), 1));
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            pieces: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            let bytes = pieces.iter().map(|piece| piece.len()).sum();
            self.0.push((bytes, pieces.len()));
            Poll::Ready(Ok(bytes))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn small_slices_are_merged_and_large_ones_are_written_as_they_are() {
        let mut writes = Writes::default();
        for (head, body) in [(100, 500), (0, 0), (96, 4_000), (97, 4_000), (100, 1_000_000)] {
            let (head, body) = (vec![b'a'; head], vec![b'b'; body]);
            let pieces = [IoSlice::new(&head), IoSlice::new(&body)];
            let written = poll_fn(|turn| poll_write_coalesced(Pin::new(&mut writes), turn, &pieces)).await.unwrap();
            assert_eq!(written, head.len() + body.len());
        }
        assert_eq!(writes.0, [(600, 1), (0, 1), (4_096, 1), (4_097, 2), (1_000_100, 2)]);
    }
}
