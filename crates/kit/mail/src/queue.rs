//! When a mail that could not be sent is sent again, and when it is given up. Pure functions.

use std::time::Duration;

use crate::SendError;

/// No other node sends a claimed mail for this long. Sending one takes less.
pub const LEASE: Duration = Duration::from_secs(5 * 60);
/// Pauses between the tries to send a mail. After the last try the mail is given up.
pub const PAUSES: [Duration; 6] =
    [minutes(1), minutes(5), minutes(30), minutes(2 * 60), minutes(6 * 60), minutes(12 * 60)];

const fn minutes(count: u64) -> Duration {
    Duration::from_secs(count * 60)
}

/// The pause before the next try, after this number of failed tries, from 1. None when the mail is given up: the server
/// refused it for good, or it was the last try.
pub fn pause_after(tries: u32, error: &SendError) -> Option<Duration> {
    let pause = PAUSES.get(tries.saturating_sub(1) as usize).copied();
    pause.filter(|_| !error.is_permanent())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_has_seven_tries_in_21_hours_and_one_when_it_is_refused() {
        let unavailable = SendError::Unavailable("busy".into());
        let pauses: Vec<Duration> = (1..).map_while(|tries| pause_after(tries, &unavailable)).collect();
        assert_eq!(pauses, PAUSES);
        assert_eq!(pauses.iter().sum::<Duration>(), minutes(20 * 60 + 36));
        assert!(pauses.is_sorted());
        for error in [SendError::Refused("550".into()), SendError::Invalid("no address".into())] {
            assert_eq!(pause_after(1, &error), None, "{error}");
        }
        const { assert!(LEASE.as_secs() > crate::SEND_TIMEOUT.as_secs() * 10) };
    }
}
