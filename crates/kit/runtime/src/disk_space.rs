//! Free disk: how much a file system holds and has left, and the reserve below which new work is refused.
//!
//! Use cases that begin new work call [`DiskReserve::check`]. All other work goes on and may use the reserve, so that
//! accepted work is completed. Use cases through which a customer can write into the reserve call [`DiskReserve::take`], so that one
//! customer can't fill it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, io};

use crate::clock::SharedClock;

/// How long a reading of the free disk is used.
const READ_INTERVAL: Duration = Duration::from_secs(1);
const MIB: u64 = 1024 * 1024;
/// Part of the reserve that one customer may use: an eighth.
const SHARES: u64 = 8;

/// The size of the file system that holds a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// Bytes of the file system.
    pub total_bytes: u64,
    /// Bytes that this process can still write. Blocks that the file system keeps for root do not count.
    pub available_bytes: u64,
}

/// Reads the size of the file system that holds `path`, which must exist.
pub fn space_of(path: &Path) -> io::Result<DiskSpace> {
    let file_system = rustix::fs::statvfs(path)?;
    Ok(DiskSpace {
        total_bytes: file_system.f_blocks.saturating_mul(file_system.f_frsize),
        available_bytes: file_system.f_bavail.saturating_mul(file_system.f_frsize),
    })
}

/// The disk has less free room than the reserve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the disk has less free room than disk_reserve_mib")]
pub struct BelowReserve;

/// The reserve of free disk of a folder. New work is refused while less is free.
#[derive(Default)]
pub struct DiskReserve {
    watched: Option<Watched>,
    refused: AtomicU64,
}

impl fmt::Debug for DiskReserve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskReserve").field("reserve_bytes", &self.reserve_bytes()).finish_non_exhaustive()
    }
}

struct Watched {
    folder: PathBuf,
    reserve_bytes: u64,
    clock: SharedClock,
    begin: Instant,
    /// Milliseconds since `begin` at which the free disk is read again.
    next_read_ms: AtomicU64,
    is_below: AtomicBool,
    /// Bytes of the reserve that each customer has used, since the disk went below it.
    used: Mutex<HashMap<String, u64>>,
}

impl DiskReserve {
    /// No reserve: new work is never refused.
    pub fn off() -> Self {
        Self::default()
    }

    /// A reserve of `reserve_bytes` on the file system of `folder`; 0 for none.
    pub fn new(folder: &Path, reserve_bytes: u64, clock: SharedClock) -> Self {
        if reserve_bytes == 0 {
            return Self::off();
        }
        let watched = Watched {
            folder: folder.to_owned(),
            reserve_bytes,
            begin: clock.monotonic(),
            clock,
            next_read_ms: AtomicU64::new(0),
            is_below: AtomicBool::new(false),
            used: Mutex::default(),
        };
        Self { watched: Some(watched), refused: AtomicU64::new(0) }
    }

    /// Whether new work can be accepted. Reads the free disk at most once a second. If it can't be read, new work is
    /// accepted.
    pub fn check(&self) -> Result<(), BelowReserve> {
        let Some(watched) = &self.watched else { return Ok(()) };
        watched.read_if_due();
        if watched.is_below.load(Ordering::Relaxed) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(BelowReserve);
        }
        Ok(())
    }

    /// Whether a customer can put `bytes` into the reserve, if the disk is below it: each may use an eighth, until the disk has room
    /// again. The process remembers how much each used.
    pub fn take(&self, customer: &str, bytes: u64) -> Result<(), BelowReserve> {
        let Some(watched) = &self.watched else { return Ok(()) };
        watched.read_if_due();
        if !watched.is_below.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut used = watched.used.lock().unwrap_or_else(PoisonError::into_inner);
        let used = used.entry(customer.to_owned()).or_default();
        let after = used.saturating_add(bytes);
        if after > watched.reserve_bytes / SHARES {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(BelowReserve);
        }
        *used = after;
        Ok(())
    }

    /// The reserve in bytes; 0 for none.
    pub fn reserve_bytes(&self) -> u64 {
        self.watched.as_ref().map_or(0, |watched| watched.reserve_bytes)
    }

    /// How often [`DiskReserve::check`] has refused work since the process started.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Watched {
    fn read_if_due(&self) {
        let elapsed = self.clock.monotonic().saturating_duration_since(self.begin);
        let (now_ms, due_ms) = (elapsed.as_millis() as u64, self.next_read_ms.load(Ordering::Relaxed));
        let next_ms = now_ms + READ_INTERVAL.as_millis() as u64;
        // One of the callers reads.
        if now_ms < due_ms
            || self.next_read_ms.compare_exchange(due_ms, next_ms, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return;
        }
        match space_of(&self.folder) {
            Ok(space) => self.apply(space.available_bytes),
            Err(error) => {
                tracing::warn!(%error, folder = %self.folder.display(), "the free disk could not be read");
                self.is_below.store(false, Ordering::Relaxed);
            }
        }
    }

    fn apply(&self, available_bytes: u64) {
        let is_below = available_bytes < self.reserve_bytes;
        if self.is_below.swap(is_below, Ordering::Relaxed) == is_below {
            return;
        }
        let folder = self.folder.display();
        let (available_mib, reserve_mib) = (available_bytes / MIB, self.reserve_bytes / MIB);
        if is_below {
            tracing::error!(
                %folder,
                available_mib,
                reserve_mib,
                "the disk has less free room than disk_reserve_mib: new messages, bulk replays, auctions, lots, \
                 catalogues and images are refused with 503. Running sales and deliveries go on. Make room on the disk, \
                 or make it larger"
            );
        } else {
            self.used.lock().unwrap_or_else(PoisonError::into_inner).clear();
            tracing::info!(%folder, available_mib, reserve_mib, "the disk has free room again: new work is accepted");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::TestClock;

    #[test]
    fn the_space_of_a_folder_is_that_of_its_file_system() {
        let folder = tempfile::tempdir().unwrap();
        let space = space_of(folder.path()).unwrap();
        assert!(space.available_bytes > 0 && space.available_bytes <= space.total_bytes, "{space:?}");
        let missing = space_of(&folder.path().join("missing")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
    #[test]
    fn work_is_refused_while_less_than_the_reserve_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock::new("2027-03-08T18:09:00Z".parse().unwrap()));
        let new = |bytes| DiskReserve::new(folder.path(), bytes, clock.clone());
        assert_eq!(DiskReserve::off().check(), Ok(()));
        assert_eq!(new(0).check(), Ok(()));
        assert_eq!(new(1).check(), Ok(()));

        let reserve = new(u64::MAX);
        assert_eq!([reserve.check(), reserve.check()], [Err(BelowReserve); 2]);
        assert_eq!((reserve.refused(), reserve.reserve_bytes()), (2, u64::MAX));
        // A reading is used for a second.
        reserve.watched.as_ref().unwrap().apply(u64::MAX);
        assert_eq!(reserve.check(), Ok(()));
        clock.advance(READ_INTERVAL);
        assert_eq!(reserve.check(), Err(BelowReserve));
    }

    #[test]
    fn a_customer_can_use_an_eighth_of_the_reserve_until_the_disk_has_room_again() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock::new("2027-03-08T18:09:00Z".parse().unwrap()));
        let reserve = DiskReserve::new(folder.path(), 1 << 60, clock.clone());
        let share = (1 << 60) / SHARES;
        assert_eq!(reserve.take("one", share - 1), Ok(()));
        assert_eq!(
            [reserve.take("one", 2), reserve.take("one", 1), reserve.take("one", 1)],
            [Err(BelowReserve), Ok(()), Err(BelowReserve)]
        );
        assert_eq!(reserve.take("other", share), Ok(()));
        assert_eq!(reserve.refused(), 2);
        reserve.watched.as_ref().unwrap().apply(u64::MAX);
        assert_eq!(reserve.take("one", u64::MAX), Ok(()));
        clock.advance(READ_INTERVAL);
        assert_eq!(reserve.take("one", share), Ok(()));
        assert_eq!(DiskReserve::off().take("one", u64::MAX), Ok(()));
    }

    #[test]
    fn a_disk_that_cannot_be_read_refuses_nothing() {
        let clock = Arc::new(TestClock::new("2027-03-08T18:09:00Z".parse().unwrap()));
        assert_eq!(DiskReserve::new(Path::new("/missing/folder"), u64::MAX, clock).check(), Ok(()));
    }
}
