//! How long each phase of a request took.

use std::time::Duration;

use tokio::time::Instant;

/// The time of each phase of a request, in the order in which they happen. A phase that did not begin has none. The phase in
/// which the request failed lasts until the failure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PhaseTimes {
    /// The name lookup; none for an IP address and for a pooled connection.
    pub dns: Option<Duration>,
    /// Opening the TCP connection, through the proxy if there is one; none for a pooled connection.
    pub connect: Option<Duration>,
    /// The TLS handshake; none without TLS and for a pooled connection.
    pub tls: Option<Duration>,
    /// Sending the request and waiting for the first byte of the response.
    pub wait: Option<Duration>,
    /// From the first to the last byte of the response.
    pub receive: Option<Duration>,
}

/// A phase of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Phase {
    Dns,
    Connect,
    Tls,
    Wait,
    Receive,
}

/// Measures the phases of one request.
#[derive(Debug, Default)]
pub(crate) struct PhaseTimer {
    times: PhaseTimes,
    current: Option<(Phase, Instant)>,
}

impl PhaseTimer {
    /// Ends the current phase and begins another.
    pub(crate) fn begin(&mut self, phase: Phase) {
        self.begin_at(phase, Instant::now());
    }

    /// Ends the current phase and begins another, at a time that has passed.
    pub(crate) fn begin_at(&mut self, phase: Phase, at: Instant) {
        self.end_at(at);
        self.current = Some((phase, at));
    }

    /// Ends the last phase. The times of all phases.
    pub(crate) fn finish(mut self) -> PhaseTimes {
        self.end_at(Instant::now());
        self.times
    }

    fn end_at(&mut self, at: Instant) {
        let Some((phase, since)) = self.current.take() else { return };
        let time = match phase {
            Phase::Dns => &mut self.times.dns,
            Phase::Connect => &mut self.times.connect,
            Phase::Tls => &mut self.times.tls,
            Phase::Wait => &mut self.times.wait,
            Phase::Receive => &mut self.times.receive,
        };
        *time = Some(at.saturating_duration_since(since));
    }
}
