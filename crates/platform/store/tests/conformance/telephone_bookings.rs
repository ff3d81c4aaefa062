//! Telephone bookings of webcasts.

use platform_core::port::TelephoneBooking;

use super::given::{Shared, at, auction_uuid, item_uuid};

fn booking(item: usize, paddle: &str, telephone: &str) -> TelephoneBooking {
    TelephoneBooking {
        auction: auction_uuid(1),
        item: item_uuid(item),
        paddle: paddle.to_owned(),
        telephone: telephone.to_owned(),
        line: "Line 2".to_owned(),
        changed_at: at(5),
        changed_by: "user:ada".to_owned(),
    }
}

pub(super) async fn bookings_are_replaced_removed_and_limited(store: Shared) {
    let first = booking(1, "12", "+44 1");
    let second = booking(1, "7", "+44 2");
    let other = booking(2, "12", "+44 3");
    for one in [&first, &second, &other] {
        assert!(store.put_telephone_booking(one.clone(), 3).await.unwrap());
    }
    assert!(
        !store.put_telephone_booking(booking(2, "8", "+44 4"), 3).await.unwrap(),
        "the limit of three bookings was exceeded"
    );
    let changed = TelephoneBooking { telephone: "+44 9".to_owned(), line: String::new(), ..first };
    assert!(store.put_telephone_booking(changed.clone(), 3).await.unwrap(), "a changed booking counted as a new one");
    let of_item = store.telephone_bookings_of(item_uuid(1)).await.unwrap();
    assert_eq!(of_item, [changed.clone(), second.clone()]);
    assert_eq!(store.telephone_bookings(auction_uuid(1)).await.unwrap(), [changed, second.clone(), other.clone()]);
    assert_eq!(store.telephone_bookings(auction_uuid(2)).await.unwrap(), []);
    assert!(store.remove_telephone_booking(item_uuid(1), "12").await.unwrap());
    assert!(!store.remove_telephone_booking(item_uuid(1), "12").await.unwrap());
    assert_eq!(store.telephone_bookings(auction_uuid(1)).await.unwrap(), [second, other]);
}
