//! How the time of an attempt was spent.

use std::time::Duration;

use kit_outbound::PhaseTimes;
use serde::{Deserialize, Serialize};

/// The time of each phase of an attempt's request, in microseconds and in the order in which they happen. A phase that did not
/// begin has none; the phase in which the request failed lasts until the failure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptTimes {
    /// The name lookup.
    #[serde(rename = "dns", default, skip_serializing_if = "Option::is_none")]
    pub dns_us: Option<u64>,
    /// Opening the TCP connection.
    #[serde(rename = "connect", default, skip_serializing_if = "Option::is_none")]
    pub connect_us: Option<u64>,
    /// The TLS handshake.
    #[serde(rename = "tls", default, skip_serializing_if = "Option::is_none")]
    pub tls_us: Option<u64>,
    /// Sending the request and waiting for the first byte of the response.
    #[serde(rename = "wait", default, skip_serializing_if = "Option::is_none")]
    pub wait_us: Option<u64>,
    /// From the first to the last byte of the response.
    #[serde(rename = "receive", default, skip_serializing_if = "Option::is_none")]
    pub receive_us: Option<u64>,
    /// The receiver closed a kept-alive connection before its response began, so the request was sent again over a new
    /// connection. The times are those of the second request.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sent_twice: bool,
}

impl AttemptTimes {
    /// The times of a request.
    pub(crate) fn new(of: PhaseTimes, sent_twice: bool) -> Self {
        let us = |time: Option<Duration>| time.map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        Self {
            dns_us: us(of.dns),
            connect_us: us(of.connect),
            tls_us: us(of.tls),
            wait_us: us(of.wait),
            receive_us: us(of.receive),
            sent_twice,
        }
    }

    /// The request was sent over a connection that an earlier request had opened.
    pub fn reused_connection(&self) -> bool {
        self.connect_us.is_none() && self.wait_us.is_some()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
