import os
import sys
from urllib import error, request

BODY = r"""{
  "eventType": "example.created",
  "payload": {"id": 1}
}"""

message = request.Request(
    "https://provider.example/api/v1/app/app_example/msg",
    data=BODY.encode(),
    headers={
        "Authorization": "Bearer " + os.environ["PROVIDER_KEY"],
        "Content-Type": "application/json",
    },
)
try:
    with request.urlopen(message) as response:
        print(response.status, response.read().decode())
except error.HTTPError as refused:
    sys.exit(f"{refused.code} {refused.read().decode()}")
