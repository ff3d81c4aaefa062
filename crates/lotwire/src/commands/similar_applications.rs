//! Applications with a similar name, for the error about an unknown one.

/// Maximum number of named applications.
const SIMILAR_MAX: usize = 3;
/// Similarity of two texts from 0 to 1 (Jaro-Winkler) from which one may be a misspelling of the other.
const SIMILARITY_MIN: f64 = 0.85;

/// How an application is known.
pub(super) struct NamedApplication {
    pub(super) id: String,
    pub(super) uid: Option<String>,
    pub(super) name: String,
}

/// The similar applications for the middle of a sentence, such as ` (similar: customer-17, app_2b…)`; empty if none is.
pub(super) fn hint(text: &str, all: impl Iterator<Item = NamedApplication>) -> String {
    let wanted = text.to_lowercase();
    let mut found: Vec<(f64, String)> = all
        .filter_map(|application| {
            let NamedApplication { id, uid, name } = application;
            let uid_similarity = uid.as_deref().map_or(0.0, |uid| similarity(&wanted, uid));
            // All ids begin alike.
            let id_similarity = if wanted.starts_with("app_") { similarity(&wanted, &id) } else { 0.0 };
            let best = uid_similarity.max(id_similarity).max(similarity(&wanted, &name));
            (best >= SIMILARITY_MIN).then(|| (best, uid.unwrap_or(id)))
        })
        .collect();
    found.sort_by(|left, right| right.0.total_cmp(&left.0));
    found.truncate(SIMILAR_MAX);
    if found.is_empty() {
        return String::new();
    }
    format!(" (similar: {})", found.into_iter().map(|(_, shown)| shown).collect::<Vec<_>>().join(", "))
}

fn similarity(wanted: &str, own: &str) -> f64 {
    let own = own.to_lowercase();
    let contains = wanted.len() >= 3 && (own.contains(wanted) || (own.len() >= 3 && wanted.contains(&own)));
    if contains { 1.0 } else { strsim::jaro_winkler(wanted, &own) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_ids_uids_and_names_are_found() {
        let all = || {
            let named = |id: &str, uid: Option<&str>, name: &str| NamedApplication {
                id: id.to_owned(),
                uid: uid.map(str::to_owned),
                name: name.to_owned(),
            };
            [
                named("app_2bQx1", Some("customer-17"), "Hartley & Sons"),
                named("app_9zzzz", None, "Web site"),
                named("app_8yyyy", Some("other"), "Other"),
            ]
            .into_iter()
        };
        assert_eq!(hint("custmer-17", all()), " (similar: customer-17)");
        assert_eq!(hint("Hartley", all()), " (similar: customer-17)");
        assert_eq!(hint("web-site", all()), " (similar: app_9zzzz)");
        assert_eq!(hint("app_9zzzy", all()), " (similar: app_9zzzz)");
        assert_eq!(hint("nothing like it", all()), "");
    }
}
