//! Telephone bookings of webcasts.

use async_trait::async_trait;
use platform_core::port::{StoreResult, TelephoneBooking, TelephoneBookingStore};
use rusqlite::{Row, params};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult};
use crate::codec::ms;

const BOOKING: &str =
    "SELECT auction, item, paddle, telephone, line, changed_at_ms, changed_by FROM telephone_bookings";

#[async_trait]
impl TelephoneBookingStore for SqliteStore {
    async fn telephone_bookings(&self, auction: Uuid) -> StoreResult<Vec<TelephoneBooking>> {
        let select = format!("{BOOKING} WHERE auction = ?1 ORDER BY item, paddle");
        self.read(move |db| rows::list(db, &select, [auction.as_bytes()], booking)).await
    }

    async fn telephone_bookings_of(&self, item: Uuid) -> StoreResult<Vec<TelephoneBooking>> {
        let select = format!("{BOOKING} WHERE item = ?1 ORDER BY paddle");
        self.read(move |db| rows::list(db, &select, [item.as_bytes()], booking)).await
    }

    async fn put_telephone_booking(&self, booking: TelephoneBooking, bookings_max: usize) -> StoreResult<bool> {
        let upsert = "INSERT INTO telephone_bookings \
             (auction, item, paddle, telephone, line, changed_at_ms, changed_by) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 \
             WHERE (SELECT count(*) FROM telephone_bookings WHERE auction = ?1 AND NOT (item = ?2 AND paddle = ?3)) < ?8 \
             ON CONFLICT (item, paddle) DO UPDATE SET telephone = excluded.telephone, line = excluded.line, \
             changed_at_ms = excluded.changed_at_ms, changed_by = excluded.changed_by";
        let bookings_max = rows::limit(bookings_max);
        self.write(move |db| {
            let TelephoneBooking { auction, item, paddle, telephone, line, changed_at, changed_by } = &booking;
            let (auction, item, at) = (auction.as_bytes(), item.as_bytes(), ms(*changed_at));
            let values = params![auction, item, paddle, telephone, line, at, changed_by, bookings_max];
            Ok(rows::execute(db, upsert, values)? == 1)
        })
        .await
    }

    async fn remove_telephone_booking(&self, item: Uuid, paddle: &str) -> StoreResult<bool> {
        let delete = "DELETE FROM telephone_bookings WHERE item = ?1 AND paddle = ?2";
        let paddle = paddle.to_owned();
        self.write(move |db| Ok(rows::execute(db, delete, (item.as_bytes(), &paddle))? == 1)).await
    }
}

fn booking(row: &Row<'_>) -> SqlResult<TelephoneBooking> {
    Ok(TelephoneBooking {
        auction: rows::uuid(row, 0)?,
        item: rows::uuid(row, 1)?,
        paddle: row.get(2)?,
        telephone: row.get(3)?,
        line: row.get(4)?,
        changed_at: rows::time(row, 5)?,
        changed_by: row.get(6)?,
    })
}
