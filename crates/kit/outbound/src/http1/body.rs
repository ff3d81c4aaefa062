//! Decodes the body of a response incrementally.

use bytes::Bytes;
use httparse::Status;

use super::NOT_HTTP;
use super::head::Framing;
use crate::error::TransportError;

/// Maximum bytes of the extensions of all chunks together. They do not count as body, so each of them could accompany a
/// single byte.
const EXTENSION_BYTES_MAX: usize = 16 * 1024;
/// Maximum bytes of all trailers together.
const TRAILER_BYTES_MAX: usize = 16 * 1024;
/// Maximum bytes of a chunk-size line without extensions: 16 digits and the line end.
const PLAIN_CHUNK_LINE_BYTES: usize = 18;
const LONG_EXTENSIONS: TransportError = TransportError::Invalid("the chunk extensions of the response are too long");

/// A body that is being read.
pub(super) struct Body {
    state: BodyState,
    read: Vec<u8>,
    bytes_max: usize,
    extension_bytes_left: usize,
}

/// What follows in the stream.
enum BodyState {
    Length(u64),
    UntilClose,
    /// A chunk-size line.
    ChunkLine,
    /// This many bytes of a chunk, and its line end.
    Chunk(u64),
    ChunkEnd,
    /// Trailers up to an empty line; this many bytes of them were read.
    Trailers(usize),
    Done,
}

/// Progress of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// More bytes follow.
    Partial,
    /// The body is complete.
    Whole,
    /// The body is longer than the limit.
    Truncated,
}

impl Body {
    /// A body of which at most `bytes_max` bytes are kept.
    pub(super) fn new(framing: Framing, bytes_max: usize) -> Self {
        let state = match framing {
            Framing::Length(length) => BodyState::Length(length),
            Framing::Chunked => BodyState::ChunkLine,
            Framing::UntilClose => BodyState::UntilClose,
        };
        Self { state, read: Vec::new(), bytes_max, extension_bytes_left: EXTENSION_BYTES_MAX }
    }

    /// Decodes as many of the bytes as possible, and returns the number of consumed bytes.
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

    /// Whether the body is complete if the connection ends now.
    pub(super) fn is_complete_at_close(&self) -> bool {
        matches!(self.state, BodyState::UntilClose)
    }

    /// Bytes that were decoded, and the length of the whole body if it was declared.
    pub(super) fn progress(&self) -> (u64, Option<u64>) {
        let received = self.read.len() as u64;
        match self.state {
            BodyState::Length(left) => (received, Some(received + left)),
            _ => (received, None),
        }
    }

    /// The decoded bytes.
    pub(super) fn into_bytes(self) -> Bytes {
        Bytes::from(self.read)
    }

    /// Decodes one element: the number of consumed bytes and the progress, or none when the next element follows
    /// directly.
    fn step(&mut self, bytes: &[u8]) -> Result<(usize, Option<Progress>), TransportError> {
        let partial = Ok((0, Some(Progress::Partial)));
        Ok(match self.state {
            BodyState::Done | BodyState::Length(0) => (0, Some(Progress::Whole)),
            BodyState::Chunk(0) => {
                self.state = BodyState::ChunkEnd;
                (0, None)
            }
            BodyState::Length(left) | BodyState::Chunk(left) => {
                // More bytes follow, so the body is longer than the limit: no need to wait for them.
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
            // httparse would accept a line without a size as that of the last chunk.
            BodyState::ChunkLine if bytes.first().is_some_and(|first| !first.is_ascii_hexdigit()) => {
                return Err(NOT_HTTP);
            }
            BodyState::ChunkLine => match httparse::parse_chunk_size(bytes) {
                Ok(Status::Complete((length, size))) => {
                    let extensions = length.saturating_sub(PLAIN_CHUNK_LINE_BYTES);
                    self.extension_bytes_left =
                        self.extension_bytes_left.checked_sub(extensions).ok_or(LONG_EXTENSIONS)?;
                    self.state = if size == 0 { BodyState::Trailers(0) } else { BodyState::Chunk(size) };
                    (length, None)
                }
                Ok(Status::Partial) if bytes.len() <= self.extension_bytes_left + PLAIN_CHUNK_LINE_BYTES => {
                    return partial;
                }
                Ok(Status::Partial) => return Err(LONG_EXTENSIONS),
                Err(_) => return Err(NOT_HTTP),
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
                if before + line.unwrap_or(bytes.len()) > TRAILER_BYTES_MAX {
                    return Err(TransportError::HeaderTooLarge);
                }
                let Some(line) = line else { return partial };
                let is_empty = matches!(bytes[..line], [b'\n'] | [b'\r', b'\n']);
                self.state = if is_empty { BodyState::Done } else { BodyState::Trailers(before + line) };
                (line, None)
            }
        })
    }

    /// Keeps the bytes up to the limit. True when all of them fit.
    fn append(&mut self, bytes: &[u8]) -> bool {
        let room = self.bytes_max - self.read.len();
        self.read.extend_from_slice(&bytes[..bytes.len().min(room)]);
        bytes.len() <= room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes a response that arrives in chunks of this size: the body and the progress.
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
    fn a_body_is_decoded_in_chunks_of_any_size() {
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
    fn an_empty_or_unwanted_body_is_finished_without_reading() {
        assert_eq!(Body::new(Framing::Length(0), 9).take(b""), Ok((0, Progress::Whole)));
        assert_eq!(Body::new(Framing::Length(1), 0).take(b""), Ok((0, Progress::Truncated)));
        assert!(Body::new(Framing::UntilClose, 9).is_complete_at_close());
        assert!(
            !Body::new(Framing::Length(1), 9).is_complete_at_close()
                && !Body::new(Framing::Chunked, 9).is_complete_at_close()
        );
    }

    #[test]
    fn malformed_chunks_and_endless_lines_are_rejected() {
        for (answer, error) in [
            ("x\r\n".to_owned(), NOT_HTTP),
            ("-1\r\n".to_owned(), NOT_HTTP),
            ("\r\n".to_owned(), NOT_HTTP),
            ("11111111111111111\r\n".to_owned(), NOT_HTTP),
            ("1\r\nab\r\n".to_owned(), NOT_HTTP),
            (format!("1;{}", "a".repeat(EXTENSION_BYTES_MAX + PLAIN_CHUNK_LINE_BYTES)), LONG_EXTENSIONS),
            (format!("1;{}\r\na\r\n", "a".repeat(1_000)).repeat(17), LONG_EXTENSIONS),
            (format!("0\r\n{}", "a: b\r\n".repeat(TRAILER_BYTES_MAX / 6 + 1)), TransportError::HeaderTooLarge),
            (format!("0\r\n{}", "a".repeat(TRAILER_BYTES_MAX + 1)), TransportError::HeaderTooLarge),
        ] {
            for piece in [7, 1_000, answer.len()] {
                assert_eq!(read(Framing::Chunked, 99, &answer, piece), Err(error.clone()), "{answer:.20?} by {piece}");
            }
        }
    }
}
