//! A page, and what a person does with it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::connection::{BrowserError, Connection};

/// Nothing that is waited for takes longer.
const WAIT_MAX: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Finds the visible link, button or label with a text, or with a name for screen readers. What is asked for by `within`
/// narrows it down.
const FIND_BY_TEXT: &str = r#"((words) => {
    const said = (element) => (element.getAttribute("aria-label") ?? element.textContent).replace(/\s+/g, " ").trim();
    const all = [...document.querySelectorAll("a, button, label, summary")];
    return all.find((element) => said(element) === words && element.getClientRects().length > 0);
})"#;

/// Brings an element into view and gives its middle; an error when it is not there, or something is in front of it.
const ELEMENT_CENTRE: &str = r#"((element) => {
    if (!element) return { why: "it is not there" };
    element.scrollIntoView({ block: "center", behavior: "instant" });
    const box = element.getClientRects()[0];
    if (!box) return { why: "it is not shown" };
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const hit = document.elementFromPoint(x, y);
    if (!hit || !(element.contains(hit) || hit.contains(element))) return { why: "something is in front of it" };
    return { x, y };
})"#;

/// A page of a browser.
pub struct Page {
    connection: Connection,
    session: String,
}

impl Page {
    pub(super) async fn new(connection: Connection) -> Result<Self, BrowserError> {
        let made = connection.call(None, "Target.createTarget", json!({ "url": "about:blank" })).await?;
        let attach = json!({ "targetId": made["targetId"], "flatten": true });
        let attached = connection.call(None, "Target.attachToTarget", attach).await?;
        let session = attached["sessionId"].as_str().unwrap_or_default().to_owned();
        let page = Page { connection, session };
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            page.call(domain, json!({})).await?;
        }
        Ok(page)
    }

    async fn call(&self, method: &str, params: Value) -> Result<Value, BrowserError> {
        self.connection.call(Some(&self.session), method, params).await
    }

    /// Enters an address.
    pub async fn open(&self, url: &str) -> Result<(), BrowserError> {
        let opened = self.call("Page.navigate", json!({ "url": url })).await?;
        match opened["errorText"].as_str() {
            Some(error) => Err(BrowserError::new(format!("opening {url}"), error)),
            None => Ok(()),
        }
    }

    /// What an expression comes to on the page.
    pub async fn evaluate(&self, expression: &str) -> Result<Value, BrowserError> {
        let params = json!({ "expression": expression, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", params).await?;
        match answer.get("exceptionDetails") {
            Some(details) => Err(BrowserError::new(expression, details)),
            None => Ok(answer["result"]["value"].take()),
        }
    }

    /// Waits until the page has this path and is there.
    pub async fn wait_until_at(&self, path: &str) -> Result<(), BrowserError> {
        let path = json!(path);
        self.wait_until(&format!("location.pathname === {path} && document.readyState === 'complete'")).await
    }

    /// Waits until the page is there and shows a text.
    pub async fn wait_until_shown(&self, text: &str) -> Result<(), BrowserError> {
        let text = json!(text);
        self.wait_until(&format!("document.readyState === 'complete' && document.body.innerText.includes({text})"))
            .await
    }

    /// Waits until an expression is true on the page; while one page goes and another comes, it is not.
    pub async fn wait_until(&self, expression: &str) -> Result<(), BrowserError> {
        let deadline = Instant::now() + WAIT_MAX;
        loop {
            let found = self.evaluate(expression).await;
            if matches!(found, Ok(Value::Bool(true))) {
                return Ok(());
            }
            if Instant::now() > deadline {
                let shown = self.text("location.href + '\\n' + document.body.innerText").await;
                let shown = shown.unwrap_or_else(|error| error.to_string());
                return Err(BrowserError::new(format!("waiting until {expression}"), format!("it is not:\n{shown}")));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Clicks the link, button or label that says so.
    pub async fn click(&self, words: &str) -> Result<(), BrowserError> {
        self.click_on(&format!("{FIND_BY_TEXT}({})", json!(words))).await
    }

    /// Clicks the link or button that says so, and waits until another page, or this one anew, has come in place of this one.
    pub async fn click_through(&self, words: &str) -> Result<(), BrowserError> {
        self.evaluate("window.isLeft = true").await?;
        self.click(words).await?;
        self.wait_until("window.isLeft !== true && document.readyState === 'complete'").await
    }

    /// Types into the field of this id, in place of what is there.
    pub async fn fill(&self, id: &str, text: &str) -> Result<(), BrowserError> {
        let field = format!("document.getElementById({})", json!(id));
        self.click_on(&field).await?;
        self.evaluate(&format!("{field}.select()")).await?;
        self.call("Input.insertText", json!({ "text": text })).await.map(drop)
    }

    async fn click_on(&self, element: &str) -> Result<(), BrowserError> {
        let place = self.evaluate(&format!("{ELEMENT_CENTRE}({element})")).await?;
        if let Some(why) = place["why"].as_str() {
            return Err(BrowserError::new(format!("clicking on {element}"), why));
        }
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": place["x"], "y": place["y"], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event).await?;
        }
        Ok(())
    }

    /// A text on the page.
    pub async fn text(&self, expression: &str) -> Result<String, BrowserError> {
        Ok(self.evaluate(expression).await?.as_str().unwrap_or_default().to_owned())
    }

    /// Switches the scripts of pages off.
    pub async fn disable_script(&self) -> Result<(), BrowserError> {
        self.call("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await.map(drop)
    }

    /// Makes the window so wide, in CSS pixels.
    pub async fn resize(&self, width: u32) -> Result<(), BrowserError> {
        let screen = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", screen).await.map(drop)
    }

    /// What pages have complained about so far: exceptions, what a policy kept out, what could not be loaded.
    pub fn console_errors(&self) -> Vec<String> {
        let exceptions = self.connection.events(&self.session, "Runtime.exceptionThrown");
        let logged = self.connection.events(&self.session, "Log.entryAdded");
        let logged = logged.into_iter().filter(|entry| entry["entry"]["level"] == "error");
        exceptions.into_iter().chain(logged).map(|complaint| complaint.to_string()).collect()
    }
}
