//! What a lane lets go, and when.

use std::sync::Arc;

use runtime::clock::from_ms;

use super::*;
use crate::port::NodeId;

const NOW_MS: i64 = 1_700_000_000_000;

fn now() -> Timestamp {
    from_ms(NOW_MS)
}

fn work(payload_bytes: usize) -> Work {
    Work {
        message: "msg_1".into(),
        payload: vec![b' '; payload_bytes].into(),
        attempts: 0,
        trigger: crate::model::AttemptTrigger::Scheduled,
        key: None,
        holder: Arc::new(NodeId("node_1".into())),
        since: Instant::now(),
    }
}

/// A lane with so many deliveries waiting.
fn lane(queued: usize) -> (LaneState, LaneConfig) {
    let config = LaneConfig::default();
    let mut state = LaneState::new(&config);
    state.claimed((0..queued).map(|_| work(100)).collect(), queued, 0);
    (state, config)
}

/// How many attempts the lane begins now, beside `lanes` others.
fn begun(state: &mut LaneState, config: &LaneConfig, lanes: usize) -> usize {
    std::iter::from_fn(|| matches!(state.step(now(), config, lanes), Step::Start(_)).then_some(())).count()
}

#[test]
fn an_endpoint_that_keeps_up_gets_more_at_once_and_one_that_does_not_gets_half() {
    let (mut state, config) = lane(1_000);
    assert_eq!(begun(&mut state, &config, 1), 4);
    state.ended(Pace::Faster, now(), &config);
    assert_eq!(begun(&mut state, &config, 1), 2);
    for _ in 0..200 {
        state.ended(Pace::Faster, now(), &config);
        begun(&mut state, &config, 1);
    }
    assert_eq!(state.under_way, 64);
    state.ended(Pace::Slower, now(), &config);
    assert_eq!(state.allowed, 32);
    assert_eq!(begun(&mut state, &config, 1), 0);
}

#[test]
fn many_lanes_share_evenly_and_each_has_its_own_few() {
    let (mut state, config) = lane(1_000);
    state.allowed = 64;
    assert_eq!(begun(&mut state, &config, 128), 4 + 2_048 / 128);
    let (mut state, config) = lane(1_000);
    state.allowed = 64;
    assert_eq!(begun(&mut state, &config, 1_000_000), 4);
}

#[test]
fn an_endpoint_with_too_much_to_do_is_left_alone_longer_and_longer() {
    let (mut state, config) = lane(100);
    let mut at = now();
    let mut pauses_ms = Vec::new();
    for _ in 0..12 {
        assert!(matches!(state.step(at, &config, 1), Step::Start(_)));
        state.ended(Pace::Slower, at, &config);
        if let Step::WaitUntil(until) = state.step(at, &config, 1) {
            pauses_ms.push(until.duration_since(at).as_millis());
            at = until;
        } else {
            // It begins with more than one at a time, and is only slowed down.
            state.ended(Pace::Same, at, &config);
        }
    }
    assert_eq!(pauses_ms, [50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
}

#[test]
fn over_a_long_pause_nothing_is_kept_and_over_a_short_one_everything() {
    for (pause_s, given_back) in [(10, 0), (11, 99)] {
        let (mut state, config) = lane(100);
        assert!(matches!(state.step(now(), &config, 1), Step::Start(_)));
        state.ended(Pace::Pause(Duration::from_secs(pause_s)), now(), &config);
        let rows = match state.step(now(), &config, 1) {
            Step::GiveBack(rows) => rows.len(),
            _ => 0,
        };
        assert_eq!(rows, given_back);
        assert!(matches!(state.step(now(), &config, 1), Step::WaitUntil(_)));
        assert!(!state.reserve(1, now(), &config, 1));
        let after = now() + Duration::from_secs(pause_s);
        assert!(matches!(state.step(after, &config, 1), Step::Claim(_) | Step::Start(_)));
    }
}

#[test]
fn what_does_not_fit_waits_in_the_table_and_goes_before_what_comes_later() {
    let (mut state, mut config) = lane(0);
    config.queued_max = 2;
    assert!(state.reserve(100, now(), &config, 1));
    assert!(state.reserve(100, now(), &config, 1));
    assert!(!state.reserve(100, now(), &config, 1));
    state.look_in_table();
    state.fill_place(work(100));
    state.unreserve(100);
    assert!(!state.reserve(100, now(), &config, 1), "rows wait in the table");
    let looks = state.looks();
    assert!(matches!(state.step(now(), &config, 1), Step::Claim(2)));
    assert!(matches!(state.step(now(), &config, 1), Step::Start(_)));
    state.look_in_table();
    state.claimed(vec![work(100)], 2, looks);
    assert!(!state.reserve(100, now(), &config, 1), "one more came while it claimed");
    let looks = state.looks();
    assert!(matches!(state.step(now(), &config, 1), Step::Claim(_)));
    state.claimed(vec![], 2, looks);
    assert!(state.reserve(100, now(), &config, 1));
}

#[test]
fn a_lane_has_room_for_one_payload_of_any_size_and_then_for_its_share() {
    let (mut state, config) = lane(0);
    let lanes = 1_000_000;
    assert!(state.reserve(2_000_000, now(), &config, lanes));
    assert!(!state.reserve(1, now(), &config, lanes));
    state.unreserve(2_000_000);
    let fit = (0..1_000).take_while(|_| state.reserve(512, now(), &config, lanes)).count();
    assert_eq!(fit, OWN_BYTES / 1_024);
}

#[test]
fn a_lane_closes_only_when_it_has_had_nothing_to_do_for_a_while() {
    let (mut state, config) = lane(0);
    let (start, after) = (Instant::now(), Duration::from_secs(10));
    assert!(!state.close_if_idle(now(), start, after));
    assert!(state.reserve(1, now(), &config, 1));
    assert!(!state.close_if_idle(now(), start + after, after));
    state.unreserve(1);
    assert!(!state.close_if_idle(now(), start + after, after));
    assert!(state.close_if_idle(now(), start + 2 * after, after));
    assert!(state.is_closed());
}
