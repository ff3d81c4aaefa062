//! The writer: group commit, and the checkpoint when the database is closed.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use kit_runtime::signal::Signal;
use rusqlite::Connection;

use super::free_pages::FreePages;
use super::jobs::{Job, QueuedJob};
use super::{POLL_INTERVAL, execute};
use crate::EngineError;

/// Maximum number of jobs in one transaction.
const GROUP_COMMIT_JOBS_MAX: usize = 512;
/// Maximum time that the last checkpoint waits for readers of other processes. It holds the write lock meanwhile, so a
/// command that ends while a server runs may delay the server's commits by this time.
const CLOSE_BUSY_TIMEOUT: Duration = Duration::from_millis(100);

/// The writer thread; it ends when the last [`Database`](super::Database) is dropped.
pub(super) fn run(db: &Connection, queue: &Receiver<QueuedJob>, remote_changes: &Signal, path: &Path) {
    commit_until_closed(db, queue, remote_changes);
    checkpoint(db, path);
}

fn commit_until_closed(db: &Connection, queue: &Receiver<QueuedJob>, remote_changes: &Signal) {
    let mut version = data_version(db);
    let mut checked_at = Instant::now();
    let mut free_pages = FreePages::new(checked_at);
    // Deferred jobs and their earliest deadline.
    let (mut held, mut until) = (Vec::new(), None::<Instant>);
    loop {
        let wait =
            until.map_or(POLL_INTERVAL, |until| until.saturating_duration_since(Instant::now()).min(POLL_INTERVAL));
        let must_commit = match queue.recv_timeout(wait) {
            Ok(QueuedJob { job, until: at }) => {
                held.push(job);
                until = until.into_iter().chain(at).min();
                at.is_none() || held.len() >= GROUP_COMMIT_JOBS_MAX
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => {
                commit_group(db, held, queue);
                return;
            }
        };
        if must_commit || until.is_some_and(|until| until <= Instant::now()) {
            commit_group(db, std::mem::take(&mut held), queue);
            until = None;
        }
        if checked_at.elapsed() < POLL_INTERVAL {
            continue;
        }
        checked_at = Instant::now();
        if let Err(error) = free_pages.run(db, checked_at) {
            // Another process may hold the lock. The pages stay free.
            tracing::debug!(%error, "free pages could not be returned to the file system");
        }
        // Commits of other connections change the version. The readers of this process do not commit.
        let current = data_version(db);
        if current != version {
            version = current;
            remote_changes.notify();
        }
    }
}

fn data_version(db: &Connection) -> Option<i64> {
    db.prepare_cached("PRAGMA data_version").ok()?.query_row((), |row| row.get(0)).ok()
}

/// Runs the jobs, and jobs that are queued meanwhile, in one transaction. Sends the results after the commit.
fn commit_group(db: &Connection, jobs: Vec<Box<dyn Job>>, queue: &Receiver<QueuedJob>) {
    let mut done: Vec<Box<dyn Job>> = Vec::with_capacity(jobs.len() + 1);
    let mut outcome = Ok(());
    let mut jobs = jobs.into_iter();
    while outcome.is_ok() && done.len() < GROUP_COMMIT_JOBS_MAX {
        let Some(mut job) = jobs.next().or_else(|| queue.try_recv().ok().map(|queued| queued.job)) else { break };
        outcome =
            if done.is_empty() { begin_transaction_with(db, job.as_mut()) } else { run_in_savepoint(db, job.as_mut()) };
        done.push(job);
    }
    if done.is_empty() {
        return;
    }
    outcome = outcome.and_then(|()| execute(db, "COMMIT"));
    if outcome.is_err() && !db.is_autocommit() {
        // If the rollback fails, the next BEGIN fails and reports it.
        let _ = execute(db, "ROLLBACK");
    }
    // If the transaction failed, some jobs have not run.
    for job in done.into_iter().chain(jobs) {
        job.answer(outcome.clone());
    }
}

/// Begins a transaction and runs its first job. If the job fails, the whole transaction is rolled back and begun again.
/// Most transactions have one job, and SQLite copies no pages for a savepoint.
fn begin_transaction_with(db: &Connection, job: &mut dyn Job) -> Result<(), EngineError> {
    execute(db, "BEGIN IMMEDIATE")?;
    if !job.run(db) {
        execute(db, "ROLLBACK")?;
        execute(db, "BEGIN IMMEDIATE")?;
    }
    Ok(())
}

/// Runs a further job in a savepoint; if the job fails, only the savepoint is rolled back. An error here concerns the
/// whole transaction.
fn run_in_savepoint(db: &Connection, job: &mut dyn Job) -> Result<(), EngineError> {
    execute(db, "SAVEPOINT job")?;
    if !job.run(db) {
        execute(db, "ROLLBACK TO job")?;
    }
    execute(db, "RELEASE job")
}

/// Copies the write-ahead log into the main file and empties the log, so that the main file is complete without it.
/// SQLite does so when the last connection of all processes is closed; this also covers the case that another process
/// uses the file now and is killed later.
fn checkpoint(db: &Connection, path: &Path) {
    let path = path.display();
    let checkpointed = db
        .busy_timeout(CLOSE_BUSY_TIMEOUT)
        .and_then(|()| db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get::<_, bool>(0)));
    match checkpointed {
        Ok(false) => {}
        Ok(true) => tracing::info!(
            %path,
            "another process still uses the database: until that process ends, a copy needs the file with the suffix \
             -wal, too"
        ),
        Err(error) => tracing::error!(
            %path,
            error = %EngineError::from(error),
            "the write-ahead log could not be copied into the database file: keep the file with the suffix -wal"
        ),
    }
}
