// Usage: WEBHOOK_KEY=whpk_… go run verify.go ID TIMESTAMP SIGNATURE < body
package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

func verify(key, id, timestamp, signatures string, body []byte) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	if age := time.Now().Unix() - seconds; age > 300 || age < -300 {
		return false
	}
	public, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, "whpk_"))
	if err != nil || len(public) != ed25519.PublicKeySize {
		return false
	}
	signed := append([]byte(id+"."+timestamp+"."), body...)
	for _, signature := range strings.Split(signatures, " ") {
		if !strings.HasPrefix(signature, "v1a,") {
			continue
		}
		given, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1a,"))
		if err == nil && ed25519.Verify(public, signed, given) {
			return true
		}
	}
	return false
}

func main() {
	// In your web framework: the headers webhook-id, webhook-timestamp and webhook-signature, and the raw body.
	body, err := io.ReadAll(os.Stdin)
	if err != nil || len(os.Args) < 4 || !verify(os.Getenv("WEBHOOK_KEY"), os.Args[1], os.Args[2], os.Args[3], body) {
		fmt.Println("refused")
		os.Exit(1)
	}
	fmt.Println("valid")
}
