//! What has come over a connection and was not looked at so far.

/// Room at first. Most answers are smaller.
const INITIAL_BYTES: usize = 2 * 1024;
/// Room for more, at most.
const GROWTH_BYTES_MAX: usize = 64 * 1024;
/// Room that is kept while a connection is idle.
const IDLE_BYTES_MAX: usize = 16 * 1024;

/// Bytes that came, in their order.
#[derive(Default)]
pub(crate) struct ReadBuffer {
    bytes: Vec<u8>,
    /// So many of them are done with.
    consumed: usize,
}

impl ReadBuffer {
    /// Where more is put, with room for it: more of that when the last that came filled it.
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

    /// What was not looked at.
    pub(super) fn unread(&self) -> &[u8] {
        &self.bytes[self.consumed..]
    }

    /// So many bytes of the rest are done with.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.consumed += bytes;
    }

    /// Gives room back when nothing is left.
    pub(super) fn shrink(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(IDLE_BYTES_MAX);
        self.consumed = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts so many bytes in at a time, as long as there is room for them.
    fn fill(read_buffer: &mut ReadBuffer) -> usize {
        let bytes = read_buffer.spare();
        let before = bytes.len();
        bytes.resize(bytes.capacity(), b'a');
        bytes.len() - before
    }

    #[test]
    fn there_is_room_always_and_more_of_it_for_those_who_fill_it() {
        let mut read_buffer = ReadBuffer::default();
        let mut rooms = Vec::new();
        for _ in 0..8 {
            rooms.push(fill(&mut read_buffer));
            read_buffer.advance(read_buffer.unread().len() - 1);
        }
        assert!(
            rooms[0] >= INITIAL_BYTES && rooms.is_sorted() && rooms.iter().all(|room| *room <= 2 * GROWTH_BYTES_MAX),
            "{rooms:?}"
        );
        assert!(rooms[7] >= GROWTH_BYTES_MAX && read_buffer.bytes.capacity() <= 3 * GROWTH_BYTES_MAX, "{rooms:?}");
        read_buffer.spare().push(b'b');
        assert_eq!(read_buffer.unread(), b"ab");
        read_buffer.shrink();
        assert!(read_buffer.unread().is_empty() && read_buffer.bytes.capacity() <= IDLE_BYTES_MAX);
    }

    #[test]
    fn what_is_looked_at_makes_room_without_more() {
        let mut read_buffer = ReadBuffer::default();
        for _ in 0..1_000 {
            read_buffer.spare().extend_from_slice(&[b'a'; 100]);
            read_buffer.advance(100);
        }
        assert!(read_buffer.bytes.capacity() < 2 * INITIAL_BYTES);
    }
}
