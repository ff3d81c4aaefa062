//! The body of an answer, as it comes.

use bytes::Bytes;
use httparse::Status;

use super::NOT_HTTP;
use super::head::Framing;
use crate::error::TransportError;

/// Bytes of a chunk's first line, and of all trailers, at most.
const LINES_BYTES_MAX: usize = 16 * 1024;

/// A body of which a part has come.
pub(super) struct Body {
    rest: Rest,
    read: Vec<u8>,
    bytes_max: usize,
}

/// What is to come.
enum Rest {
    Length(u64),
    UntilClose,
    /// The line that says how long a chunk is.
    ChunkLine,
    /// So many bytes of a chunk, and its end.
    Chunk(u64),
    ChunkEnd,
    /// Lines up to an empty one, of which so many bytes came.
    Trailers(usize),
    Nothing,
}

/// How far a body has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// More has to come.
    Partial,
    /// It is whole.
    Whole,
    /// There is more than is wanted of it.
    Truncated,
}

impl Body {
    /// A body of which at most `bytes_max` are wanted.
    pub(super) fn new(framing: Framing, bytes_max: usize) -> Self {
        let rest = match framing {
            Framing::Length(length) => Rest::Length(length),
            Framing::Chunked => Rest::ChunkLine,
            Framing::UntilClose => Rest::UntilClose,
        };
        Self { rest, read: Vec::new(), bytes_max }
    }

    /// Takes what it can of the bytes that came, and says of how many it is done with.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(usize, Progress), TransportError> {
        let mut taken = 0;
        loop {
            let (step, progress) = self.step(&bytes[taken..])?;
            taken += step;
            if let Some(progress) = progress {
                return Ok((taken, progress));
            }
        }
    }

    /// Whether it is whole when the connection ends here.
    pub(super) fn ends_here(&self) -> bool {
        matches!(self.rest, Rest::UntilClose)
    }

    /// What was read.
    pub(super) fn into_bytes(self) -> Bytes {
        Bytes::from(self.read)
    }

    /// The bytes of one part, and how far that leads; none when another part follows at once.
    fn step(&mut self, bytes: &[u8]) -> Result<(usize, Option<Progress>), TransportError> {
        let partial = Ok((0, Some(Progress::Partial)));
        Ok(match self.rest {
            Rest::Nothing | Rest::Length(0) => (0, Some(Progress::Whole)),
            Rest::Chunk(0) => {
                self.rest = Rest::ChunkEnd;
                (0, None)
            }
            Rest::Length(left) | Rest::Chunk(left) => {
                // That there is more is known without waiting for it.
                if self.read.len() == self.bytes_max {
                    return Ok((0, Some(Progress::Truncated)));
                }
                if bytes.is_empty() {
                    return partial;
                }
                let count = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
                if !self.keep(&bytes[..count]) {
                    return Ok((count, Some(Progress::Truncated)));
                }
                let left = left - count as u64;
                self.rest = if matches!(self.rest, Rest::Chunk(_)) { Rest::Chunk(left) } else { Rest::Length(left) };
                (count, None)
            }
            Rest::UntilClose => {
                let fits = self.keep(bytes);
                (bytes.len(), Some(if fits { Progress::Partial } else { Progress::Truncated }))
            }
            // The library takes a line without a size for that of the last chunk.
            Rest::ChunkLine if bytes.first().is_some_and(|first| !first.is_ascii_hexdigit()) => return Err(NOT_HTTP),
            Rest::ChunkLine => match httparse::parse_chunk_size(bytes) {
                Ok(Status::Complete((length, size))) => {
                    self.rest = if size == 0 { Rest::Trailers(0) } else { Rest::Chunk(size) };
                    (length, None)
                }
                Ok(Status::Partial) if bytes.len() < LINES_BYTES_MAX => return partial,
                _ => return Err(NOT_HTTP),
            },
            Rest::ChunkEnd => match bytes {
                [b'\r', b'\n', ..] => {
                    self.rest = Rest::ChunkLine;
                    (2, None)
                }
                [] | [b'\r'] => return partial,
                _ => return Err(NOT_HTTP),
            },
            Rest::Trailers(before) => {
                let line = bytes.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
                if before + line.unwrap_or(bytes.len()) > LINES_BYTES_MAX {
                    return Err(TransportError::HeaderTooLarge);
                }
                let Some(line) = line else { return partial };
                let is_empty = matches!(bytes[..line], [b'\n'] | [b'\r', b'\n']);
                self.rest = if is_empty { Rest::Nothing } else { Rest::Trailers(before + line) };
                (line, None)
            }
        })
    }

    /// Keeps what is wanted; whether that is all.
    fn keep(&mut self, bytes: &[u8]) -> bool {
        let room = self.bytes_max - self.read.len();
        self.read.extend_from_slice(&bytes[..bytes.len().min(room)]);
        bytes.len() <= room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of an answer that comes in pieces of this size, and how that ends.
    fn read(
        framing: Framing,
        bytes_max: usize,
        answer: &str,
        piece: usize,
    ) -> Result<(Bytes, Progress), TransportError> {
        let mut body = Body::new(framing, bytes_max);
        let (mut inbox, mut progress) = (Vec::new(), Progress::Partial);
        for piece in answer.as_bytes().chunks(piece) {
            inbox.extend_from_slice(piece);
            let (taken, now) = body.take(&inbox)?;
            inbox.drain(..taken);
            progress = now;
            if progress != Progress::Partial {
                break;
            }
        }
        Ok((body.into_bytes(), progress))
    }

    #[test]
    fn a_body_is_read_however_it_is_cut() {
        use Framing::{Chunked, Length, UntilClose};
        use Progress::{Partial, Truncated, Whole};
        for (framing, bytes_max, answer, body, progress) in [
            (Length(5), 9, "fiverest", "fiver", Whole),
            (Length(5), 5, "fiver", "fiver", Whole),
            (Length(5), 4, "fiver", "five", Truncated),
            (Length(5), 9, "five", "five", Partial),
            (Length(u64::MAX), 3, "five", "fiv", Truncated),
            (UntilClose, 4, "five", "five", Partial),
            (UntilClose, 3, "five", "fiv", Truncated),
            (Chunked, 9, "0\r\n\r\n", "", Whole),
            (Chunked, 9, "4\r\nfive\r\n0\r\n\r\nrest", "five", Whole),
            (Chunked, 9, "2;a=b\r\nfi\r\n02 \r\nve\r\n00\r\na: b\r\nc: d\r\n\r\n", "five", Whole),
            (Chunked, 4, "4\r\nfive\r\n0\r\n\r\n", "five", Whole),
            (Chunked, 4, "4\r\nfive\r\n1\r\n", "five", Truncated),
            (Chunked, 3, "4\r\nfive\r\n", "fiv", Truncated),
            (Chunked, 9, "a\r\nfive", "five", Partial),
            (Chunked, 9, "4\r\nfive\r\n0\r\na: b\r\n", "five", Partial),
        ] {
            for piece in 1..=answer.len() {
                let outcome = read(framing, bytes_max, answer, piece);
                assert_eq!(outcome, Ok((Bytes::from_static(body.as_bytes()), progress)), "{answer:?} by {piece}");
            }
        }
    }

    #[test]
    fn a_body_that_is_not_needed_is_over_at_once() {
        assert_eq!(Body::new(Framing::Length(0), 9).take(b""), Ok((0, Progress::Whole)));
        assert_eq!(Body::new(Framing::Length(1), 0).take(b""), Ok((0, Progress::Truncated)));
        assert!(Body::new(Framing::UntilClose, 9).ends_here());
        assert!(!Body::new(Framing::Length(1), 9).ends_here() && !Body::new(Framing::Chunked, 9).ends_here());
    }

    #[test]
    fn chunks_that_are_none_and_lines_without_end_are_refused() {
        for (answer, error) in [
            ("x\r\n".to_owned(), NOT_HTTP),
            ("-1\r\n".to_owned(), NOT_HTTP),
            ("\r\n".to_owned(), NOT_HTTP),
            ("11111111111111111\r\n".to_owned(), NOT_HTTP),
            ("1\r\nab\r\n".to_owned(), NOT_HTTP),
            (format!("1;{}", "a".repeat(LINES_BYTES_MAX)), NOT_HTTP),
            (format!("0\r\n{}", "a: b\r\n".repeat(LINES_BYTES_MAX / 6 + 1)), TransportError::HeaderTooLarge),
            (format!("0\r\n{}", "a".repeat(LINES_BYTES_MAX + 1)), TransportError::HeaderTooLarge),
        ] {
            for piece in [7, 1_000, answer.len()] {
                assert_eq!(read(Framing::Chunked, 9, &answer, piece), Err(error.clone()), "{answer:.20?} by {piece}");
            }
        }
    }
}
