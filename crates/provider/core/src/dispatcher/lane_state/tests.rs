//! Tests of a lane's actions.

use std::sync::Arc;

use kit_runtime::clock::from_ms;

use super::*;
use crate::port::NodeId;

const NOW_MS: i64 = 1_700_000_000_000;
/// Memory of one of these deliveries.
const DELIVERY_BYTES: usize = 100 + ROW_BYTES;

fn now() -> Timestamp {
    from_ms(NOW_MS)
}

fn delivery(payload_bytes: usize) -> QueuedDelivery {
    QueuedDelivery {
        message: "msg_1".into(),
        payload: vec![b' '; payload_bytes].into(),
        purges: 0,
        attempts: 0,
        trigger: crate::model::AttemptTrigger::Scheduled,
        replayed: false,
        key: None,
        lease: Arc::new(NodeId("node_1".into())),
        since: Instant::now(),
        requested_at: None,
        origin: None,
    }
}

/// A lane with `queued` deliveries waiting.
fn lane(queued: usize) -> (LaneState, LaneConfig) {
    let config = LaneConfig::default();
    let mut state = LaneState::new(&config);
    for _ in 0..queued {
        state.reserved += 1;
        state.bytes += DELIVERY_BYTES;
        state.enqueue_reserved(delivery(100));
    }
    (state, config)
}

fn retry() -> QueuedDelivery {
    QueuedDelivery { attempts: 1, ..delivery(100) }
}

fn claim_of(state: &mut LaneState, config: &LaneConfig, kind: DeliveryKind) -> ClaimRequest {
    match state.claim(kind, config, 1) {
        Some(claim) => claim,
        None => panic!("nothing of {kind:?} is claimed"),
    }
}

/// Begins as many attempts as the lane allows.
fn begin(state: &mut LaneState, config: &LaneConfig) -> usize {
    begun(state, config, 1)
}

#[test]
fn a_lane_names_what_holds_back_its_deliveries() {
    let initial = LaneConfig::default().under_way_initial;
    let (state, _) = lane(0);
    assert_eq!(state.hold(now(), initial), None, "an idle lane");
    let (mut state, config) = lane(40);
    assert_eq!(begin(&mut state, &config), initial);
    assert_eq!(state.hold(now(), initial), Some(LaneHold::Nothing), "as many as a new endpoint may have");

    // Each overloaded response halves the limit. The attempts under way then exceed it.
    for limit in [8, 4, 2, 1] {
        state.ended(DELIVERY_BYTES, ConcurrencySignal::Decrease, now(), now(), &config);
        assert_eq!(state.hold(now(), initial), Some(LaneHold::Concurrency(limit)));
    }
    state.ended(DELIVERY_BYTES, ConcurrencySignal::Decrease, now(), now(), &config);
    let until = now() + PAUSE_MIN;
    assert_eq!(state.hold(now(), initial), Some(LaneHold::Pause(until, PauseReason::Overload)));
    assert_eq!(state.hold(until, initial), Some(LaneHold::Concurrency(1)));
    state.ended(DELIVERY_BYTES, ConcurrencySignal::Pause(PAUSE_MAX), now(), now(), &config);
    assert_eq!(state.hold(now(), initial), Some(LaneHold::Pause(now() + PAUSE_MAX, PauseReason::Requested)));

    let (mut state, config) = lane(5);
    let rate = Some(ThrottleRate { per_second: 1.try_into().unwrap(), nodes: 1 });
    state.set_limits(LaneLimits { changed_at: now(), endpoint: rate, application: None }, &config);
    assert_eq!(state.hold(now(), initial), Some(LaneHold::Nothing), "a first attempt is allowed at once");
    assert_eq!(begin(&mut state, &config), 1);
    assert_eq!(state.hold(now(), initial), Some(LaneHold::Rate));
    assert_eq!(state.hold(now() + Duration::from_millis(1_100), initial), Some(LaneHold::Nothing));
}

/// Number of attempts that the lane begins now, with its share 1/`share_divisor`.
fn begun(state: &mut LaneState, config: &LaneConfig, share_divisor: usize) -> usize {
    let start = || matches!(state.next_action(now(), config, share_divisor), LaneAction::Start(_)).then_some(());
    std::iter::from_fn(start).count()
}

#[test]
fn success_raises_the_concurrency_limit_by_one_and_overload_halves_it() {
    let (mut state, config) = lane(1_000);
    assert_eq!(begun(&mut state, &config, 1), 16);
    state.ended(DELIVERY_BYTES, ConcurrencySignal::Increase, now(), now(), &config);
    assert_eq!(begun(&mut state, &config, 1), 2);
    for _ in 0..200 {
        state.ended(DELIVERY_BYTES, ConcurrencySignal::Increase, now(), now(), &config);
        begun(&mut state, &config, 1);
    }
    assert_eq!(state.under_way, 64);
    state.ended(DELIVERY_BYTES, ConcurrencySignal::Decrease, now(), now(), &config);
    assert_eq!(state.concurrency_limit, 32);
    assert_eq!(begun(&mut state, &config, 1), 0);
}

#[test]
fn a_new_endpoint_doubles_its_attempts_with_each_round_of_successes() {
    let (mut state, config) = lane(1_000);
    let rounds = std::iter::repeat_with(|| {
        let started = begun(&mut state, &config, 1);
        (0..started).for_each(|_| state.ended(DELIVERY_BYTES, ConcurrencySignal::Increase, now(), now(), &config));
        started
    });
    assert_eq!(rounds.take(4).collect::<Vec<_>>(), [16, 32, 64, 64]);
}

#[test]
fn lanes_share_attempts_evenly_beyond_their_guaranteed_number() {
    let (mut state, config) = lane(1_000);
    state.concurrency_limit = 64;
    assert_eq!(begun(&mut state, &config, 128), 4 + 2_048 / 128);
    let (mut state, config) = lane(1_000);
    state.concurrency_limit = 64;
    assert_eq!(begun(&mut state, &config, 1_000_000), 4);
}

#[test]
fn an_overloaded_endpoint_is_paused_with_exponential_backoff() {
    let (mut state, config) = lane(100);
    let mut at = now();
    let mut pauses_ms = Vec::new();
    for _ in 0..14 {
        assert!(matches!(state.next_action(at, &config, 1), LaneAction::Start(_)));
        state.ended(DELIVERY_BYTES, ConcurrencySignal::Decrease, at, at, &config);
        if let LaneAction::WaitUntil(until) = state.next_action(at, &config, 1) {
            pauses_ms.push(until.duration_since(at).as_millis());
            at = until;
        } else {
            // With a limit of more than one attempt, overload only halves the limit.
            state.ended(DELIVERY_BYTES, ConcurrencySignal::Keep, at, at, &config);
        }
    }
    assert_eq!(pauses_ms, [50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
}

#[test]
fn a_long_pause_releases_deliveries_and_a_short_pause_keeps_them() {
    for (pause_s, given_back) in [(10, 0), (11, 99)] {
        let (mut state, config) = lane(100);
        assert!(matches!(state.next_action(now(), &config, 1), LaneAction::Start(_)));
        state.ended(DELIVERY_BYTES, ConcurrencySignal::Pause(Duration::from_secs(pause_s)), now(), now(), &config);
        let rows = match state.next_action(now(), &config, 1) {
            LaneAction::Release(rows) => rows.len(),
            _ => 0,
        };
        assert_eq!(rows, given_back);
        assert!(matches!(state.next_action(now(), &config, 1), LaneAction::WaitUntil(_)));
        assert!(!state.reserve(1, now(), &config, 1));
        let after = now() + Duration::from_secs(pause_s);
        assert!(matches!(state.next_action(after, &config, 1), LaneAction::Claim(_) | LaneAction::Start(_)));
    }
}

#[test]
fn deliveries_without_room_wait_in_the_table_and_come_before_later_ones() {
    let (mut state, mut config) = lane(0);
    config.queued_max = 2;
    assert!(state.reserve(100, now(), &config, 1));
    assert!(state.reserve(100, now(), &config, 1));
    assert!(!state.reserve(100, now(), &config, 1));
    state.wake_for_rows(&[DeliveryKind::First]);
    state.enqueue_reserved(delivery(100));
    state.cancel_reservation(100);
    assert!(!state.reserve(100, now(), &config, 1), "rows wait in the table");
    let claim = claim_of(&mut state, &config, DeliveryKind::First);
    assert_eq!(claim.room.rows, 2);
    assert!(matches!(state.next_action(now(), &config, 1), LaneAction::Start(_)));
    state.wake_for_rows(&[DeliveryKind::First]);
    state.claimed(vec![delivery(100)], 1, claim);
    assert!(!state.reserve(100, now(), &config, 1), "a row was inserted during the claim");
    let claim = claim_of(&mut state, &config, DeliveryKind::First);
    state.claimed(vec![], 0, claim);
    assert!(state.reserve(100, now(), &config, 1));
}

#[test]
fn a_lane_reserves_one_payload_of_any_size_and_then_its_share() {
    let (mut state, config) = lane(0);
    let lanes = 1_000_000;
    assert!(state.reserve(2_000_000, now(), &config, lanes));
    assert!(!state.reserve(1, now(), &config, lanes));
    state.cancel_reservation(2_000_000);
    let fit = (0..1_000).take_while(|_| state.reserve(512, now(), &config, lanes)).count();
    assert_eq!(fit, GUARANTEED_BYTES / 1_024);
}

#[test]
fn a_lane_closes_only_after_its_idle_time() {
    let (mut state, config) = lane(0);
    let (start, after) = (Instant::now(), Duration::from_secs(10));
    assert!(!state.close_if_idle(now(), start, after));
    assert!(state.reserve(1, now(), &config, 1));
    assert!(!state.close_if_idle(now(), start + after, after));
    state.cancel_reservation(1);
    assert!(!state.close_if_idle(now(), start + after, after));
    assert!(state.close_if_idle(now(), start + 2 * after, after));
    assert!(state.is_closed());
}

#[test]
fn first_attempts_do_not_wait_behind_retries_and_do_not_starve_them() {
    let (mut state, mut config) = lane(0);
    config.under_way_guaranteed = 100;
    state.concurrency_limit = 100;
    state.wake_for_rows(&KINDS);
    let claims = KINDS.map(|kind| claim_of(&mut state, &config, kind));
    state.claimed(vec![], 0, claims[0]);
    state.claimed(vec![], 0, claims[1]);
    state.claimed((0..50).map(|_| retry()).collect(), 50, claims[2]);
    assert!(state.reserve(100, now(), &config, 1), "retries take no room of first attempts");
    state.enqueue_reserved(delivery(100));
    let first = |state: &mut LaneState| match state.next_action(now(), &config, 1) {
        LaneAction::Start(delivery) => delivery.attempts == 0,
        _ => panic!("no attempt began"),
    };
    assert!(first(&mut state));
    for _ in 0..20 {
        assert!(state.reserve(100, now(), &config, 1));
        state.enqueue_reserved(delivery(100));
    }
    let begun: Vec<bool> = (0..8).map(|_| first(&mut state)).collect();
    assert_eq!(begun.iter().filter(|first| !**first).count(), 2, "{begun:?}");
}

#[test]
fn a_change_of_the_endpoint_ends_its_pause_and_older_responses_are_ignored() {
    let (mut state, config) = lane(10);
    let at =
        |seconds: i64| LaneLimits { changed_at: from_ms(NOW_MS + 1_000 * seconds), endpoint: None, application: None };
    let hour = ConcurrencySignal::Pause(Duration::from_secs(3_600));
    state.set_limits(at(0), &config);
    assert_eq!(begun(&mut state, &config, 1), 10);
    state.ended(DELIVERY_BYTES, hour, now(), now(), &config);
    assert!(state.is_paused(now()));
    state.set_limits(at(0), &config);
    assert!(state.is_paused(now()), "the endpoint was not changed");
    state.set_limits(at(1), &config);
    assert!(!state.is_paused(now()));
    state.ended(DELIVERY_BYTES, hour, now(), now(), &config);
    assert!(!state.is_paused(now()), "the response is older than the change");
    state.set_limits(at(0), &config);
    state.ended(DELIVERY_BYTES, hour, from_ms(NOW_MS + 1_000), now(), &config);
    assert!(state.is_paused(now()), "the response is newer than the change");
}

#[test]
fn a_changed_rate_applies_to_deliveries_in_memory() {
    let (mut state, config) = lane(100);
    state.concurrency_limit = 64;
    let endpoint = std::num::NonZeroU16::new(20).map(|per_second| ThrottleRate { per_second, nodes: 1 });
    state.set_limits(LaneLimits { changed_at: now(), endpoint, application: None }, &config);
    assert_eq!(begun(&mut state, &config, 1), 1);
    assert!(matches!(state.next_action(now(), &config, 1), LaneAction::WaitUntil(at) if at > now()));
}

#[test]
fn manual_deliveries_ignore_a_pause_but_wait_for_the_store() {
    let (mut state, config) = lane(1);
    assert_eq!(begun(&mut state, &config, 1), 1);
    state.ended(DELIVERY_BYTES, ConcurrencySignal::Pause(Duration::from_secs(3_600)), now(), now(), &config);
    assert!(matches!(state.next_action(now(), &config, 1), LaneAction::WaitUntil(_)));
    state.wake_for_rows(&KINDS);
    let LaneAction::Claim(claim) = state.next_action(now(), &config, 1) else { panic!("no claim was made") };
    assert_eq!(claim.kind, DeliveryKind::Manual);
    let manual = QueuedDelivery { trigger: AttemptTrigger::Manual, ..retry() };
    state.claimed(vec![manual], 1, claim);
    assert!(
        matches!(state.next_action(now(), &config, 1), LaneAction::Start(delivery) if delivery.trigger == AttemptTrigger::Manual)
    );
    assert!(matches!(state.next_action(now(), &config, 1), LaneAction::WaitUntil(_)));
    state.wake_for_rows(&KINDS);
    let LaneAction::Claim(claim) = state.next_action(now(), &config, 1) else { panic!("no claim was made") };
    let later = now() + Duration::from_secs(1);
    state.claim_failed(claim.kind, later);
    assert!(matches!(state.next_action(now(), &config, 1), LaneAction::WaitUntil(until) if until == later));
}

#[test]
fn a_lane_with_large_payloads_claims_no_more_than_its_share() {
    const LARGE: usize = 1 << 20;
    let config = LaneConfig { queued_bytes_max: 4 * LARGE, ..LaneConfig::default() };
    let mut state = LaneState::new(&config);
    let mut taken = 0;
    // The receiver does not respond, and the table has more deliveries than the lane has room for.
    for _ in 0..100 {
        state.wake_for_rows(&[DeliveryKind::First]);
        match state.next_action(now(), &config, 1) {
            LaneAction::Claim(claim) => {
                let rows = claim.room.payload_bytes.div_ceil(LARGE).min(claim.room.rows);
                state.claimed((0..rows).map(|_| delivery(LARGE)).collect(), rows, claim);
                taken += rows;
            }
            LaneAction::Start(_) => {}
            _ => break,
        }
    }
    assert_eq!(taken, 4);
    assert!(state.claim(DeliveryKind::First, &config, 1).is_none());
    // A manual delivery does not wait.
    state.wake_for_rows(&[DeliveryKind::Manual]);
    assert_eq!(claim_of(&mut state, &config, DeliveryKind::Manual).room, ClaimLimit { rows: 1, payload_bytes: 1 });
}
