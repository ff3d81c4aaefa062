# Usage: WEBHOOK_SECRET=whsec_… ruby verify.rb ID TIMESTAMP SIGNATURE < body
require "openssl"

def verify(secret, id, timestamp, signatures, body)
  return false if (Time.now.to_i - Integer(timestamp, 10)).abs > 300

  key = secret.delete_prefix("whsec_").unpack1("m0")
  digest = OpenSSL::HMAC.digest("SHA256", key, "#{id}.#{timestamp}.".b + body)
  expected = "v1,#{[digest].pack("m0")}"
  signatures.split(" ").any? { |given| OpenSSL.secure_compare(expected, given) }
end

# In your web framework: the headers webhook-id, webhook-timestamp and webhook-signature, and request.raw_post.
id, timestamp, signatures = ARGV
is_valid = verify(ENV.fetch("WEBHOOK_SECRET"), id, timestamp, signatures, $stdin.binmode.read)
puts is_valid ? "valid" : "refused"
exit is_valid
