// The web site of a house, as its developers write it: it gets tokens with a standard client, and calls the bidders' API.
import * as oauth from "/oauth4webapi.js";

const house = new URL("HOUSE");
const insecure = { [oauth.allowInsecureRequests]: true };
const client = { client_id: location.origin };
const back = `${location.origin}/back`;

async function server() {
    const found = await oauth.discoveryRequest(house, { algorithm: "oauth2", ...insecure });
    return oauth.processDiscoveryResponse(house, found);
}

async function connect() {
    const [as, verifier, state] = [await server(), oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
    sessionStorage.setItem("asked", JSON.stringify({ verifier, state }));
    const address = new URL(as.authorization_endpoint);
    const challenge = await oauth.calculatePKCECodeChallenge(verifier);
    for (const [name, value] of Object.entries({
        response_type: "code", client_id: client.client_id, redirect_uri: back, state,
        code_challenge: challenge, code_challenge_method: "S256",
    })) address.searchParams.set(name, value);
    location.assign(address);
}

async function finish() {
    const { verifier, state } = JSON.parse(sessionStorage.getItem("asked"));
    const as = await server();
    const answer = oauth.validateAuthResponse(as, client, new URL(location.href), state);
    const response = await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), answer, back, verifier, insecure);
    window.tokens = await oauth.processAuthorizationCodeResponse(as, client, response);
}

window.renew = async () => {
    const as = await server();
    const response = await oauth.refreshTokenGrantRequest(as, client, oauth.None(), window.tokens.refresh_token, insecure);
    window.tokens = await oauth.processRefreshTokenResponse(as, client, response);
};

window.revoke = async () => {
    const as = await server();
    const response = await oauth.revocationRequest(as, client, oauth.None(), window.tokens.refresh_token, insecure);
    await oauth.processRevocationResponse(response);
};

/** Calls the API, and returns status and body as JSON text. */
window.call = async (method, path, body, key) => {
    const headers = {};
    if (window.tokens) headers.authorization = `Bearer ${window.tokens.access_token}`;
    if (body) headers["content-type"] = "application/json";
    if (key) headers["idempotency-key"] = key;
    const sent = { method, headers, body: body && JSON.stringify(body) };
    const response = await fetch(`${house.href}/api/v1${path}`, sent);
    const text = await response.text();
    return JSON.stringify({ status: response.status, body: text ? JSON.parse(text) : null });
};

const state = document.getElementById("state");
document.getElementById("connect").addEventListener("click", () => void connect());
if (location.pathname === "/back") {
    finish().then(
        () => { state.textContent = "Connected."; },
        (error) => { state.textContent = `Refused: ${error.error ?? error.message}`; },
    );
} else {
    state.textContent = "Ready to connect.";
}
