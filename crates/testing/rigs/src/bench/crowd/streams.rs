//! The streams of a lot's page, read as the page's script reads them: each event with the time of its arrival, a link that counts as
//! lost when a sign of life is late, and another connection then. What arrived is kept for the comparison with the log.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kit_runtime::clock::{Clock as _, SystemClock};
use kit_runtime::random::{Random as _, SystemRandom};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout_at;

use crate::RigError;
use crate::bench::visitor::SiteAddress;

/// Streams that connect at the same time.
const CONNECTING_MAX: usize = 128;
/// The limits of the page's script: a new stream without an event for this long is lost, a sign of life may come this much later than
/// announced, and before the first one a stream may be silent for the third.
const FIRST_EVENT_MAX: Duration = Duration::from_secs(5);
const LATE_MAX: Duration = Duration::from_secs(2);
const SILENT_AFTER_SNAPSHOT_MAX: Duration = Duration::from_secs(17);
/// Its pauses between attempts to connect, and a quarter more or less.
const PAUSES_MS: [u64; 5] = [500, 1_000, 2_000, 4_000, 8_000];
const BUFFER_BYTES: usize = 2 * 1_024;

/// What a stream shows of the lot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) version: i64,
    pub(super) status: String,
    pub(super) price: Option<i64>,
    pub(super) leader: Option<String>,
    pub(super) bids: i64,
    pub(super) end: Option<Timestamp>,
}

/// An event, parsed.
#[derive(Debug)]
pub(super) enum Event {
    /// A state of the lot; the first of a connection is a snapshot.
    Lot(Shown),
    /// A sign of life with the time until the next.
    Beat(Duration),
    Other,
}

/// What one stream received.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Each higher number of bids, with its time of arrival.
    pub(super) arrivals: Vec<(i64, i64)>,
    /// The first arrival of a state in which the lot has ended.
    pub(super) ended_at: Option<i64>,
    /// Times in which the page says that the link is lost.
    pub(super) lost: Vec<(i64, i64)>,
    /// Since when it says so.
    pub(super) lost_since: Option<i64>,
    /// Connections that the server refused, that it ended, and that were silent for too long.
    pub(super) refused: u32,
    pub(super) cut: u32,
    pub(super) silent: u32,
    /// Snapshots on a connection after its first event: the stream had fallen behind.
    pub(super) behind: u32,
}

/// What the streams of a run share.
pub(super) struct Streams {
    clock: RunClock,
    /// Each distinct event of a lot, by its bytes. Streams of a node receive the same bytes.
    known: Mutex<HashMap<Box<[u8]>, Arc<Event>>>,
    connecting: Semaphore,
}

/// The wall clock as the server reads it, with microseconds.
pub(super) struct RunClock {
    begin_us: i64,
    begin: Instant,
}

/// Where a stream is, and who reads it.
pub(super) struct StreamPlace {
    pub(super) site: SiteAddress,
    pub(super) path: String,
    pub(super) from: IpAddr,
}

/// Why a connection ended.
enum End {
    Refused,
    Cut,
    Silent,
}

impl RunClock {
    pub(super) fn start() -> Self {
        Self { begin_us: SystemClock.now().as_microsecond(), begin: Instant::now() }
    }

    /// Microseconds since 1970.
    pub(super) fn now_us(&self) -> i64 {
        self.begin_us + self.begin.elapsed().as_micros() as i64
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Streams {
    pub(super) fn new() -> Self {
        Self { clock: RunClock::start(), known: Mutex::default(), connecting: Semaphore::new(CONNECTING_MAX) }
    }

    pub(super) fn now_us(&self) -> i64 {
        self.clock.now_us()
    }

    /// Every distinct state that a stream showed.
    pub(super) fn states(&self) -> Vec<Arc<Event>> {
        lock(&self.known).values().cloned().collect()
    }

    /// Reads a stream until the task is cancelled. `latest` gets each newer state.
    pub(super) async fn follow(
        self: Arc<Self>,
        place: StreamPlace,
        record: Arc<Mutex<Record>>,
        latest: watch::Sender<Option<Shown>>,
    ) {
        let mut attempts = 0;
        loop {
            let end = self.connect(&place, &record, &latest, &mut attempts).await.unwrap_or(End::Cut);
            {
                let mut record = lock(&record);
                match end {
                    End::Refused => record.refused += 1,
                    End::Cut => record.cut += 1,
                    End::Silent => record.silent += 1,
                }
                let now = self.now_us();
                record.lost_since.get_or_insert(now);
            }
            let pause = PAUSES_MS[attempts.min(PAUSES_MS.len() - 1)] as f64;
            attempts += 1;
            let pause = pause * (0.75 + SystemRandom.unit_f64() / 2.0);
            tokio::time::sleep(Duration::from_secs_f64(pause / 1_000.0)).await;
        }
    }

    async fn connect(
        &self,
        place: &StreamPlace,
        record: &Mutex<Record>,
        latest: &watch::Sender<Option<Shown>>,
        attempts: &mut usize,
    ) -> Result<End, RigError> {
        let mut turn = Some(self.connecting.acquire().await?);
        let mut stream = TcpStream::connect(place.site.listen).await?;
        let (host, from) = (&place.site.host, place.from);
        let request = format!(
            "GET {} HTTP/1.1\r\nhost: {host}\r\nx-forwarded-for: {from}\r\naccept: text/event-stream\r\ncache-control: no-cache\r\n\r\n",
            place.path
        );
        stream.write_all(request.as_bytes()).await?;
        let mut stream = BufReader::with_capacity(BUFFER_BYTES, stream);
        let (mut line, mut silence_max, mut heard) = (Vec::new(), FIRST_EVENT_MAX, tokio::time::Instant::now());
        let (mut is_first_line, mut has_state) = (true, false);
        loop {
            line.clear();
            match timeout_at(heard + silence_max, stream.read_until(b'\n', &mut line)).await {
                Err(_) => return Ok(End::Silent),
                Ok(read) => {
                    if read? == 0 {
                        return Ok(End::Cut);
                    }
                }
            }
            if std::mem::take(&mut is_first_line) && !line.starts_with(b"HTTP/1.1 200") {
                return Ok(End::Refused);
            }
            // Sizes of chunks, names of events and ids are not needed: the data says what it is.
            let Some(data) = line.strip_prefix(b"data: ") else { continue };
            heard = tokio::time::Instant::now();
            match &*self.parse(data)? {
                Event::Beat(next) => silence_max = *next + LATE_MAX,
                Event::Other => {}
                Event::Lot(shown) => {
                    let now = self.now_us();
                    let is_snapshot = contains(data, b"\"items\":[");
                    lock(record).add(shown, now, is_snapshot && has_state);
                    if is_snapshot {
                        silence_max = silence_max.max(SILENT_AFTER_SNAPSHOT_MAX);
                    }
                    has_state = true;
                    *attempts = 0;
                    drop(turn.take());
                    latest.send_if_modified(|known| {
                        let is_newer = known.as_ref().is_none_or(|known| known.version < shown.version);
                        if is_newer {
                            *known = Some(shown.clone());
                        }
                        is_newer
                    });
                }
            }
        }
    }

    fn parse(&self, data: &[u8]) -> Result<Arc<Event>, RigError> {
        if contains(data, b"\"nextMs\":") {
            let beat: Value = serde_json::from_slice(data)?;
            return Ok(Arc::new(Event::Beat(Duration::from_millis(beat["nextMs"].as_u64().unwrap_or_default()))));
        }
        if let Some(event) = lock(&self.known).get(data) {
            return Ok(Arc::clone(event));
        }
        let parsed: Value = serde_json::from_slice(data)?;
        let item = parsed.get("item").or_else(|| parsed.pointer("/items/0"));
        let event = Arc::new(match item {
            Some(item) => Event::Lot(Shown::of(item)?),
            None => Event::Other,
        });
        lock(&self.known).insert(data.into(), Arc::clone(&event));
        Ok(event)
    }
}

impl Shown {
    fn of(item: &Value) -> Result<Self, RigError> {
        let text = |name: &str| item[name].as_str().map(str::to_owned);
        Ok(Self {
            version: item["version"].as_i64().ok_or("a state without a version")?,
            status: text("status").ok_or("a state without a status")?,
            price: item["price"].as_i64(),
            leader: text("leader"),
            bids: item["bidCount"].as_i64().ok_or("a state without a number of bids")?,
            end: text("effectiveEndTime").map(|end| end.parse()).transpose()?,
        })
    }

    /// The lot takes no bids any more.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.status.as_str(), "SOLD" | "UNSOLD")
    }
}

impl Record {
    fn add(&mut self, shown: &Shown, now: i64, is_behind: bool) {
        self.behind += u32::from(is_behind);
        if let Some(since) = self.lost_since.take() {
            self.lost.push((since, now));
        }
        if self.arrivals.last().is_none_or(|(bids, _)| *bids < shown.bids) {
            self.arrivals.push((shown.bids, now));
        }
        if shown.has_ended() {
            self.ended_at.get_or_insert(now);
        }
    }
}

fn contains(data: &[u8], part: &[u8]) -> bool {
    // The field is near the beginning: a state begins with the time and the auction or the item.
    data.get(..400.min(data.len())).is_some_and(|data| data.windows(part.len()).any(|window| window == part))
}
