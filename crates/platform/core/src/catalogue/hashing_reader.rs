//! Hashes a file while it is read, to recognise a repeated upload.

use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

/// Bytes read at once when only the hash is needed.
const READ_BYTES: usize = 64 << 10;

/// SHA-256.
pub(super) type FileHash = [u8; 32];

/// A reader that hashes the bytes that were read.
pub(super) struct HashingReader<R> {
    source: R,
    hash: Sha256,
}

impl<R: Read> HashingReader<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, hash: Sha256::new() }
    }

    /// The hash of the bytes that were read; of the whole file when it was read to its end.
    pub(super) fn finish(self) -> FileHash {
        self.hash.finalize().into()
    }

    /// Reads to the end for the hash alone.
    pub(super) fn of_all(source: R) -> io::Result<FileHash> {
        let mut hashed = Self::new(source);
        let mut buffer = vec![0; READ_BYTES];
        while hashed.read(&mut buffer)? > 0 {}
        Ok(hashed.finish())
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(buffer)?;
        self.hash.update(buffer.get(..length).unwrap_or_default());
        Ok(length)
    }
}

/// The hash of a request: the hash of all but its file, combined with the hash of its file.
pub(super) fn combined_hash(request: [u8; 32], file: FileHash) -> [u8; 32] {
    Sha256::new().chain_update(request).chain_update(file).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_hash_however_it_is_read() {
        let file = vec![7; 3 * READ_BYTES + 5];
        let mut slowly = HashingReader::new(&file[..]);
        let mut buffer = [0; 11];
        while slowly.read(&mut buffer).unwrap() > 0 {}
        assert_eq!(slowly.finish(), HashingReader::of_all(&file[..]).unwrap());
        assert_ne!(HashingReader::of_all(&file[1..]).unwrap(), HashingReader::of_all(&file[..]).unwrap());
        assert_ne!(combined_hash([0; 32], [1; 32]), combined_hash([1; 32], [1; 32]));
    }
}
