//! The head of every page of one endpoint: its address, its status, and the tabs.

use askama::Template;
use askama::filters::HtmlSafe;
use provider_core::DeliveryOrder;
use provider_core::model::Endpoint;

use crate::portal::labels::StatusBadge;
use crate::portal::session::Session;
use kit_design::relative_time::RelativeTime;

/// The tab that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tab {
    Deliveries,
    Settings,
    Secret,
    Verify,
    Headers,
    Example,
    Replay,
    Ordering,
    /// A page without a tab.
    Other,
}

/// The head of an endpoint's pages.
#[derive(Debug, Template)]
#[template(path = "portal/endpoints/head.html")]
pub(super) struct Head {
    base: String,
    pub(super) id: String,
    url: String,
    description: String,
    pub(super) is_disabled: bool,
    status: StatusBadge,
    failing_since: Option<RelativeTime>,
    disabled_since: Option<RelativeTime>,
    tabs: Vec<TabLink>,
    pub(super) may_manage: bool,
    /// Path of the endpoint's pages, with the site's base.
    pub(super) path: String,
}

#[derive(Debug)]
struct TabLink {
    words: &'static str,
    path: &'static str,
    is_current: bool,
}

impl HtmlSafe for Head {}

impl Head {
    pub(super) fn new(session: &Session, endpoint: &Endpoint, tab: Tab) -> Self {
        let may = session.permissions();
        let base = session.portal.site().base.to_string();
        let all = [
            (Tab::Deliveries, "Deliveries", "", true),
            (Tab::Settings, "Settings", "/settings", may.manage),
            (Tab::Secret, "Signing secret", "/secret", may.see_secrets),
            (Tab::Verify, "Verify", "/verify", true),
            (Tab::Headers, "Headers", "/headers", may.manage),
            (Tab::Example, "Send example", "/example", may.send),
            (Tab::Replay, "Replay", "/replay", true),
            (Tab::Ordering, "Ordering", "/ordering", endpoint.ordering == DeliveryOrder::PerKey),
        ];
        let shown = all.into_iter().filter(|(of, .., is_allowed)| *is_allowed || *of == tab);
        let failing_since = endpoint.failing_since.filter(|_| !endpoint.disabled);
        Self {
            path: format!("{base}/endpoints/{}", endpoint.id),
            base,
            id: endpoint.id.to_string(),
            url: endpoint.url.clone(),
            description: endpoint.description.clone(),
            is_disabled: endpoint.disabled,
            status: match (endpoint.disabled, failing_since) {
                (true, _) => StatusBadge::DISABLED,
                (false, Some(_)) => StatusBadge::FAILING,
                (false, None) => StatusBadge::ENABLED,
            },
            failing_since: failing_since.map(|at| RelativeTime::lasting(at, session.portal.now())),
            disabled_since: endpoint.disabled_at.map(|at| RelativeTime::new(at, session.portal.now())),
            tabs: shown.map(|(of, words, path, _)| TabLink { words, path, is_current: of == tab }).collect(),
            may_manage: may.manage,
        }
    }
}
