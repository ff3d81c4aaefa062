//! What has come over a connection and was not looked at so far.

/// Room at first. Most answers are smaller.
const BYTES: usize = 2 * 1024;
/// Room for more, at most.
const MORE_BYTES_MAX: usize = 64 * 1024;
/// Room that is kept while a connection is idle.
const IDLE_BYTES_MAX: usize = 16 * 1024;

/// Bytes that came, in their order.
#[derive(Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    /// So many of them are done with.
    done: usize,
}

impl Inbox {
    /// Where more is put, with room for it: more of that when the last that came filled it.
    pub(crate) fn with_room(&mut self) -> &mut Vec<u8> {
        let was_full = self.bytes.len() == self.bytes.capacity();
        if was_full || self.done == self.bytes.len() {
            self.bytes.drain(..std::mem::take(&mut self.done));
        }
        if was_full {
            self.bytes.reserve((self.bytes.capacity() * 2).clamp(BYTES, MORE_BYTES_MAX));
        }
        &mut self.bytes
    }

    /// What was not looked at.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.done..]
    }

    /// So many bytes of the rest are done with.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.done += bytes;
    }

    /// Gives room back when nothing is left.
    pub(super) fn settle(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(IDLE_BYTES_MAX);
        self.done = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts so many bytes in at a time, as long as there is room for them.
    fn fill(inbox: &mut Inbox) -> usize {
        let bytes = inbox.with_room();
        let before = bytes.len();
        bytes.resize(bytes.capacity(), b'a');
        bytes.len() - before
    }

    #[test]
    fn there_is_room_always_and_more_of_it_for_those_who_fill_it() {
        let mut inbox = Inbox::default();
        let mut rooms = Vec::new();
        for _ in 0..8 {
            rooms.push(fill(&mut inbox));
            inbox.advance(inbox.rest().len() - 1);
        }
        assert!(
            rooms[0] >= BYTES && rooms.is_sorted() && rooms.iter().all(|room| *room <= 2 * MORE_BYTES_MAX),
            "{rooms:?}"
        );
        assert!(rooms[7] >= MORE_BYTES_MAX && inbox.bytes.capacity() <= 3 * MORE_BYTES_MAX, "{rooms:?}");
        inbox.with_room().push(b'b');
        assert_eq!(inbox.rest(), b"ab");
        inbox.settle();
        assert!(inbox.rest().is_empty() && inbox.bytes.capacity() <= IDLE_BYTES_MAX);
    }

    #[test]
    fn what_is_looked_at_makes_room_without_more() {
        let mut inbox = Inbox::default();
        for _ in 0..1_000 {
            inbox.with_room().extend_from_slice(&[b'a'; 100]);
            inbox.advance(100);
        }
        assert!(inbox.bytes.capacity() < 2 * BYTES);
    }
}
