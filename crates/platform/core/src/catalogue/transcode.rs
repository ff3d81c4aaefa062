//! Reads a file of unknown encoding as UTF-8: UTF-8 and UTF-16 are recognised, and anything else is Windows-1252, which
//! spreadsheets write on Windows. The decision is taken at the first character outside of ASCII, while the file streams.

use std::io::{self, Read};

use encoding_rs::{Decoder, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes read from the source at once.
const READ_BYTES: usize = 32 << 10;
/// Longest character of UTF-8, in bytes.
const CHARACTER_BYTES_MAX: usize = 4;

/// A reader of UTF-8 over a source in any of the encodings.
pub(crate) struct Transcoded<R> {
    source: R,
    /// Bytes that may still be read.
    left_bytes: u64,
    state: State,
    /// Decoded bytes, of which those before `at` were read.
    decoded: Vec<u8>,
    at: usize,
    /// The beginning of a character whose end was not read yet.
    rest: Vec<u8>,
}

enum State {
    /// Nothing was read.
    Beginning,
    /// Only ASCII so far.
    Ascii,
    Utf8,
    Decoding(Box<Decoder>),
    Ended,
}

impl<R: Read> Transcoded<R> {
    /// At most `bytes_max` bytes of the source are read; a longer one is an error.
    pub(super) fn new(source: R, bytes_max: u64) -> Self {
        Self { source, left_bytes: bytes_max, state: State::Beginning, decoded: Vec::new(), at: 0, rest: Vec::new() }
    }

    /// Reads until the buffer is full or the source ends, so that the first piece holds the whole header.
    fn piece(&mut self) -> io::Result<(Vec<u8>, bool)> {
        let mut piece = std::mem::take(&mut self.rest);
        let begin = piece.len();
        piece.resize(begin + READ_BYTES, 0);
        let mut filled = begin;
        loop {
            match self.source.read(piece.get_mut(filled..).unwrap_or_default()) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let is_last = filled < piece.len();
        let read_bytes = u64::try_from(filled - begin).unwrap_or(u64::MAX);
        self.left_bytes = self
            .left_bytes
            .checked_sub(read_bytes)
            .ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, "it is too long: split it"))?;
        piece.truncate(filled);
        Ok((piece, is_last))
    }

    fn fill(&mut self) -> io::Result<()> {
        let (mut piece, is_last) = self.piece()?;
        if matches!(self.state, State::Beginning) {
            self.state = match piece.get(..2) {
                Some([0xff, 0xfe]) => State::Decoding(Box::new(UTF_16LE.new_decoder_with_bom_removal())),
                Some([0xfe, 0xff]) => State::Decoding(Box::new(UTF_16BE.new_decoder_with_bom_removal())),
                _ => State::Ascii,
            };
        }
        if matches!(self.state, State::Ascii) && !piece.is_ascii() {
            self.state = match std::str::from_utf8(&piece) {
                Ok(_) => State::Utf8,
                // A character that the next piece continues.
                Err(error) if error.error_len().is_none() && !is_last => State::Utf8,
                Err(_) => State::Decoding(Box::new(WINDOWS_1252.new_decoder_without_bom_handling())),
            };
        }
        self.at = 0;
        self.decoded.clear();
        match &mut self.state {
            State::Decoding(decoder) => {
                let length = decoder.max_utf8_buffer_length(piece.len()).unwrap_or(piece.len() * CHARACTER_BYTES_MAX);
                self.decoded.resize(length, 0);
                let (_, _, written, _) = decoder.decode_to_utf8(&piece, &mut self.decoded, is_last);
                self.decoded.truncate(written);
            }
            _ => {
                if !is_last
                    && let Err(error) = std::str::from_utf8(&piece)
                    && error.error_len().is_none()
                {
                    self.rest = piece.split_off(error.valid_up_to());
                }
                self.decoded = piece;
            }
        }
        if is_last {
            self.state = State::Ended;
        }
        Ok(())
    }
}

impl<R: Read> Read for Transcoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.decoded.len() && !matches!(self.state, State::Ended) {
            self.fill()?;
        }
        let left = self.decoded.get(self.at..).unwrap_or_default();
        let length = left.len().min(buffer.len());
        buffer.get_mut(..length).unwrap_or_default().copy_from_slice(left.get(..length).unwrap_or_default());
        self.at += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        let mut text = String::new();
        Transcoded::new(bytes, 1 << 20).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn each_encoding_becomes_utf_8() {
        assert_eq!(text(b""), "");
        assert_eq!(text("Lot,Café £5".as_bytes()), "Lot,Café £5");
        assert_eq!(text(b"Lot,Caf\xe9 \xa35 \x80"), "Lot,Café £5 €");
        let utf_16: Vec<u8> = "\u{feff}Lot,Café".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(text(&utf_16), "Lot,Café");
    }

    #[test]
    fn a_file_that_is_too_long_is_an_error() {
        let mut text = String::new();
        assert!(Transcoded::new(&[b'x'; 11][..], 10).read_to_string(&mut text).is_err());
        assert!(Transcoded::new(&[b'x'; 10][..], 10).read_to_string(&mut text).is_ok());
    }

    #[test]
    fn characters_at_the_borders_of_pieces_are_whole() {
        for ascii in READ_BYTES - 3..=READ_BYTES {
            let long = format!("{}€ and {}é", "x".repeat(ascii), "y".repeat(READ_BYTES));
            assert_eq!(text(long.as_bytes()), long, "{ascii}");
        }
    }
}
