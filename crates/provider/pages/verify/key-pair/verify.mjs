// Usage: WEBHOOK_KEY=whpk_… node verify.mjs ID TIMESTAMP SIGNATURE < body
import { createPublicKey, verify as verifySignature } from "node:crypto";
import { readFileSync } from "node:fs";

export function verify(key, id, timestamp, signatures, body) {
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const x = Buffer.from(key.replace(/^whpk_/, ""), "base64").toString("base64url");
  const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  return signatures.split(" ").some((signature) => {
    const [version, given] = signature.split(",");
    return version === "v1a" && verifySignature(null, signed, publicKey, Buffer.from(given ?? "", "base64"));
  });
}

// In your web framework: the headers webhook-id, webhook-timestamp and webhook-signature, and the raw body as a Buffer.
const [id, timestamp, signatures] = process.argv.slice(2);
const isValid = verify(process.env.WEBHOOK_KEY, id, timestamp, signatures, readFileSync(0));
console.log(isValid ? "valid" : "refused");
process.exit(isValid ? 0 : 1);
