//! The threads of a database. Dropping them waits for their end.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::{Connection, InterruptHandle};

use crate::EngineError;

/// Interval of interrupts until the thread has ended. One interrupt is not enough: if it arrives just before a
/// statement begins, it has no effect.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(10);

/// Threads that end when the sender of their queue is dropped. Dropping this waits for their end: otherwise the end of
/// the process would interrupt their work and leave their connections open.
pub(super) struct Threads {
    handles: Vec<JoinHandle<()>>,
    interrupts: Vec<InterruptHandle>,
    /// Each thread owns a clone, which it drops at its end.
    running: Option<Sender<()>>,
    /// In a mutex, because threads share the database and a receiver is not `Sync`.
    ended: Mutex<Receiver<()>>,
}

impl Threads {
    pub(super) fn new() -> Self {
        let (running, ended) = channel();
        Self { handles: Vec::new(), interrupts: Vec::new(), running: Some(running), ended: Mutex::new(ended) }
    }

    pub(super) fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), EngineError> {
        let running = self.running.clone();
        let spawned = thread::Builder::new().name(name.to_owned()).spawn(move || {
            work();
            drop(running);
        });
        self.handles.push(spawned.map_err(|error| EngineError::Thread(Arc::new(error)))?);
        Ok(())
    }

    /// Interrupts the statement that runs on `db` when this is dropped. Only for reads, whose callers have ended by
    /// then.
    pub(super) fn interrupt_at_end(&mut self, db: &Connection) {
        self.interrupts.push(db.get_interrupt_handle());
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // A job may own the last clone of the database, and a thread can't wait for its own end.
        let current = thread::current().id();
        if self.handles.iter().any(|handle| handle.thread().id() == current) {
            return;
        }
        self.running = None;
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        while !self.interrupts.is_empty() {
            self.interrupts.iter().for_each(InterruptHandle::interrupt);
            if let Err(RecvTimeoutError::Disconnected) = ended.recv_timeout(INTERRUPT_INTERVAL) {
                break;
            }
        }
        for handle in self.handles.drain(..) {
            let _ = handle.join();
        }
    }
}
