//! The access log: verification finds edited, moved and deleted entries, and an earlier anchor shows a truncated log.

use std::sync::Arc;

use kit_runtime::clock::TestClock;
use kit_runtime::vault::Secret;
use platform_core::port::{Page, Store};
use platform_core::users::{NewUser, UserPatch};
use platform_core::verification::{Anchor, VerifyReport};
use platform_core::{Caller, Platform, Role};

use crate::raw_database::RawDatabase;
use crate::test_sale;

/// A platform with created and changed users, and a direct connection to its tables.
pub(crate) struct TamperRig {
    platform: Platform,
    store: Arc<dyn Store>,
    database: RawDatabase,
}

impl TamperRig {
    pub(crate) async fn new(store: Arc<dyn Store>, database: RawDatabase) -> Self {
        let platform = test_sale::platform(&store, &TestClock::default(), 7);
        let rig = Self { platform, store, database };
        for name in ["ada", "otto", "cleo"] {
            rig.create_user(name).await;
        }
        let cleo = rig.platform.user_by_email(&Caller::command_line(), "cleo@example.com").await.unwrap();
        let patch = UserPatch { role: Some(Role::Clerk), ..UserPatch::default() };
        rig.platform.change_user(&Caller::command_line(), cleo.id, None, patch).await.unwrap();
        rig
    }

    async fn create_user(&self, name: &str) {
        let password = Some(Secret::new(b"correct horse battery".to_vec()));
        let new = NewUser {
            name: None,
            email: format!("{name}@example.com"),
            role: Role::Administrator,
            password,
            must_change_password: false,
        };
        self.platform.create_user(&Caller::command_line(), new, None).await.unwrap();
    }

    async fn verified(&self, anchors: &[Anchor]) -> VerifyReport {
        let mut verified = VerifyReport::default();
        self.platform.verify_access(anchors, &mut verified).await.unwrap();
        verified
    }

    async fn broken(&self) -> Vec<String> {
        test_sale::broken(&self.platform).await
    }

    /// Runs `edit`, returns the findings of the verification, and reverses the edit with `undo`.
    async fn tampered(&self, edit: &str, undo: &str) -> Vec<String> {
        assert!(self.database.execute(edit).await > 0, "{edit}");
        let found = self.broken().await;
        self.database.execute(undo).await;
        assert_eq!(self.broken().await, Vec::<String>::new(), "{undo}");
        found
    }
}

/// Runs each story on each SQL store.
macro_rules! stories {
    ($($story:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test] async fn $story() {
                let directory = tempfile::tempdir().unwrap();
                let path = directory.path().join("platform.db");
                let store = platform_store::sqlite::open(&path).await.unwrap();
                super::$story(super::TamperRig::new(store, super::RawDatabase::sqlite(&path)).await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")] async fn $story() {
                let url = testkit::postgres::fresh_database().await.unwrap();
                let config = platform_store::postgres::PostgresConfig { url: url.clone(), pool_size: 4, ..Default::default() };
                let store = platform_store::postgres::open(&config).await.unwrap();
                super::$story(super::TamperRig::new(store, super::RawDatabase::postgres(&url).await).await).await;
            })+
        }
    };
}

stories! {
    edited_moved_and_deleted_access_entries_are_found,
    edited_and_deleted_heads_of_the_access_log_are_found,
    an_anchor_shows_that_the_access_log_was_truncated_or_rewritten,
}

async fn edited_moved_and_deleted_access_entries_are_found(rig: TamperRig) {
    assert_eq!(rig.verified(&[]).await.access_entries, 4);
    assert_eq!(rig.broken().await, Vec::<String>::new());
    let edit = |from: &str, to: &str| {
        format!("UPDATE access_log SET content = replace(content, '{from}', '{to}') WHERE number = 2")
    };
    let found = rig.tampered(&edit("administrator", "viewer"), &edit("viewer", "administrator")).await;
    assert_eq!(found, ["Some(2) access log: its hash is not that of its content and the entry before"]);

    let select = format!("SELECT {} FROM access_log WHERE number = 3", rig.database.literal("hash"));
    let hash = rig.database.one(&select).await;
    let edit = format!("UPDATE access_log SET hash = {} WHERE number = 3", rig.database.bytes(&"00".repeat(32)));
    let found = rig.tampered(&edit, &format!("UPDATE access_log SET hash = {hash} WHERE number = 3")).await;
    assert!(found[0].starts_with("Some(3)"), "{found:?}");

    let swap = async || {
        for (from, to) in [(2, -2), (3, 2), (-2, 3)] {
            rig.database.execute(&format!("UPDATE access_log SET number = {to} WHERE number = {from}")).await;
        }
    };
    swap().await;
    assert!(rig.broken().await[0].starts_with("Some(2)"));
    swap().await;

    rig.database.execute("CREATE TABLE kept AS SELECT * FROM access_log").await;
    for (number, wanted) in [(2, "entry 2 is missing"), (4, "entries 4 to 4 are missing")] {
        let put_back = format!("INSERT INTO access_log SELECT * FROM kept WHERE number = {number}");
        let found = rig.tampered(&format!("DELETE FROM access_log WHERE number = {number}"), &put_back).await;
        assert!(found.len() == 1 && found[0].ends_with(wanted), "{found:?}");
    }
}

async fn edited_and_deleted_heads_of_the_access_log_are_found(rig: TamperRig) {
    let to = |number| format!("UPDATE access_log_head SET number = {number}");
    for (number, wanted) in [(3, "its head is 3, and its last entry is 4"), (9, "entries 5 to 9 are missing")] {
        let found = rig.tampered(&to(number), &to(4)).await;
        assert!(found[0].ends_with(wanted), "{found:?}");
    }
    rig.database.execute("DELETE FROM access_log_head").await;
    let found = rig.broken().await;
    assert_eq!(found, ["None access log: the access log has no head row"]);
}

async fn an_anchor_shows_that_the_access_log_was_truncated_or_rewritten(rig: TamperRig) {
    let before = rig.verified(&[]).await.access_anchor.unwrap();
    rig.create_user("dora").await;
    let held = rig.verified(&[before]).await;
    assert_eq!((held.anchors_held, held.broken.len()), (1, 0), "an anchor does not hold after later entries");
    let after = held.access_anchor.unwrap();
    let third = rig.store.access_log(Page { after: Some(2), limit: 1 }).await.unwrap().remove(0);

    // An attacker with write access can truncate the log so that only an anchor shows it.
    rig.database.execute("DELETE FROM access_log WHERE number > 3").await;
    let hash = rig.database.bytes(&third.hash.to_string());
    rig.database.execute(&format!("UPDATE access_log_head SET number = 3, hash = {hash}")).await;
    assert_eq!(rig.broken().await, Vec::<String>::new());
    let found = rig.verified(&[before]).await.broken.remove(0);
    assert_eq!(found.what, "access log: it has 3 entries, and the anchor was noted at entry 4");

    // The attacker can also write other entries instead.
    for name in ["eve", "mallory"] {
        rig.create_user(name).await;
    }
    assert_eq!(rig.broken().await, Vec::<String>::new());
    let found = rig.verified(&[before, after]).await;
    assert_eq!((found.anchors_held, found.broken.len()), (0, 2), "{found:?}");
}
