//! Reading messages. Those of an application that was deleted are still kept, and not there for anybody.

use provider_core::model::Message;
use provider_core::port::Page;

use super::applications;
use super::rows::{self, Client, MESSAGE, SqlResult};
use crate::codec::{PageQuery, fingerprint};

pub(super) async fn find(db: &impl Client, application: &str, id_or_event_id: &str) -> SqlResult<Option<Message>> {
    if !applications::is_there(db, application).await? {
        return Ok(None);
    }
    let by_id = format!("SELECT {MESSAGE} FROM messages m WHERE m.application = $1 AND m.id = $2");
    let found = rows::one(db, &by_id, &[&application, &id_or_event_id], rows::message).await?;
    if found.is_some() {
        return Ok(found);
    }
    let by_event_id = format!("SELECT {MESSAGE} FROM messages m WHERE m.event_fingerprint = $1");
    let key = fingerprint(application, id_or_event_id);
    rows::one(db, &by_event_id, &[&key.as_slice()], rows::message).await
}

pub(super) async fn list(db: &impl Client, application: &str, page: &Page) -> SqlResult<Vec<Message>> {
    if !applications::is_there(db, application).await? {
        return Ok(Vec::new());
    }
    let select = format!("SELECT {MESSAGE} FROM messages m WHERE m.application = $1");
    rows::list(db, &select, "m.id", application, &PageQuery::new(page), rows::message).await
}

pub(super) async fn is_there(db: &impl Client, application: &str, id: &str) -> SqlResult<bool> {
    let select = "SELECT m.id FROM messages m JOIN applications a ON a.id = m.application \
         WHERE m.application = $1 AND m.id = $2";
    Ok(rows::one(db, select, &[&application, &id], |row| rows::id(row, 0)).await?.is_some())
}
