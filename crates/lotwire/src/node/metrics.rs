//! Metrics of the process and of what it runs on: version, start, disk, databases, clock, and the last backup.

use std::path::PathBuf;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kit_http::metrics::{MetricsFuture, Source};
use kit_runtime::clock::SharedClock;
use kit_runtime::database_figures::DatabaseFigures;
use kit_runtime::disk_space::space_of;
use kit_runtime::metrics::{self, Family, FloatGauge, Gauge, Labels, ReadingCache, Registry, Unit};
use platform_core::Platform;
use provider_core::Provider;

use crate::last_backup;

/// Time limit of the databases' part of a scrape.
const DATABASES_MAX: Duration = Duration::from_secs(5);

/// A node as a source of metrics.
pub(super) struct NodeMetrics {
    pub(super) platform: Option<Platform>,
    pub(super) provider: Option<Provider>,
    pub(super) data_dir: PathBuf,
    /// Whether the databases are files of the data directory, which `lotwire backup` copies.
    pub(super) uses_sqlite: bool,
    pub(super) clock: SharedClock,
    pub(super) started_at: Timestamp,
    pub(super) readings: ReadingCache<Databases>,
}

/// What the databases answered.
#[derive(Debug, Clone, Default)]
pub(super) struct Databases {
    figures: Vec<(&'static str, DatabaseFigures)>,
    clock_skew: Option<SignedDuration>,
}

impl Source for NodeMetrics {
    fn gather<'a>(&'a self, _named: &'a [String]) -> MetricsFuture<'a> {
        Box::pin(async { Ok(self.process() + &self.encode(&self.databases().await)) })
    }
}

impl NodeMetrics {
    /// Metrics with the names that all programs use.
    fn process(&self) -> String {
        let mut registry = Registry::with_prefix("process");
        let started = float_gauge(seconds_since_1970(self.started_at));
        registry.register_with_unit("start_time", "When the process started, since 1970", Unit::Seconds, started);
        metrics::encode_text(&registry)
    }

    /// What the databases answer, read at most every five seconds. A database that does not answer is omitted.
    async fn databases(&self) -> Databases {
        let now = self.clock.monotonic();
        if let Some(kept) = self.readings.get(now) {
            return kept;
        }
        let read = tokio::time::timeout(DATABASES_MAX, self.read_databases()).await.unwrap_or_else(|_| {
            tracing::warn!("the figures of the database are missing: it takes too long");
            Databases::default()
        });
        self.readings.put(read.clone(), now);
        read
    }

    async fn read_databases(&self) -> Databases {
        let mut read = Databases::default();
        if let Some(platform) = &self.platform {
            read.add("platform", platform.database_figures().await, platform.clock_skew().await);
        }
        if let Some(provider) = &self.provider {
            read.add("provider", provider.database_figures().await, provider.clock_skew().await);
        }
        read
    }

    fn encode(&self, databases: &Databases) -> String {
        let mut registry = Registry::with_prefix("lotwire");
        let build = Family::<Labels, Gauge>::default();
        build.get_or_create(&vec![("version", env!("CARGO_PKG_VERSION").to_owned())]).set(1);
        registry.register("build_info", "1, with the version of the program", build);
        match space_of(&self.data_dir) {
            Ok(disk) => {
                let free = "Bytes of the data directory's disk that the server can still write";
                registry.register_with_unit("disk_free", free, Unit::Bytes, gauge(disk.available_bytes));
                let size = "Bytes of the data directory's disk";
                registry.register_with_unit("disk_size", size, Unit::Bytes, gauge(disk.total_bytes));
            }
            Err(error) => tracing::warn!(%error, "the free disk could not be read"),
        }
        let mut family = |name: &str, help: &str| {
            let family = Family::<Labels, Gauge>::default();
            registry.register(name, help, family.clone());
            family
        };
        let version = family("database_schema_version", "Version of the tables: the number of the last migration");
        let size = family("database_size_bytes", "Bytes of the database, without its write-ahead log");
        let wal = family("database_wal_bytes", "Bytes of the write-ahead log, on SQLite");
        for (name, figures) in &databases.figures {
            let labels = vec![("database", (*name).to_owned())];
            version.get_or_create(&labels).set(figures.schema_version.into());
            size.get_or_create(&labels).set(signed(figures.size_bytes));
            if let Some(bytes) = figures.wal_bytes {
                wal.get_or_create(&labels).set(signed(bytes));
            }
        }
        if let Some(skew) = databases.clock_skew {
            let help = "How far this node's clock is ahead of the database server's";
            registry.register_with_unit("clock_skew", help, Unit::Seconds, float_gauge(skew.as_secs_f64()));
        }
        if self.uses_sqlite {
            let at = last_backup::read(&self.data_dir).map_or(0.0, seconds_since_1970);
            let help = "The time of the last backup by `lotwire backup`, since 1970; 0 without one";
            registry.register_with_unit("last_backup_timestamp", help, Unit::Seconds, float_gauge(at));
        }
        metrics::encode_text(&registry)
    }
}

impl Databases {
    fn add<E: std::fmt::Display>(
        &mut self,
        name: &'static str,
        figures: Result<DatabaseFigures, E>,
        skew: Result<Option<SignedDuration>, E>,
    ) {
        match (figures, skew) {
            (Ok(figures), Ok(skew)) => {
                self.figures.push((name, figures));
                self.clock_skew = self.clock_skew.or(skew);
            }
            (Err(error), _) | (_, Err(error)) => {
                tracing::warn!(%error, database = name, "the figures of the database are missing");
            }
        }
    }
}

fn seconds_since_1970(at: Timestamp) -> f64 {
    at.duration_since(Timestamp::UNIX_EPOCH).as_secs_f64()
}

fn gauge(value: u64) -> Gauge {
    let gauge = Gauge::default();
    gauge.set(signed(value));
    gauge
}

fn float_gauge(value: f64) -> FloatGauge {
    let gauge = FloatGauge::default();
    gauge.set(value);
    gauge
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
