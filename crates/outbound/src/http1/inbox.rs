//! What has come over a connection and was not looked at so far.

/// Room at first. Most answers are smaller.
const BYTES: usize = 2 * 1024;
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
    /// Where more is put, with room for it: first where others are done with, and then twice as much.
    pub(crate) fn with_room(&mut self) -> &mut Vec<u8> {
        if self.done == self.bytes.len() {
            self.bytes.clear();
            self.done = 0;
        }
        if self.bytes.len() == self.bytes.capacity() {
            self.bytes.drain(..std::mem::take(&mut self.done));
            self.bytes.reserve(self.bytes.len().max(BYTES));
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

    #[test]
    fn room_is_taken_from_what_is_done_with() {
        let mut inbox = Inbox::default();
        inbox.with_room().resize(BYTES, b'a');
        inbox.advance(BYTES - 1);
        inbox.with_room().push(b'b');
        assert_eq!((inbox.rest(), inbox.bytes.len()), (&b"ab"[..], 2));
        inbox.advance(2);
        assert!(inbox.with_room().is_empty());
        inbox.with_room().resize(IDLE_BYTES_MAX * 4, b'a');
        inbox.settle();
        assert!(inbox.rest().is_empty() && inbox.bytes.capacity() <= IDLE_BYTES_MAX);
    }
}
