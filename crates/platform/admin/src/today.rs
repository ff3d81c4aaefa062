//! The first page: what needs doing, the sales that are live or come next, and the health of webhooks.

mod missing;

use askama::Template;
use axum::Router;
use axum::response::Response;
use contract::{AuctionStatus, ItemStatus};
use futures_util::future::try_join_all;
use jiff::Timestamp;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use kit_http::page_routes::get;
use platform_core::mails::HeldCount;
use platform_core::port::{Customer, DomainTrouble, HouseDomain, Page as ListPage, RegistrationStatus};
use platform_core::sales::lists::{AuctionQuery, ItemQuery, RegistrationQuery};
use platform_core::{PlatformResult, Role, Scope};
use platform_rules::{Auction, AuctionKind, SaleMode};
use uuid::Uuid;

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::customers::{self, CustomerRow};
use crate::endpoint_health::Health;
use crate::notice;
use crate::page_error::PageError;
use crate::sale::labels;
use crate::session::{Section, Session};

/// Sales of each status, and customers, that the page looks at.
const SALES_MAX: usize = 12;
const CUSTOMERS_MAX: usize = 25;
/// Registrations and lots that are counted; more are shown as "or more".
const COUNT_MAX: usize = 100;

pub(crate) const PAGES: &[Page] =
    &[("GET", "/", Need::SignedIn), ("GET", "/missing-fields", Need::Has(Scope::AuctionsWrite))];

pub(crate) fn router() -> Router<Admin> {
    Router::new().route("/", get(page)).route("/missing-fields", get(missing::page))
}

/// Something that a user has to do.
struct Task {
    count: String,
    text: String,
    /// How long it has lasted.
    lasting: Option<RelativeTime>,
    detail: String,
    /// When it was read, if it may have changed since.
    read_at: Option<RelativeTime>,
    path: String,
}

impl Task {
    fn new(count: String, text: impl Into<String>, detail: impl Into<String>, path: String) -> Self {
        Self { count, text: text.into(), lasting: None, detail: detail.into(), read_at: None, path }
    }
}

/// A sale in the list.
struct Sale {
    uuid: Uuid,
    title: String,
    kind: &'static str,
    /// Class and word of the status.
    status: (&'static str, &'static str),
    lots: u64,
    live: u64,
    with_bids: u64,
    /// Label and time of what comes next: the start, or the end.
    next: Option<(&'static str, RelativeTime)>,
    is_webcast: bool,
    is_sandbox: bool,
}

#[derive(Template)]
#[template(path = "today.html")]
struct TodayPage {
    frame: Frame,
    tasks: Vec<Task>,
    sales: Vec<Sale>,
    webhooks: Vec<CustomerRow>,
    sees_customers: bool,
    may_create: bool,
    may_clerk: bool,
}

async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let sees_customers = session.may(Scope::CustomersRead);
    let auctions = auctions(&session).await?;
    let webhooks = if sees_customers { customer_rows(&session).await? } else { Vec::new() };
    let tasks = try_join_all(auctions.iter().map(|auction| tasks_of(&session, auction))).await?;
    let mut tasks: Vec<Task> = tasks.into_iter().flatten().collect();
    tasks.extend(
        webhooks.iter().filter(|row| row.line.needs_support).flat_map(|row| connection_tasks(row, session.now())),
    );
    tasks.extend(mail_tasks(&session).await?);
    tasks.extend(saleroom_tasks(&session).await?);
    let sales = try_join_all(auctions.iter().map(|auction| sale(&session, auction))).await?;
    render_page(&TodayPage {
        frame: session.frame("Today", Section::Today).with_notice(notice::from_query(&query)),
        tasks,
        sales,
        webhooks,
        sees_customers,
        may_create: session.may(Scope::AuctionsWrite),
        may_clerk: session.may(Scope::RingWrite),
    })
}

/// Live sales, then those in preview; for a clerk the webcasts that the clerk is assigned to.
async fn auctions(session: &Session) -> PlatformResult<Vec<Auction>> {
    let (platform, caller) = (session.platform(), &session.caller);
    let page = ListPage { after: None, limit: SALES_MAX };
    if session.role == Role::Clerk {
        return platform.own_webcasts(caller, page).await;
    }
    let mut found = Vec::new();
    for status in [AuctionStatus::Live, AuctionStatus::Preview, AuctionStatus::Draft] {
        let wanted = AuctionQuery { statuses: vec![status], ..AuctionQuery::default() };
        found.extend(platform.list_auctions(caller, wanted, page).await?);
    }
    Ok(found)
}

async fn customer_rows(session: &Session) -> PlatformResult<Vec<CustomerRow>> {
    let page = ListPage { after: None, limit: CUSTOMERS_MAX };
    customers::rows(session, session.platform().customers(&session.caller, page).await?).await
}

/// What an auction asks of the people who run it.
async fn tasks_of(session: &Session, auction: &Auction) -> PlatformResult<Vec<Task>> {
    let (platform, caller) = (session.platform(), &session.caller);
    let mut tasks = Vec::new();
    if session.may(Scope::BiddersRead) {
        let wanted = RegistrationQuery { statuses: vec![RegistrationStatus::Pending], paddle: None };
        let page = ListPage { after: None, limit: COUNT_MAX + 1 };
        let waiting = platform.list_registrations(caller, auction.uuid, &wanted, page).await?.len();
        if waiting > 0 {
            tasks.push(Task::new(
                counted(waiting),
                format!("{} for approval", plural(waiting, "registration waits", "registrations wait")),
                &auction.title,
                format!("/auctions/{}/registrations?status=pending", auction.uuid),
            ));
        }
    }
    if session.may(Scope::BiddersRead) {
        let asking = platform.limit_requests(caller, auction.uuid, COUNT_MAX + 1).await?.len();
        if asking > 0 {
            tasks.push(Task::new(
                counted(asking),
                plural(asking, "bidder asks for a higher limit", "bidders ask for a higher limit"),
                &auction.title,
                format!("/auctions/{}/registrations#limits", auction.uuid),
            ));
        }
    }
    if session.may(Scope::AuctionsWrite) && auction.status != AuctionStatus::Draft {
        let wanted = ItemQuery { statuses: vec![ItemStatus::Draft], lot_number: None };
        let page = ListPage { after: None, limit: COUNT_MAX + 1 };
        let drafts = platform.list_items(caller, auction.uuid, &wanted, page).await?;
        let untitled = drafts.iter().filter(|item| item.title.is_empty()).count();
        let counts = platform.item_counts(caller, auction.uuid).await?;
        if auction.status == AuctionStatus::Live && counts.total > 0 && counts.live + counts.suspended == 0 {
            tasks.push(Task::new(
                "1".to_owned(),
                "sale has no lot that can still be sold: begin its reconciliation",
                &auction.title,
                format!("/auctions/{}", auction.uuid),
            ));
        }
        if !drafts.is_empty() {
            let lacking = if untitled > 0 { format!("; {untitled} without a title") } else { String::new() };
            tasks.push(Task::new(
                counted(drafts.len()),
                plural(drafts.len(), "lot is still a draft", "lots are still drafts"),
                format!("{}{lacking}", auction.title),
                format!("/auctions/{}/lots?status=DRAFT", auction.uuid),
            ));
        }
    }
    Ok(tasks)
}

/// Mails to bidders that were given up, and those that wait for a limit.
async fn mail_tasks(session: &Session) -> PlatformResult<Vec<Task>> {
    if !session.may(Scope::PartiesRead) || !session.may(Scope::CustomersRead) {
        return Ok(Vec::new());
    }
    let failed = session.platform().failed_mails(&session.caller).await?;
    let task = |(customer, count): (Customer, u64)| {
        let words = if count == 1 { "mail to a bidder" } else { "mails to bidders" };
        let path = format!("/customers/{}/mails?state=failed", customer.uuid);
        Task::new(labels::number(count), format!("{words} failed in the last 7 days"), customer.name, path)
    };
    let held = session.platform().held_mails(&session.caller).await?;
    let held_task = |(customer, held): (Customer, HeldCount)| {
        let words =
            if held.mails == 1 { "mail to a bidder waits for a limit" } else { "mails to bidders wait for a limit" };
        let path = format!("/customers/{}/mails?state=waiting", customer.uuid);
        let lasting = Some(RelativeTime::lasting(held.since, session.now()));
        Task { lasting, ..Task::new(labels::number(held.mails), words, customer.name, path) }
    };
    Ok(failed.into_iter().map(task).chain(held.into_iter().map(held_task)).collect())
}

/// Salerooms that are closed for want of a mail server, and domains of houses with a trouble.
async fn saleroom_tasks(session: &Session) -> PlatformResult<Vec<Task>> {
    if !session.may(Scope::CustomersWrite) {
        return Ok(Vec::new());
    }
    let is_closed = session.platform().config().saleroom_url.is_some() && !session.platform().sends_mail();
    let closed = is_closed.then(|| {
        let cause = "no mail server is set: the operator sets mail.smtp_url";
        Task::new("All".to_owned(), "salerooms are closed to visitors", cause, "/customers".to_owned())
    });
    let task = |(customer, domain): (Customer, HouseDomain)| {
        let (words, since) = match domain.trouble()? {
            DomainTrouble::RecordMissing(since) => ("domain of a saleroom: its record is missing", since),
            DomainTrouble::Unanswered(since) => ("domain of a saleroom: its name server does not answer", since),
            DomainTrouble::Lost(since) => ("domain of a saleroom is not served any more", since),
        };
        let lasting = Some(RelativeTime::lasting(since, session.now()));
        let detail = format!("{}: {}", customer.name, domain.domain);
        Some(Task { lasting, ..Task::new("1".to_owned(), words, detail, customers::domain::path(customer.uuid)) })
    };
    let troubled = session.platform().troubled_domains(&session.caller).await?;
    Ok(closed.into_iter().chain(troubled.into_iter().filter_map(task)).collect())
}

/// What a connection and its endpoints ask of support.
fn connection_tasks(row: &CustomerRow, now: Timestamp) -> Vec<Task> {
    let path = format!("/customers/{}", row.uuid);
    let task = |count: String, text: &str| Task::new(count, text, &row.name, path.clone());
    let mut tasks = Vec::new();
    if !row.line.task.is_empty() {
        tasks.push(task("1".into(), row.line.task));
    }
    tasks.extend(endpoint_tasks(row, now));
    if row.line.quarantined > 0 {
        let words = plural(usize::try_from(row.line.quarantined).unwrap_or(usize::MAX), "event", "events");
        tasks.push(task(row.line.quarantined.to_string(), &format!("{words} in quarantine")));
    }
    tasks
}

/// What the endpoints of a customer ask of support, as they were last read.
fn endpoint_tasks(row: &CustomerRow, now: Timestamp) -> Vec<Task> {
    let path = format!("/customers/{}#endpoints", row.uuid);
    let read_at = row.line.read_at.map(|at| RelativeTime::new(at, now));
    let task = |count: usize, text: String, since: Option<Timestamp>, cause: Option<&String>| {
        let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
        let task = Task::new(count.to_string(), text, format!("{}{cause}", row.name), path.clone());
        Task { lasting: since.map(|since| RelativeTime::lasting(since, now)), read_at: read_at.clone(), ..task }
    };
    match &row.line.health {
        Health::NoEndpoint => {
            vec![task(0, "endpoints: the events of this customer reach no receiver".to_owned(), None, None)]
        }
        Health::Hindered(hindered) => {
            let failing = hindered.failing_words();
            let failing =
                failing.map(|words| (hindered.failing, words, hindered.failing_since, hindered.cause.as_ref()));
            let disabled = hindered.disabled_words();
            let disabled = disabled.map(|words| (hindered.disabled, words, hindered.disabled_since, None));
            let both = failing.into_iter().chain(disabled);
            both.map(|(count, words, since, cause)| task(count, words, since, cause)).collect()
        }
        Health::NotRead(_) | Health::NoRight | Health::Delivering(_) => Vec::new(),
    }
}

async fn sale(session: &Session, auction: &Auction) -> PlatformResult<Sale> {
    let counts = session.platform().item_counts(&session.caller, auction.uuid).await?;
    let now = session.platform().time_of(auction);
    let next = match auction.status {
        AuctionStatus::Live => auction.ends_at.map(|at| (if at > now { "ends" } else { "began to end" }, at)),
        _ => auction.starts_at.map(|at| (if at > now { "starts" } else { "was to start" }, at)),
    };
    let is_webcast = auction.kind == AuctionKind::Webcast;
    let is_sandbox = auction.sale_mode() == SaleMode::Sandbox;
    // A browser can't count down to the end of a sandbox auction, whose clock stands still.
    let time = |at| if is_sandbox { RelativeTime::new(at, now) } else { RelativeTime::countdown(at, now) };
    Ok(Sale {
        uuid: auction.uuid,
        title: auction.shown_title().to_owned(),
        kind: if is_webcast { "Webcast" } else { "Timed" },
        status: match auction.status {
            AuctionStatus::Live => ("live", "Live"),
            AuctionStatus::Preview => ("info", "Preview"),
            _ => ("", "Draft"),
        },
        lots: counts.total,
        live: counts.live,
        with_bids: counts.with_bids,
        next: next.map(|(label, at)| (label, time(at))),
        is_webcast,
        is_sandbox,
    })
}

fn counted(count: usize) -> String {
    if count > COUNT_MAX { format!("{COUNT_MAX}+") } else { count.to_string() }
}

fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}
