//! Sentinels as both systems' stores compare them.

use std::collections::BTreeSet;

use runtime::vault::Sealed;

/// True when both are the same, in whatever order.
pub(crate) fn same_texts(left: &[Sealed], right: &[Sealed]) -> bool {
    let set = |texts: &[Sealed]| texts.iter().map(|text| text.as_str().to_owned()).collect::<BTreeSet<_>>();
    set(left) == set(right)
}
