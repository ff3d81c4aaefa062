//! Reads a large body, or a file of a form, into memory: counted in [`crate::body_memory`] as it arrives, and within the
//! share of its owner, so that the half-sent uploads of one caller do not use up the memory of the others.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use axum::body::Body;
use bytes::{Bytes, BytesMut};

use crate::body_memory::{BODY_MEMORY, BodyMemory, BodyReservation};
use crate::json::{JsonError, within_time};

/// An owner's share is half of the memory of all bodies, but one body of this size fits into it if the memory has room.
const OWN_BYTES_MIN: usize = 32 << 20;

static SHARES: LazyLock<Shares> = LazyLock::new(Shares::default);

/// Bytes of the uploads of each owner.
#[derive(Default)]
struct Shares(Mutex<HashMap<u128, usize>>);

impl Shares {
    /// Adds bytes to the share of an owner. False when it would be too large.
    fn add(&self, owner: u128, more: usize, bytes_max: usize) -> bool {
        let mut shares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = shares.get(&owner).copied().unwrap_or_default() + more;
        if own > bytes_max {
            return false;
        }
        shares.insert(owner, own);
        true
    }

    fn remove(&self, owner: u128, bytes: usize) {
        let mut shares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = shares.get_mut(&owner) {
            *own = own.saturating_sub(bytes);
            if *own == 0 {
                shares.remove(&owner);
            }
        }
    }
}

/// The bytes of one upload in the share of its owner. Dropping it releases them.
struct Share {
    of: &'static Shares,
    owner: u128,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.remove(self.owner, self.bytes);
    }
}

/// A body that is arriving.
pub struct UploadBody {
    memory: &'static BodyMemory,
    part: BodyReservation<'static>,
    share: Share,
    bytes: BytesMut,
    bytes_max: usize,
}

/// A complete body with its share.
struct SharedBody {
    body: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for SharedBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl UploadBody {
    /// An upload of `owner`, such as the UUID of a user, of which nothing has arrived.
    pub fn new(owner: u128, bytes_max: usize) -> Self {
        Self::of(&BODY_MEMORY, &SHARES, owner, bytes_max)
    }

    fn of(memory: &'static BodyMemory, shares: &'static Shares, owner: u128, bytes_max: usize) -> Self {
        let share = Share { of: shares, owner, bytes: 0 };
        Self { memory, part: memory.reserve(), share, bytes: BytesMut::new(), bytes_max }
    }

    /// Adds the next bytes of the body. After an error, drop the upload.
    ///
    /// Errors: `TooLarge`; `BodyMemoryFull` when the share of the owner or the memory of all bodies has no room.
    pub fn push(&mut self, arrived: &[u8]) -> Result<(), JsonError> {
        let bytes = self.bytes.len() + arrived.len();
        if bytes > self.bytes_max {
            return Err(JsonError::TooLarge { bytes_max: self.bytes_max });
        }
        let all_max = self.memory.bytes_max();
        let own_max = (all_max / 2).max(all_max.min(OWN_BYTES_MIN));
        if !self.share.of.add(self.share.owner, arrived.len(), own_max) {
            return Err(JsonError::BodyMemoryFull);
        }
        self.share.bytes += arrived.len();
        self.part.grow_to(bytes).map_err(|_| JsonError::BodyMemoryFull)?;
        self.bytes.extend_from_slice(arrived);
        Ok(())
    }

    /// The body. It counts until the last of its clones is dropped.
    pub fn finish(self) -> Bytes {
        let body = self.part.attach_to(self.bytes.freeze());
        Bytes::from_owner(SharedBody { body, _share: self.share })
    }
}

/// Reads the whole body of an owner, up to a limit. It counts until it is dropped.
pub async fn read(body: Body, owner: u128, bytes_max: usize) -> Result<Bytes, JsonError> {
    use http_body_util::BodyExt as _;

    within_time(async {
        let (mut body, mut upload) = (body, UploadBody::new(owner, bytes_max));
        while let Some(frame) = body.frame().await {
            if let Ok(data) = frame.map_err(|_| JsonError::Incomplete)?.into_data() {
                upload.push(&data)?;
            }
        }
        Ok(upload.finish())
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_uses_half_of_the_memory_and_the_others_have_the_rest() {
        static MEMORY: BodyMemory = BodyMemory::new(100 << 20, 0);
        static OWN: LazyLock<Shares> = LazyLock::new(Shares::default);
        let upload = |owner| UploadBody::of(&MEMORY, &OWN, owner, 30 << 20);
        let arrived = vec![7; 25 << 20];
        let (mut one, mut two, mut three, mut other) = (upload(1), upload(1), upload(1), upload(2));
        assert!(one.push(&arrived).is_ok() && two.push(&arrived).is_ok());
        assert!(matches!(three.push(&arrived), Err(JsonError::BodyMemoryFull)));
        assert!(other.push(&arrived).is_ok());
        assert!(matches!(other.push(&arrived), Err(JsonError::TooLarge { .. })));
        let complete = one.finish();
        assert!(complete == arrived && three.push(&[1]).is_err(), "a complete body counts until it is dropped");
        drop((complete, three));
        assert!(upload(1).push(&arrived).is_ok());
        drop((two, other));
        assert_eq!(OWN.0.lock().unwrap().len(), 0);
    }

    #[test]
    fn one_body_fits_into_a_share_of_a_small_memory() {
        static MEMORY: BodyMemory = BodyMemory::new(30 << 20, 0);
        static OWN: LazyLock<Shares> = LazyLock::new(Shares::default);
        assert!(UploadBody::of(&MEMORY, &OWN, 1, 30 << 20).push(&vec![7; 25 << 20]).is_ok());
    }
}
