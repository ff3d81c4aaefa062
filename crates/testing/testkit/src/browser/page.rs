//! A page of the browser, and a user's actions on it.

mod keyboard;
mod phone;
mod printing;

use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value, json};

use super::connection::{BrowserError, Connection};

/// Time limit for a condition.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// Pause between two looks at a page. It doubles up to the longer one: a look takes the browser's time, and some waits take seconds.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
const POLL_INTERVAL_MAX: Duration = Duration::from_millis(80);

/// Finds the visible link, button, label or summary with this text or accessible name.
const FIND_BY_TEXT: &str = r#"((words) => {
    const nameOf = (element) => (element.getAttribute("aria-label") ?? element.textContent).replace(/\s+/g, " ").trim();
    const all = [...document.querySelectorAll("a, button, label, summary")];
    return all.find((element) => nameOf(element) === words && element.getClientRects().length > 0);
})"#;

/// Scrolls an element into view and returns its centre. Returns `why` if it is missing, hidden or covered.
const ELEMENT_CENTRE: &str = r#"((element) => {
    if (!element) return { why: "it does not exist" };
    element.scrollIntoView({ block: "center", behavior: "instant" });
    const box = element.getClientRects()[0];
    if (!box) return { why: "it is not visible" };
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const hit = document.elementFromPoint(x, y);
    if (!hit || !(element.contains(hit) || hit.contains(element))) return { why: "another element covers it" };
    return { x, y };
})"#;

/// Height of the highest picture of a page, in CSS pixels.
const PICTURE_PIXELS_MAX: f64 = 6_000.0;

/// The colours that a visitor prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorScheme {
    /// Dark text on a light page.
    Light,
    /// Light text on a dark page.
    Dark,
}

/// A page of a browser.
pub struct Page {
    connection: Connection,
    session: String,
}

impl Page {
    /// A new page, in the context of a visitor if it is not the first one.
    pub(super) async fn new(
        connection: Connection,
        context: Option<&str>,
        in_own_window: bool,
    ) -> Result<Self, BrowserError> {
        let mut target = json!({ "url": "about:blank", "newWindow": in_own_window });
        if let Some(context) = context {
            target["browserContextId"] = json!(context);
        }
        let made = connection.call(None, "Target.createTarget", target).await?;
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

    /// Opens a URL, and waits until the browser has read the whole page.
    pub async fn open(&self, url: &str) -> Result<(), BrowserError> {
        let opened = self.call("Page.navigate", json!({ "url": url })).await?;
        if let Some(error) = opened["errorText"].as_str() {
            return Err(BrowserError::new(format!("opening {url}"), error));
        }
        self.wait_until("document.readyState !== 'loading'").await
    }

    /// Runs a script at the beginning of every page that is opened from now on, before those of the page.
    pub async fn run_first(&self, script: &str) -> Result<(), BrowserError> {
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script })).await.map(|_| ())
    }

    /// Brings the tab to the front of its window.
    pub async fn show(&self) -> Result<(), BrowserError> {
        self.call("Page.bringToFront", json!({})).await.map(|_| ())
    }

    /// The frame of another site whose address contains this text, as a page. It can be evaluated, not clicked.
    pub async fn frame(&self, part: &str) -> Result<Self, BrowserError> {
        Self::attach(self.connection.clone(), "iframe", part).await
    }

    /// Waits for a target of this kind whose address contains this text.
    pub(super) async fn attach(connection: Connection, kind: &str, part: &str) -> Result<Self, BrowserError> {
        let deadline = Instant::now() + WAIT_MAX;
        loop {
            let targets = connection.call(None, "Target.getTargets", json!({})).await?;
            let is_wanted = |target: &&Value| {
                target["type"] == kind && target["url"].as_str().is_some_and(|url| url.contains(part))
            };
            let found = targets["targetInfos"].as_array().into_iter().flatten().find(is_wanted).cloned();
            if let Some(target) = found {
                let attach = json!({ "targetId": target["targetId"], "flatten": true });
                let attached = connection.call(None, "Target.attachToTarget", attach).await?;
                let session = attached["sessionId"].as_str().unwrap_or_default().to_owned();
                return Ok(Page { connection, session });
            }
            if Instant::now() > deadline {
                return Err(BrowserError::new(format!("looking for the {kind} at {part}"), targets));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Evaluates an expression on the page. A promise is awaited.
    pub async fn evaluate(&self, expression: &str) -> Result<Value, BrowserError> {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", params).await?;
        match answer.get("exceptionDetails") {
            Some(details) => Err(BrowserError::new(expression, details)),
            None => Ok(answer["result"]["value"].take()),
        }
    }

    /// Waits until a page with this path is loaded.
    pub async fn wait_until_at(&self, path: &str) -> Result<(), BrowserError> {
        let path = json!(path);
        self.wait_until(&format!("location.pathname === {path} && document.readyState === 'complete'")).await
    }

    /// Waits until the page is loaded and shows a text.
    pub async fn wait_until_shown(&self, text: &str) -> Result<(), BrowserError> {
        let text = json!(text);
        self.wait_until(&format!("document.readyState === 'complete' && document.body.innerText.includes({text})"))
            .await
    }

    /// Waits until an expression is true on the page. During a navigation it counts as false.
    pub async fn wait_until(&self, expression: &str) -> Result<(), BrowserError> {
        let deadline = Instant::now() + WAIT_MAX;
        let mut pause = POLL_INTERVAL;
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
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(POLL_INTERVAL_MAX);
        }
    }

    /// Clicks the link, button or label with this text.
    pub async fn click(&self, words: &str) -> Result<(), BrowserError> {
        self.click_on(&format!("{FIND_BY_TEXT}({})", json!(words))).await
    }

    /// Clicks the first element that matches a CSS selector.
    pub async fn click_element(&self, selector: &str) -> Result<(), BrowserError> {
        self.click_on(&format!("document.querySelector({})", json!(selector))).await
    }

    /// Clicks the link or button with this text and waits until the browser has loaded the next page.
    pub async fn click_through(&self, words: &str) -> Result<(), BrowserError> {
        self.evaluate("window.isLeft = true").await?;
        self.click(words).await?;
        self.wait_until_left().await
    }

    /// Loads the page again and waits until the browser has loaded it.
    pub async fn reload(&self) -> Result<(), BrowserError> {
        self.evaluate("window.isLeft = true").await?;
        self.call("Page.reload", json!({})).await?;
        self.wait_until_left().await
    }

    async fn wait_until_left(&self) -> Result<(), BrowserError> {
        self.wait_until("window.isLeft !== true && document.readyState === 'complete'").await
    }

    /// Replaces the content of the field with this id by typing.
    pub async fn fill(&self, id: &str, text: &str) -> Result<(), BrowserError> {
        let field = format!("document.getElementById({})", json!(id));
        self.click_on(&field).await?;
        self.evaluate(&format!("{field}.select()")).await?;
        self.call("Input.insertText", json!({ "text": text })).await.map(drop)
    }

    /// Chooses files for the file field with this id, as the file dialog does.
    pub async fn choose_files(&self, id: &str, files: &[&Path]) -> Result<(), BrowserError> {
        let found = json!({ "expression": format!("document.getElementById({})", json!(id)) });
        let field = self.call("Runtime.evaluate", found).await?;
        let Some(field) = field["result"]["objectId"].as_str() else {
            return Err(BrowserError::new(format!("choosing files for {id}"), "the page has no such field"));
        };
        let chosen = json!({ "objectId": field, "files": files });
        self.call("DOM.setFileInputFiles", chosen).await.map(drop)
    }

    /// Waits until the page is loaded, because what loads later moves what is already there.
    async fn click_on(&self, element: &str) -> Result<(), BrowserError> {
        self.wait_until("document.readyState === 'complete'").await?;
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

    /// Evaluates an expression to a text.
    pub async fn text(&self, expression: &str) -> Result<String, BrowserError> {
        Ok(self.evaluate(expression).await?.as_str().unwrap_or_default().to_owned())
    }

    /// Disables scripts on pages.
    pub async fn disable_script(&self) -> Result<(), BrowserError> {
        self.call("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await.map(drop)
    }

    /// Sets the width of the window, in CSS pixels.
    pub async fn resize(&self, width: u32) -> Result<(), BrowserError> {
        self.resize_to(width, 900).await
    }

    /// Sets width and height of the window, in CSS pixels.
    pub async fn resize_to(&self, width: u32, height: u32) -> Result<(), BrowserError> {
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", screen).await.map(drop)
    }

    /// Emulates a visitor's preferences: the colour scheme, and reduced motion.
    pub async fn prefer(&self, scheme: ColorScheme) -> Result<(), BrowserError> {
        let scheme = match scheme {
            ColorScheme::Light => "light",
            ColorScheme::Dark => "dark",
        };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features })).await.map(drop)
    }

    /// A picture of the whole page in PNG, as wide as the window and at most [`PICTURE_PIXELS_MAX`] high.
    pub async fn screenshot(&self) -> Result<Vec<u8>, BrowserError> {
        let size = self.call("Page.getLayoutMetrics", json!({})).await?;
        let size = &size["cssContentSize"];
        let height = size["height"].as_f64().unwrap_or_default().min(PICTURE_PIXELS_MAX);
        let clip = json!({ "x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1 });
        let asked = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let taken = self.call("Page.captureScreenshot", asked).await?;
        let decoded = base64::engine::general_purpose::STANDARD.decode(taken["data"].as_str().unwrap_or_default());
        decoded.map_err(|error| BrowserError::new("taking a picture of the page", error))
    }

    /// Errors on the console so far: exceptions, violations of the content security policy, failed requests.
    pub fn console_errors(&self) -> Vec<String> {
        let exceptions = self.connection.events(&self.session, "Runtime.exceptionThrown");
        let logged = self.connection.events(&self.session, "Log.entryAdded");
        let logged = logged.into_iter().filter(|entry| entry["entry"]["level"] == "error");
        exceptions.into_iter().chain(logged).map(|error| error.to_string()).collect()
    }
}
