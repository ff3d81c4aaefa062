#!/bin/sh
# Check a request: WEBHOOK_SECRET=whsec_… sh verify.sh ID TIMESTAMP SIGNATURE < body
# Send your receiver a signed request: WEBHOOK_SECRET=whsec_… sh verify.sh URL < body
set -eu
body=$(mktemp)
trap 'rm -f "$body"' EXIT
cat > "$body"

# Prints the signature of the message id $1 and the timestamp $2.
sign() {
  key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
  { printf '%s.%s.' "$1" "$2"; cat "$body"; } | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A
}

if [ $# -eq 1 ]; then
  id=msg_$(openssl rand -hex 12)
  timestamp=$(date +%s)
  curl --silent --show-error --fail --output /dev/null --write-out '%{http_code}\n' -X POST "$1" \
    -H 'content-type: application/json' -H "webhook-id: $id" -H "webhook-timestamp: $timestamp" \
    -H "webhook-signature: v1,$(sign "$id" "$timestamp")" --data-binary "@$body"
  exit
fi

age=$(($(date +%s) - $2))
expected=v1,$(sign "$1" "$2")
if [ "$age" -le 300 ] && [ "$age" -ge -300 ]; then
  for given in $3; do
    if [ "$given" = "$expected" ]; then
      echo valid
      exit
    fi
  done
fi
echo refused
exit 1
