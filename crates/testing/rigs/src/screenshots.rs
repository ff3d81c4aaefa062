//! Pictures of one page of each kind: light and dark, desktop and phone.

use std::path::{Path, PathBuf};

use clap::Args;
use testkit::browser::{Browser, ColorScheme, Page, Walk};
use testkit::server::{Launch, built_binary};
use testkit::showcase::{BehindForm, Pages, Showcase};

use crate::{RigError, say};

/// Widths of windows with their names, in CSS pixels.
const WIDTHS: [(&str, u32); 2] = [("desktop", 1_280), ("phone", 390)];
const SCHEMES: [(&str, ColorScheme); 2] = [("light", ColorScheme::Light), ("dark", ColorScheme::Dark)];

/// Options of `screenshots`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Folder for the pictures. It is created if it does not exist.
    #[arg(long, default_value = "target/screenshots")]
    to: PathBuf,
}

/// Takes the pictures. Returns true.
pub(crate) async fn run(options: &Options) -> Result<bool, RigError> {
    let data = tempfile::tempdir()?;
    let showcase = Showcase::open(Launch::new(built_binary("lotwire")?, data.path())?).await?;
    let browser = Browser::with_windows().await?;
    let mut pictures = 0;
    let page = browser.page().await?;
    for (name, address) in [showcase.open_pages(), showcase.api_references()].concat() {
        page.open(&address).await?;
        page.wait_until("document.readyState === 'complete'").await?;
        pictures += take(&page, &name, &options.to).await?;
        say(&name);
    }
    for pages in Pages::ALL {
        let page = browser.page().await?;
        showcase.sign_in(&page, *pages).await?;
        let mut walk = Walk::begin(&page, pages.prefix()).await?;
        while let Some(kind) = walk.next(&page).await? {
            pictures += take(&page, &kind, &options.to).await?;
            say(&kind);
        }
        for which in BehindForm::ALL.iter().filter(|_| *pages == Pages::Administration) {
            showcase.open_behind_form(&page, *which).await?;
            pictures += take(&page, which.kind(), &options.to).await?;
            say(which.kind());
        }
    }
    say(&format!("{pictures} pictures are in {}", options.to.display()));
    Ok(true)
}

/// Time for scripts to load further content after the page, such as the state of the ring.
const SETTLED: &str = "new Promise((settled) => setTimeout(settled, 700))";

async fn take(page: &Page, kind: &str, to: &Path) -> Result<usize, RigError> {
    page.evaluate(SETTLED).await?;
    let name = kind.trim_matches('/').replace('/', ".");
    let mut taken = 0;
    for (width_name, width) in WIDTHS {
        page.resize(width).await?;
        page.wait_until(&format!("innerWidth === {width}")).await?;
        for (scheme_name, scheme) in SCHEMES {
            page.prefer(scheme).await?;
            let folder = to.join(format!("{width_name}-{scheme_name}"));
            std::fs::create_dir_all(&folder)?;
            std::fs::write(folder.join(format!("{name}.png")), page.screenshot().await?)?;
            taken += 1;
        }
    }
    Ok(taken)
}
