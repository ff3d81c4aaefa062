//! The list of a register, with its search.

use askama::Template;
use axum::response::Response;
use kit_design::fields::{FormFields, QueryFields};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page};
use platform_core::Platform;
use platform_core::Scope::PartiesWrite;
use platform_core::bidders::{FoundParties, PartyKind};
use platform_core::port::{Page as ListPage, Party, PartyPosition};
use uuid::Uuid;

use super::Houses;
use crate::imports::{Counts, ImportNotice, LINKED_MAX};
use crate::notice;
use crate::page_error::PageError;
use crate::sale::labels::{self, Badge};
use crate::session::{Section, Session};

/// Records on one page.
const LISTED: usize = 100;

#[derive(Template)]
#[template(path = "people/list.html")]
struct ListTemplate {
    frame: Frame,
    /// After an import.
    imported: Option<ImportNotice>,
    /// To choose from; none when the user sees one house only.
    houses: Option<FormField>,
    /// The house of the list, as the query names it.
    house: String,
    kind: &'static str,
    chips: Vec<Chip>,
    text: String,
    rows: Vec<Row>,
    /// How many the whole list has, in words.
    count: String,
    has_houses: bool,
    is_filtered: bool,
    /// Queries of the first and the next page.
    first: String,
    next: Option<String>,
    is_first: bool,
    may_write: bool,
}

struct Chip {
    words: &'static str,
    query: String,
    is_current: bool,
}

struct Row {
    uuid: Uuid,
    name: String,
    reference: String,
    email: String,
    phone: String,
    town: String,
    roles: &'static str,
    badge: Option<Badge>,
}

const KINDS: [(&str, &str, PartyKind); 4] = [
    ("", "All", PartyKind::All),
    ("bidders", "Bidders", PartyKind::Bidders),
    ("consignors", "Consignors", PartyKind::Consignors),
    ("blocked", "Blocked", PartyKind::Blocked),
];

pub(super) async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let houses = Houses::load(&session, &query).await?;
    let text = query.text("text").trim().to_owned();
    let (kind, _, wanted) = KINDS.into_iter().find(|kind| kind.0 == query.text("kind")).unwrap_or(KINDS[0]);
    let after = position(query.text("after"));
    let found = match houses.chosen {
        None => FoundParties { parties: Vec::new(), count: 0 },
        Some(house) => {
            let page = ListPage { after: after.clone(), limit: LISTED + 1 };
            session.platform().find_parties(&session.caller, house, (wanted, &text), page).await?
        }
    };
    let FoundParties { mut parties, count } = found;
    let has_more = parties.len() > LISTED;
    parties.truncate(LISTED);
    let house = houses.chosen.map(|uuid| uuid.to_string()).unwrap_or_default();
    let address = |kind: &str, after: Option<&PartyPosition>| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("house", &house).append_pair("kind", kind).append_pair("text", &text);
        if let Some((name, uuid)) = after {
            query.append_pair("after", &format!("{uuid}{name}"));
        }
        query.finish()
    };
    let last = parties.last().filter(|_| has_more).map(Platform::position_of);
    let imported = imported(&session, houses.chosen, &query).await?;
    let notice = notice::from_query(&query).filter(|_| imported.is_none());
    let chip = |(name, words, of): (&'static str, &'static str, PartyKind)| Chip {
        words,
        query: address(name, None),
        is_current: of == wanted,
    };
    render_page(&ListTemplate {
        frame: session.frame("Bidders and consignors", Section::People).with_notice(notice),
        imported,
        houses: choose(&houses, &house),
        has_houses: !houses.all.is_empty(),
        chips: KINDS.into_iter().map(chip).collect(),
        first: address(kind, None),
        next: last.map(|last| address(kind, Some(&last))),
        is_first: after.is_none(),
        rows: parties.into_iter().map(row).collect(),
        count: labels::count(count, "record", "records"),
        is_filtered: !text.is_empty() || wanted != PartyKind::All,
        kind,
        text,
        house,
        may_write: session.may(PartiesWrite),
    })
}

/// The notice after an import, with links to records that it added or changed.
async fn imported(
    session: &Session,
    house: Option<Uuid>,
    query: &FormFields,
) -> Result<Option<ImportNotice>, PageError> {
    let counts = Counts::of_query(query).filter(|_| query.text("done") == "people-imported");
    let (Some(counts), Some(house)) = (counts, house) else { return Ok(None) };
    let records = query.all("record").filter_map(|record| Uuid::try_parse(record).ok());
    let records: Vec<Uuid> = records.take(LINKED_MAX).collect();
    let labels = session.platform().party_labels(&session.caller, house, &records.iter().copied().collect()).await?;
    let base = &session.admin.site().base;
    let link = |uuid: &Uuid| Some((format!("{base}/people/{uuid}"), labels.get(uuid)?.clone()));
    let links: Vec<_> = records.iter().filter_map(link).collect();
    let has_more = counts.new + counts.changed > links.len() as u64;
    Ok(Some(ImportNotice::new("The people were imported.", counts, links, has_more)))
}

fn choose(houses: &Houses, house: &str) -> Option<FormField> {
    if houses.all.len() < 2 {
        return None;
    }
    let choices = houses.all.iter().map(|customer| Choice::of(customer.uuid.to_string(), customer.name.clone(), house));
    Some(FormField::select("house", "House", choices.collect()))
}

/// The position that the address of a page names: 36 characters of the UUID, then the name.
fn position(text: &str) -> Option<PartyPosition> {
    let (uuid, name) = text.split_at_checked(36)?;
    Some((name.to_owned(), Uuid::try_parse(uuid).ok()?))
}

fn row(party: Party) -> Row {
    let details = party.details;
    let town = details
        .addresses
        .first()
        .map(|address| [address.city.as_deref().unwrap_or_default(), &address.postcode].join(" ").trim().to_owned());
    Row {
        uuid: party.uuid,
        name: details.name,
        reference: details.reference.unwrap_or_default(),
        email: details.email.unwrap_or_default(),
        phone: details.phone.unwrap_or_default(),
        town: town.unwrap_or_default(),
        roles: roles(details.is_bidder, details.is_consignor),
        badge: party.block.map(|_| Badge::new("bad", "Blocked")),
    }
}

/// What a party does, in words.
pub(super) fn roles(is_bidder: bool, is_consignor: bool) -> &'static str {
    match (is_bidder, is_consignor) {
        (true, true) => "Bidder and consignor",
        (false, true) => "Consignor",
        _ => "Bidder",
    }
}
