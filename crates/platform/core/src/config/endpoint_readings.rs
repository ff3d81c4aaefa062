//! Settings of readings of customers' endpoints at their providers.

use std::time::Duration;

/// Limits and intervals of readings of customers' endpoints.
#[derive(Debug, Clone)]
pub struct EndpointReadingConfig {
    /// Customers whose endpoints a node reads at the same time; 0 for a node that reads none. 16.
    pub customers_max: usize,
    /// Interval of the search for customers whose reading is due. 1 s.
    pub look_every: Duration,
    /// Time between two requests to the provider of one customer. 1 s.
    pub request_every: Duration,
    /// Time from the end of a reading to the next one while events of the customer are published or not delivered, or an
    /// endpoint fails. 30 s.
    pub busy_every: Duration,
    /// The same of another customer. 5 min.
    pub idle_every: Duration,
    /// How long after its last published event a customer is busy. 10 min.
    pub busy_for: Duration,
    /// Endpoints of one customer; further ones are not read. 50.
    pub endpoints_max: usize,
    /// Endpoints of one customer whose deliveries and statistics are read in one reading, in turn. 15.
    pub details_max: usize,
    /// Events of an endpoint in one reading: the latest. 100.
    pub events_max: usize,
    /// Undelivered events beyond those that are read again in one reading, in turn. 5.
    pub undelivered_max: usize,
    /// Deadline of one request. 10 s.
    pub request_timeout: Duration,
    /// Bytes of one response. 1 MiB.
    pub response_bytes_max: usize,
    /// How long one reading takes at most. 2 min.
    pub reading_max: Duration,
}

impl Default for EndpointReadingConfig {
    fn default() -> Self {
        Self {
            customers_max: 16,
            look_every: Duration::from_secs(1),
            request_every: Duration::from_secs(1),
            busy_every: Duration::from_secs(30),
            idle_every: Duration::from_secs(5 * 60),
            busy_for: Duration::from_secs(10 * 60),
            endpoints_max: 50,
            details_max: 15,
            events_max: 100,
            undelivered_max: 5,
            request_timeout: Duration::from_secs(10),
            response_bytes_max: 1 << 20,
            reading_max: Duration::from_secs(2 * 60),
        }
    }
}
