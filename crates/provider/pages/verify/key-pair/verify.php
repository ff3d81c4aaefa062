<?php
// Usage: WEBHOOK_KEY=whpk_… php verify.php ID TIMESTAMP SIGNATURE < body

function verify(string $key, string $id, string $timestamp, string $signatures, string $body): bool
{
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $publicKey = base64_decode(preg_replace('/^whpk_/', '', $key));
    foreach (explode(' ', $signatures) as $signature) {
        [$version, $given] = explode(',', $signature, 2) + [1 => ''];
        $given = base64_decode($given, true);
        if (
            $version === 'v1a' && is_string($given) && strlen($given) === SODIUM_CRYPTO_SIGN_BYTES
            && sodium_crypto_sign_verify_detached($given, "$id.$timestamp.$body", $publicKey)
        ) {
            return true;
        }
    }
    return false;
}

// In your web framework: the headers webhook-id, webhook-timestamp and webhook-signature, and file_get_contents('php://input').
[, $id, $timestamp, $signatures] = $argv;
$isValid = verify(getenv('WEBHOOK_KEY'), $id, $timestamp, $signatures, file_get_contents('php://stdin'));
echo $isValid ? "valid\n" : "refused\n";
exit($isValid ? 0 : 1);
