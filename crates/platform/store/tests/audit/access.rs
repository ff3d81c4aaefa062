//! The access log: what was tampered with is found, and what was cut off by an anchor of before.

use std::sync::Arc;

use kit_runtime::clock::TestClock;
use kit_runtime::vault::Secret;
use platform_core::port::{Page, Store};
use platform_core::users::{NewUser, UserPatch};
use platform_core::verification::{Anchor, VerifyReport};
use platform_core::{Caller, Platform, Role};

use crate::raw_database::RawDatabase;
use crate::test_sale;

/// People who were made and changed, and a way into the tables.
pub(crate) struct TamperRig {
    platform: Platform,
    store: Arc<dyn Store>,
    behind: RawDatabase,
}

impl TamperRig {
    pub(crate) async fn new(store: Arc<dyn Store>, behind: RawDatabase) -> Self {
        let platform = test_sale::platform(&store, &TestClock::default(), 7);
        let ground = Self { platform, store, behind };
        for name in ["ada", "otto", "cleo"] {
            ground.make(name).await;
        }
        let cleo = ground.platform.user_by_email(&Caller::command_line(), "cleo@example.com").await.unwrap();
        let patch = UserPatch { role: Some(Role::Clerk), ..UserPatch::default() };
        ground.platform.change_user(&Caller::command_line(), cleo.id, None, patch).await.unwrap();
        ground
    }

    async fn make(&self, name: &str) {
        let password = Some(Secret::new(b"correct horse battery".to_vec()));
        let new = NewUser {
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

    /// Does it, and gives what is found then; `undo` puts it right.
    async fn tampered(&self, edit: &str, undo: &str) -> Vec<String> {
        assert!(self.behind.execute(edit).await > 0, "{edit}");
        let found = self.broken().await;
        self.behind.execute(undo).await;
        assert_eq!(self.broken().await, Vec::<String>::new(), "{undo}");
        found
    }
}

/// A test of each story on each SQL store.
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
    an_entry_of_access_that_is_edited_moved_or_gone_is_found,
    a_head_of_access_that_is_edited_or_gone_is_found,
    a_log_of_access_that_was_cut_off_or_written_anew_is_missed_by_its_anchor,
}

async fn an_entry_of_access_that_is_edited_moved_or_gone_is_found(ground: TamperRig) {
    assert_eq!(ground.verified(&[]).await.access_entries, 4);
    assert_eq!(ground.broken().await, Vec::<String>::new());
    let edit = |from: &str, to: &str| {
        format!("UPDATE access_log SET content = replace(content, '{from}', '{to}') WHERE number = 2")
    };
    let found = ground.tampered(&edit("administrator", "viewer"), &edit("viewer", "administrator")).await;
    assert_eq!(found, ["Some(2) access log: its hash is not that of its content and the entry before"]);

    let select = format!("SELECT {} FROM access_log WHERE number = 3", ground.behind.literal("hash"));
    let hash = ground.behind.one(&select).await;
    let edit = format!("UPDATE access_log SET hash = {} WHERE number = 3", ground.behind.bytes(&"00".repeat(32)));
    let found = ground.tampered(&edit, &format!("UPDATE access_log SET hash = {hash} WHERE number = 3")).await;
    assert!(found[0].starts_with("Some(3)"), "{found:?}");

    let swap = async || {
        for (from, to) in [(2, -2), (3, 2), (-2, 3)] {
            ground.behind.execute(&format!("UPDATE access_log SET number = {to} WHERE number = {from}")).await;
        }
    };
    swap().await;
    assert!(ground.broken().await[0].starts_with("Some(2)"));
    swap().await;

    ground.behind.execute("CREATE TABLE kept AS SELECT * FROM access_log").await;
    for (number, wanted) in [(2, "entry 2 is missing"), (4, "entries 4 to 4 are missing")] {
        let put_back = format!("INSERT INTO access_log SELECT * FROM kept WHERE number = {number}");
        let found = ground.tampered(&format!("DELETE FROM access_log WHERE number = {number}"), &put_back).await;
        assert!(found.len() == 1 && found[0].ends_with(wanted), "{found:?}");
    }
}

async fn a_head_of_access_that_is_edited_or_gone_is_found(ground: TamperRig) {
    let to = |number| format!("UPDATE access_log_head SET number = {number}");
    for (number, wanted) in [(3, "its head is 3, and its last entry is 4"), (9, "entries 5 to 9 are missing")] {
        let found = ground.tampered(&to(number), &to(4)).await;
        assert!(found[0].ends_with(wanted), "{found:?}");
    }
    ground.behind.execute("DELETE FROM access_log_head").await;
    let found = ground.broken().await;
    assert_eq!(found, ["None access log: the access log has no head row"]);
}

async fn a_log_of_access_that_was_cut_off_or_written_anew_is_missed_by_its_anchor(ground: TamperRig) {
    let before = ground.verified(&[]).await.access_anchor.unwrap();
    ground.make("dora").await;
    let held = ground.verified(&[before]).await;
    assert_eq!((held.anchors_held, held.broken.len()), (1, 0), "it holds whatever comes after it");
    let after = held.access_anchor.unwrap();
    let third = ground.store.access_log(Page { after: Some(2), limit: 1 }).await.unwrap().remove(0);

    // An attacker with write access can cut off the end of the log so that no check finds it.
    ground.behind.execute("DELETE FROM access_log WHERE number > 3").await;
    let hash = ground.behind.bytes(&third.hash.to_string());
    ground.behind.execute(&format!("UPDATE access_log_head SET number = 3, hash = {hash}")).await;
    assert_eq!(ground.broken().await, Vec::<String>::new());
    let found = ground.verified(&[before]).await.broken.remove(0);
    assert_eq!(found.what, "access log: it has 3 entries, and the anchor was noted at entry 4");

    // And write other entries in their place.
    for name in ["eve", "mallory"] {
        ground.make(name).await;
    }
    assert_eq!(ground.broken().await, Vec::<String>::new());
    let found = ground.verified(&[before, after]).await;
    assert_eq!((found.anchors_held, found.broken.len()), (0, 2), "{found:?}");
}
