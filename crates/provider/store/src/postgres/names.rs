//! Applications and endpoints by uid alone.

use async_trait::async_trait;
use provider_core::model::{Application, Endpoint, Id};
use provider_core::port::StoreResult;
use provider_core::port::supervision::UidLookupStore;
use tokio_postgres::Row;

use super::PostgresStore;
use super::rows::{self, APPLICATION, ENDPOINT, sql_limit};

#[async_trait]
impl UidLookupStore for PostgresStore {
    async fn applications_by_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<Application>> {
        let client = self.client().await?;
        let select = format!("SELECT {APPLICATION} FROM applications a WHERE a.uid = $1 ORDER BY a.id LIMIT $2");
        Ok(rows::all(&client, &select, &[&uid, &sql_limit(limit)], rows::application).await?)
    }

    async fn endpoints_by_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<(Id, Endpoint)>> {
        let client = self.client().await?;
        let select = format!(
            "SELECT a.account, {ENDPOINT} FROM endpoints e JOIN applications a ON a.id = e.application \
             WHERE e.uid = $1 ORDER BY e.id LIMIT $2"
        );
        let found = |row: &Row| Ok((rows::id(row, 0)?, rows::endpoint(row, 1)?));
        Ok(rows::all(&client, &select, &[&uid, &sql_limit(limit)], found).await?)
    }
}
