//! Files that only pages of the administration load. A page names its script in the block `scripts` of the layout:
//! `<script src="{{ frame.base }}/static/{{ crate::assets::GRID.name() }}" defer></script>`.

use std::sync::LazyLock;

use kit_design::assets::Asset;

/// Every file of the administration's own, as `/static/{name}` serves them.
pub(crate) const OWN: &[&LazyLock<Asset>] = &[
    &STYLE,
    &GRID,
    &crate::results::UNPAID,
    &crate::images::SCRIPT,
    &crate::desk::files::STYLE,
    &crate::desk::files::SCRIPT,
    &crate::screens::STYLE,
    &crate::screens::SCRIPT,
    &crate::print::STYLE,
    &crate::print::SCRIPT,
];

/// Styles of the pages of a sale.
pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let parts =
        concat!(include_str!("auctions/sale.css"), include_str!("images/images.css"), include_str!("lots/grid.css"),);
    Asset::style("admin", parts)
});

/// Editing in the grid of lots, and fragments of a lot's page.
pub(crate) static GRID: LazyLock<Asset> = LazyLock::new(|| {
    Asset::script(
        "grid",
        concat!(
            include_str!("lots/grid.js"),
            include_str!("lots/grid_edit.js"),
            include_str!("lots/grid_scroll.js"),
            include_str!("lots/grid_paste.js"),
            include_str!("lots/grid_order.js"),
            include_str!("lots/consignors.js"),
        ),
    )
});
