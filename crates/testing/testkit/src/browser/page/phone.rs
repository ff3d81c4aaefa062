//! A page as on a phone: its screen, a slow connection, and a cache that is empty.

use serde_json::json;

use super::super::connection::BrowserError;
use super::Page;

impl Page {
    /// Emulates the screen of a phone, in CSS pixels, with this many pixels of the screen for each of them along a line.
    pub async fn emulate_phone(&self, width: u32, height: u32, pixels: u32) -> Result<(), BrowserError> {
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": pixels, "mobile": true });
        self.call("Emulation.setDeviceMetricsOverride", screen).await?;
        self.call("Emulation.setTouchEmulationEnabled", json!({ "enabled": true })).await.map(drop)
    }

    /// Slows the connection down: each request waits this long, and all together get this rate.
    pub async fn emulate_network(&self, latency_ms: u32, bits_per_s: u32) -> Result<(), BrowserError> {
        self.call("Network.enable", json!({})).await?;
        let bytes_per_s = bits_per_s / 8;
        let conditions = json!({
            "offline": false, "latency": latency_ms, "downloadThroughput": bytes_per_s, "uploadThroughput": bytes_per_s,
        });
        self.call("Network.emulateNetworkConditions", conditions).await.map(drop)
    }

    /// Empties the browser's cache.
    pub async fn clear_cache(&self) -> Result<(), BrowserError> {
        self.call("Network.clearBrowserCache", json!({})).await.map(drop)
    }
}
