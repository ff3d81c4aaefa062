//! Buffer of the bytes that were received and not decoded yet.

/// Initial capacity. Most responses are smaller.
const INITIAL_BYTES: usize = 2 * 1024;
/// Maximum growth at a time.
const GROWTH_BYTES_MAX: usize = 64 * 1024;
/// Maximum capacity of an idle connection.
const IDLE_BYTES_MAX: usize = 16 * 1024;

/// Received bytes.
#[derive(Default)]
pub(crate) struct ReadBuffer {
    bytes: Vec<u8>,
    /// Number of bytes at the front that were decoded.
    consumed: usize,
}

impl ReadBuffer {
    /// The vector to append received bytes to, with spare capacity. The capacity grows when the last read filled it.
    pub(crate) fn spare(&mut self) -> &mut Vec<u8> {
        let was_full = self.bytes.len() == self.bytes.capacity();
        if was_full || self.consumed == self.bytes.len() {
            self.bytes.drain(..std::mem::take(&mut self.consumed));
        }
        if was_full {
            self.bytes.reserve((self.bytes.capacity() * 2).clamp(INITIAL_BYTES, GROWTH_BYTES_MAX));
        }
        &mut self.bytes
    }

    /// The bytes that were not decoded yet.
    pub(super) fn unread(&self) -> &[u8] {
        &self.bytes[self.consumed..]
    }

    /// Marks `bytes` more as decoded.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.consumed += bytes;
    }

    /// Clears the buffer and frees capacity beyond that of an idle connection.
    pub(super) fn shrink(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(IDLE_BYTES_MAX);
        self.consumed = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills the spare capacity and returns its size.
    fn fill(read_buffer: &mut ReadBuffer) -> usize {
        let bytes = read_buffer.spare();
        let before = bytes.len();
        bytes.resize(bytes.capacity(), b'a');
        bytes.len() - before
    }

    #[test]
    fn the_capacity_grows_when_reads_fill_it() {
        let mut read_buffer = ReadBuffer::default();
        let mut capacities = Vec::new();
        for _ in 0..8 {
            capacities.push(fill(&mut read_buffer));
            read_buffer.advance(read_buffer.unread().len() - 1);
        }
        assert!(
            capacities[0] >= INITIAL_BYTES
                && capacities.is_sorted()
                && capacities.iter().all(|capacity| *capacity <= 2 * GROWTH_BYTES_MAX),
            "{capacities:?}"
        );
        assert!(
            capacities[7] >= GROWTH_BYTES_MAX && read_buffer.bytes.capacity() <= 3 * GROWTH_BYTES_MAX,
            "{capacities:?}"
        );
        read_buffer.spare().push(b'b');
        assert_eq!(read_buffer.unread(), b"ab");
        read_buffer.shrink();
        assert!(read_buffer.unread().is_empty() && read_buffer.bytes.capacity() <= IDLE_BYTES_MAX);
    }

    #[test]
    fn decoded_bytes_make_room_without_growth() {
        let mut read_buffer = ReadBuffer::default();
        for _ in 0..1_000 {
            read_buffer.spare().extend_from_slice(&[b'a'; 100]);
            read_buffer.advance(100);
        }
        assert!(read_buffer.bytes.capacity() < 2 * INITIAL_BYTES);
    }
}
