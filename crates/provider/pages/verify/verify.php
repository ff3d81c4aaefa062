<?php
// Usage: WEBHOOK_SECRET=whsec_… php verify.php ID TIMESTAMP SIGNATURE < body

function verify(string $secret, string $id, string $timestamp, string $signatures, string $body): bool
{
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $signatures) as $given) {
        if (hash_equals($expected, $given)) {
            return true;
        }
    }
    return false;
}

// In your web framework: the headers webhook-id, webhook-timestamp and webhook-signature, and file_get_contents('php://input').
[, $id, $timestamp, $signatures] = $argv;
$isValid = verify(getenv('WEBHOOK_SECRET'), $id, $timestamp, $signatures, file_get_contents('php://stdin'));
echo $isValid ? "valid\n" : "refused\n";
exit($isValid ? 0 : 1);
