//! Finds faults of a page's layout at the width of the window: cut content, and short words that break.

use serde_json::Value;

use super::{BrowserError, Page};

/// Lists, panels and headers that are wider than their boxes, and short words in more than one line. Code, and texts that fill
/// one line on purpose, may break anywhere.
const FAULTS: &str = r#"(() => {
    const faults = new Set();
    const tooWide = document.documentElement.scrollWidth - innerWidth;
    if (tooWide > 0) faults.add(`the page is ${tooWide} pixels wider than its window`);
    for (const box of document.querySelectorAll("main .panel, main .rows, .side, .head")) {
        const cut = box.scrollWidth - box.clientWidth;
        const scrolls = box.closest(".values, .sheet");
        if (cut > 1 && !scrolls && box.checkVisibility()) faults.add(`${box.className} cuts ${cut} pixels of its content`);
    }
    const range = document.createRange();
    const texts = document.createTreeWalker(document.querySelector("main") ?? document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const text = texts.currentNode, element = text.parentElement;
        if (!element.closest("td, th, h1, h2, .status, .badge") || element.closest("pre, code, .unseen, option")) continue;
        if (!element.checkVisibility() || getComputedStyle(element).wordBreak === "break-all") continue;
        for (const word of text.data.matchAll(/[\p{L}\p{N}]{2,14}/gu)) {
            const around = text.data[word.index - 1] + text.data[word.index + word[0].length];
            if (!/^(undefined|\s)[\s,;:.)]?(undefined)?$/u.test(around)) continue;
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            const lines = new Set([...range.getClientRects()].filter((box) => box.width > 0).map((box) => Math.round(box.top)));
            if (lines.size > 1) faults.add(`the word ${word[0]} breaks`);
        }
    }
    return [...faults].slice(0, 10);
})()"#;

/// The faults of the open page's layout, one line each.
pub async fn layout_faults(page: &Page) -> Result<Vec<String>, BrowserError> {
    let found = page.evaluate(FAULTS).await?;
    Ok(found.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect())
}
