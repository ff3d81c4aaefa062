//! The description of one operation: access, parameters, body and responses.

use std::fmt::Write as _;

use serde_json::Value;

use super::example::example;
use super::html::{escape, inline, json, paragraphs};
use super::schema::{describe, fields, kind, resolve_ref};

/// An operation with its method and path.
pub(super) struct Operation<'a> {
    pub(super) document: &'a Value,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) value: &'a Value,
}

impl Operation<'_> {
    /// The group of the operation.
    pub(super) fn tag(&self) -> &str {
        self.value["tags"][0].as_str().unwrap_or("other")
    }

    /// The anchor of the operation.
    pub(super) fn anchor(&self) -> String {
        let made = format!("{}-{}", self.method, self.path.replace(['/', '{', '}'], "-"));
        escape(self.value["operationId"].as_str().unwrap_or(&made))
    }

    /// Sets of scopes, one of which a key must have; none when the operation needs no key.
    pub(super) fn needs(&self) -> Option<Vec<Vec<&str>>> {
        let security = self.value.get("security").unwrap_or(&self.document["security"]).as_array()?;
        let sets = security.iter().map(|one| {
            let scopes = one.as_object()?.values().next()?.as_array()?;
            Some(scopes.iter().filter_map(Value::as_str).collect())
        });
        sets.collect()
    }

    /// Name of its first security scheme.
    fn scheme(&self) -> &str {
        let security = self.value.get("security").unwrap_or(&self.document["security"]);
        let first = security.get(0).and_then(Value::as_object).and_then(|one| one.keys().next());
        first.map_or("key", String::as_str)
    }

    /// Its entry in the menu.
    pub(super) fn entry(&self) -> String {
        let (method, path) = (self.method, escape(short(self.path)).replace('/', "<wbr>/"));
        format!(
            "<li><a href=\"#{}\"><span class=\"method {method}\">{method}</span><span>{path}</span></a>",
            self.anchor()
        )
    }

    /// The whole description.
    pub(super) fn article(&self) -> String {
        let (method, anchor, path) = (self.method, self.anchor(), escape(self.path));
        let mut out = format!(
            "<article id=\"{anchor}\"><h3><a href=\"#{anchor}\"><span class=\"method {method}\">{method}</span>\
             <code>{}</code></a></h3>",
            path.replace('/', "/<wbr>")
        );
        out.push_str(&paragraphs(self.value["summary"].as_str().unwrap_or_default()));
        out.push_str(&paragraphs(self.value["description"].as_str().unwrap_or_default()));
        out.push_str(&self.access());
        out.push_str(&self.parameters());
        out.push_str(&self.body());
        out.push_str(&self.answers());
        out + "</article>"
    }

    fn access(&self) -> String {
        let Some(sets) = self.needs() else { return "<p class=\"needs\">Needs no key.</p>".to_owned() };
        let words: Vec<String> = sets.iter().filter(|set| !set.is_empty()).map(|set| scopes(set)).collect();
        if words.is_empty() {
            return format!("<p class=\"needs\">Needs a {}.</p>", escape(self.scheme()));
        }
        format!("<p class=\"needs\">Needs a key with {}.</p>", words.join(" or "))
    }

    fn parameters(&self) -> String {
        let given: Vec<&Value> = self.value["parameters"].as_array().into_iter().flatten().collect();
        if given.is_empty() {
            return String::new();
        }
        let head = "<h4>Parameters</h4><table><thead><tr><th>Name<th>Type<th>Meaning</thead><tbody>";
        let mut out = String::from(head);
        for parameter in given {
            let parameter = resolve_ref(self.document, parameter);
            let (schema, place) = (&parameter["schema"], parameter["in"].as_str().unwrap_or_default());
            let said = parameter["description"].as_str().unwrap_or_default();
            let is_required = parameter["required"] == true;
            let _ = write!(
                out,
                "<tr><td><code>{}</code> <small>{}{}</small><td>{}<td>{} {}",
                escape(parameter["name"].as_str().unwrap_or_default()),
                escape(place),
                if is_required { "" } else { ", optional" },
                kind(schema),
                inline(said),
                describe(schema),
            );
        }
        out + "</tbody></table>"
    }

    fn body(&self) -> String {
        let mut out = String::new();
        let body = resolve_ref(self.document, &self.value["requestBody"]);
        for (media, content) in body["content"].as_object().into_iter().flatten() {
            let schema = &content["schema"];
            let _ = write!(out, "<h4>Body</h4><p>{} <small>{}</small></p>", kind(schema), escape(media));
            if let Some(said) = body["description"].as_str() {
                out.push_str(&paragraphs(said));
            }
            out.push_str(&fields(resolve_ref(self.document, schema)));
            if media.contains("json") {
                out.push_str(&self.shown("Example of the body", "open", content));
            }
        }
        out
    }

    fn answers(&self) -> String {
        let mut out = String::from("<h4>Answers</h4><dl>");
        let mut common = Vec::new();
        for (status, answer) in self.value["responses"].as_object().into_iter().flatten() {
            let status = escape(status);
            if answer["$ref"].is_string() {
                common.push(format!("<a class=\"status\" href=\"#answer-{status}\">{status}</a>"));
                continue;
            }
            let class = if status.starts_with('2') { " good" } else { "" };
            let _ = write!(out, "<dt><span class=\"status{class}\">{status}</span><dd>");
            let said = answer["description"].as_str().unwrap_or_default();
            let mut shown = String::new();
            let mut kinds = Vec::new();
            for (media, content) in answer["content"].as_object().into_iter().flatten() {
                kinds.push(format!("{} <small>{}</small>", kind(&content["schema"]), escape(media)));
                if media.contains("json") && !class.is_empty() {
                    shown.push_str(&self.shown("Example of the answer", "", content));
                }
            }
            let _ = write!(out, "{} {}{shown}", inline(said), kinds.join(", "));
        }
        out.push_str("</dl>");
        if !common.is_empty() {
            let _ = write!(out, "<p class=\"common\">Errors: {}</p>", common.join(" "));
        }
        out
    }

    fn shown(&self, title: &str, open: &str, content: &Value) -> String {
        let given = content.get("example").cloned();
        let value = given.unwrap_or_else(|| example(self.document, &content["schema"]));
        format!("<details {open}><summary>{title}</summary>{}</details>", json(&value))
    }
}

/// A set of scopes, joined with "and".
pub(super) fn scopes(set: &[&str]) -> String {
    let links = set
        .iter()
        .map(|scope| escape(scope))
        .map(|scope| format!("<a class=\"scope\" href=\"#scope-{scope}\">{scope}</a>"));
    links.collect::<Vec<_>>().join(" and ")
}

/// The path without the common prefix.
fn short(path: &str) -> &str {
    path.strip_prefix("/api/v1").unwrap_or(path)
}
