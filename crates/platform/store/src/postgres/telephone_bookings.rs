//! Telephone bookings of webcasts.

use async_trait::async_trait;
use kit_engine::postgres::Transaction;
use platform_core::port::{StoreResult, TelephoneBooking, TelephoneBookingStore};
use tokio_postgres::Row;
use uuid::Uuid;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec::ms;

const BOOKING: &str =
    "SELECT auction, item, paddle, telephone, line, changed_at_ms, changed_by FROM telephone_bookings";

#[async_trait]
impl TelephoneBookingStore for PostgresStore {
    async fn telephone_bookings(&self, auction: Uuid) -> StoreResult<Vec<TelephoneBooking>> {
        let select = format!("{BOOKING} WHERE auction = $1 ORDER BY item, paddle");
        Ok(rows::list(&self.client().await?, &select, &[&auction], booking).await?)
    }

    async fn telephone_bookings_of(&self, item: Uuid) -> StoreResult<Vec<TelephoneBooking>> {
        let select = format!("{BOOKING} WHERE item = $1 ORDER BY paddle");
        Ok(rows::list(&self.client().await?, &select, &[&item], booking).await?)
    }

    async fn put_telephone_booking(&self, booking: TelephoneBooking, bookings_max: usize) -> StoreResult<bool> {
        let put = (booking, rows::limit(bookings_max));
        self.write(&put, |db, (booking, bookings_max)| Box::pin(put_booking(db, booking, *bookings_max))).await
    }

    async fn remove_telephone_booking(&self, item: Uuid, paddle: &str) -> StoreResult<bool> {
        let delete = "DELETE FROM telephone_bookings WHERE item = $1 AND paddle = $2";
        Ok(rows::execute(&self.client().await?, delete, &[&item, &paddle]).await? == 1)
    }
}

async fn put_booking(db: &Transaction<'_>, booking: &TelephoneBooking, bookings_max: i64) -> SqlResult<bool> {
    let TelephoneBooking { auction, item, paddle, telephone, line, changed_at, changed_by } = booking;
    // Concurrent bookings of this auction wait for this lock, so that each counts the earlier bookings.
    rows::execute(db, "SELECT 1 FROM auctions WHERE uuid = $1 FOR NO KEY UPDATE", &[auction]).await?;
    let upsert = "INSERT INTO telephone_bookings \
         (auction, item, paddle, telephone, line, changed_at_ms, changed_by) \
         SELECT $1::uuid, $2::uuid, $3::text, $4::text, $5::text, $6::bigint, $7::text \
         WHERE (SELECT count(*) FROM telephone_bookings WHERE auction = $1 AND NOT (item = $2 AND paddle = $3)) < $8 \
         ON CONFLICT (item, paddle) DO UPDATE SET telephone = excluded.telephone, line = excluded.line, \
         changed_at_ms = excluded.changed_at_ms, changed_by = excluded.changed_by";
    let values: rows::Values<'_> =
        &[auction, item, paddle, telephone, line, &ms(*changed_at), changed_by, &bookings_max];
    Ok(rows::execute(db, upsert, values).await? == 1)
}

fn booking(row: &Row) -> SqlResult<TelephoneBooking> {
    Ok(TelephoneBooking {
        auction: rows::get(row, 0)?,
        item: rows::get(row, 1)?,
        paddle: rows::get(row, 2)?,
        telephone: rows::get(row, 3)?,
        line: rows::get(row, 4)?,
        changed_at: rows::time(row, 5)?,
        changed_by: rows::get(row, 6)?,
    })
}
