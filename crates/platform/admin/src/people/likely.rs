//! Likely duplicates in words: rows of the pages that propose them.

use platform_core::bidders::LikelyDuplicate;
use platform_core::port::{MatchReason, Party};
use uuid::Uuid;

use super::list::roles;

/// A record that is likely about the same person as another one.
pub(crate) struct LikelyRow {
    pub(crate) uuid: Uuid,
    pub(crate) label: String,
    /// Contact and town.
    pub(crate) detail: String,
    pub(super) role: &'static str,
    pub(crate) is_blocked: bool,
    /// What they have in common, such as "Same e-mail, same name and postcode".
    pub(crate) reasons: String,
}

impl LikelyRow {
    pub(super) fn new(party: &Party, reasons: &[MatchReason]) -> Self {
        Self {
            uuid: party.uuid,
            label: party.label(),
            detail: detail(party),
            role: roles(party.details.is_bidder, party.details.is_consignor),
            is_blocked: party.block.is_some(),
            reasons: reasons_in_words(reasons),
        }
    }

    pub(crate) fn of(found: &LikelyDuplicate) -> Self {
        Self::new(&found.party, &found.reasons)
    }
}

/// Identifies likely duplicates that a form has shown.
pub(crate) fn identified(likely: &[LikelyRow]) -> String {
    likely.iter().map(|row| row.uuid.to_string()).collect::<Vec<_>>().join(" ")
}

/// Contact and town of a record in one line.
fn detail(party: &Party) -> String {
    let details = &party.details;
    let town = details
        .addresses
        .first()
        .map(|address| [address.city.as_deref().unwrap_or_default(), &address.postcode].join(" ").trim().to_owned());
    let parts = [details.email.clone(), details.phone.clone(), town].into_iter().flatten();
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// What two records have in common, in words.
pub(super) fn reasons_in_words(reasons: &[MatchReason]) -> String {
    let words = reasons.iter().map(|reason| match reason {
        MatchReason::Email => "same e-mail",
        MatchReason::Phone => "same telephone",
        MatchReason::VatNumber => "same VAT number",
        MatchReason::NameAndPostcode => "same name and postcode",
    });
    let words = words.collect::<Vec<_>>().join(", ");
    let mut chars = words.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reasons_are_one_phrase() {
        let all = reasons_in_words(&MatchReason::ALL);
        assert_eq!(all, "Same e-mail, same telephone, same VAT number, same name and postcode");
        assert_eq!(reasons_in_words(&[]), "");
    }
}
