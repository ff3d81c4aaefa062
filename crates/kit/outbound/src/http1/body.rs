//! The body of an answer, as it comes.

use bytes::Bytes;
use httparse::Status;

use super::NOT_HTTP;
use super::head::Framing;
use crate::error::TransportError;

/// Bytes of a chunk's first line, and of all trailers, at most.
const CHUNK_LINE_BYTES_MAX: usize = 16 * 1024;

/// A body of which a part has come.
pub(super) struct Body {
    state: BodyState,
    read: Vec<u8>,
    bytes_max: usize,
}

/// What is to come.
enum BodyState {
    Length(u64),
    UntilClose,
    /// The line that says how long a chunk is.
    ChunkLine,
    /// So many bytes of a chunk, and its end.
    Chunk(u64),
    ChunkEnd,
    /// Lines up to an empty one, of which so many bytes came.
    Trailers(usize),
    Done,
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
        let state = match framing {
            Framing::Length(length) => BodyState::Length(length),
            Framing::Chunked => BodyState::ChunkLine,
            Framing::UntilClose => BodyState::UntilClose,
        };
        Self { state, read: Vec::new(), bytes_max }
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
    pub(super) fn is_complete_at_close(&self) -> bool {
        matches!(self.state, BodyState::UntilClose)
    }

    /// What was read.
    pub(super) fn into_bytes(self) -> Bytes {
        Bytes::from(self.read)
    }

    /// The bytes of one part, and how far that leads; none when another part follows at once.
    fn step(&mut self, bytes: &[u8]) -> Result<(usize, Option<Progress>), TransportError> {
        let partial = Ok((0, Some(Progress::Partial)));
        Ok(match self.state {
            BodyState::Done | BodyState::Length(0) => (0, Some(Progress::Whole)),
            BodyState::Chunk(0) => {
                self.state = BodyState::ChunkEnd;
                (0, None)
            }
            BodyState::Length(left) | BodyState::Chunk(left) => {
                // That there is more is known without waiting for it.
                if self.read.len() == self.bytes_max {
                    return Ok((0, Some(Progress::Truncated)));
                }
                if bytes.is_empty() {
                    return partial;
                }
                let count = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
                if !self.append(&bytes[..count]) {
                    return Ok((count, Some(Progress::Truncated)));
                }
                let left = left - count as u64;
                self.state = if matches!(self.state, BodyState::Chunk(_)) {
                    BodyState::Chunk(left)
                } else {
                    BodyState::Length(left)
                };
                (count, None)
            }
            BodyState::UntilClose => {
                let fits = self.append(bytes);
                (bytes.len(), Some(if fits { Progress::Partial } else { Progress::Truncated }))
            }
            // The library takes a line without a size for that of the last chunk.
            BodyState::ChunkLine if bytes.first().is_some_and(|first| !first.is_ascii_hexdigit()) => {
                return Err(NOT_HTTP);
            }
            BodyState::ChunkLine => match httparse::parse_chunk_size(bytes) {
                Ok(Status::Complete((length, size))) => {
                    self.state = if size == 0 { BodyState::Trailers(0) } else { BodyState::Chunk(size) };
                    (length, None)
                }
                Ok(Status::Partial) if bytes.len() < CHUNK_LINE_BYTES_MAX => return partial,
                _ => return Err(NOT_HTTP),
            },
            BodyState::ChunkEnd => match bytes {
                [b'\r', b'\n', ..] => {
                    self.state = BodyState::ChunkLine;
                    (2, None)
                }
                [] | [b'\r'] => return partial,
                _ => return Err(NOT_HTTP),
            },
            BodyState::Trailers(before) => {
                let line = bytes.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
                if before + line.unwrap_or(bytes.len()) > CHUNK_LINE_BYTES_MAX {
                    return Err(TransportError::HeaderTooLarge);
                }
                let Some(line) = line else { return partial };
                let is_empty = matches!(bytes[..line], [b'\n'] | [b'\r', b'\n']);
                self.state = if is_empty { BodyState::Done } else { BodyState::Trailers(before + line) };
                (line, None)
            }
        })
    }

    /// Keeps what is wanted; whether that is all.
    fn append(&mut self, bytes: &[u8]) -> bool {
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
        let (mut read_buffer, mut progress) = (Vec::new(), Progress::Partial);
        for piece in answer.as_bytes().chunks(piece) {
            read_buffer.extend_from_slice(piece);
            let (taken, now) = body.take(&read_buffer)?;
            read_buffer.drain(..taken);
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
        assert!(Body::new(Framing::UntilClose, 9).is_complete_at_close());
        assert!(
            !Body::new(Framing::Length(1), 9).is_complete_at_close()
                && !Body::new(Framing::Chunked, 9).is_complete_at_close()
        );
    }

    #[test]
    fn chunks_that_are_none_and_lines_without_end_are_refused() {
        for (answer, error) in [
            ("x\r\n".to_owned(), NOT_HTTP),
            ("-1\r\n".to_owned(), NOT_HTTP),
            ("\r\n".to_owned(), NOT_HTTP),
            ("11111111111111111\r\n".to_owned(), NOT_HTTP),
            ("1\r\nab\r\n".to_owned(), NOT_HTTP),
            (format!("1;{}", "a".repeat(CHUNK_LINE_BYTES_MAX)), NOT_HTTP),
            (format!("0\r\n{}", "a: b\r\n".repeat(CHUNK_LINE_BYTES_MAX / 6 + 1)), TransportError::HeaderTooLarge),
            (format!("0\r\n{}", "a".repeat(CHUNK_LINE_BYTES_MAX + 1)), TransportError::HeaderTooLarge),
        ] {
            for piece in [7, 1_000, answer.len()] {
                assert_eq!(read(Framing::Chunked, 9, &answer, piece), Err(error.clone()), "{answer:.20?} by {piece}");
            }
        }
    }
}
