"""Every operation of the provider, by the official Python client.

Called with SERVER and KEY in the environment, against a running provider that may reach this machine. It has a receiver of
its own, which verifies signatures with the client's library. Anything unexpected ends it with an error.
"""

import json
import os
import queue
import threading
import time
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from svix.api import (
    AppPortalAccessIn,
    ApplicationIn,
    ApplicationListOptions,
    ApplicationPatch,
    ApplicationTokenExpireIn,
    BackgroundTaskListOptions,
    BulkExpungeContentsIn,
    BulkReplayIn,
    EndpointGetStatsOptions,
    EndpointHeadersIn,
    EndpointHeadersPatchIn,
    EndpointIn,
    EndpointListOptions,
    EndpointPatch,
    EndpointUpsertIn,
    EndpointSecretRotateIn,
    EventExampleIn,
    EventTypeDeleteOptions,
    EventTypeImportOpenApiIn,
    EventTypeIn,
    EventTypeListOptions,
    EventTypePatch,
    EventTypeUpsertIn,
    MessageAttemptListAttemptedDestinationsOptions,
    MessageAttemptListAttemptedMessagesOptions,
    MessageAttemptListByEndpointOptions,
    MessageAttemptListByMsgOptions,
    MessageGetOptions,
    MessageIn,
    MessageListOptions,
    MessagePrecheckIn,
    OperationalWebhookEndpointHeadersIn,
    OperationalWebhookEndpointIn,
    OperationalWebhookEndpointSecretIn,
    OperationalWebhookEndpointUpsertIn,
    RecoverIn,
    ReplayIn,
    Svix,
    SvixOptions,
)
from svix.api.message import message_in_raw
from svix.exceptions import HttpError, HTTPValidationError
from svix.webhooks import Webhook

PATIENCE = 30
# By default, the client requests no payloads.
WHOLE = MessageGetOptions(with_content=True)
PAYLOADS = MessageListOptions(with_content=True)
SCHEMA = {"1": {"type": "object", "title": "Sold", "properties": {"lot": {"type": "string"}}, "examples": [{"lot": "12"}]}}


class Receiver:
    """Keeps what arrives; answers with `status`."""

    def __init__(self):
        self.status, self.arrived = 200, queue.Queue()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.arrived.put((dict(self.headers.items()), body))
                self.send_response(receiver.status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def next(self, secret):
        headers, body = self.arrived.get(timeout=PATIENCE)
        Webhook(secret).verify(body, headers)
        is_json = headers["content-type"] == "application/json"
        return headers, json.loads(body) if is_json else body.decode()


def eventually(look):
    """What `look` gives, as soon as it gives something."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def refused(status, call):
    try:
        call()
    except (HttpError, HTTPValidationError) as error:
        assert error.status_code == status, (status, error)
    else:
        raise AssertionError(f"{status} was expected")


def event_types(svix):
    svix.event_type.create(EventTypeIn(name="lot.sold", description="Sold", schemas=SCHEMA, group_name="lots"))
    refused(409, lambda: svix.event_type.create(EventTypeIn(name="lot.sold", description="Again")))
    svix.event_type.create(EventTypeIn(name="lot.passed", description="Passed"))
    listed = svix.event_type.list(EventTypeListOptions(with_content=True))
    assert [kind.name for kind in listed.data] == ["lot.passed", "lot.sold"] and listed.data[1].schemas == SCHEMA
    assert svix.event_type.list().data[1].schemas is None
    assert svix.event_type.patch("lot.passed", EventTypePatch(description="Passed in")).description == "Passed in"
    assert svix.event_type.upsert("lot.passed", EventTypeUpsertIn(description="Passed")).description == "Passed"
    svix.event_type.delete("lot.passed")
    assert svix.event_type.get("lot.passed").archived
    assert [kind.name for kind in svix.event_type.list().data] == ["lot.sold"]
    assert len(svix.event_type.list(EventTypeListOptions(include_archived=True)).data) == 2
    svix.event_type.delete("lot.passed", EventTypeDeleteOptions(expunge=True))
    refused(404, lambda: svix.event_type.get("lot.passed"))
    spec = {"openapi": "3.1.0", "webhooks": {"lot.moved": {"post": {"description": "Moved"}}}}
    assert svix.event_type.import_openapi(EventTypeImportOpenApiIn(spec=spec)).data.modified == ["lot.moved"]


def applications(svix):
    created = svix.application.create(ApplicationIn(name="House", uid="house", metadata={"town": "Bath"}))
    refused(409, lambda: svix.application.create(ApplicationIn(name="Other", uid="house")))
    assert svix.application.get_or_create(ApplicationIn(name="House", uid="house")).id == created.id
    assert svix.application.get("house").metadata == {"town": "Bath"}
    assert svix.application.patch("house", ApplicationPatch(name="House of Bath")).name == "House of Bath"
    assert svix.application.upsert("house", ApplicationIn(name="House", uid="house")).name == "House"
    spare = svix.application.create(ApplicationIn(name="Spare"))
    first = svix.application.list(ApplicationListOptions(limit=1))
    assert not first.done and first.iterator
    second = svix.application.list(ApplicationListOptions(limit=1, iterator=first.iterator))
    assert {first.data[0].id, second.data[0].id} == {created.id, spare.id}
    svix.application.delete(spare.id)
    refused(404, lambda: svix.application.get(spare.id))
    return created.id


def endpoints(svix, app, url):
    endpoint = svix.endpoint.create(app, EndpointIn(url=url, description="Web site", event_types=["lot.sold"]))
    assert svix.endpoint.get(app, endpoint.id).event_types == ["lot.sold"]
    assert svix.endpoint.patch(app, endpoint.id, EndpointPatch(description="Shop")).description == "Shop"
    updated = svix.endpoint.upsert(app, endpoint.id, EndpointUpsertIn(url=url, metadata={"for": "web"}))
    assert updated.metadata == {"for": "web"} and not updated.event_types
    assert [found.id for found in svix.endpoint.list(app, EndpointListOptions(limit=5)).data] == [endpoint.id]
    svix.endpoint.set_headers(app, endpoint.id, EndpointHeadersIn(headers={"x-house": "bath", "authorization": "Basic c2VjcmV0"}))
    headers = svix.endpoint.get_headers(app, endpoint.id)
    assert headers.headers == {"x-house": "bath"} and headers.sensitive == ["authorization"], headers
    svix.endpoint.patch_headers(
        app, endpoint.id, EndpointHeadersPatchIn(headers={"x-town": "wells"}, delete_headers=["authorization"])
    )
    assert svix.endpoint.get_headers(app, endpoint.id).headers == {"x-house": "bath", "x-town": "wells"}
    before = svix.endpoint.get_secret(app, endpoint.id).key
    svix.endpoint.rotate_secret(app, endpoint.id, EndpointSecretRotateIn())
    after = svix.endpoint.get_secret(app, endpoint.id).key
    assert before != after
    return endpoint.id, after


def messages(svix, app, endpoint, secret, receiver):
    assert svix.message.precheck(app, MessagePrecheckIn(event_type="lot.sold")).active
    sent = svix.message.create(
        app, MessageIn(event_type="lot.sold", event_id="lot-1.1", payload={"lot": "1"}, channels=["web"], tags=["spring"])
    )
    headers, payload = receiver.next(secret)
    assert payload == {"lot": "1"} and headers["x-house"] == "bath" and headers["svix-id"] == sent.id
    refused(409, lambda: svix.message.create(app, MessageIn(event_type="lot.sold", event_id="lot-1.1", payload={})))
    assert svix.message.get(app, "lot-1.1", WHOLE).payload == {"lot": "1"}
    for options, count in [
        (MessageListOptions(channel="web"), 1),
        (MessageListOptions(channel="mail"), 0),
        (MessageListOptions(tag="spring"), 1),
        (MessageListOptions(event_types=["lot.sold"]), 1),
        (MessageListOptions(event_types=["lot.other"]), 0),
        (MessageListOptions(before=datetime.now(timezone.utc) - timedelta(days=1)), 0),
        (MessageListOptions(after=datetime.now(timezone.utc) - timedelta(days=1)), 1),
    ]:
        assert len(svix.message.list(app, options).data) == count, options
    attempts = svix.message_attempt
    attempt = eventually(lambda: attempts.list_by_msg(app, sent.id).data)[0]
    assert attempt.status == 0 and attempt.response_status_code == 200
    assert attempts.list_by_msg(app, sent.id, MessageAttemptListByMsgOptions(endpoint_id=endpoint)).data
    by_endpoint = MessageAttemptListByEndpointOptions(status=0, event_types=["lot.sold"], channel="web", with_msg=True)
    assert attempts.list_by_endpoint(app, endpoint, by_endpoint).data[0].id == attempt.id
    assert not attempts.list_by_endpoint(app, endpoint, MessageAttemptListByEndpointOptions(status=2)).data
    attempted = attempts.list_attempted_messages(app, endpoint, MessageAttemptListAttemptedMessagesOptions(limit=5)).data
    assert [(message.id, message.status) for message in attempted] == [(sent.id, 0)]
    options = MessageAttemptListAttemptedDestinationsOptions(limit=5)
    destinations = attempts.list_attempted_destinations(app, sent.id, options).data
    assert [(destination.id, destination.status) for destination in destinations] == [(endpoint, 0)]
    assert attempts.get(app, sent.id, attempt.id).id == attempt.id

    attempts.resend(app, sent.id, endpoint)
    assert receiver.next(secret)[0]["svix-id"] == sent.id
    eventually(lambda: len(attempts.list_by_msg(app, sent.id).data) == 2)
    attempts.expunge_content(app, sent.id, attempt.id)
    assert attempts.get(app, sent.id, attempt.id).response == "EXPUNGED"
    svix.message.expunge_content(app, sent.id)
    assert svix.message.get(app, sent.id, WHOLE).payload == {"expired": True}
    refused(400, lambda: attempts.resend(app, sent.id, endpoint))

    svix.endpoint.send_example(app, endpoint, EventExampleIn(event_type="lot.sold"))
    assert receiver.next(secret)[1] == {"lot": "12"}
    stats = eventually(lambda: (found := svix.endpoint.get_stats(app, endpoint)).success == 3 and found)
    assert (stats.fail, stats.pending, stats.sending) == (0, 0, 0), stats
    since = EndpointGetStatsOptions(since=datetime.now(timezone.utc) - timedelta(days=1))
    assert svix.endpoint.get_stats(app, endpoint, since).success == 3
    assert svix.endpoint.get_attempt_stats(app, endpoint).success == 3


def replays(svix, app, endpoint, secret, receiver):
    """A disabled endpoint misses a message; then it is sent again in each of the ways that there are."""
    svix.endpoint.patch(app, endpoint, EndpointPatch(disabled=True))
    missed = svix.message.create(app, MessageIn(event_type="lot.sold", payload={"lot": "2"}))
    svix.endpoint.patch(app, endpoint, EndpointPatch(disabled=False))
    since = datetime.now(timezone.utc) - timedelta(hours=1)
    finished = lambda task: eventually(lambda: svix.background_task.get(task.id).status == "finished")

    task = svix.endpoint.replay_missing(app, endpoint, ReplayIn(since=since))
    assert receiver.next(secret)[0]["svix-id"] == missed.id
    finished(task)
    finished(svix.endpoint.recover(app, endpoint, RecoverIn(since=since)))
    task = svix.endpoint.bulk_replay(app, endpoint, BulkReplayIn(since=since, event_types=["lot.sold"], status=0))
    assert receiver.next(secret)[0]["svix-id"]
    finished(task)
    listed = svix.background_task.list(BackgroundTaskListOptions(limit=2))
    assert len(listed.data) == 2 and not listed.done
    some = svix.message.bulk_expunge_content(app, BulkExpungeContentsIn(ids=[missed.id, "nowhere"]))
    assert some.results[missed.id] == "expunged" and some.results["nowhere"] == "not-found", some
    task = svix.message.expunge_all_contents(app)
    assert task.task == "application.purge_content"
    finished(task)
    assert all(message.payload == {"expired": True} for message in svix.message.list(app, PAYLOADS).data)


def raw_payloads(svix, app):
    """A text of another kind is received as what it is."""
    receiver = Receiver()
    endpoint = svix.endpoint.create(app, EndpointIn(url=receiver.url)).id
    secret = svix.endpoint.get_secret(app, endpoint).key
    svix.message.create(app, message_in_raw("lot.sold", "<lot>größe</lot>", "text/xml; charset=utf-8"))
    headers, text = receiver.next(secret)
    assert (headers["content-type"], text) == ("text/xml; charset=utf-8", "<lot>größe</lot>")
    svix.message.create(app, message_in_raw("lot.sold", "[1]"))
    assert receiver.next(secret)[1] == [1]
    refused(422, lambda: svix.message.create(app, message_in_raw("lot.sold", "<lot/>", "no media type")))
    svix.endpoint.delete(app, endpoint)


def operational_webhooks(svix, app, url):
    operational = svix.operational_webhook.endpoint
    endpoint = operational.create(OperationalWebhookEndpointIn(url=url, event_types=["endpoint.created"]))
    assert operational.get(endpoint.id).url == url
    assert [found.id for found in operational.list().data] == [endpoint.id]
    assert operational.get_secret(endpoint.id).key.startswith("whsec_")
    told = Receiver()
    operational.set_headers(endpoint.id, OperationalWebhookEndpointHeadersIn(headers={"x-house": "bath"}))
    assert operational.get_headers(endpoint.id).headers == {"x-house": "bath"}
    operational.rotate_secret(endpoint.id, OperationalWebhookEndpointSecretIn())
    operational_secret = operational.get_secret(endpoint.id).key
    operational.upsert(endpoint.id, OperationalWebhookEndpointUpsertIn(url=told.url, event_types=["endpoint.created"]))
    made = svix.endpoint.create(app, EndpointIn(url=url, disabled=True))
    event = told.next(operational_secret)[1]
    assert event["type"] == "endpoint.created" and event["data"]["endpointId"] == made.id, event
    svix.endpoint.delete(app, made.id)
    operational.delete(endpoint.id)
    refused(404, lambda: operational.get(endpoint.id))


def portal(svix, server, app):
    access = svix.authentication.app_portal_access(app, AppPortalAccessIn(feature_flags=[], expiry=3600))
    assert access.url.startswith("http") and access.token
    customer = Svix(access.token, SvixOptions(server_url=server))
    assert customer.endpoint.list(app).data
    refused(401, lambda: Svix("unknown-key", SvixOptions(server_url=server)).application.list())
    customer.authentication.logout()
    refused(401, lambda: customer.endpoint.list(app))
    other = svix.authentication.app_portal_access(app, AppPortalAccessIn())
    svix.authentication.expire_all(app, ApplicationTokenExpireIn())
    refused(401, lambda: Svix(other.token, SvixOptions(server_url=server)).endpoint.list(app))


def main():
    server = os.environ["SERVER"]
    svix = Svix(os.environ["KEY"], SvixOptions(server_url=server))
    svix.health.get()
    receiver = Receiver()
    event_types(svix)
    app = applications(svix)
    endpoint, secret = endpoints(svix, app, receiver.url)
    messages(svix, app, endpoint, secret, receiver)
    replays(svix, app, endpoint, secret, receiver)
    raw_payloads(svix, app)
    operational_webhooks(svix, app, receiver.url)
    portal(svix, server, app)
    svix.endpoint.delete(app, endpoint)
    svix.application.delete(app)
    print("the whole surface is there")


main()
