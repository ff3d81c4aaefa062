//! CPU time and memory of the server process, as the kernel counts them.

use std::fs;
use std::time::Duration;

use crate::RigError;

/// Ticks a second of the times in `/proc`: 100 on every Linux that Debian ships.
const TICKS_PER_SECOND: u64 = 100;

/// CPU time so far, user and system.
pub(super) fn cpu_time(pid: u32) -> Result<Duration, RigError> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in parentheses may contain spaces. Fields are counted after it.
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let field = |index: usize| fields.split_whitespace().nth(index).and_then(|text| text.parse::<u64>().ok());
    let ticks = field(11).zip(field(12)).map(|(user, system)| user + system).ok_or("no CPU time in /proc")?;
    Ok(Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND))
}

/// Resident memory now, in MiB.
pub(super) fn memory_mib(pid: u32) -> Result<u64, RigError> {
    status_mib(pid, "VmRSS:")
}

/// Peak resident memory, in MiB.
pub(super) fn peak_memory_mib(pid: u32) -> Result<u64, RigError> {
    status_mib(pid, "VmHWM:")
}

fn status_mib(pid: u32, field: &str) -> Result<u64, RigError> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)).ok_or("no memory in /proc")?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kib / 1_024)
}
