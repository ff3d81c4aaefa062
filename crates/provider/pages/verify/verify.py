# Usage: WEBHOOK_SECRET=whsec_… python3 verify.py ID TIMESTAMP SIGNATURE < body
import base64, hashlib, hmac, os, sys, time

def verify(secret: str, id: str, timestamp: str, signatures: str, body: bytes) -> bool:
    if abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected, given) for given in signatures.split(" "))

if __name__ == "__main__":
    # In your web framework: the headers webhook-id, webhook-timestamp and webhook-signature, and the raw body.
    id, timestamp, signatures = sys.argv[1:4]
    is_valid = verify(os.environ["WEBHOOK_SECRET"], id, timestamp, signatures, sys.stdin.buffer.read())
    print("valid" if is_valid else "refused")
    sys.exit(0 if is_valid else 1)
