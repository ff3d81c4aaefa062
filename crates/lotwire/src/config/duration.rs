//! Durations with a unit: `250ms`, `5s`, `30m`, `2h`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A duration in whole milliseconds, at most 30 days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConfigDuration(Duration);

const DURATION_MAX: Duration = Duration::from_secs(30 * 24 * 3_600);

impl ConfigDuration {
    pub(crate) const fn from_secs(secs: u64) -> Self {
        ConfigDuration(Duration::from_secs(secs))
    }

    pub(crate) const fn from_millis(millis: u64) -> Self {
        ConfigDuration(Duration::from_millis(millis))
    }

    pub(crate) fn as_millis(self) -> u64 {
        self.0.as_millis() as u64
    }

    pub(crate) fn get(self) -> Duration {
        self.0
    }
}

impl std::str::FromStr for ConfigDuration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("{text:?} is not a duration of at most 30 days, such as 250ms or 5s");
        let signed: jiff::SignedDuration = text.trim().parse().map_err(|_| refuse())?;
        let duration = Duration::try_from(signed).map_err(|_| refuse())?;
        if duration > DURATION_MAX || duration.subsec_nanos() % 1_000_000 != 0 {
            return Err(refuse());
        }
        Ok(ConfigDuration(duration))
    }
}

impl std::fmt::Display for ConfigDuration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let millis = self.as_millis();
        let (count, unit) = [(3_600_000, "h"), (60_000, "m"), (1_000, "s")]
            .into_iter()
            .find(|(size, _)| millis > 0 && millis.is_multiple_of(*size))
            .map_or((millis, "ms"), |(size, unit)| (millis / size, unit));
        write!(f, "{count}{unit}")
    }
}

impl<'de> Deserialize<'de> for ConfigDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for ConfigDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_parsed_and_printed_with_its_unit() {
        for (text, millis, shown) in [
            ("250ms", 250, "250ms"),
            ("5s", 5_000, "5s"),
            ("90s", 90_000, "90s"),
            ("1h 30m", 5_400_000, "90m"),
            ("2h", 7_200_000, "2h"),
            ("0s", 0, "0ms"),
        ] {
            let duration: ConfigDuration = text.parse().unwrap();
            assert_eq!((duration.as_millis(), duration.to_string().as_str()), (millis, shown), "{text}");
        }
    }

    #[test]
    fn an_invalid_duration_is_refused_with_an_example() {
        for text in ["", "5", "-5s", "soon", "40000h", "1us"] {
            assert!(text.parse::<ConfigDuration>().unwrap_err().contains("250ms"), "{text}");
        }
    }
}
