//! The platform's background workers, composed.

mod expiry;

use kit_runtime::tasks::Tasks;

use crate::Platform;

impl Platform {
    /// Starts the background workers: ending items, publishing, heartbeats, bulk changes, readings of endpoints, notices, mails, domains of
    /// houses, expiry.
    /// Called once for each platform. A process without them, such as a management command, leaves the work to other processes.
    pub fn spawn_workers(&self, tasks: &Tasks) {
        self.spawn_publisher(tasks);
        self.spawn_timers(tasks);
        self.spawn_clocks(tasks);
        self.spawn_bulk_changes(tasks);
        self.spawn_endpoint_readings(tasks);
        self.spawn_notices(tasks);
        self.spawn_mails(tasks);
        self.spawn_domain_checks(tasks);
        self.spawn_expiry(tasks);
        self.live().spawn_workers(tasks);
    }
}
