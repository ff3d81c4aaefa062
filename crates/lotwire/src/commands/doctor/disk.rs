//! Checks the free disk of the data directory.

use kit_runtime::disk_space::{DiskSpace, space_of};

use super::CheckResult;
use crate::config::Config;

const MIB: u64 = 1024 * 1024;

/// A warning while less than twice the reserve is free, so that there is time to act before new work is refused.
pub(super) fn check(config: &Config) -> CheckResult {
    let folder = config.data_dir.display();
    match space_of(&config.data_dir) {
        Ok(space) => finding(space, config.disk_reserve_bytes()).map_err(|wrong| format!("{folder}: {wrong}")),
        Err(error) => Err(format!("{folder}: the free disk can't be read: {error}")),
    }
}

fn finding(space: DiskSpace, reserve_bytes: u64) -> CheckResult {
    let [available, total, reserve] =
        [space.available_bytes, space.total_bytes, reserve_bytes].map(|bytes| bytes / MIB);
    let free = format!("{available} of {total} MiB are free");
    let advice = "Make room on the disk, or make it larger";
    if space.available_bytes < reserve_bytes {
        return Err(format!(
            "{free}, less than disk_reserve_mib, {reserve} MiB. The server refuses new messages, auctions, lots, \
             catalogues and images; running sales and deliveries go on. {advice}"
        ));
    }
    if space.available_bytes < reserve_bytes.saturating_mul(2) {
        return Err(format!("{free}. Below disk_reserve_mib, {reserve} MiB, the server refuses new work. {advice}"));
    }
    Ok(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_twice_the_reserve_is_a_warning() {
        let space = DiskSpace { total_bytes: 4_000 * MIB, available_bytes: 1_000 * MIB };
        let wrong = |reserve: u64| finding(space, reserve * MIB).err();
        assert_eq!([0, 500].map(wrong), [None, None]);
        assert!(wrong(501).is_some_and(|text| text.starts_with("1000 of 4000 MiB are free. Below disk_reserve_mib")));
        assert!(wrong(1_001).is_some_and(|text| text.contains("The server refuses new messages")));
    }
}
