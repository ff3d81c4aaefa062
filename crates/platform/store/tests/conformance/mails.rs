//! MailStore: the queue of mails to bidders, and reminders of sales.

use std::time::Duration;

use platform_core::port::{
    ClaimedMail, HeldCount, HeldMails, KeptLateBid, Language, LotOffer, MailBacklog, MailCounts, MailKind, MailResult,
    MailState, MailText, NewMail, PartyErasureWrite, Registration, RegistrationStatus, RegistrationWrite, Reminder,
    ReminderStep, StoreError, StoredMail, Versioned,
};
use platform_rules::LogHead;
use uuid::Uuid;

use super::given::{Shared, at, auction_uuid, caller_uuid, customer_uuid, page, sale, whole};
use super::late_bids::late;
use super::lot_offers::offer;

fn registration(number: usize, party: Option<usize>) -> Registration {
    Registration {
        uuid: caller_uuid(100 + number),
        auction: auction_uuid(1),
        customer: customer_uuid(1),
        paddle: number.to_string(),
        party: party.map(|party| caller_uuid(300 + party)),
        name: None,
        email: None,
        limit: None,
        note: None,
        status: RegistrationStatus::Approved,
        reason: None,
        actor: "key:1".into(),
        version: 1,
        created_at: at(1),
        updated_at: at(2),
        log: LogHead::default(),
        spending_version: 1,
    }
}

/// A mail to the registration of this number, with characters that need escaping in SQL.
pub(super) fn mail(number: usize, of: &Registration, kind: MailKind) -> NewMail {
    NewMail {
        uuid: caller_uuid(700 + number),
        customer: customer_uuid(1),
        auction: of.auction,
        registration: of.uuid,
        party: of.party,
        kind,
        recipient: format!("bidder{number}@example.com"),
        subject: "Größe '12' \"%_".into(),
        text: "Guten Tag,\n\n'…'\n".into(),
        queued_at: at(10 * number as i64),
        unsubscribe: Some(format!("https://bid.example/'{number}'")),
    }
}

async fn decide(
    store: &Shared,
    expected_version: i64,
    state: Registration,
    mail: Option<NewMail>,
) -> Result<(), StoreError> {
    let registration = Versioned { expected_version, state };
    store
        .put_registration(RegistrationWrite {
            registration,
            log: Vec::new(),
            answer: None,
            mail,
            notice_cause: None,
            limit_decided: None,
        })
        .await
}

/// A registration with a mail that waits.
async fn queued(store: &Shared, number: usize) -> (Registration, NewMail) {
    let state = registration(number, Some(number));
    let mail = mail(number, &state, MailKind::Approved);
    decide(store, 0, state.clone(), Some(mail.clone())).await.unwrap();
    (state, mail)
}

async fn in_state(store: &Shared, state: MailState) -> Vec<Uuid> {
    let found = store.mails(customer_uuid(1), state, whole()).await.unwrap();
    found.into_iter().map(|stored| stored.mail.uuid).collect()
}

pub(super) async fn a_mail_is_claimed_once_and_ends_as_it_was_recorded(store: Shared) {
    sale(&store, 1).await;
    assert_eq!(store.claim_mails(at(1_000), at(2_000), 9).await.unwrap(), []);
    let (_, first) = queued(&store, 1).await;
    let (_, second) = queued(&store, 2).await;
    let stored = StoredMail {
        mail: first.clone(),
        state: MailState::Waiting,
        tries: 0,
        next_at: at(10),
        fault: None,
        failing_since: None,
        ended_at: None,
        held_since: None,
    };
    assert_eq!(store.mail(first.uuid).await.unwrap(), Some(stored.clone()));
    assert_eq!(store.mail(caller_uuid(799)).await.unwrap(), None);

    // Not before it is due, the longest due first, and not again during the claim.
    assert_eq!(store.claim_mails(at(9), at(2_000), 9).await.unwrap(), []);
    let claimed = |mail: &NewMail, tries| ClaimedMail { mail: mail.clone(), tries };
    assert_eq!(store.claim_mails(at(1_000), at(2_000), 1).await.unwrap(), [claimed(&first, 1)]);
    assert_eq!(store.claim_mails(at(1_000), at(2_000), 9).await.unwrap(), [claimed(&second, 1)]);
    assert_eq!(store.claim_mails(at(1_999), at(9_000), 9).await.unwrap(), []);

    // A failed try: the fault is shown since the first one.
    let postponed = |fault: &str, until| MailResult::Postponed(fault.into(), at(until));
    assert!(store.record_mail_result(first.uuid, 1, postponed("busy \u{0}", 3_000), at(1_100)).await.unwrap());
    assert!(store.record_mail_result(second.uuid, 1, MailResult::Sent, at(1_200)).await.unwrap());
    let claims = store.claim_mails(at(3_000), at(4_000), 9).await.unwrap();
    assert_eq!(claims, [claimed(&first, 2)]);
    // The result of an earlier claim does not count any more.
    assert!(!store.record_mail_result(first.uuid, 1, MailResult::Sent, at(3_100)).await.unwrap());
    assert!(store.record_mail_result(first.uuid, 2, postponed("still busy", 5_000), at(3_200)).await.unwrap());
    let waits = store.mail(first.uuid).await.unwrap().unwrap();
    let shown = (waits.state, waits.tries, waits.next_at, waits.fault.as_deref(), waits.failing_since);
    assert_eq!(shown, (MailState::Waiting, 2, at(5_000), Some("still busy"), Some(at(1_100))));

    // Held back without a try, then given up.
    store.claim_mails(at(5_000), at(6_000), 9).await.unwrap();
    assert!(
        store
            .record_mail_result(first.uuid, 3, MailResult::Held("too many".into(), at(7_000)), at(5_100))
            .await
            .unwrap()
    );
    let held = store.mail(first.uuid).await.unwrap().unwrap();
    assert_eq!((held.tries, held.next_at, held.fault.as_deref()), (2, at(7_000), Some("too many")));
    store.claim_mails(at(7_000), at(8_000), 9).await.unwrap();
    assert!(!store.send_mail_again(first.uuid, "x@example.com", at(7_050)).await.unwrap(), "it waits");
    assert!(
        store.record_mail_result(first.uuid, 3, MailResult::Failed("no such user".into()), at(7_100)).await.unwrap()
    );
    let failed = store.mail(first.uuid).await.unwrap().unwrap();
    let shown = (failed.state, failed.tries, failed.fault.as_deref(), failed.failing_since, failed.ended_at);
    assert_eq!(shown, (MailState::Failed, 3, Some("no such user"), Some(at(1_100)), Some(at(7_100))));
    assert_eq!(store.claim_mails(at(90_000), at(91_000), 9).await.unwrap(), []);

    // Sent again, to another address.
    assert!(store.send_mail_again(first.uuid, "other@example.com", at(8_000)).await.unwrap());
    assert!(!store.send_mail_again(second.uuid, "other@example.com", at(8_000)).await.unwrap(), "it was sent");
    let again = store.claim_mails(at(8_000), at(9_000), 9).await.unwrap();
    assert_eq!((again.len(), again[0].tries, &*again[0].mail.recipient), (1, 1, "other@example.com"));
}

pub(super) async fn a_mail_that_waits_for_its_next_try_is_made_due_once(store: Shared) {
    sale(&store, 1).await;
    let (_, mail) = queued(&store, 1).await;
    let now = async |tries, time| store.send_mail_now(mail.uuid, tries, "new@example.com", at(time)).await.unwrap();
    assert!(!now(0, 20).await, "it is due");
    store.claim_mails(at(100), at(1_000), 9).await.unwrap();
    assert!(!now(1, 200).await, "it is being sent");
    let postponed = MailResult::Postponed("busy".into(), at(9_000));
    store.record_mail_result(mail.uuid, 1, postponed.clone(), at(200)).await.unwrap();
    assert!(!now(0, 300).await, "the page was opened before the last try");
    let (one, two) = tokio::join!(now(1, 300), now(1, 300));
    assert!(one ^ two, "the button was pressed twice");
    let [claimed] = store.claim_mails(at(300), at(2_000), 9).await.unwrap().try_into().unwrap();
    assert_eq!((claimed.tries, &*claimed.mail.recipient), (2, "new@example.com"));
    assert!(!now(1, 400).await && !now(2, 400).await, "it is being sent");
    store.record_mail_result(mail.uuid, 2, postponed, at(500)).await.unwrap();
    assert!(!now(1, 600).await, "a form of before the second try");
    assert!(now(2, 600).await);

    // The store releases the claims of a process that ended. A mail that waits for its next try, or is due, is not claimed.
    let (_, claimed) = queued(&store, 2).await;
    let (_, waits) = queued(&store, 3).await;
    store.claim_mails(at(600), at(5_000), 9).await.unwrap();
    let held = MailResult::Postponed("busy".into(), at(8_000));
    store.record_mail_result(waits.uuid, 1, held, at(610)).await.unwrap();
    assert_eq!(store.release_mails(at(700)).await.unwrap(), 2);
    assert_eq!(store.release_mails(at(700)).await.unwrap(), 0);
    let released = store.claim_mails(at(700), at(9_000), 9).await.unwrap();
    let mut released: Vec<Uuid> = released.into_iter().map(|claimed| claimed.mail.uuid).collect();
    released.sort_unstable();
    assert_eq!(released, [mail.uuid, claimed.uuid]);
}

pub(super) async fn a_decision_is_written_with_its_mail_or_not_at_all(store: Shared) {
    sale(&store, 1).await;
    let (state, first) = queued(&store, 1).await;
    let next = |version| Registration { status: RegistrationStatus::Suspended, version, ..state.clone() };
    let suspended = mail(2, &state, MailKind::Suspended);
    assert!(matches!(decide(&store, 5, next(6), Some(suspended.clone())).await, Err(StoreError::Conflict)));
    assert_eq!(in_state(&store, MailState::Waiting).await, [first.uuid]);
    // A reminder and the mail about another registration stay; the mail about the earlier decision does not.
    let (_, other) = queued(&store, 3).await;
    decide(&store, 1, next(2), Some(suspended.clone())).await.unwrap();
    assert_eq!(in_state(&store, MailState::Waiting).await, [other.uuid, suspended.uuid]);
    // One that was sent stays, too. A change without a mail replaces none.
    store.claim_mails(at(20), at(100), 1).await.unwrap();
    store.record_mail_result(suspended.uuid, 1, MailResult::Sent, at(30)).await.unwrap();
    let approved = mail(4, &state, MailKind::Approved);
    decide(&store, 2, next(3), Some(approved.clone())).await.unwrap();
    decide(&store, 3, next(4), None).await.unwrap();
    assert_eq!(in_state(&store, MailState::Waiting).await, [approved.uuid, other.uuid]);
    let of_registration = store.mails_of_registration(state.uuid, 9).await.unwrap();
    let uuids: Vec<Uuid> = of_registration.into_iter().map(|stored| stored.mail.uuid).collect();
    assert_eq!(uuids, [approved.uuid, suspended.uuid]);
}

pub(super) async fn the_mails_of_an_erased_person_are_deleted(store: Shared) {
    sale(&store, 1).await;
    let (state, _) = queued(&store, 1).await;
    let (_, other) = queued(&store, 2).await;
    // A mail from before the registration named the record.
    let unlinked = registration(3, None);
    decide(&store, 0, unlinked.clone(), Some(mail(3, &unlinked, MailKind::Approved))).await.unwrap();
    store.claim_mails(at(10), at(100), 1).await.unwrap();
    // An offer to the bidder and a late bid are theirs, too.
    let offered = LotOffer { registration: state.uuid, auction: state.auction, ..offer(1, 1, 0, 480) };
    store.put_offer(offered.clone(), None, None, "offered".into()).await.unwrap();
    let (late, other_late) = (late(1, 1, &state.paddle), late(2, 1, "another"));
    for bid in [&late, &other_late] {
        store.keep_late_bid(KeptLateBid { auction: state.auction, ..bid.clone() }, (9, 9)).await.unwrap();
    }
    let auction = state.auction;
    let erased = |state: Registration| RegistrationWrite {
        registration: Versioned { expected_version: 1, state: Registration { version: 2, ..state } },
        log: Vec::new(),
        answer: None,
        mail: None,
        notice_cause: None,
        limit_decided: None,
    };
    let registrations = vec![erased(state), erased(unlinked)];
    store.erase_party(PartyErasureWrite { parties: Vec::new(), registrations, remaining: Vec::new() }).await.unwrap();
    assert_eq!(in_state(&store, MailState::Waiting).await, [other.uuid]);
    assert_eq!(store.lot_offer(offered.uuid).await.unwrap(), None);
    let kept = store.late_bids_of(auction, None, 9).await.unwrap();
    assert_eq!(kept, [KeptLateBid { auction, ..other_late }]);
    // The result of the claim finds no mail any more.
    assert!(!store.record_mail_result(caller_uuid(701), 1, MailResult::Sent, at(50)).await.unwrap());
}

pub(super) async fn mails_are_listed_counted_and_deleted_after_their_time(store: Shared) {
    sale(&store, 1).await;
    assert_eq!(store.waiting_mails(at(999)).await.unwrap(), MailBacklog::default());
    for number in 1..=4 {
        queued(&store, number).await;
    }
    let uuid = |number: usize| caller_uuid(700 + number);
    // Those that are due count, and those that were tried; not those that are held back.
    let backlog = |mails, oldest| MailBacklog { mails, oldest_at: Some(at(oldest)) };
    assert_eq!(store.waiting_mails(at(25)).await.unwrap(), backlog(2, 10));
    store.claim_mails(at(25), at(100), 9).await.unwrap();
    assert_eq!(store.waiting_mails(at(26)).await.unwrap(), backlog(2, 10));
    store.record_mail_result(uuid(1), 1, MailResult::Held("too many".into(), at(500)), at(26)).await.unwrap();
    assert_eq!(store.waiting_mails(at(27)).await.unwrap(), backlog(1, 20));
    store.record_mail_result(uuid(2), 1, MailResult::Sent, at(28)).await.unwrap();
    store.claim_mails(at(40), at(100), 9).await.unwrap();
    store.record_mail_result(uuid(3), 1, MailResult::Failed("no".into()), at(50)).await.unwrap();

    let house = customer_uuid(1);
    assert_eq!(store.mail_counts(house).await.unwrap(), MailCounts { waiting: 2, failed: 1, sent: 1 });
    assert_eq!(store.mail_counts(customer_uuid(2)).await.unwrap(), MailCounts::default());
    assert_eq!(store.failed_mails(None, at(50)).await.unwrap(), [(house, 1)]);
    assert_eq!(store.failed_mails(Some(house), at(49)).await.unwrap(), [(house, 1)]);
    assert_eq!(store.failed_mails(Some(customer_uuid(2)), at(0)).await.unwrap(), []);
    assert_eq!(store.failed_mails(None, at(51)).await.unwrap(), []);
    assert_eq!(in_state(&store, MailState::Waiting).await, [uuid(4), uuid(1)]);
    let second = store.mails(house, MailState::Waiting, page(Some(uuid(4)), 1)).await.unwrap();
    assert_eq!(second.iter().map(|stored| stored.mail.uuid).collect::<Vec<_>>(), [uuid(1)]);

    assert_eq!(store.delete_old_mails(at(28), 9).await.unwrap(), 0);
    assert_eq!(store.delete_old_mails(at(29), 9).await.unwrap(), 1);
    assert_eq!(store.delete_old_mails(at(900), 9).await.unwrap(), 1);
    assert_eq!(store.mail_counts(house).await.unwrap(), MailCounts { waiting: 2, failed: 0, sent: 0 });
}

pub(super) async fn due_mails_of_a_house_are_held_back_one_after_the_other(store: Shared) {
    sale(&store, 1).await;
    for number in 1..=5 {
        queued(&store, number).await;
    }
    let uuid = |number: usize| caller_uuid(700 + number);
    let held = |customer| HeldMails {
        customer,
        reason: "the house's limit".into(),
        after: at(1_000),
        interval: Duration::from_millis(100),
    };
    let house = customer_uuid(1);
    // The first one is being sent. The fifth is not due yet.
    store.claim_mails(at(40), at(5_000), 1).await.unwrap();
    assert_eq!(store.hold_mails(at(40), held(customer_uuid(2)), 9).await.unwrap(), 0);
    assert_eq!(store.hold_mails(at(40), held(house), 2).await.unwrap(), 2);
    assert_eq!(store.hold_mails(at(40), HeldMails { after: at(1_200), ..held(house) }, 2).await.unwrap(), 1);
    let mut shown = Vec::new();
    for number in 1..=5 {
        let stored = store.mail(uuid(number)).await.unwrap().unwrap();
        shown.push((stored.next_at, stored.fault, stored.tries));
    }
    let reason = || Some("the house's limit".to_owned());
    let held = |due| (at(due), reason(), 0);
    assert_eq!(shown, [(at(5_000), None, 1), held(1_100), held(1_200), held(1_300), (at(50), None, 0)]);
    let claimed = store.claim_mails(at(1_250), at(9_000), 9).await.unwrap();
    let mut claimed: Vec<Uuid> = claimed.into_iter().map(|claimed| claimed.mail.uuid).collect();
    claimed.sort_unstable();
    assert_eq!(claimed, [uuid(2), uuid(3), uuid(5)]);
}

pub(super) async fn mails_that_wait_for_a_limit_are_counted_and_made_due_at_once(store: Shared) {
    sale(&store, 1).await;
    for number in 1..=5 {
        queued(&store, number).await;
    }
    let (house, uuid) = (customer_uuid(1), |number: usize| caller_uuid(700 + number));
    assert_eq!(store.held_mails(None).await.unwrap(), []);
    // The first mail waits for a limit after a try. Two follow it, and two are not due yet.
    store.claim_mails(at(30), at(9_000), 1).await.unwrap();
    let held = MailResult::Held("the hourly limit".into(), at(1_000));
    store.record_mail_result(uuid(1), 1, held, at(35)).await.unwrap();
    let others = HeldMails {
        customer: house,
        reason: "the hourly limit".into(),
        after: at(1_000),
        interval: Duration::from_millis(100),
    };
    assert_eq!(store.hold_mails(at(36), others.clone(), 9).await.unwrap(), 2);
    let of_house = |mails, since| [(house, HeldCount { mails, since: at(since) })];
    assert_eq!(store.held_mails(None).await.unwrap(), of_house(3, 35));
    assert_eq!(store.held_mails(Some(house)).await.unwrap(), of_house(3, 35));
    assert_eq!(store.held_mails(Some(customer_uuid(2))).await.unwrap(), []);

    // The fourth is tried in vain: it waits for its next try, not for a limit.
    store.claim_mails(at(40), at(9_000), 1).await.unwrap();
    store.record_mail_result(uuid(4), 1, MailResult::Postponed("busy".into(), at(5_000)), at(41)).await.unwrap();
    // A mail that is held again waits since the first time.
    assert_eq!(store.release_held_mails(at(50), 2).await.unwrap(), 2);
    assert_eq!(store.release_held_mails(at(50), 9).await.unwrap(), 1);
    assert_eq!(store.release_held_mails(at(50), 9).await.unwrap(), 0, "all are due");
    let claimed = store.claim_mails(at(50), at(9_000), 1).await.unwrap();
    assert_eq!(store.held_mails(None).await.unwrap(), of_house(3, 35), "a claimed mail waits until it is sent");
    assert_eq!(store.release_held_mails(at(60), 9).await.unwrap(), 0, "a claimed mail stays claimed");
    assert_eq!(store.hold_mails(at(50), others, 9).await.unwrap(), 3);
    let since = async |number: usize| store.mail(uuid(number)).await.unwrap().unwrap().held_since;
    assert_eq!(claimed[0].mail.uuid, uuid(1), "the order of the queue");
    let all = [since(1).await, since(2).await, since(4).await, since(5).await];
    assert_eq!(all, [Some(at(35)), Some(at(36)), None, Some(at(50))]);

    // With a higher limit all are due at once, and the mail that waits for its next try is not.
    assert_eq!(store.release_held_mails(at(70), 9).await.unwrap(), 3);
    let due = store.claim_mails(at(70), at(9_000), 9).await.unwrap();
    let mut due: Vec<Uuid> = due.into_iter().map(|claimed| claimed.mail.uuid).collect();
    due.sort_unstable();
    assert_eq!(due, [2, 3, 5].map(uuid));
    for (number, result) in [
        (1, MailResult::Sent),
        (2, MailResult::Failed("no such user".into())),
        (3, MailResult::Postponed("busy".into(), at(5_000))),
        (5, MailResult::Sent),
    ] {
        assert!(store.record_mail_result(uuid(number), 1, result, at(80)).await.unwrap());
        assert_eq!(since(number).await, None, "mail {number} waits for no limit any more");
    }
    assert_eq!(store.held_mails(None).await.unwrap(), []);
}

pub(super) async fn a_reminder_begins_once_and_is_made_in_parts(store: Shared) {
    sale(&store, 1).await;
    let reminder = |number: usize| Reminder {
        uuid: caller_uuid(900 + number),
        customer: customer_uuid(1),
        auction: auction_uuid(1),
        actor: "user:1".into(),
        language: Language::French,
        text: MailText { subject: "Vente '{sale}'".into(), text: "Bonjour,\n\n{paddle}".into() },
        after: None,
        recipients: 0,
        without_email: 0,
        created_at: at(number as i64),
        ended_at: None,
    };
    let first = reminder(1);
    assert_eq!(store.latest_reminder(auction_uuid(1)).await.unwrap(), None);
    store.begin_reminder(first.clone(), None).await.unwrap();
    assert!(matches!(store.begin_reminder(first.clone(), None).await, Err(StoreError::Taken("reminder"))));
    assert!(
        matches!(store.begin_reminder(reminder(2), None).await, Err(StoreError::Conflict)),
        "the first was not seen"
    );
    assert_eq!(store.latest_reminder(auction_uuid(1)).await.unwrap(), Some(first.clone()));
    assert_eq!(store.open_reminders(9).await.unwrap(), std::slice::from_ref(&first));

    let (one, two) = (registration(1, Some(1)), registration(2, None));
    for state in [&one, &two] {
        decide(&store, 0, state.clone(), None).await.unwrap();
    }
    let step = |read: &Reminder, mails, through: Option<&Registration>, ended_at| ReminderStep {
        reminder: read.clone(),
        through: through.map(|registration| registration.uuid),
        mails,
        without_email: 1,
        ended_at,
    };
    // A registration that changed meanwhile: nothing of the part is written.
    let changed = vec![(mail(1, &one, MailKind::Reminder), 1), (mail(2, &two, MailKind::Reminder), 7)];
    let refused = store.remind(step(&first, changed, Some(&two), None)).await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    assert!(in_state(&store, MailState::Waiting).await.is_empty());

    // Of two nodes that make the same part, one does.
    let part = |number, of: &Registration| vec![(mail(number, of, MailKind::Reminder), 1)];
    let (here, there) = tokio::join!(
        store.remind(step(&first, part(1, &one), Some(&one), None)),
        store.remind(step(&first, part(2, &one), Some(&one), None)),
    );
    assert_eq!(usize::from(here.is_ok()) + usize::from(there.is_ok()), 1, "{here:?} {there:?}");
    let read = store.latest_reminder(auction_uuid(1)).await.unwrap().unwrap();
    assert_eq!((read.after, read.recipients, read.without_email, read.ended_at), (Some(one.uuid), 1, 1, None));
    store.remind(step(&read, part(3, &two), Some(&two), Some(at(9)))).await.unwrap();
    let ended = store.latest_reminder(auction_uuid(1)).await.unwrap().unwrap();
    assert_eq!((ended.recipients, ended.without_email, ended.ended_at), (2, 2, Some(at(9))));
    assert!(matches!(store.remind(step(&ended, Vec::new(), None, Some(at(9)))).await, Err(StoreError::Conflict)));
    assert_eq!(store.open_reminders(9).await.unwrap(), []);
    assert_eq!(in_state(&store, MailState::Waiting).await.len(), 2);

    // A reminder stays when a later decision replaces the mail about an earlier one.
    let approved = mail(5, &two, MailKind::Approved);
    decide(&store, 1, Registration { version: 2, ..two }, Some(approved)).await.unwrap();
    assert_eq!(in_state(&store, MailState::Waiting).await.len(), 3);
    store.begin_reminder(reminder(2), Some(first.uuid)).await.unwrap();
    assert_eq!(store.latest_reminder(auction_uuid(1)).await.unwrap().map(|latest| latest.uuid), Some(caller_uuid(902)));
}
