//! Style sheet and script of the desk. Their sources are one file for each subject.

use std::sync::LazyLock;

use kit_design::assets::Asset;

pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| Asset::style("desk", include_str!("desk.css")));

pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::script(
        "desk",
        concat!(
            include_str!("script/truth.js"),
            include_str!("script/link.js"),
            include_str!("script/commands.js"),
            include_str!("script/entry.js"),
            include_str!("script/keys.js"),
            include_str!("script/view.js"),
            include_str!("script/message.js"),
            include_str!("script/dialogs.js"),
        ),
    )
});
