// An issuer of OpenID Connect for the stories of single sign-on: npm's oidc-provider, with people whom the story sets.
//
// It prints its address when it listens. The story changes people and keys by POST to /test/people and /test/keys. The sign-in
// page of the issuer asks for an id only, and asks every time.
import { createServer } from "node:http";
import { generateKeyPairSync } from "node:crypto";
import Provider from "oidc-provider";

const { REDIRECT_URIS } = process.env;
const people = new Map();
let keyNumber = 0;
let answer;

const server = createServer((request, response) => handle(request, response));
server.listen(0, "127.0.0.1", () => {
  newProvider();
  console.log(`http://127.0.0.1:${server.address().port}`);
});

// The provider with a new signing key. What it signed before is not accepted with the new keys.
function newProvider() {
  keyNumber += 1;
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = { ...privateKey.export({ format: "jwk" }), kid: `key-${keyNumber}`, use: "sig", alg: "RS256" };
  const client = (client_id, client_secret) => ({
    client_id, client_secret, redirect_uris: REDIRECT_URIS.split(" "), grant_types: ["authorization_code"], response_types: ["code"],
  });
  const provider = new Provider(`http://127.0.0.1:${server.address().port}`, {
    clients: [client("lotwire", "secret of: the client+1")],
    jwks: { keys: [key] },
    cookies: { keys: ["cookies of the story"] },
    scopes: ["openid", "email", "profile", "groups"],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/sign-in/${interaction.uid}` },
    findAccount: (_, id) => people.has(id) && { accountId: id, claims: () => ({ sub: id, ...people.get(id) }) },
    // People are not asked for consent.
    loadExistingGrant: async (context) => {
      const { client, session } = context.oidc;
      const grant = new context.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid email profile groups");
      await grant.save();
      return grant;
    },
  });
  // Each sign-in asks who signs in, whoever did before.
  provider.use(async (context, next) => {
    if (context.path === "/auth") context.query = { ...context.query, prompt: "login" };
    await next();
  });
  answer = { provider, callback: provider.callback() };
}

async function handle(request, response) {
  const { pathname } = new URL(request.url, "http://127.0.0.1");
  try {
    if (request.method === "POST" && pathname === "/test/people") {
      const set = JSON.parse(await body(request));
      people.clear();
      for (const [id, claims] of Object.entries(set)) people.set(id, claims);
      return response.end();
    }
    if (request.method === "POST" && pathname === "/test/keys") {
      newProvider();
      return response.end();
    }
    if (pathname.startsWith("/sign-in/")) return await signIn(request, response);
    return answer.callback(request, response);
  } catch (error) {
    console.error(error);
    response.statusCode = 500;
    response.end(String(error));
  }
}

async function signIn(request, response) {
  if (request.method === "GET") {
    response.setHeader("content-type", "text/html; charset=utf-8");
    return response.end(
      `<!doctype html><html lang="en"><title>The issuer</title><h1>The issuer</h1>
       <form method="post"><label for="id">Id</label> <input id="id" name="id"><button>Continue</button>
       <button name="refuse" value="yes">Refuse</button></form></html>`,
    );
  }
  const form = new URLSearchParams(await body(request));
  const id = form.get("id");
  const result = form.get("refuse") || !people.has(id)
    ? { error: "access_denied", error_description: "the person refused" }
    : { login: { accountId: id } };
  await answer.provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

async function body(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}
