//! Records by id.

use serde_json::json;

use crate::fixture::Fixture;

const CACHED: &str = "private, max-age=86400";
const OWN: &str = "private, no-cache";

#[tokio::test]
async fn each_record_is_returned_as_its_common_model() {
    let fixture = Fixture::new().await;
    let address = json!({ "addressLine1": "Unit 4", "addressLine2": "", "postcode": "OX1 1AA", "countryCode": "gb" });
    fixture.post("/auctioneers", json!({ "name": "Salter", "address": address })).await;
    for (path, keep, model) in [
        (
            "/reference/countries/826",
            CACHED,
            r#"{"@class":"com.vendor.scaffold.models.address.CountryModel","id":826,"code":"GB","name":"United Kingdom of Great Britain and Northern Ireland"}"#,
        ),
        (
            "/reference/currencies/978",
            CACHED,
            r#"{"@class":"com.vendor.scaffold.models.reference.CurrencyModel","id":978,"code":"EUR","name":"Euro"}"#,
        ),
        (
            "/reference/auctioneers/1",
            OWN,
            r#"{"@class":"com.vendor.scaffold.models.auctionapi.AuctioneerApiModel","id":1,"name":"Salter"}"#,
        ),
        (
            "/reference/addresses/1",
            OWN,
            r#"{"@class":"com.vendor.scaffold.models.address.AddressModel","id":1,"addressLine1":"Unit 4","addressLine2":"","postcode":"OX1 1AA","countryCode":"uk"}"#,
        ),
    ] {
        let answer = fixture.get(path).await;
        assert_eq!((answer.status, answer.json().to_string()), (200, model.to_owned()), "{path}");
        assert_eq!(
            (answer.header("cache-control"), answer.header("vary").unwrap_or_default()),
            (Some(keep), vary(keep)),
            "{path}"
        );
        let again = fixture.get_unless(path, answer.header("etag").unwrap()).await;
        assert_eq!((again.status, again.header("etag")), (304, answer.header("etag")), "{path}");
        assert_eq!(fixture.get_unless(path, "\"other\"").await.status, 200, "{path}");
    }
}

fn vary(keep: &str) -> &'static str {
    if keep == OWN { "authorization" } else { "" }
}

#[tokio::test]
async fn an_unknown_id_is_not_found() {
    let fixture = Fixture::new().await;
    for kind in ["auctioneers", "addresses", "countries", "currencies"] {
        for id in ["0", "-1", "1000", "9223372036854775807", "9223372036854775808", "x", "1.5", "826x", "0826", "+826"]
        {
            fixture.get(&format!("/reference/{kind}/{id}")).await.refused(404, "not_found", "");
        }
    }
    fixture.get("/reference/planets/1").await.refused(404, "route_not_found", "");
}

#[tokio::test]
async fn another_customers_records_are_not_found() {
    let fixture = Fixture::new().await;
    let address = json!({ "addressLine1": "a", "addressLine2": "b", "postcode": "c" });
    fixture.post("/auctioneers", json!({ "name": "Salter", "address": address })).await;
    for path in ["/reference/auctioneers/1", "/reference/addresses/1"] {
        assert_eq!(fixture.get(path).await.status, 200, "{path}");
        fixture.get_as_other(path).await.refused(404, "not_found", "");
    }
    fixture.post_as_other("/auctioneers", json!({ "name": "x", "addressId": 1 })).await.refused(
        422,
        "invalid",
        "/addressId",
    );
}
