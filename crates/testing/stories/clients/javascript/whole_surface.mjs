// Every operation of the provider, by the official JavaScript client.
//
// Called with SERVER and KEY in the environment, against a running provider that may reach this machine. It has a receiver of
// its own, which verifies signatures with the client's library. Anything unexpected ends it with an error.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import "./web_crypto.mjs";
import { ApiException, messageInRaw, Svix, Webhook } from "svix";

const PATIENCE_MS = 30_000;
const SCHEMA = {
  1: { type: "object", title: "Sold", properties: { lot: { type: "string" } }, examples: [{ lot: "12" }] },
};

/** Keeps what arrives. */
class Receiver {
  #arrived = [];
  #waiting = [];

  async listen() {
    this.server = createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      response.end();
      const arrival = { headers: request.headers, body: Buffer.concat(chunks).toString() };
      const waiting = this.#waiting.shift();
      if (waiting) waiting(arrival);
      else this.#arrived.push(arrival);
    });
    await new Promise((listening) => this.server.listen(0, "127.0.0.1", listening));
    this.url = `http://127.0.0.1:${this.server.address().port}/hook`;
    return this;
  }

  async next(secret) {
    const late = new Promise((_, reject) => setTimeout(reject, PATIENCE_MS, new Error("nothing arrived")).unref());
    const come = this.#arrived.shift() ?? new Promise((resolve) => this.#waiting.push(resolve));
    const { headers, body } = await Promise.race([come, late]);
    const webhook = new Webhook(secret);
    if (headers["content-type"] === "application/json") return { headers, payload: webhook.verify(body, headers) };
    // The library verifies JSON alone.
    const signed = webhook.sign(headers["svix-id"], new Date(headers["svix-timestamp"] * 1000), body);
    assert.ok(headers["svix-signature"].split(" ").includes(signed));
    return { headers, payload: body };
  }
}

/** What `look` gives, as soon as it gives something. */
async function eventually(look) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    const found = await look();
    if (found) return found;
    await new Promise((later) => setTimeout(later, 50));
  }
  throw new Error("it did not happen");
}

async function refused(status, call) {
  await assert.rejects(call, (error) => error instanceof ApiException && error.code === status);
}

const server = process.env.SERVER;
const svix = new Svix(process.env.KEY, { serverUrl: server });
await svix.health.get();
const receiver = await new Receiver().listen();

// Event types.
await svix.eventType.create({ name: "lot.sold", description: "Sold", schemas: SCHEMA });
await refused(409, () => svix.eventType.create({ name: "lot.sold", description: "Again" }));
await svix.eventType.create({ name: "lot.passed", description: "Passed" });
assert.deepEqual((await svix.eventType.list({ withContent: true })).data.map((kind) => kind.name), ["lot.passed", "lot.sold"]);
assert.equal((await svix.eventType.patch("lot.passed", { description: "Passed in" })).description, "Passed in");
assert.equal((await svix.eventType.update("lot.passed", { description: "Passed" })).description, "Passed");
await svix.eventType.delete("lot.passed");
assert.ok((await svix.eventType.get("lot.passed")).archived);
await svix.eventType.delete("lot.passed", { expunge: true });
await refused(404, () => svix.eventType.get("lot.passed"));
const spec = { openapi: "3.1.0", webhooks: { "lot.moved": { post: { description: "Moved" } } } };
assert.deepEqual((await svix.eventType.importOpenapi({ spec })).data.modified, ["lot.moved"]);

// Applications.
const house = await svix.application.create({ name: "House", uid: "house" });
await refused(409, () => svix.application.create({ name: "Other", uid: "house" }));
assert.equal((await svix.application.getOrCreate({ name: "House", uid: "house" })).id, house.id);
assert.equal((await svix.application.patch("house", { metadata: { town: "Bath" } })).metadata.town, "Bath");
assert.equal((await svix.application.update("house", { name: "Bath", uid: "house" })).name, "Bath");
assert.equal((await svix.application.get("house")).id, house.id);
assert.ok((await svix.application.list({ limit: 1 })).data.length === 1);

// Endpoints, their headers and secrets.
const { id: endpoint } = await svix.endpoint.create("house", { url: receiver.url, filterTypes: ["lot.sold"] });
assert.deepEqual((await svix.endpoint.get("house", endpoint)).filterTypes, ["lot.sold"]);
assert.equal((await svix.endpoint.patch("house", endpoint, { description: "Shop" })).description, "Shop");
assert.equal((await svix.endpoint.update("house", endpoint, { url: receiver.url })).url, receiver.url);
assert.equal((await svix.endpoint.list("house")).data.length, 1);
await svix.endpoint.updateHeaders("house", endpoint, { headers: { "x-house": "bath", authorization: "Basic c2VjcmV0" } });
assert.deepEqual((await svix.endpoint.getHeaders("house", endpoint)).sensitive, ["authorization"]);
await svix.endpoint.patchHeaders("house", endpoint, { headers: { "x-town": "wells" } });
await svix.endpoint.rotateSecret("house", endpoint, {});
const secret = (await svix.endpoint.getSecret("house", endpoint)).key;

// Messages and their attempts.
assert.ok((await svix.message.precheck("house", { eventType: "lot.sold" })).active);
const sent = await svix.message.create("house", { eventType: "lot.sold", eventId: "lot-1.1", payload: { lot: "1" }, channels: ["web"] });
const first = await receiver.next(secret);
assert.deepEqual(first.payload, { lot: "1" });
assert.equal(first.headers["x-town"], "wells");
await refused(409, () => svix.message.create("house", { eventType: "lot.sold", eventId: "lot-1.1", payload: {} }));
assert.deepEqual((await svix.message.get("house", "lot-1.1")).payload, { lot: "1" });
assert.equal((await svix.message.list("house", { channel: "web", eventTypes: ["lot.sold"] })).data.length, 1);
assert.equal((await svix.message.list("house", { channel: "mail" })).data.length, 0);
const attempts = svix.messageAttempt;
const [attempt] = await eventually(async () => {
  const { data } = await attempts.listByMsg("house", sent.id);
  return data.length > 0 && data;
});
assert.equal(attempt.status, 0);
assert.equal((await attempts.listByEndpoint("house", endpoint, { status: 0 })).data[0].id, attempt.id);
assert.equal((await attempts.listAttemptedMessages("house", endpoint)).data[0].id, sent.id);
assert.equal((await attempts.listAttemptedDestinations("house", sent.id)).data[0].id, endpoint);
assert.equal((await attempts.get("house", sent.id, attempt.id)).id, attempt.id);
await attempts.resend("house", sent.id, endpoint);
assert.equal((await receiver.next(secret)).headers["svix-id"], sent.id);
await attempts.expungeContent("house", sent.id, attempt.id);
await svix.message.expungeContent("house", sent.id);
assert.deepEqual((await svix.message.get("house", sent.id)).payload, { expired: true });
await svix.endpoint.sendExample("house", endpoint, { eventType: "lot.sold" });
assert.deepEqual((await receiver.next(secret)).payload, { lot: "12" });
await eventually(async () => (await svix.endpoint.getStats("house", endpoint)).success === 3);

// What was missed is sent again.
await svix.endpoint.patch("house", endpoint, { disabled: true });
const missed = await svix.message.create("house", { eventType: "lot.sold", payload: { lot: "2" } });
await svix.endpoint.patch("house", endpoint, { disabled: false });
const since = new Date(Date.now() - 3_600_000);
const replay = await svix.endpoint.replayMissing("house", endpoint, { since });
assert.equal((await receiver.next(secret)).headers["svix-id"], missed.id);
await eventually(async () => (await svix.backgroundTask.get(replay.id)).status === "finished");
await svix.endpoint.recover("house", endpoint, { since });
const again = await svix.endpoint.bulkReplay("house", endpoint, { since, eventTypes: ["lot.sold"] });
await eventually(async () => (await svix.backgroundTask.get(again.id)).status === "finished");
assert.ok((await receiver.next(secret)).headers["svix-id"]);
const purge = await svix.message.expungeAllContents("house");
assert.equal(purge.task, "application.purge_content");
await eventually(async () => (await svix.backgroundTask.get(purge.id)).status === "finished");
assert.deepEqual((await svix.message.get("house", missed.id)).payload, { expired: true });
assert.equal((await svix.backgroundTask.list()).data.length, 4);

// A text of another kind is received as what it is.
const texts = await new Receiver().listen();
const ofTexts = await svix.endpoint.create("house", { url: texts.url });
const textSecret = (await svix.endpoint.getSecret("house", ofTexts.id)).key;
await svix.message.create("house", messageInRaw("lot.sold", "<lot>größe</lot>", "text/xml; charset=utf-8"));
const raw = await texts.next(textSecret);
assert.deepEqual([raw.headers["content-type"], raw.payload], ["text/xml; charset=utf-8", "<lot>größe</lot>"]);
await svix.message.create("house", messageInRaw("lot.sold", "[1]"));
assert.deepEqual((await texts.next(textSecret)).payload, [1]);
await refused(422, () => svix.message.create("house", messageInRaw("lot.sold", "<lot/>", "no media type")));
await svix.endpoint.delete("house", ofTexts.id);

// Operational webhooks.
const told = await new Receiver().listen();
const operational = await svix.operationalWebhookEndpoint.create({ url: told.url });
await svix.operationalWebhookEndpoint.update(operational.id, { url: told.url, description: "Ours" });
await svix.operationalWebhookEndpoint.updateHeaders(operational.id, { headers: { "x-house": "bath" } });
assert.deepEqual((await svix.operationalWebhookEndpoint.getHeaders(operational.id)).headers, { "x-house": "bath" });
await svix.operationalWebhookEndpoint.rotateSecret(operational.id, {});
assert.equal((await svix.operationalWebhookEndpoint.list()).data.length, 1);
const operationalSecret = (await svix.operationalWebhookEndpoint.getSecret(operational.id)).key;
const spare = await svix.endpoint.create("house", { url: receiver.url, disabled: true });
const { payload: event } = await told.next(operationalSecret);
assert.deepEqual([event.type, event.data.endpointId], ["endpoint.created", spare.id]);
await svix.operationalWebhookEndpoint.delete(operational.id);
await refused(404, () => svix.operationalWebhookEndpoint.get(operational.id));

// The portal's token.
const access = await svix.authentication.appPortalAccess("house", { featureFlags: [] });
const customer = new Svix(access.token, { serverUrl: server });
assert.equal((await customer.endpoint.list("house")).data.length, 2);
await customer.authentication.logout();
await refused(401, () => customer.endpoint.list("house"));
const other = new Svix((await svix.authentication.appPortalAccess("house", {})).token, { serverUrl: server });
await svix.authentication.expireAll("house", {});
await refused(401, () => other.endpoint.list("house"));

await svix.endpoint.delete("house", endpoint);
await svix.application.delete("house");
await refused(404, () => svix.application.get("house"));
console.log("the whole surface is there");
process.exit(0);
