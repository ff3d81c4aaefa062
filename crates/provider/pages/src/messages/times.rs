//! How the time of an attempt was spent, as a message's page shows it.

use provider_core::model::AttemptTimes;

use crate::portal::labels;

/// The phases of an attempt that began, in order, and what is unusual about its connection.
pub(super) struct Times {
    pub(super) phases: Vec<(&'static str, String)>,
    pub(super) connection: &'static str,
}

impl Times {
    pub(super) fn new(times: &AttemptTimes) -> Self {
        let phases = [
            ("DNS lookup", times.dns_us),
            ("TCP connection", times.connect_us),
            ("TLS handshake", times.tls_us),
            ("Waiting for the response", times.wait_us),
            ("Receiving the response", times.receive_us),
        ];
        let phases = phases.into_iter().filter_map(|(name, us)| Some((name, labels::short_duration(us?)))).collect();
        let connection = if times.sent_twice {
            "The receiver closed the kept-alive connection before its response began, so the request was sent again over a new \
             connection. The receiver may have got it twice. The times are those of the second request."
        } else if times.reused_connection() {
            "The request was sent over a connection that was already open."
        } else {
            ""
        };
        Self { phases, connection }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_that_did_not_begin_are_not_shown() {
        let new = AttemptTimes {
            dns_us: Some(12_400),
            connect_us: Some(8_240),
            tls_us: Some(1_240_000),
            wait_us: Some(420),
            ..AttemptTimes::default()
        };
        let shown = Times::new(&new);
        let expected = [
            ("DNS lookup", "12 ms"),
            ("TCP connection", "8.2 ms"),
            ("TLS handshake", "1.2 s"),
            ("Waiting for the response", "420 µs"),
        ];
        assert_eq!(shown.phases, expected.map(|(name, time)| (name, time.replace(' ', "\u{a0}"))));
        assert_eq!(shown.connection, "");
        let reused = Times::new(&AttemptTimes { wait_us: Some(900), ..AttemptTimes::default() });
        assert!(reused.connection.contains("already open"), "{}", reused.connection);
        let again = Times::new(&AttemptTimes { sent_twice: true, ..new });
        assert!(again.connection.contains("twice"), "{}", again.connection);
    }
}
