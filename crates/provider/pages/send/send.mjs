const body = String.raw`{
  "eventType": "example.created",
  "payload": {"id": 1}
}`;

const response = await fetch("https://provider.example/api/v1/app/app_example/msg", {
  method: "POST",
  headers: {
    authorization: `Bearer ${process.env.PROVIDER_KEY}`,
    "content-type": "application/json",
  },
  body,
});
console.log(response.status, await response.text());
process.exitCode = response.ok ? 0 : 1;
