// Usage: WEBHOOK_SECRET=whsec_… java Verify.java ID TIMESTAMP SIGNATURE < body
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Verify {
    static boolean verify(String secret, String id, String timestamp, String signatures, byte[] body) throws Exception {
        if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > 300) {
            return false;
        }
        byte[] key = Base64.getDecoder().decode(secret.replaceFirst("^whsec_", ""));
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
        String expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
        boolean isValid = false;
        for (String given : signatures.split(" ")) {
            isValid |= MessageDigest.isEqual(given.getBytes(), expected.getBytes());
        }
        return isValid;
    }

    public static void main(String[] words) throws Exception {
        // In your web framework: the headers webhook-id, webhook-timestamp and webhook-signature, and the raw body.
        byte[] body = System.in.readAllBytes();
        boolean isValid = verify(System.getenv("WEBHOOK_SECRET"), words[0], words[1], words[2], body);
        System.out.println(isValid ? "valid" : "refused");
        System.exit(isValid ? 0 : 1);
    }
}
