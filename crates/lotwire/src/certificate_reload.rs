//! Reads the certificates of the server again while it runs: every 30 seconds, and when the process receives SIGHUP.

use std::sync::Arc;
use std::time::Duration;

use kit_http::tls::Certificates;
use kit_runtime::clock::SharedClock;
use kit_runtime::tasks::Tasks;
use tokio::signal::unix::{SignalKind, signal};

use crate::error::{CommandError, ErrorContext as _};

/// Time between two looks at the files.
const INTERVAL: Duration = Duration::from_secs(30);

/// Starts to read the certificates again. Without TLS, SIGHUP does nothing, so that `systemctl reload` never ends the server.
pub(crate) fn spawn(
    certificates: Option<Arc<Certificates>>,
    clock: SharedClock,
    tasks: &Tasks,
) -> Result<(), CommandError> {
    // From now on the signal does not end the process.
    drop(signal(SignalKind::hangup()).context("handling SIGHUP")?);
    tasks.spawn("certificates", move |stopping| {
        let (certificates, clock) = (certificates.clone(), clock.clone());
        async move {
            let Ok(mut hangup) = signal(SignalKind::hangup()) else { return };
            loop {
                let next = clock.now() + INTERVAL;
                tokio::select! {
                    () = stopping.cancelled() => return,
                    () = clock.sleep_until(next), if certificates.is_some() => {}
                    _ = hangup.recv() => tracing::info!("SIGHUP: the certificates are read again"),
                }
                if let Some(certificates) = certificates.clone() {
                    let now = clock.now();
                    // The files may be on a slow network.
                    let _ = tokio::task::spawn_blocking(move || certificates.reload(now)).await;
                }
            }
        }
    });
    Ok(())
}
