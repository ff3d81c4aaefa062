// Usage: WEBHOOK_SECRET=whsec_… go run verify.go ID TIMESTAMP SIGNATURE < body
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

func verify(secret, id, timestamp, signatures string, body []byte) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	if age := time.Now().Unix() - seconds; age > 300 || age < -300 {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, given := range strings.Split(signatures, " ") {
		if hmac.Equal([]byte(given), []byte(expected)) {
			return true
		}
	}
	return false
}

func main() {
	// In your web framework: the headers webhook-id, webhook-timestamp and webhook-signature, and the raw body.
	body, err := io.ReadAll(os.Stdin)
	if err != nil || len(os.Args) < 4 || !verify(os.Getenv("WEBHOOK_SECRET"), os.Args[1], os.Args[2], os.Args[3], body) {
		fmt.Println("refused")
		os.Exit(1)
	}
	fmt.Println("valid")
}
