//! The installation as a whole.

use async_trait::async_trait;
use platform_core::port::{InstallationStore, StoreResult};

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec::corrupt;

#[async_trait]
impl InstallationStore for PostgresStore {
    async fn restores(&self) -> StoreResult<u32> {
        let select = "SELECT restores FROM installation";
        Ok(rows::one(&self.client().await?, select, &[], number).await?.unwrap_or(0))
    }

    async fn count_restore(&self, at_least: u32) -> StoreResult<u32> {
        self.write(&at_least, |db, at_least| {
            Box::pin(async move {
                let count = "UPDATE installation SET restores = greatest(restores + 1, $1) RETURNING restores";
                Ok(rows::one(db, count, &[&i64::from(*at_least)], number).await?.unwrap_or(*at_least))
            })
        })
        .await
    }
}

fn number(row: &tokio_postgres::Row) -> SqlResult<u32> {
    Ok(u32::try_from(rows::get::<i64>(row, 0)?).map_err(corrupt)?)
}
