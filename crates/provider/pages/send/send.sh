curl --silent --show-error --fail-with-body --write-out '\n%{http_code}\n' \
  'https://provider.example/api/v1/app/app_example/msg' \
  --header "Authorization: Bearer $PROVIDER_KEY" \
  --header 'Content-Type: application/json' \
  --data-binary '{
  "eventType": "example.created",
  "payload": {"id": 1}
}'
