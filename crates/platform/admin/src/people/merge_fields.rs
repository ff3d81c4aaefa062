//! The fields of two records side by side, and which value stays.

use kit_design::fields::FormFields;
use platform_core::bidders::{Combine, MergeChoices, Side};
use platform_core::port::{MatchReason, Money, Party};

use super::list::roles;
use platform_words::Currency;
use platform_words::address_fields::one_line;

/// A field of both records.
pub(super) struct FieldRow {
    /// Name of the choice in the form.
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) kept: String,
    pub(super) merged: String,
    /// Both values together, if they can stay together.
    pub(super) both: Option<String>,
    /// `kept`, `merged` or `both`.
    pub(super) chosen: &'static str,
    /// The values differ, so that a person chooses.
    pub(super) is_choice: bool,
}

/// The choices of a form. A field without one has the usual one.
pub(super) fn chosen(form: &FormFields, usual: MergeChoices) -> MergeChoices {
    let side = |name: &str, usual: Side| match form.text(name) {
        "kept" => Side::Kept,
        "merged" => Side::Merged,
        _ => usual,
    };
    let combine = |name: &str, usual: Combine| match form.text(name) {
        "kept" => Combine::Kept,
        "merged" => Combine::Merged,
        "both" => Combine::Both,
        _ => usual,
    };
    MergeChoices {
        name: side("name", usual.name),
        reference: side("reference", usual.reference),
        email: side("email", usual.email),
        phone: side("phone", usual.phone),
        vat_number: side("vat", usual.vat_number),
        identity: side("identity", usual.identity),
        addresses: combine("addresses", usual.addresses),
        deposit: combine("deposit", usual.deposit),
        limit: side("limit", usual.limit),
        note: combine("note", usual.note),
    }
}

/// The fields that either record has.
pub(super) fn rows(
    (kept, merged): (&Party, &Party),
    choices: &MergeChoices,
    by: impl Fn(&str) -> String,
) -> Vec<FieldRow> {
    let money = |money: &Option<Money>| {
        money.as_ref().map_or(String::new(), |money| Currency::new(money.currency.as_str()).exact(money.amount))
    };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let identity = |party: &Party| {
        party.identity.as_ref().map_or(String::new(), |identity| {
            let at = identity.seen_at.strftime("%-d %b %Y");
            format!("{}, seen by {} on {at}", identity.document, by(&identity.seen_by))
        })
    };
    let addresses = |party: &Party| party.details.addresses.iter().map(one_line).collect::<Vec<_>>().join("; ");
    let (own, other) = (&kept.details, &merged.details);
    let together = MergeChoices { deposit: Combine::Both, addresses: Combine::Both, note: Combine::Both, ..*choices }
        .apply(kept, merged)
        .kept;
    let side = |side: Side| if side == Side::Kept { "kept" } else { "merged" };
    let combined = |combine: Combine| match combine {
        Combine::Kept => "kept",
        Combine::Merged => "merged",
        Combine::Both => "both",
    };
    let row = |name, label, (kept, merged): (String, String), chosen| FieldRow {
        name,
        label,
        is_choice: !kept.is_empty() && !merged.is_empty() && kept != merged,
        kept,
        merged,
        both: None,
        chosen,
    };
    let with_both = |row: FieldRow, both: String| FieldRow {
        both: Some(both).filter(|both| row.is_choice && !both.is_empty()),
        ..row
    };
    let role = |party: &Party| roles(party.details.is_bidder, party.details.is_consignor).to_owned();
    let all_roles = roles(together.is_bidder, together.is_consignor).to_owned();
    let all_addresses = together.addresses.iter().map(one_line).collect::<Vec<_>>().join("; ");
    let rows = vec![
        row("name", "Name", (own.name.clone(), other.name.clone()), side(choices.name)),
        FieldRow {
            both: Some(all_roles).filter(|_| role(kept) != role(merged)),
            is_choice: false,
            ..row("role", "Role", (role(kept), role(merged)), "both")
        },
        row("reference", "Reference", (text(&own.reference), text(&other.reference)), side(choices.reference)),
        FieldRow {
            // Capitals make no other address.
            is_choice: !own.match_reasons(other).contains(&MatchReason::Email)
                && own.email.is_some()
                && other.email.is_some(),
            ..row("email", "E-mail", (text(&own.email), text(&other.email)), side(choices.email))
        },
        row("phone", "Telephone", (text(&own.phone), text(&other.phone)), side(choices.phone)),
        with_both(
            row("addresses", "Addresses", (addresses(kept), addresses(merged)), combined(choices.addresses)),
            all_addresses,
        ),
        row("vat", "VAT number", (text(&own.vat_number), text(&other.vat_number)), side(choices.vat_number)),
        row("identity", "Proof of identity", (identity(kept), identity(merged)), side(choices.identity)),
        with_both(
            row("deposit", "Deposit held", (money(&own.deposit), money(&other.deposit)), combined(choices.deposit)),
            money(&together.deposit),
        ),
        row("limit", "Usual spending limit", (money(&own.limit), money(&other.limit)), side(choices.limit)),
        with_both(
            row("note", "Note", (text(&own.note), text(&other.note)), combined(choices.note)),
            text(&together.note),
        ),
    ];
    rows.into_iter().filter(|row| !row.kept.is_empty() || !row.merged.is_empty()).collect()
}
