//! The columns of a file that is imported, each with the field that a person maps it to.

use kit_design::form_field::Choice;
use platform_core::catalogue::CatalogueSample;

/// A column of the file with the field that it is mapped to.
pub(crate) struct MappedColumn {
    pub(crate) name: String,
    pub(crate) header: String,
    pub(crate) samples: String,
    pub(crate) fields: Vec<Choice>,
}

/// The columns of a file with the fields that each can be mapped to, and the chosen one.
pub(crate) fn columns(sample: &CatalogueSample, chosen: &[String], fields: &[&str]) -> Vec<MappedColumn> {
    let column = |(place, header): (usize, &String)| {
        let own = chosen.get(place).map(String::as_str).unwrap_or_default();
        let none = std::iter::once(Choice::of("", "Not imported", own));
        let samples: Vec<&str> = sample.rows.iter().filter_map(|row| row.get(place)).map(String::as_str).collect();
        MappedColumn {
            name: format!("c{place}"),
            header: header.clone(),
            samples: samples.into_iter().filter(|text| !text.is_empty()).take(3).collect::<Vec<_>>().join(" · "),
            fields: none.chain(fields.iter().map(|field| Choice::of(*field, words(field), own))).collect(),
        }
    };
    sample.headers.iter().enumerate().map(column).collect()
}

/// The name of a field in words: `low_estimate` and `lowEstimate` are "Low estimate".
pub(crate) fn words(field: &str) -> String {
    if field == "vendor" {
        return "Consignor".to_owned();
    }
    let mut out = String::new();
    for (place, char) in field.chars().enumerate() {
        match char {
            '_' => out.push(' '),
            upper if upper.is_uppercase() => out.extend(std::iter::once(' ').chain(upper.to_lowercase())),
            first if place == 0 => out.extend(first.to_uppercase()),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn fields_are_named_in_words() {
        assert_eq!(
            [words("low_estimate"), words("lowEstimate"), words("title")],
            ["Low estimate", "Low estimate", "Title"]
        );
    }
}
