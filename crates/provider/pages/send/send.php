<?php

$body = <<<'JSON'
{
  "eventType": "example.created",
  "payload": {"id": 1}
}
JSON;

$context = stream_context_create(["http" => [
    "method" => "POST",
    "header" => [
        "Authorization: Bearer " . getenv("PROVIDER_KEY"),
        "Content-Type: application/json",
    ],
    "content" => $body,
    "ignore_errors" => true,
]]);
$response = fopen("https://provider.example/api/v1/app/app_example/msg", "r", false, $context);
if ($response === false) {
    exit(1);
}
$status = explode(" ", stream_get_meta_data($response)["wrapper_data"][0])[1];
echo $status, " ", stream_get_contents($response), "\n";
exit($status < 300 ? 0 : 1);
