# Usage: pip install cryptography; WEBHOOK_KEY=whpk_… python3 verify.py ID TIMESTAMP SIGNATURE < body
import base64, binascii, os, sys, time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

def verify(key: str, id: str, timestamp: str, signatures: str, body: bytes) -> bool:
    if abs(time.time() - int(timestamp)) > 300:
        return False
    public_key = Ed25519PublicKey.from_public_bytes(base64.b64decode(key.removeprefix("whpk_")))
    signed = f"{id}.{timestamp}.".encode() + body
    for version, _, given in (signature.partition(",") for signature in signatures.split(" ")):
        try:
            if version == "v1a":
                public_key.verify(base64.b64decode(given), signed)
                return True
        except (InvalidSignature, binascii.Error):
            pass
    return False

if __name__ == "__main__":
    # In your web framework: the headers webhook-id, webhook-timestamp and webhook-signature, and the raw body.
    id, timestamp, signatures = sys.argv[1:4]
    is_valid = verify(os.environ["WEBHOOK_KEY"], id, timestamp, signatures, sys.stdin.buffer.read())
    print("valid" if is_valid else "refused")
    sys.exit(0 if is_valid else 1)
