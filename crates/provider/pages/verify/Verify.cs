// Usage: WEBHOOK_SECRET=whsec_… dotnet run Verify.cs ID TIMESTAMP SIGNATURE < body
//    or: mcs Verify.cs && WEBHOOK_SECRET=whsec_… mono Verify.exe ID TIMESTAMP SIGNATURE < body
using System;
using System.IO;
using System.Linq;
using System.Security.Cryptography;
using System.Text;

static class Verify
{
    static bool IsValid(string secret, string id, string timestamp, string signatures, byte[] body)
    {
        long seconds;
        if (!long.TryParse(timestamp, out seconds)) return false;
        if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - seconds) > 300) return false;
        var key = Convert.FromBase64String(secret.Replace("whsec_", ""));
        var signed = Encoding.UTF8.GetBytes(id + "." + timestamp + ".").Concat(body).ToArray();
        using (var hmac = new HMACSHA256(key))
        {
            var expected = "v1," + Convert.ToBase64String(hmac.ComputeHash(signed));
            return signatures.Split(' ').Any(given => AreEqual(given, expected));
        }
    }

    // Takes the same time wherever the texts differ.
    static bool AreEqual(string one, string other)
    {
        var difference = one.Length ^ other.Length;
        for (var place = 0; place < Math.Min(one.Length, other.Length); place++) difference |= one[place] ^ other[place];
        return difference == 0;
    }

    static int Main(string[] words)
    {
        // In your web framework: the headers webhook-id, webhook-timestamp and webhook-signature, and the raw body.
        var body = new MemoryStream();
        Console.OpenStandardInput().CopyTo(body);
        var secret = Environment.GetEnvironmentVariable("WEBHOOK_SECRET");
        var isValid = IsValid(secret, words[0], words[1], words[2], body.ToArray());
        Console.WriteLine(isValid ? "valid" : "refused");
        return isValid ? 0 : 1;
    }
}
