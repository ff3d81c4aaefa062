//! Alerts, from failed attempts to the mails that a real SMTP server receives, by two nodes on each store.

use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::Timestamp;
use kit_mail::Mailer;
use kit_outbound::TransportError;
use kit_runtime::clock::Clock as _;
use provider_core::model::{Capability, Endpoint, Id, Role};
use provider_core::port::{AlertScope, EndpointEffect, MailBacklog};
use provider_core::{ApplicationInput, Caller, EndpointInput, IfExists, PortalAccessInput, ProviderError, Switch};
use serde_json::Value;

use super::alert_nodes::*;
use super::given::*;

pub(super) async fn each_transition_notifies_its_owners_once(store: Shared) {
    let mut mails = MailServer::start().await;
    let nodes = Nodes::new(store, Some(Mailer::new(&mails.url, "Lotwire <alerts@example.org>").unwrap())).await;
    let listener = EndpointInput { url: "https://example.com/".into(), ..EndpointInput::default() };
    nodes.nodes[0].create_operational_endpoint(&nodes.caller, listener, None, |_| String::new()).await.unwrap();
    nodes.confirm(&mut mails, None, "ops@example.com").await;
    let endpoint = nodes.endpoint().await;

    nodes.attempt(&endpoint, 500, "a secret line", EndpointEffect::Failing).await;
    nodes.attempt(&endpoint, 500, "a secret line", EndpointEffect::Failing).await;
    nodes.round().await;
    assert!(mails.is_quiet() && nodes.events().await.is_empty(), "single failures are no alert");
    nodes.clock.advance(HOUR);
    nodes.round().await;
    assert!(mails.is_quiet(), "alerts are collected first");
    nodes.report().await;
    let mail = mails.only();
    contains(&mail, &["RCPT TO:<ops@example.com>", "Subject: Webhooks to hooks.example.com fail (House)"]);
    contains(&mail, &["Why: 500: The receiver's own code failed. Look for the message id", "Message-ID: <alert-"]);
    contains(&mail, &["Failed attempts since 21 November 2026, 06:00 UTC: 2\n", "until 26 November 2026, 06:00 UTC"]);
    contains(
        &mail,
        &[
            // Mails write "=" as "=3D".
            &format!("/dashboard/applications/{0}?endpoint={1}#{1}\n", endpoint.application, endpoint.id),
            "Address: https://hooks.example.com/in\n",
            "/dashboard/alerts\n",
        ],
    );
    assert!(!mail.contains("secret") && !mail.contains("hidden"), "{mail}");
    let [event] = &nodes.events().await[..] else { panic!("one event") };
    assert_eq!((&event["type"], &event["data"]["cause"]), (&"endpoint.failing".into(), &"code_failed".into()));
    assert_eq!((&event["data"]["failedAttempts"], &event["data"]["endpointId"]), (&2.into(), &(*endpoint.id).into()));
    assert_eq!(event["data"]["disableAt"], "2026-11-26T06:00:01.000Z");

    nodes.clock.advance(96 * HOUR);
    nodes.report().await;
    contains(&mails.only(), &["will be disabled in 24 hours", "26 November 2026, 06:00 UTC"]);
    assert_eq!(nodes.events().await[0]["type"], "endpoint.disabling");

    let silent = TransportError::Timeout { limit_ms: 30_000 };
    nodes.clock.advance(HOUR);
    nodes.attempt_without_response(&endpoint, silent, EndpointEffect::Disable).await;
    nodes.report().await;
    contains(&mails.only(), &["are disabled (House)", "no answer came in 30 s. Put the work into a queue", ": 3\n"]);
    let [disabled, why] = &nodes.events().await[..] else { panic!("two events") };
    assert_eq!((&disabled["type"], &disabled["data"]["trigger"]), (&"endpoint.disabled".into(), &"automatic".into()));
    assert_eq!(disabled["data"].as_object().unwrap().len(), 6, "the model's fields alone: {disabled}");
    assert_eq!((&why["type"], &why["data"]["cause"]), (&"endpoint.disabled_by_failures".into(), &"no_answer".into()));
    assert_eq!((&why["data"]["failedAttempts"], &why["data"]["disableAt"]), (&3.into(), &Value::Null));
    let link = format!("/dashboard/applications/{0}?endpoint={1}#{1}", endpoint.application, endpoint.id);
    assert!(why["data"]["link"].as_str().unwrap().ends_with(&link), "{why}");

    nodes.nodes[0].switch_endpoint(&nodes.caller, "a", &endpoint.id, Switch::On).await.unwrap();
    nodes.round().await;
    assert!(mails.is_quiet(), "to enable it does not repair it");
    nodes.attempt(&endpoint, 200, "", EndpointEffect::None).await;
    nodes.report().await;
    contains(&mails.only(), &["arrive again (House)", "delivered again", "No endpoint of House fails now."]);
    assert_eq!(nodes.events().await[0]["type"], "endpoint.recovered");

    // The next run of failures causes an alert again, and an endpoint that a caller disables causes none.
    nodes.attempt(&endpoint, 404, "", EndpointEffect::Failing).await;
    nodes.clock.advance(HOUR);
    nodes.report().await;
    contains(&mails.only(), &["404: The receiver has no route /in."]);
    nodes.nodes[1].switch_endpoint(&nodes.caller, "a", &endpoint.id, Switch::Off).await.unwrap();
    nodes.report().await;
    assert!(mails.is_quiet());
    assert_eq!(nodes.events().await[1]["data"]["trigger"], "manual");
}

pub(super) async fn a_mail_waits_for_a_busy_server_and_the_nodes_own_faults_are_no_alert(store: Shared) {
    let mut mails = MailServer::start().await;
    let nodes = Nodes::new(store, Some(Mailer::new(&mails.url, "alerts@example.org").unwrap())).await;
    nodes.confirm(&mut mails, None, "ops@example.com").await;
    let node = &nodes.nodes[0];
    node.add_alert_recipient(&nodes.caller, None, "unconfirmed@example.com").await.unwrap();
    nodes.round().await;
    contains(&mails.only(), &["RCPT TO:<unconfirmed@example.com>", "enter this code on the page Alerts"]);
    let again = node.add_alert_recipient(&nodes.caller, None, "ops@example.com").await;
    assert!(matches!(again, Err(ProviderError::Conflict { .. })));
    let wrong = node.add_alert_recipient(&nodes.caller, None, "nobody").await;
    assert!(matches!(wrong, Err(ProviderError::Validation(_))));

    let (own_fault, gone) = (nodes.endpoint().await, nodes.endpoint().await);
    let (host, reason) = ("hooks.example.com".into(), "Network is unreachable (os error 101)".into());
    let unreachable = TransportError::LocalFault { host, reason };
    nodes.attempt_without_response(&own_fault, unreachable, EndpointEffect::Failing).await;
    nodes.clock.advance(HOUR);
    nodes.report().await;
    assert!(mails.is_quiet());

    mails.is_busy.store(true, Ordering::SeqCst);
    nodes.attempt(&gone, 410, "", EndpointEffect::Disable).await;
    nodes.report().await;
    nodes.clock.advance(Duration::from_secs(30));
    mails.is_busy.store(false, Ordering::SeqCst);
    nodes.round().await;
    assert!(mails.is_quiet(), "the next try is not due");
    let waiting = nodes.store.waiting_mails().await.unwrap();
    assert!(waiting.mails == 1 && waiting.oldest_at.is_some_and(|at| at < nodes.clock.now()), "{waiting:?}");
    nodes.clock.advance(Duration::from_secs(60));
    nodes.round().await;
    contains(&mails.only(), &["410: The receiver is gone for good"]);
    assert_eq!(nodes.store.waiting_mails().await.unwrap(), MailBacklog::default());

    let confirmed = |recipients: Vec<provider_core::port::AlertRecipient>| -> Vec<(String, bool)> {
        recipients.into_iter().map(|one| (one.address, one.confirmed_at.is_some())).collect()
    };
    let listed = confirmed(node.alert_recipients(&nodes.caller, None).await.unwrap());
    assert_eq!(listed, [("ops@example.com".to_owned(), true), ("unconfirmed@example.com".to_owned(), false)]);
    node.remove_alert_recipient(&nodes.caller, None, "ops@example.com").await.unwrap();
    assert!(matches!(
        node.remove_alert_recipient(&nodes.caller, None, "ops@example.com").await,
        Err(ProviderError::NotFound)
    ));
    node.delete_endpoint(&nodes.caller, "a", &gone.id).await.unwrap();
    nodes.store.forget_deleted_alerts().await.unwrap();
    nodes.report().await;
    assert!(mails.is_quiet());
}

pub(super) async fn one_outage_is_one_mail(store: Shared) {
    let mut mails = MailServer::start().await;
    let nodes = Nodes::new(store, Some(Mailer::new(&mails.url, "alerts@example.org").unwrap())).await;
    let (node, minute) = (&nodes.nodes[0], Duration::from_secs(60));
    let listener = EndpointInput { url: "https://example.com/".into(), ..EndpointInput::default() };
    node.create_operational_endpoint(&nodes.caller, listener, None, |_| String::new()).await.unwrap();
    nodes.confirm(&mut mails, None, "ops@example.com").await;
    let mut endpoints = Vec::new();
    for _ in 0..60 {
        endpoints.push(nodes.endpoint().await);
    }
    let (works, failing) = endpoints.split_first().unwrap();
    nodes.attempt(works, 200, "", EndpointEffect::None).await;
    for endpoint in &failing[..55] {
        nodes.attempt(endpoint, 500, "", EndpointEffect::Failing).await;
    }
    nodes.clock.advance(9 * minute);
    // An endpoint that receives messages more rarely fails later, in the same outage.
    nodes.attempt(&failing[55], 404, "", EndpointEffect::Failing).await;
    for _ in 0..8 {
        nodes.clock.advance(Duration::from_secs(15));
        nodes.round().await;
    }
    let mail = mails.only();
    contains(
        &mail,
        &["Subject: Webhooks to 56 endpoints fail (House)", "No webhook has been delivered to 56 endpoints:"],
    );
    contains(&mail, &["and 6 endpoints more", "- 50 endpoints: 500: The receiver's own code failed."]);
    contains(&mail, &["\n2026-11-21 06:00  2026-11-26 06:00                1  https://hooks.example.com/in\n"]);
    let listed = |mail: &str, endpoint: &Endpoint| mail.contains(&format!("#{}\n", endpoint.id));
    assert!(failing[..50].iter().all(|endpoint| listed(&mail, endpoint)) && !listed(&mail, works), "{mail}");

    // Each endpoint has an event. The alert about an endpoint that a mail listed causes no further mail.
    let events = nodes.events().await.len();
    assert!(events < 56);
    nodes.clock.advance(9 * minute);
    nodes.report().await;
    assert!(mails.is_quiet());
    assert_eq!(events + nodes.events().await.len(), 56);
    // Further endpoints are reported half an hour after the last mail, together.
    for endpoint in &failing[56..58] {
        nodes.attempt(endpoint, 404, "", EndpointEffect::Failing).await;
    }
    nodes.clock.advance(11 * minute);
    nodes.report().await;
    assert!(mails.is_quiet());
    nodes.clock.advance(12 * minute);
    nodes.round().await;
    let mail = mails.only();
    contains(
        &mail,
        &["Subject: Webhooks to 2 endpoints fail (House)", "- 2 endpoints: 404: The receiver has no route"],
    );

    // An address that is confirmed now receives what fails now.
    node.add_alert_recipient(&nodes.caller, Some("a"), "new@house.example").await.unwrap();
    nodes.round().await;
    let mail = mails.only();
    contains(&mail, &["RCPT TO:<new@house.example>", "this application fail:\n\"House\""]);
    let code = mail.split("on the page Alerts: ").nth(1).unwrap().split_whitespace().next().unwrap();
    for _ in 0..2 {
        nodes.nodes[1].confirm_alert_recipient(code).await.unwrap();
        nodes.clock.advance(Duration::from_secs(1));
    }
    nodes.round().await;
    let mail = mails.only();
    contains(&mail, &["RCPT TO:<new@house.example>", "Subject: 58 endpoints of your webhooks fail now"]);
    contains(&mail, &["and 8 endpoints more", "/app-portal/endpoints/", "/app-portal/alerts\n"]);
    node.remove_alert_recipient(&nodes.caller, Some("a"), "new@house.example").await.unwrap();

    // The end of the outage is one mail, though not all receivers come back at once.
    for endpoint in &failing[..57] {
        nodes.attempt(endpoint, 200, "", EndpointEffect::Working).await;
    }
    nodes.clock.advance(10 * minute);
    nodes.report().await;
    assert!(mails.is_quiet(), "an endpoint still fails");
    nodes.attempt(&failing[57], 200, "", EndpointEffect::Working).await;
    nodes.report().await;
    let mail = mails.only();
    contains(&mail, &["Subject: Webhooks to 58 endpoints arrive again (House)", "No endpoint of House fails now."]);
    nodes.clock.advance(HOUR);
    nodes.report().await;
    assert!(mails.is_quiet());

    // Different transitions are one mail, the worst first.
    nodes.attempt(&failing[0], 500, "", EndpointEffect::Failing).await;
    nodes.attempt(&failing[1], 410, "", EndpointEffect::Disable).await;
    nodes.clock.advance(HOUR);
    nodes.report().await;
    contains(&mails.only(), &["Subject: Endpoints of House: 1 disabled, 1 failing", "1 endpoint disabled, because"]);
}

pub(super) async fn contacts_of_an_application_receive_its_alerts_and_no_others(store: Shared) {
    let mut mails = MailServer::start().await;
    let nodes = Nodes::new(store, Some(Mailer::new(&mails.url, "alerts@example.org").unwrap())).await;
    let (node, caller) = (&nodes.nodes[0], &nodes.caller);
    let other = ApplicationInput { name: "Other".into(), uid: Some("b".into()), ..ApplicationInput::default() };
    node.create_application(caller, other, IfExists::Refuse, None, |_| String::new()).await.unwrap();
    nodes.confirm(&mut mails, None, "ops@example.com").await;
    nodes.confirm(&mut mails, Some("a"), "ops@example.com").await;
    nodes.confirm(&mut mails, Some("a"), "engineer@house.example").await;
    nodes.confirm(&mut mails, Some("b"), "engineer@other.example").await;
    let addresses = async |application: Option<&str>| -> Vec<String> {
        let found = node.alert_recipients(caller, application).await.unwrap();
        found.into_iter().map(|recipient| recipient.address).collect()
    };
    assert_eq!(addresses(None).await, ["ops@example.com"]);
    assert_eq!(addresses(Some("a")).await, ["engineer@house.example", "ops@example.com"]);

    let endpoint = nodes.endpoint().await;
    nodes.attempt(&endpoint, 404, "", EndpointEffect::Failing).await;
    nodes.clock.advance(HOUR);
    nodes.report().await;
    let first = mails.received.try_recv().unwrap();
    let second = mails.only();
    let (account, contact) = if first.contains("ops@") { (first, second) } else { (second, first) };
    contains(&account, &["RCPT TO:<ops@example.com>", "/dashboard/applications/"]);
    let page = format!("/app-portal/endpoints/{}\n", endpoint.id);
    contains(&contact, &["RCPT TO:<engineer@house.example>", "404: The receiver has no route /in.", &page]);
    contains(&contact, &["Failed attempts since 21 November 2026", "/app-portal/alerts\n"]);
    assert!(!contact.contains("/dashboard"), "{contact}");

    // A link of one application manages the contacts of this application only.
    let link = node.create_portal_access(caller, "a", PortalAccessInput::default()).await.unwrap();
    let visitor = node.authenticate(&link.token).await.unwrap();
    assert_eq!(node.alert_recipients(&visitor, Some("a")).await.unwrap().len(), 2);
    for application in [None, Some("b")] {
        let refused = node.alert_recipients(&visitor, application).await;
        assert!(matches!(refused, Err(ProviderError::Forbidden(_) | ProviderError::NotFound)), "{refused:?}");
    }
    let read_only = PortalAccessInput { capabilities: Some([Capability::ViewBase].into()), ..Default::default() };
    let link = node.create_portal_access(caller, "a", read_only).await.unwrap();
    let visitor = node.authenticate(&link.token).await.unwrap();
    assert!(matches!(node.alert_recipients(&visitor, Some("a")).await, Err(ProviderError::Forbidden(_))));

    // The addresses of a deleted application are deleted.
    let application = node.application(caller, "b").await.unwrap().id;
    node.delete_application(caller, "b").await.unwrap();
    nodes.store.forget_deleted_alerts().await.unwrap();
    let scope = |application: Id| AlertScope { account: caller.account.clone(), application: Some(application) };
    assert!(nodes.store.alert_recipients(&scope(application)).await.unwrap().is_empty());
    assert_eq!(nodes.store.alert_recipients(&scope(endpoint.application.clone())).await.unwrap().len(), 2);
}

pub(super) async fn codes_to_addresses_are_limited(store: Shared) {
    let mails = MailServer::start().await;
    let nodes = Nodes::new(store, Some(Mailer::new(&mails.url, "alerts@example.org").unwrap())).await;
    let add = async |node: usize, caller: &Caller, application: Option<&str>, address: &str| match nodes.nodes[node]
        .add_alert_recipient(caller, application, address)
        .await
    {
        Ok(()) => true,
        Err(ProviderError::TooManyRequests { retry_after, .. }) => {
            assert!(retry_after <= 24 * HOUR, "{retry_after:?}");
            false
        }
        Err(error) => panic!("{error}"),
    };
    // One mailbox, by two nodes, for the account and for an application.
    let addresses = ["stranger@example.com", "Stranger@example.com", "stran.ger+1@example.com"];
    let mut sent = 0;
    for number in 0..12 {
        let application = (number % 2 == 0).then_some("a");
        sent += usize::from(add(number / 2 % 2, &nodes.caller, application, addresses[number % 3]).await);
    }
    assert_eq!(sent, 5);
    // Another account may still write to it, though all accounts together may not go on for ever.
    let mut sent_by_others = 0;
    for number in 0..4 {
        let other = Caller::operator(&nodes.nodes[0].create_account(&format!("Other {number}")).await.unwrap());
        for _ in 0..6 {
            sent_by_others += usize::from(add(1, &other, None, addresses[0]).await);
        }
    }
    assert_eq!(sent_by_others, 10);
    nodes.clock.advance(5 * HOUR);
    assert!(add(0, &nodes.caller, None, addresses[0]).await, "a fifth of a day later");
    assert!(!add(0, &nodes.caller, None, addresses[0]).await);

    // All applications of an account together.
    nodes.clock.advance(48 * HOUR);
    let mut sent = 0;
    for application in ["a", "b", "c", "d"] {
        let input =
            ApplicationInput { name: "House".into(), uid: Some(application.into()), ..ApplicationInput::default() };
        let created =
            nodes.nodes[0].create_application(&nodes.caller, input, IfExists::Get, None, |_| String::new()).await;
        created.unwrap();
        let mut of_application = 0;
        for number in 0..15 {
            let address = format!("{application}{number}@example.com");
            of_application += usize::from(add(number % 2, &nodes.caller, Some(application), &address).await);
        }
        sent += of_application;
    }
    assert_eq!(sent, 50);
}

pub(super) async fn a_code_that_is_not_sent_does_not_count(store: Shared) {
    let mut mails = MailServer::start().await;
    let nodes = Nodes::new(store, Some(Mailer::new(&mails.url, "alerts@example.org").unwrap())).await;
    nodes.confirm(&mut mails, None, "ops@example.com").await;
    for _ in 0..8 {
        let refused = nodes.nodes[0].add_alert_recipient(&nodes.caller, None, "ops@example.com").await;
        assert!(matches!(refused, Err(ProviderError::Conflict { .. })), "{refused:?}");
    }
}

pub(super) async fn a_name_that_the_sender_chose_is_short_and_without_links_in_a_mail(store: Shared) {
    let mut mails = MailServer::start().await;
    let nodes = Nodes::new(store, Some(Mailer::new(&mails.url, "alerts@example.org").unwrap())).await;
    let name = format!("Pay now: https://evil.example/pay www.evil.example {}", "and again ".repeat(20));
    let application = ApplicationInput { name, uid: Some("b".into()), ..ApplicationInput::default() };
    let node = &nodes.nodes[0];
    node.create_application(&nodes.caller, application, IfExists::Refuse, None, |_| String::new()).await.unwrap();
    node.add_alert_recipient(&nodes.caller, Some("b"), "stranger@example.com").await.unwrap();
    nodes.round().await;
    let mail = mails.only();
    contains(&mail, &["this application fail:\n\"Pay now https evil example pay www evil"]);
    assert!(!mail.contains("evil.example") && !mail.contains("and again"), "{mail}");
}

pub(super) async fn an_invitation_is_mailed_and_shown(store: Shared) {
    let mut mails = MailServer::start().await;
    let nodes = Nodes::new(store, Some(Mailer::new(&mails.url, "alerts@example.org").unwrap())).await;
    let (node, caller) = (&nodes.nodes[0], &nodes.caller);
    let unsent = node.invite(caller, Role::Viewer, "Bob", None).await.unwrap();
    nodes.round().await;
    assert!(mails.is_quiet() && unsent.mailed_to.is_none());
    let link = node.invite(caller, Role::Member, "Ann", Some("ann@example.com")).await.unwrap();
    nodes.round().await;
    let mail = mails.only();
    contains(
        &mail,
        &["RCPT TO:<ann@example.com>", "Subject: Invitation to the webhook dashboard of Customer", &link.url],
    );
    contains(&mail, &["until 28 November 2026, 06:00 UTC", "It works once"]);
    assert_eq!(link.mailed_to.as_deref(), Some("ann@example.com"));
    let wrong = node.invite(caller, Role::Member, "Ann", Some("ann")).await;
    assert!(matches!(wrong, Err(ProviderError::Validation(_))));
    // Strangers are not written to without limit.
    for _ in 0..4 {
        node.invite(caller, Role::Member, "Ann", Some("a.nn+1@example.com")).await.unwrap();
    }
    let refused = node.invite(caller, Role::Member, "Ann", Some("ann@example.com")).await;
    assert!(matches!(refused, Err(ProviderError::TooManyRequests { .. })));
}

pub(super) async fn without_a_mail_server_only_events_are_sent(store: Shared) {
    let nodes = Nodes::new(store, None).await;
    let refused = nodes.nodes[0].add_alert_recipient(&nodes.caller, None, "ops@example.com").await;
    assert!(matches!(refused, Err(ProviderError::BadRequest { code: "mail_not_configured", .. })));
    let refused = nodes.nodes[0].invite(&nodes.caller, Role::Member, "Ann", Some("ann@example.com")).await;
    assert!(matches!(refused, Err(ProviderError::BadRequest { code: "mail_not_configured", .. })));
    let listener = EndpointInput { url: "https://example.com/".into(), ..EndpointInput::default() };
    nodes.nodes[0].create_operational_endpoint(&nodes.caller, listener, None, |_| String::new()).await.unwrap();
    let endpoint = nodes.endpoint().await;
    let slow = TransportError::TlsTimeout { limit_ms: 10_000 };
    nodes.attempt_without_response(&endpoint, slow, EndpointEffect::Failing).await;
    nodes.clock.advance(HOUR);
    nodes.round().await;
    assert_eq!(nodes.events().await[0]["data"]["causeText"], "TLS was not finished in 10 s.");
    let far = Timestamp::MAX;
    assert!(nodes.store.claim_mails(nodes.clock.now(), far.min(nodes.clock.now() + HOUR), 9).await.unwrap().is_empty());
}
