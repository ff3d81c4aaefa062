//! Erasures: the log verifies after one, and a value that is missing for another reason is found.

use platform_core::audit::chain;
use platform_core::bidders::PartyInput;
use platform_core::port::{Party, PartyDetails};
use platform_rules::LogHash;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::raw_database::{RawDatabase, quoted};
use crate::tampering::{TamperRig, literal, stories};

stories! {
    an_erased_person_is_in_no_table_and_the_log_verifies,
    a_value_that_was_deleted_by_hand_is_found,
    an_erased_value_that_is_stored_again_is_found,
    a_forged_erasure_is_found,
    an_erasure_that_leaves_a_value_is_found,
}

const TABLES: [&str; 5] = ["audit_log", "parties", "registrations", "telephone_bookings", "access_log"];

async fn an_erased_person_is_in_no_table_and_the_log_verifies(rig: TamperRig) {
    let person = enter(&rig, "Grace Hopper").await;
    assert!(!rows_with(&rig, "Hopper").await.is_empty());
    erase(&rig, person.uuid).await;
    assert_eq!(rig.broken().await, Vec::<String>::new());
    for trace in ["Hopper", "grace@example.com", "seafaring"] {
        assert_eq!(rows_with(&rig, trace).await, Vec::<String>::new(), "{trace}");
    }
}

async fn a_value_that_was_deleted_by_hand_is_found(rig: TamperRig) {
    let person = enter(&rig, "Grace Hopper").await;
    let wanted = |entry: i64, pointer: &str| {
        format!("Some({entry}) the concealed value of {pointer} is missing, and no later entry erases it")
    };
    // All values of an entry, and then one of them.
    let before = rig.concealed(person.uuid, 1).await;
    rig.conceal(person.uuid, 1, "NULL").await;
    assert_eq!(rig.broken().await, [wanted(1, "/state/details")]);
    let mut rest: Value = serde_json::from_str(&before).unwrap();
    assert!(rest.as_object_mut().unwrap().remove("/state/identity").is_some());
    rig.conceal(person.uuid, 1, &quoted(&rest.to_string())).await;
    assert_eq!(rig.broken().await, [wanted(1, "/state/identity")]);
    rig.conceal(person.uuid, 1, &quoted(&before)).await;
    // Limit and party of an erased person's registration stay: no erasure names it.
    erase(&rig, person.uuid).await;
    let registration = rig.registration_of(person.uuid).await;
    let before = rig.concealed(registration, 1).await;
    assert!(before.contains("/state/limit") && !before.contains("/state/name"), "{before}");
    rig.conceal(registration, 1, "NULL").await;
    assert_eq!(rig.broken().await, [wanted(1, "/state/party")]);
    rig.conceal(registration, 1, &quoted(&before)).await;
    assert_eq!(rig.broken().await, Vec::<String>::new(), "an edit was not reversed completely");
}

async fn an_erased_value_that_is_stored_again_is_found(rig: TamperRig) {
    let person = enter(&rig, "Grace Hopper").await;
    let before = rig.concealed(person.uuid, 1).await;
    erase(&rig, person.uuid).await;
    rig.conceal(person.uuid, 1, &quoted(&before)).await;
    let wanted = "Some(1) the concealed value of /state/details was erased by a later entry, and is still stored";
    assert_eq!(rig.broken().await, [wanted]);
}

async fn a_forged_erasure_is_found(rig: TamperRig) {
    let person = enter(&rig, "Grace Hopper").await;
    let wanted = |found: &[String], what: &str| assert!(found.iter().any(|it| it.contains(what)), "{what}: {found:?}");
    // An entry after the last one, whose head the state does not have.
    let all = json!([{ "entry": 1, "values": ["/state/details", "/state/identity"] }, { "entry": 2, "values": ["/details", "/identity"] }]);
    let forged = rig.append_erasure(&person, all.clone()).await;
    rig.conceal(person.uuid, 1, "NULL").await;
    rig.conceal(person.uuid, 2, "NULL").await;
    wanted(&rig.broken().await, "its state names entry 2 as the last one");
    // The same with the head in the state, which still has the details.
    rig.put_head(&person, 3, forged).await;
    wanted(&rig.broken().await, "its state differs from its log in: details, identity, erasure");
    rig.take_back(&person).await;

    // An erasure of what the entry does not conceal, of a later entry, and of what no erasure removes.
    for (removed, what) in [
        (
            json!([{ "entry": 1, "values": ["/state/customer"] }]),
            "Some(1) a later entry erased a value that this entry",
        ),
        (json!([{ "entry": 3, "values": ["/details"] }]), "Some(3) a later entry erased a value that this entry"),
        (
            json!([{ "entry": 9, "values": ["/details"] }]),
            "Some(3) it erases values of entry 9, which is not before it",
        ),
        (
            json!([{ "entry": 0, "values": ["/details"] }]),
            "Some(3) it erases values of entry 0, which is not before it",
        ),
    ] {
        let forged = rig.append_erasure(&person, removed).await;
        rig.put_head(&person, 3, forged).await;
        wanted(&rig.broken().await, what);
        rig.take_back(&person).await;
    }
    assert_eq!(rig.broken().await, Vec::<String>::new(), "an edit was not reversed completely");
}

async fn an_erasure_that_leaves_a_value_is_found(rig: TamperRig) {
    let person = enter(&rig, "Grace Hopper").await;
    let removed = json!([{ "entry": 1, "values": ["/state/details", "/state/identity"] }]);
    let forged = rig.append_erasure(&person, removed).await;
    rig.conceal(person.uuid, 1, "NULL").await;
    rig.put_head(&person, 3, forged).await;
    let found = rig.broken().await;
    let wanted = "Some(3) it erases a person and leaves the value of /details in entry 2";
    assert!(found.iter().any(|found| found == wanted), "{found:?}");
}

/// A bidder with two entries in the log, who is registered for a sale with a telephone booking.
async fn enter(rig: &TamperRig, name: &str) -> Party {
    let sale = &rig.sale;
    let details = PartyDetails {
        name: name.to_owned(),
        is_bidder: true,
        email: Some("grace@example.com".to_owned()),
        note: Some("a seafaring person".to_owned()),
        ..PartyDetails::default()
    };
    let input = PartyInput { details, document: Some("passport".to_owned()) };
    let created = sale.auction(platform_rules::AuctionKind::Webcast, 1).await;
    let house = created.auction.customer;
    let party = sale.platform.create_party(&sale.caller, house, &input).await.unwrap().uuid;
    let input =
        PartyInput { details: PartyDetails { reference: Some("B-9".to_owned()), ..input.details.clone() }, ..input };
    let party = sale.platform.change_party(&sale.caller, party, &input, None).await.unwrap();
    let entry = platform_core::bidders::NewRegistration {
        paddle: Some("77".to_owned()),
        party: Some(party.uuid),
        name: None,
        email: None,
        limit: Some(9_000),
        note: Some("a seafaring person".to_owned()),
        status: platform_core::port::RegistrationStatus::Approved,
    };
    sale.platform.register_bidder(&sale.caller, created.auction.uuid, &entry, None).await.unwrap();
    let booking = platform_core::port::TelephoneBooking {
        auction: created.auction.uuid,
        item: created.items[0].uuid,
        paddle: "77".to_owned(),
        telephone: "+1 555 0100 (Hopper)".to_owned(),
        line: String::new(),
        changed_at: party.created_at,
        changed_by: "user:1".to_owned(),
    };
    assert!(sale.store.put_telephone_booking(booking, 10).await.unwrap());
    party
}

async fn erase(rig: &TamperRig, person: Uuid) {
    rig.sale.platform.erase_party(&rig.sale.caller, person, None).await.unwrap();
}

/// The tables with rows that contain a text.
async fn rows_with(rig: &TamperRig, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for table in TABLES {
        for (column, _) in rig.database.columns(table).await {
            let select = format!(
                "SELECT CAST(count(*) AS text) FROM {table} WHERE CAST({column} AS text) LIKE {}",
                quoted(&format!("%{text}%"))
            );
            if rig.database.one(&select).await != "0" {
                found.push(format!("{table}.{column}"));
            }
        }
    }
    found
}

impl TamperRig {
    fn entry(&self, subject: Uuid, number: i64) -> String {
        format!("WHERE subject = {} AND number = {number}", literal(&self.database, subject))
    }

    async fn concealed(&self, subject: Uuid, number: i64) -> String {
        self.database.one(&format!("SELECT concealed FROM audit_log {}", self.entry(subject, number))).await
    }

    async fn conceal(&self, subject: Uuid, number: i64, value: &str) {
        let update = format!("UPDATE audit_log SET concealed = {value} {}", self.entry(subject, number));
        assert_eq!(self.database.execute(&update).await, 1);
    }

    async fn registration_of(&self, party: Uuid) -> Uuid {
        let page = platform_core::port::Page { after: None, limit: 1 };
        self.sale.store.registrations_of_party(party, page).await.unwrap()[0].uuid
    }

    /// Keeps the rows of a person, and appends an entry of an erasure with a matching hash, which it returns.
    async fn append_erasure(&self, person: &Party, removed: Value) -> LogHash {
        let subject = literal(&self.database, person.uuid);
        for (table, column) in [("audit_log", "subject"), ("parties", "uuid")] {
            let keep = format!("CREATE TABLE kept_{table} AS SELECT * FROM {table} WHERE {column} = {subject}");
            self.database.execute(&keep).await;
        }
        let content = json!({
            "subject": person.uuid, "kind": "party", "number": 3, "version": 3, "at": "2026-11-21T12:00:00.000Z",
            "actor": "user:1", "cause": "person_erased", "reason": null,
            "change": { "change": "erased", "details": null, "keptUntil": null, "removed": removed }
        });
        let content = content.to_string();
        let hash = chain(person.log.hash, &content);
        let insert = format!(
            "INSERT INTO audit_log (subject, number, content, hash) VALUES ({subject}, 3, {}, {})",
            quoted(&content),
            self.database.bytes(&hash.to_string())
        );
        assert_eq!(self.database.execute(&insert).await, 1);
        hash
    }

    /// Writes the head of the log into the state.
    async fn put_head(&self, person: &Party, number: i64, hash: LogHash) {
        let state = Party { version: 3, log: platform_rules::LogHead { number, hash }, ..person.clone() };
        let state = serde_json::to_string(&state).unwrap();
        let update = format!(
            "UPDATE parties SET version = 3, state = {} WHERE uuid = {}",
            quoted(&state),
            literal(&self.database, person.uuid)
        );
        assert_eq!(self.database.execute(&update).await, 1);
    }

    /// Puts the rows of [`Self::append_erasure`] back.
    async fn take_back(&self, person: &Party) {
        let subject = literal(&self.database, person.uuid);
        for (table, column) in [("audit_log", "subject"), ("parties", "uuid")] {
            self.database.execute(&format!("DELETE FROM {table} WHERE {column} = {subject}")).await;
            self.database.execute(&format!("INSERT INTO {table} SELECT * FROM kept_{table}")).await;
            self.database.execute(&format!("DROP TABLE kept_{table}")).await;
        }
    }
}
