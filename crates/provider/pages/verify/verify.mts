// Usage: WEBHOOK_SECRET=whsec_… node --experimental-strip-types verify.mts ID TIMESTAMP SIGNATURE < body
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";

export function verify(secret: string, id: string, timestamp: string, signatures: string, body: Buffer): boolean {
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const hmac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body);
  const expected = Buffer.from(`v1,${hmac.digest("base64")}`);
  return signatures.split(" ").some((signature: string): boolean => {
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

// In your web framework: the headers webhook-id, webhook-timestamp and webhook-signature, and the raw body as a Buffer.
const [id, timestamp, signatures] = process.argv.slice(2) as [string, string, string];
const isValid = verify(process.env.WEBHOOK_SECRET ?? "", id, timestamp, signatures, readFileSync(0));
console.log(isValid ? "valid" : "refused");
process.exit(isValid ? 0 : 1);
