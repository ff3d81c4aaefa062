//! One visitor of a portal opens many live streams and keeps them open.

use serde_json::json;

use crate::browser::portal_visitor;
use crate::support::{Account, Running};

/// Streams that each of two visitors requests.
const STREAMS: usize = 120;
/// Maximum number of streams of an application, and of an address.
const OF_APPLICATION: usize = 25;
const OF_ADDRESS: usize = 50;

#[tokio::test(flavor = "multi_thread")]
async fn one_visitor_can_not_use_up_the_streams_and_pages_work_without_one() {
    let running = Running::new(&[]).await;
    let account = Account::new(&running, "streams").await;
    let message = account.message(json!({ "lot": 1 })).await;
    let path = format!("/messages/live?after={message}");
    let mut open = Vec::new();
    for visitors in 1..=3 {
        let name = json!({ "name": "other" });
        let application = match visitors {
            1 => account.application.clone(),
            _ => account.api.make("post", "/api/v1/app", &account.key, &name).await.text("id"),
        };
        let mut visitor = portal_visitor(&running, &account, &application).await;
        for _ in 0..STREAMS {
            let (stream, status) = visitor.stream(&path).await;
            match status {
                200 => open.push(stream),
                status => assert_eq!(status, 204),
            }
        }
        assert_eq!(open.len(), (visitors * OF_APPLICATION).min(OF_ADDRESS), "{visitors} visitors");
        assert_eq!(visitor.get("/messages").await.status, 200, "the page failed without its stream");
    }
    println!("portal_streams: {} of {} streams opened", open.len(), 3 * STREAMS);
}
