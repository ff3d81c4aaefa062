//! The whole page: menu, introduction, keys, errors, operations and schemas.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::Link;
use super::example::example;
use super::html::{escape, inline, json, paragraphs};
use super::operation::{Operation, scopes};
use super::schema::{kind, shape};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The whole page.
pub(super) fn page(document: &Value, links: &[Link]) -> String {
    let operations = operations(document);
    let groups = groups(&operations);
    let title = escape(document["info"]["title"].as_str().unwrap_or("API"));
    let mut out = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title>\
         <link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"/docs/style.css\"></head><body>\
         <a class=\"skip\" href=\"#content\">To the content</a>"
    );
    out.push_str(&menu(&title, &groups));
    out.push_str("<main id=\"content\">");
    out.push_str(&introduction(document, &title, links));
    out.push_str(&keys(document, &operations));
    out.push_str(&errors(document));
    for (tag, operations) in &groups {
        let _ = write!(out, "<section id=\"group-{0}\"><h2>{1}</h2>", slug(tag), escape(tag));
        operations.iter().for_each(|operation| out.push_str(&operation.article()));
        out.push_str("</section>");
    }
    out.push_str(&shapes(document));
    out + "</main></body></html>"
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for method in METHODS {
            if let Some(value) = item.get(method) {
                operations.push(Operation { document, method, path, value });
            }
        }
    }
    operations
}

/// Operations by tag, in the order of the document.
fn groups<'a>(operations: &'a [Operation<'a>]) -> Vec<(&'a str, Vec<&'a Operation<'a>>)> {
    let mut groups: Vec<(&str, Vec<&Operation<'_>>)> = Vec::new();
    for operation in operations {
        match groups.iter_mut().find(|(tag, _)| *tag == operation.tag()) {
            Some((_, of_tag)) => of_tag.push(operation),
            None => groups.push((operation.tag(), vec![operation])),
        }
    }
    groups
}

fn menu(title: &str, groups: &[(&str, Vec<&Operation<'_>>)]) -> String {
    let mut out = format!("<nav aria-label=\"Contents\"><p class=\"title\"><a href=\"#content\">{title}</a></p><ul>");
    out.push_str("<li><a href=\"#keys\">Keys and scopes</a><li><a href=\"#errors\">Errors</a>");
    for (tag, operations) in groups {
        let _ = write!(out, "<li><a class=\"tag\" href=\"#group-{}\">{}</a><ul>", slug(tag), escape(tag));
        operations.iter().for_each(|operation| out.push_str(&operation.entry()));
        out.push_str("</ul>");
    }
    out + "<li><a class=\"tag\" href=\"#shapes\">Shapes</a></ul></nav>"
}

fn introduction(document: &Value, title: &str, links: &[Link]) -> String {
    let info = &document["info"];
    let version = escape(info["version"].as_str().unwrap_or_default());
    let mut out = format!("<header><h1>{title} <small>{version}</small></h1>");
    out.push_str(&paragraphs(info["description"].as_str().unwrap_or_default()));
    out.push_str("<p class=\"links\">");
    for link in links {
        let _ = write!(out, "<a href=\"{}\">{}</a> ", escape(link.address), escape(link.title));
    }
    out + "</p></header>"
}

/// How to send a key, and the operations that each scope allows.
fn keys(document: &Value, operations: &[Operation<'_>]) -> String {
    let mut out = String::from("<section id=\"keys\"><h2>Keys and scopes</h2>");
    for scheme in document["components"]["securitySchemes"].as_object().into_iter().flat_map(|all| all.values()) {
        out.push_str(&paragraphs(scheme["description"].as_str().unwrap_or_default()));
    }
    out.push_str("<pre tabindex=\"0\"><code>Authorization: Bearer <i>YOUR_KEY</i></code></pre>");
    let mut uses: BTreeMap<&str, Vec<&Operation<'_>>> = BTreeMap::new();
    for operation in operations {
        for scope in operation.needs().into_iter().flatten().flatten() {
            uses.entry(scope).or_default().push(operation);
        }
    }
    if uses.is_empty() {
        return out + "</section>";
    }
    out.push_str("<table class=\"scopes\"><thead><tr><th>Scope<th>Opens</thead><tbody>");
    for (scope, of_scope) in uses {
        let _ = write!(out, "<tr id=\"scope-{}\"><td>{}<td><ul class=\"uses\">", escape(scope), scopes(&[scope]));
        of_scope.iter().for_each(|operation| out.push_str(&operation.entry()));
        out.push_str("</ul>");
    }
    out + "</tbody></table></section>"
}

/// The error responses that operations share.
fn errors(document: &Value) -> String {
    let mut shared: Vec<(String, &Value)> = Vec::new();
    for operation in operations(document) {
        for (status, answer) in operation.value["responses"].as_object().into_iter().flatten() {
            let Some(pointer) = answer["$ref"].as_str().and_then(|target| target.strip_prefix('#')) else { continue };
            if let Some(found) = document.pointer(pointer).filter(|_| !shared.iter().any(|(known, _)| known == status))
            {
                shared.push((status.clone(), found));
            }
        }
    }
    shared.sort_by(|one, other| one.0.cmp(&other.0));
    let mut out = String::from("<section id=\"errors\"><h2>Errors</h2>");
    let Some((_, first)) = shared.first() else {
        return out + "<p>Each operation names its own.</p></section>";
    };
    if let Some((media, content)) = first["content"].as_object().and_then(|content| content.iter().next()) {
        let schema = &content["schema"];
        let _ = write!(out, "<p>{} <small>{}</small></p>", kind(schema), escape(media));
        out.push_str(&json(&example(document, schema)));
    }
    out.push_str("<table><thead><tr><th>Status<th>When</thead><tbody>");
    for (status, answer) in &shared {
        let status = escape(status);
        let said = inline(answer["description"].as_str().unwrap_or_default());
        let _ = write!(out, "<tr id=\"answer-{status}\"><td><span class=\"status\">{status}</span><td>{said}");
    }
    out + "</tbody></table></section>"
}

fn shapes(document: &Value) -> String {
    let mut out = String::from("<section id=\"shapes\"><h2>Shapes</h2>");
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        out.push_str(&shape(name, schema));
    }
    out + "</section>"
}

/// The anchor of a group.
fn slug(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document() -> Value {
        json!({
            "info": { "title": "Lots & bids", "version": "1", "description": "First.\n\nSecond `code`." },
            "security": [{ "key": [] }],
            "paths": { "/api/v1/lots/{uuid}": {
                "get": { "tags": ["lots"], "operationId": "lots.get", "summary": "Gives a lot.",
                    "security": [{ "key": ["lots:read"] }, { "key": ["lots:write"] }],
                    "parameters": [{ "name": "uuid", "in": "path", "required": true, "schema": { "type": "string" } }],
                    "responses": {
                        "200": { "description": "", "content": { "application/json": {
                            "schema": { "$ref": "#/components/schemas/Lot" } } } },
                        "404": { "$ref": "#/components/responses/NotFound" } } },
                "delete": { "tags": ["lots"], "operationId": "lots.delete", "security": [{}], "responses": {} } } },
            "components": {
                "responses": { "NotFound": { "description": "There is <none>." } },
                "schemas": { "Lot": { "type": "object", "required": ["number"], "properties": {
                    "number": { "type": "string", "description": "Such <b>, such as `12A`.", "maxLength": 9 } } } } }
        })
    }

    #[test]
    fn the_page_shows_the_content_of_the_document() {
        let page = page(&document(), &[Link { title: "OpenAPI", address: "/openapi.json" }]);
        for said in [
            "<title>Lots &amp; bids</title>",
            "<p>Second <code>code</code>.</p>",
            "<article id=\"lots.get\">",
            "href=\"#scope-lots:read\">lots:read</a> or <a",
            "<p class=\"needs\">Needs no key.</p>",
            "There is &lt;none&gt;.",
            "href=\"#answer-404\">404</a>",
            "<tr><td><code>number</code><td>string<td>Such &lt;b&gt;, such as <code>12A</code>.",
            "At most 9 characters.",
            "<b>&quot;number&quot;</b>: <i>&quot;12A&quot;</i>",
            "<article class=\"shape\" id=\"shape-Lot\">",
            "<a href=\"/openapi.json\">OpenAPI</a>",
        ] {
            assert!(page.contains(said), "{said}\n{page}");
        }
    }

    #[test]
    fn every_link_within_the_page_has_a_target_and_no_resource_is_external() {
        let page = page(&document(), &[]);
        assert!(!page.contains("<script") && !page.contains("style=") && !page.contains("://"));
        for target in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(page.contains(&format!("id=\"{target}\"")), "#{target} has no target");
        }
    }
}
