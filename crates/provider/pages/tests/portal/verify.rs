//! The page that explains a refused signature.

use std::io::Write as _;
use std::process::Stdio;

use kit_runtime::clock::{Clock as _, SystemClock};
use provider_core::EndpointInput;
use provider_core::model::Capability;
use provider_core::signing::Signer;
use provider_core::signing::secret::EndpointSecret;

use crate::fixture::{Fixture, at};

const BODY: &str = "{\"itemUuid\":\"a\",\"status\":\"SOLD\"}";

#[tokio::test]
async fn a_pasted_request_shows_which_check_failed() {
    let fixture = Fixture::new().await;
    let message = fixture.message("a.b", BODY, None).await;
    let endpoint = fixture.endpoint(at("https://example.com/hook")).await;
    let secret =
        async || fixture.provider.endpoint_secret(&fixture.account, &fixture.app.id, &endpoint.id).await.unwrap();
    let now = fixture.clock.now();
    let signed = |secret: &str, seconds: i64| {
        let signer = Signer::new(&EndpointSecret::parse(secret).unwrap(), []);
        let signature = signer.sign(&message.id, seconds, BODY.as_bytes(), now);
        format!("webhook-id: {}\nwebhook-timestamp: {seconds}\nwebhook-signature: {signature}", message.id)
    };
    let first = secret().await;
    let seconds = now.as_second();
    let mut visitor = fixture.visitor_who_may(&[]).await;
    let path = format!("/endpoints/{}/verify", endpoint.id);
    visitor.get(&path).await.is(200).shows("Check request").shows("def verify(").hides(&first).hides("Reveal this");
    let right = signed(&first, seconds);
    let received_late = (seconds + 301).to_string();
    let no_id = right.lines().skip(1).collect::<Vec<_>>().join("\n");
    for (headers, body, clock, said) in [
        (right.as_str(), BODY, "", "A receiver that has this endpoint&#39;s secret accepts this request."),
        (
            &right,
            "{\"itemUuid\": \"a\", \"status\": \"SOLD\"}",
            "",
            "re-serialised: the same JSON in other bytes, from byte 12",
        ),
        (&right, "{\"itemUuid\":\"a\",\"status\":\"SOLD\"}\r\n", "", "other white space at its ends"),
        (&right, "{}", "", "not the payload of the message"),
        (&right, BODY, &received_late, "clock was 301 s ahead"),
        (&no_id, BODY, "", "The header webhook-id is missing."),
        (
            &signed("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", seconds),
            BODY,
            "",
            "None of this endpoint&#39;s secrets made it",
        ),
    ] {
        let page = visitor.post(&path, &[("headers", headers), ("body", body), ("clock", clock)]).await;
        page.is(200).shows(said).hides(&first);
    }
    visitor.post(&path, &[("headers", ""), ("body", "")]).await.is(422).shows("id=\"headers-fault\"");
    visitor.post(&path, &[("headers", &right), ("clock", "noon")]).await.is(422).shows("id=\"clock-fault\"");
    let script = "<script>alert(1)</script>";
    visitor.post(&path, &[("headers", script), ("body", script)]).await.is(200).hides(script);

    // After a rotation: a receiver with the old secret, and a receiver with a wrong one.
    fixture
        .provider
        .rotate_endpoint_secret(&fixture.account, &fixture.app.id, &endpoint.id, None, Some(3_600), None)
        .await
        .unwrap();
    let page = visitor.post(&path, &[("headers", &right), ("body", BODY), ("secret", &first)]).await;
    page.is(200).shows("An old secret in its grace period made it").shows("It is the old secret").hides(&first);
    let wrong = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let both = format!("{}\n", signed(&secret().await, seconds));
    let page = visitor.post(&path, &[("headers", &both), ("body", BODY), ("secret", wrong)]).await;
    page.is(200).shows("It is the wrong secret").shows("A receiver refuses this request.").hides(wrong);
}

#[tokio::test]
async fn the_samples_contain_the_secret_only_for_visitors_who_may_see_it() {
    let fixture = Fixture::new().await;
    let endpoint = fixture.endpoint(at("https://example.com/hook")).await;
    let secret = fixture.provider.endpoint_secret(&fixture.account, &fixture.app.id, &endpoint.id).await.unwrap();
    let path = format!("/endpoints/{}/verify", endpoint.id);
    let mut reader = fixture.visitor_who_may(&[]).await;
    reader.get(&path).await.is(200).shows("your link does not allow seeing it");
    reader.post(&format!("{path}/reveal"), &[]).await.is(403);
    let mut viewer = fixture.visitor_who_may(&[Capability::ViewEndpointSecret]).await;
    let page = viewer.get(&path).await;
    page.is(200).hides(&secret).shows("Reveal this endpoint's values");
    for language in
        ["JavaScript", "TypeScript", "Python", "Go", "Java", "C#", "PHP", "Ruby", "Rust", "curl with openssl"]
    {
        page.shows(&format!("<summary>{language}"));
    }
    assert!(page.text.len() < 100_000, "{} bytes", page.text.len());
    viewer.post(&format!("{path}/reveal"), &[]).await.is(200).shows(&secret).shows("'v1,");
}

#[tokio::test]
async fn an_endpoint_with_a_key_pair_shows_samples_that_verify_its_signatures() {
    let fixture = Fixture::new().await;
    let private = "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
    let input = EndpointInput { secret: Some(private.into()), ..at("https://example.com/hook") };
    let endpoint = fixture.endpoint(input).await;
    let mut visitor = fixture.visitor().await;
    let path = format!("/endpoints/{}/verify", endpoint.id);
    visitor.get(&path).await.is(200).shows("ed25519 key pair").shows("Ed25519PublicKey").hides("hmac").hides("whsk_");
    let page = visitor.post(&format!("{path}/reveal"), &[]).await;
    page.is(200).shows("export WEBHOOK_KEY=").shows("whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=");

    // The sample reads the real clock.
    let now = SystemClock.now();
    let signer = Signer::new(&EndpointSecret::parse(private).unwrap(), []);
    let signature = signer.sign("msg_1", now.as_second(), BODY.as_bytes(), now);
    let run = |body: &str| {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/verify/key-pair/verify.mjs");
        let mut node = std::process::Command::new("node");
        node.args([file, "msg_1", &now.as_second().to_string(), &format!("v1,AAAA {signature}")]);
        node.env("WEBHOOK_KEY", "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=");
        let mut child = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("node is installed");
        child.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap().trim().to_owned()
    };
    assert_eq!([run(BODY), run("{}")], ["valid", "refused"]);
}
