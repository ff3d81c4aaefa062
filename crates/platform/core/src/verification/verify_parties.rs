//! Checks the registers of all houses.

use super::verify::{ROWS_READ_MAX, VerifyReport, out_of_order};
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{LogKind, Page};

impl Platform {
    /// Verifies all parties. `progress` is called after each page.
    pub(super) async fn verify_parties(
        &self,
        verified: &mut VerifyReport,
        progress: &(dyn Fn(&VerifyReport) + Send + Sync),
    ) -> PlatformResult<()> {
        let mut after = None;
        loop {
            let listed = self.store().all_parties(Page { after, limit: ROWS_READ_MAX }).await?;
            let Some(last) = listed.last().map(|party| party.uuid) else { return Ok(()) };
            for party in listed {
                self.verify_listed(LogKind::Party, party.uuid, verified).await?;
            }
            progress(verified);
            if after.is_some_and(|after| last <= after) {
                verified.broken.push(out_of_order(LogKind::Party, last));
                return Ok(());
            }
            after = Some(last);
        }
    }
}
