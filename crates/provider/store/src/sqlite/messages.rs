//! Reading messages. Those of an application that was deleted are still kept, and not there for anybody.

use provider_core::model::Message;
use provider_core::port::Page;
use rusqlite::Connection;

use super::applications;
use super::rows::{self, MESSAGE, SqlResult};
use crate::codec::{PageQuery, fingerprint};

pub(super) fn find(db: &Connection, application: &str, id_or_event_id: &str) -> SqlResult<Option<Message>> {
    if !applications::is_there(db, application)? {
        return Ok(None);
    }
    let by_id = format!("SELECT {MESSAGE} FROM messages m WHERE m.application = ?1 AND m.id = ?2");
    let found = rows::one(db, &by_id, (application, id_or_event_id), rows::message)?;
    if found.is_some() {
        return Ok(found);
    }
    let by_event_id = format!("SELECT {MESSAGE} FROM messages m WHERE m.event_fingerprint = ?1");
    rows::one(db, &by_event_id, [fingerprint(application, id_or_event_id)], rows::message)
}

pub(super) fn list(db: &Connection, application: &str, page: &Page) -> SqlResult<Vec<Message>> {
    if !applications::is_there(db, application)? {
        return Ok(Vec::new());
    }
    let select = format!("SELECT {MESSAGE} FROM messages m WHERE m.application = $1");
    rows::list(db, &select, "m.id", application, &PageQuery::new(page), rows::message)
}

pub(super) fn is_there(db: &Connection, application: &str, id: &str) -> SqlResult<bool> {
    let select = "SELECT 1 FROM messages m JOIN applications a ON a.id = m.application \
         WHERE m.application = ?1 AND m.id = ?2";
    Ok(db.prepare_cached(select)?.exists((application, id))?)
}
