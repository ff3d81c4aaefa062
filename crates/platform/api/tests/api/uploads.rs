//! Catalogue imports: repeated, concurrent, and into a LIVE auction.

use http::Method;
use serde_json::{Value, json};

use crate::bidding::Sale;
use crate::fixture::Answer;

async fn upload(sale: &Sale, query: &str, key: Option<&str>, file: &str) -> Answer {
    let bearer = format!("Bearer {}", sale.key);
    let mut headers = vec![("authorization", bearer.as_str()), ("content-type", "text/csv")];
    headers.extend(key.map(|key| ("idempotency-key", key)));
    let path = format!("/api/v1/auctions/{}/catalogue{query}", sale.auction);
    sale.fixture.send(&Method::POST, &path, &headers, file).await
}

fn catalogue(lots: std::ops::Range<usize>) -> String {
    let rows: String = lots.map(|lot| format!("L{lot},A print\n")).collect();
    format!("lot_number,title\n{rows}")
}

async fn lots(sale: &Sale) -> usize {
    sale.get(&format!("/auctions/{}", sale.auction)).await["itemCounts"]["total"].as_u64().unwrap() as usize
}

#[tokio::test]
async fn a_repeated_upload_with_one_idempotency_key_is_imported_once() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    // A file of one chunk, and one of several.
    for (key, file, total) in [("small", catalogue(0..3), 4), ("large", catalogue(10..610), 604)] {
        let (first, again) = (upload(&sale, "", Some(key), &file).await, upload(&sale, "", Some(key), &file).await);
        assert_eq!((first.status, again.status, &first.text), (201, 201, &again.text), "{}", first.text);
        assert_eq!((first.header("idempotent-replayed"), again.header("idempotent-replayed")), (None, Some("true")));
        assert_eq!(lots(&sale).await, total);
        let other = upload(&sale, "", Some(key), &format!("{file}X1,Another\n")).await;
        assert_eq!((other.status, other.code().as_str()), (422, "idempotency_mismatch"), "{}", other.text);
        let otherwise = upload(&sale, "?dryRun=true", Some(key), &file).await;
        assert_eq!(otherwise.code(), "idempotency_mismatch", "{}", otherwise.text);
        assert_eq!(lots(&sale).await, total);
    }
    assert_eq!(upload(&sale, "", None, &catalogue(0..3)).await.code(), "catalogue_invalid");
    // An error is not stored: the corrected file may use the same idempotency key.
    let refused = upload(&sale, "", Some("wrong"), "lot_number,title\nM1,\n").await;
    assert_eq!((refused.status, refused.code().as_str()), (422, "catalogue_invalid"));
    assert_eq!(upload(&sale, "", Some("wrong"), "lot_number,title\nM1,A map\n").await.status, 201);
    let dry = upload(&sale, "?dryRun=true", Some("dry"), &catalogue(700..703)).await;
    let again = upload(&sale, "?dryRun=true", Some("dry"), &catalogue(700..703)).await;
    assert_eq!((dry.status, &dry.text, again.header("idempotent-replayed")), (200, &again.text, Some("true")));
}

#[tokio::test]
async fn concurrent_uploads_with_one_idempotency_key_are_imported_once() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let file = catalogue(0..400);
    let uploads = (0..4).map(|_| upload(&sale, "", Some("once"), &file));
    let answers = futures_util::future::join_all(uploads).await;
    for answer in &answers {
        assert!(matches!(answer.status, 201 | 409), "{}", answer.text);
    }
    assert_eq!((lots(&sale).await, upload(&sale, "", Some("once"), &file).await.status), (401, 201));
}

#[tokio::test]
async fn a_catalogue_can_be_imported_into_a_live_auction() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let imported = upload(&sale, "?status=LIVE", None, &catalogue(0..300)).await;
    assert_eq!(imported.status, 201, "{}", imported.text);
    let counts = sale.get(&format!("/auctions/{}", sale.auction)).await["itemCounts"].clone();
    assert_eq!((&counts["total"], &counts["live"]), (&json!(301), &json!(301)));
    let listed = sale.get(&format!("/auctions/{}/items?limit=3", sale.auction)).await;
    let item = listed["data"][2].clone();
    assert_eq!((&item["status"], &item["effectiveEndTime"]), (&json!("LIVE"), &json!("2099-01-01T10:00:00.000Z")));
    let bid = json!({ "bidder": "7", "amount": 10 });
    assert_eq!(sale.post(&format!("/items/{}/bids", item["uuid"].as_str().unwrap()), bid).await.status, 201);
    let history = sale.get(&format!("/items/{}/history", item["uuid"].as_str().unwrap())).await;
    assert_eq!((&history["data"][0]["to"], &history["data"][0]["cause"]), (&json!("LIVE"), &json!("imported")));

    let wrong = upload(&sale, "?status=SOLD", None, &catalogue(400..401)).await;
    assert_eq!((wrong.status, wrong.code().as_str()), (400, "query_invalid"), "{}", wrong.text);
    let over = upload(&sale, "?status=LIVE", None, "lot_number,title,end_time\nX,Old,2001-01-01T10:00:00Z\n").await;
    assert_eq!((over.status, over.code().as_str()), (409, "end_not_in_future"), "{}", over.text);
    let draft = Sale::timed(json!({ "status": "DRAFT" }), &[]).await;
    let early = upload(&draft, "?status=LIVE", None, &catalogue(0..3)).await;
    assert_eq!((early.status, early.code().as_str()), (409, "auction_not_live"), "{}", early.text);
    assert_eq!(draft.get(&format!("/auctions/{}/items", draft.auction)).await["data"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn a_file_in_another_character_set_is_rejected() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let bearer = format!("Bearer {}", sale.key);
    for (kind, status) in [
        ("text/csv", 200),
        ("text/csv; charset=utf-8", 200),
        ("Text/CSV; header=present; Charset=\"UTF-8\"", 200),
        ("text/csv; charset=iso-8859-1", 415),
        ("text/csv; charset=utf-16", 415),
        ("application/csv", 415),
    ] {
        let headers = [("authorization", bearer.as_str()), ("content-type", kind)];
        let path = format!("/api/v1/auctions/{}/catalogue?dryRun=true", sale.auction);
        let answer = sale.fixture.send(&Method::POST, &path, &headers, &catalogue(0..1)).await;
        assert_eq!(answer.status, status, "{kind}: {}", answer.text);
        let compressed = [headers.as_slice(), &[("content-encoding", "gzip")]].concat();
        let answer = sale.fixture.send(&Method::POST, &path, &compressed, &catalogue(0..1)).await;
        assert_eq!((answer.status, answer.code().as_str()), (415, "unsupported_media_type"), "{}", answer.text);
    }
}
