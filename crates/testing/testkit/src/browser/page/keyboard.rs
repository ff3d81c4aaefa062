//! The keyboard of a page.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::connection::BrowserError;
use super::Page;

/// Windows virtual-key codes of the keys that write no character.
const CODES: [(&str, u32); 8] =
    [("F2", 113), ("F4", 115), ("F8", 119), ("F9", 120), ("Delete", 46), ("Enter", 13), ("Escape", 27), ("Tab", 9)];

/// Elements of a page that can have the focus, at most.
const TABS_MAX: usize = 200;
/// The focused element, or its label, is on the screen, and no other element covers its middle.
const FOCUS_IS_SEEN: &str = r#"(() => {
    const own = document.activeElement;
    return [own, ...(own.labels ?? [])].some((element) => {
        const box = element.getClientRects()[0];
        const hit = box && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        return Boolean(hit) && (element.contains(hit) || hit.contains(element));
    });
})()"#;

impl Page {
    /// Presses and releases a key by its name, such as `F9`, `Enter` or `b`.
    pub async fn press(&self, key: &str) -> Result<(), BrowserError> {
        self.hold(key, Duration::ZERO).await
    }

    /// Presses a key and releases it later.
    pub async fn hold(&self, key: &str, time: Duration) -> Result<(), BrowserError> {
        let named = CODES.iter().find(|(name, _)| *name == key).map(|(_, code)| *code);
        let text = match key {
            "Enter" => Some("\r"),
            _ => named.is_none().then_some(key),
        };
        let code = named.or_else(|| Some(u32::from(key.chars().next()?.to_ascii_uppercase())));
        let event = |kind: &str, text: Option<&str>| -> Value {
            let mut event = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code });
            if let Some(text) = text {
                event["text"] = json!(text);
            }
            event
        };
        self.call("Input.dispatchKeyEvent", event("keyDown", text)).await?;
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
        self.call("Input.dispatchKeyEvent", event("keyUp", None)).await.map(drop)
    }

    /// Presses the key `Tab` until this script, a function of the focused element, returns true. The focus has to be seen: the element
    /// lies on the screen, and no other one covers it. The focus stays where it is when its element is wanted.
    pub async fn tab_to(&self, is_wanted: &str) -> Result<(), BrowserError> {
        let is_there = format!("({is_wanted})(document.activeElement ?? document.body) === true");
        for _ in 0..TABS_MAX {
            if self.evaluate(&is_there).await? == Value::Bool(true) {
                return self.wait_until(FOCUS_IS_SEEN).await;
            }
            self.press("Tab").await?;
        }
        Err(BrowserError::new(format!("pressing Tab until {is_wanted}"), format!("not within {TABS_MAX} presses")))
    }

    /// Enters a text where the focus is.
    pub async fn enter_text(&self, text: &str) -> Result<(), BrowserError> {
        self.call("Input.insertText", json!({ "text": text })).await.map(drop)
    }

    /// Presses the keys of a text, one after the other.
    pub async fn type_keys(&self, text: &str) -> Result<(), BrowserError> {
        for key in text.chars() {
            self.press(&key.to_string()).await?;
        }
        Ok(())
    }
}
