//! One person or firm: the details, the sales with what was bought, and the lots on which the bidder leads.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use platform_core::Scope::{BiddersWrite, PartiesWrite};
use platform_core::bidders::{PartySale, PurchaseState, StandingLot};
use platform_core::port::{Money, Page as ListPage, Party};
use uuid::Uuid;

use super::consigned::{self, ConsignedRow};
use super::likely::LikelyRow;
use super::list::roles;
use crate::notice;
use crate::page_error::PageError;
use crate::sale::labels::{self, Badge};
use crate::session::{PathIds, Section, Session};
use platform_words::Currency;
use platform_words::address_fields::one_line;

/// Sales on one page.
const SALES_LISTED: usize = 50;

#[derive(Template)]
#[template(path = "people/party.html")]
struct PartyPage {
    frame: Frame,
    uuid: Uuid,
    house: Uuid,
    version: i64,
    name: String,
    roles: &'static str,
    facts: Vec<(&'static str, String)>,
    note: String,
    block: Option<Block>,
    standing: Vec<StandingRow>,
    /// Lots of the person's own among them.
    own_lots: usize,
    is_bidder: bool,
    sales: Vec<SaleRow>,
    next_sale: Option<Uuid>,
    erasure: Option<Erasure>,
    is_consignor: bool,
    consigned: Vec<ConsignedRow>,
    next_consigned: Option<Uuid>,
    likely: Vec<LikelyRow>,
    merged: Vec<MergedRow>,
    may_write: bool,
    may_erase: bool,
    may_register: bool,
    entered: RelativeTime,
    changed: RelativeTime,
    changed_by: String,
}

struct Block {
    reason: String,
    by: String,
    at: RelativeTime,
}

struct Erasure {
    by: String,
    at: RelativeTime,
    /// Until when name and addresses are kept; empty when they are deleted.
    kept_until: String,
}

/// A record that was merged into this one.
struct MergedRow {
    label: String,
    by: String,
    at: RelativeTime,
}

struct StandingRow {
    /// A lot of the person's own.
    is_own: bool,
    sale: String,
    lot: LotLink,
    paddle: String,
    amount: String,
}

struct SaleRow {
    auction: Uuid,
    title: String,
    status: Badge,
    paddle: String,
    registration: Badge,
    bought: Vec<Bought>,
    total: String,
    unpaid: String,
}

struct Bought {
    lot: LotLink,
    amount: String,
    is_unpaid: bool,
}

pub(super) struct LotLink {
    auction: Uuid,
    item: Uuid,
    words: String,
}

pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let (platform, caller, now) = (session.platform(), &session.caller, session.now());
    let party = platform.party(caller, uuid).await?;
    if let Some(merged) = &party.merged {
        return Ok(session.admin.redirect(&format!("/people/{}?done=record-merged", merged.into)).into_response());
    }
    let merged = platform.merged_records(caller, uuid).await?;
    let likely = platform.likely_duplicates(caller, uuid).await?;
    let before = Uuid::try_parse(query.text("before")).ok();
    let page = ListPage { after: before, limit: SALES_LISTED + 1 };
    let mut sales = platform.sales_of_party(caller, uuid, page).await?;
    let has_more = sales.len() > SALES_LISTED;
    sales.truncate(SALES_LISTED);
    let page = ListPage { after: Uuid::try_parse(query.text("consigned")).ok(), limit: SALES_LISTED };
    let consigned = platform.consigned_sales(caller, uuid, page).await?;
    let standing = platform.standing_lots(caller, uuid).await?;
    let actors = [Some(&party.actor), party.block.as_ref().map(|block| &block.actor)].into_iter().flatten();
    let actors = actors.chain(merged.iter().filter_map(|record| record.merged.as_ref()).map(|merged| &merged.actor));
    let actors = actors.chain(party.erasure.as_ref().map(|erasure| &erasure.actor));
    let actors = actors.chain(party.identity.as_ref().map(|identity| &identity.seen_by)).map(String::as_str);
    let names = session.names(actors).await?;
    let by = |actor: &str| labels::actor(&session, &names, actor);
    let block = party.block.as_ref().map(|block| Block {
        reason: block.reason.clone(),
        by: by(&block.actor),
        at: RelativeTime::new(block.at, now),
    });
    let erasure = party.erasure.as_ref().map(|erasure| Erasure {
        by: by(&erasure.actor),
        at: RelativeTime::new(erasure.at, now),
        kept_until: erasure.kept_until.map(super::erase::date).unwrap_or_default(),
    });
    let is_erased = erasure.is_some();
    let merged_row = |record: &Party| {
        let merged = record.merged.as_ref()?;
        let label = if record.erasure.is_some() { "Erased record".to_owned() } else { record.label() };
        Some(MergedRow { label, by: by(&merged.actor), at: RelativeTime::new(merged.at, now) })
    };
    let name = if is_erased { "Erased person".to_owned() } else { party.details.name.clone() };
    render_page(&PartyPage {
        frame: session.frame(name.clone(), Section::People).with_notice(notice::from_query(&query)),
        uuid,
        house: party.customer,
        version: party.version,
        name,
        roles: if is_erased { "" } else { roles(party.details.is_bidder, party.details.is_consignor) },
        facts: facts(&party, by),
        note: party.details.note.clone().unwrap_or_default(),
        block,
        next_sale: sales.last().map(|sale| sale.registration.uuid).filter(|_| has_more),
        is_bidder: party.details.is_bidder,
        is_consignor: party.details.is_consignor,
        consigned: consigned.sales.iter().map(consigned::row).collect(),
        next_consigned: consigned.next,
        own_lots: standing.iter().filter(|standing| standing.is_own).count(),
        standing: standing.iter().map(standing_row).collect(),
        likely: likely.iter().map(LikelyRow::of).collect(),
        merged: merged.iter().filter_map(merged_row).collect(),
        sales: sales.iter().map(sale_row).collect(),
        may_write: session.may(PartiesWrite),
        may_erase: session.caller.require_administrator().is_ok() && !is_erased,
        may_register: session.may(BiddersWrite) && party.details.is_bidder && party.block.is_none(),
        erasure,
        entered: RelativeTime::new(party.created_at, now),
        changed: RelativeTime::new(party.updated_at, now),
        changed_by: by(&party.actor),
    })
}

fn facts(Party { details, identity, erasure, .. }: &Party, by: impl Fn(&str) -> String) -> Vec<(&'static str, String)> {
    let money = |money: &Money| Currency::new(money.currency.as_str()).exact(money.amount);
    let kept_name = erasure.as_ref().and_then(|erasure| erasure.kept_until).map(|_| details.name.clone());
    let mut facts: Vec<(&'static str, Option<String>)> = vec![
        ("Name", kept_name),
        ("Reference", details.reference.clone()),
        ("E-mail", details.email.clone()),
        ("Telephone", details.phone.clone()),
    ];
    facts.extend(details.addresses.iter().map(|address| ("Address", Some(one_line(address)))));
    let identity = identity.as_ref().map(|identity| {
        let by = by(&identity.seen_by);
        format!("{}, seen by {by} on {}", identity.document, identity.seen_at.strftime("%-d %b %Y"))
    });
    facts.extend([
        ("VAT number", details.vat_number.clone()),
        ("Proof of identity", identity),
        ("Deposit held", details.deposit.as_ref().map(money)),
        ("Usual spending limit", details.limit.as_ref().map(money)),
    ]);
    facts.into_iter().filter_map(|(words, value)| Some((words, value?))).collect()
}

fn standing_row(standing: &StandingLot) -> StandingRow {
    let currency = Currency::of(&standing.auction);
    StandingRow {
        is_own: standing.is_own,
        sale: standing.auction.shown_title().to_owned(),
        lot: LotLink::of(&standing.item),
        paddle: standing.registration.paddle.clone(),
        amount: standing.item.price().map(|price| currency.show(price)).unwrap_or_default(),
    }
}

fn sale_row(sale: &PartySale) -> SaleRow {
    let currency = Currency::of(&sale.auction);
    let show = |amount: Option<i64>| amount.map(|amount| currency.show(amount)).unwrap_or_default();
    let bought = sale.purchases.iter().map(|purchase| Bought {
        lot: LotLink::of(&purchase.item),
        amount: show(purchase.item.price()),
        is_unpaid: purchase.state == PurchaseState::NotPaid,
    });
    let sum = |state: PurchaseState| {
        let of_state = sale.purchases.iter().filter(move |purchase| purchase.state == state);
        let (count, total) = of_state.fold((0, 0_i64), |(count, total), purchase| {
            (count + 1, total.saturating_add(purchase.item.price().unwrap_or_default()))
        });
        if count == 0 { String::new() } else { currency.show(total) }
    };
    SaleRow {
        auction: sale.auction.uuid,
        title: sale.auction.shown_title().to_owned(),
        status: sale.auction.status.into(),
        paddle: sale.registration.paddle.clone(),
        registration: sale.registration.status.into(),
        bought: bought.collect(),
        total: sum(PurchaseState::Sold),
        unpaid: sum(PurchaseState::NotPaid),
    }
}

impl LotLink {
    pub(super) fn of(item: &platform_rules::Item) -> Self {
        Self { auction: item.auction, item: item.uuid, words: format!("Lot {}: {}", item.lot_number, item.title) }
    }
}
