//! The hold after a restore from a backup.

use kit_runtime::hold::Hold;

use super::given::*;

pub(super) async fn a_hold_begins_is_replaced_and_ends(store: Shared) {
    assert_eq!(store.hold().await.unwrap(), None);
    let unknown = Hold { backup_at: None, since: at(20) };
    store.put_hold(Some(unknown)).await.unwrap();
    assert_eq!(store.hold().await.unwrap(), Some(unknown));
    let known = Hold { backup_at: Some(at(3)), since: at(30) };
    store.put_hold(Some(known)).await.unwrap();
    assert_eq!(store.hold().await.unwrap(), Some(known));
    for _ in 0..2 {
        store.put_hold(None).await.unwrap();
        assert_eq!(store.hold().await.unwrap(), None);
    }
}
