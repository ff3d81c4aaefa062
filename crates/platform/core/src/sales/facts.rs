//! What bidders read about a sale beside the auction's own fields: description, viewing times, and the version of the
//! house's conditions.

use contract::AuctionStatus;
use platform_rules::{Auction, Rejection};
use uuid::Uuid;

use super::film;
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::{Film, Page, SaleFacts, StoreError, Versioned};
use crate::steps::decide::expect_version;
use crate::steps::input::{check_lines, require_usable};
use crate::{Caller, Platform, Scope};

/// Characters of the description of a sale.
pub const SALE_DESCRIPTION_CHARS_MAX: usize = 4_000;
/// Characters of the viewing times.
pub const VIEWING_CHARS_MAX: usize = 2_000;

/// The facts of a sale as staff enter them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SaleFactsInput {
    /// What is sold; at most 4,000 characters in lines, may be empty.
    pub description: String,
    /// When and how the lots can be viewed; at most 2,000 characters in lines, may be empty.
    pub viewing: String,
    /// The version of the house's conditions.
    pub conditions: Option<u32>,
    /// The address of the film of a webcast; https, at most 500 characters, may be empty.
    pub film: String,
    /// How many seconds late its picture is; 1 to 120.
    pub film_delay: Option<u32>,
}

impl SaleFactsInput {
    /// All problems of the values by themselves.
    pub fn problems(&self) -> Vec<Problem> {
        let texts = [
            ("/description", &self.description, SALE_DESCRIPTION_CHARS_MAX),
            ("/viewing", &self.viewing, VIEWING_CHARS_MAX),
        ];
        let texts = texts.into_iter().filter(|(_, text, _)| !text.is_empty());
        let texts = texts.filter_map(|(pointer, text, max)| Some(Problem::new(pointer, check_lines(text, max).err()?)));
        texts.chain(self.film().err()).collect()
    }

    /// The film; none for an empty address.
    pub fn film(&self) -> Result<Option<Film>, Problem> {
        film::read(&self.film, self.film_delay)
    }
}

impl Platform {
    /// The facts of a sale; version 0 before their first change.
    ///
    /// Errors: `not_found` (auction).
    pub async fn sale_facts(&self, caller: &Caller, auction: Uuid) -> PlatformResult<SaleFacts> {
        caller.require(Scope::AuctionsRead)?;
        let auction = self.visible_auction(caller, auction).await?;
        self.facts_of(&auction).await
    }

    /// Replaces the facts of a sale. Its conditions are fixed once it is LIVE, because bids are made under them. The check can
    /// miss an auction that opens at the same moment.
    ///
    /// Errors: `not_found` (auction), `precondition_failed`, `invalid` (unknown conditions among others), `fields_locked`, `busy`.
    pub async fn change_sale_facts(
        &self,
        caller: &Caller,
        auction: Uuid,
        input: &SaleFactsInput,
        expected_version: Option<i64>,
    ) -> PlatformResult<SaleFacts> {
        caller.require(Scope::AuctionsWrite)?;
        require_usable(input.problems(), None)?;
        let auction = self.visible_auction(caller, auction).await?;
        let before = self.facts_of(&auction).await?;
        expect_version(expected_version, before.version)?;
        let film = input.film().unwrap_or_default();
        let SaleFactsInput { description, viewing, conditions, .. } = input.clone();
        let locked = |field, why| Rejection::FieldsLocked { fields: vec![field], why };
        if auction.status == AuctionStatus::Archived {
            return Err(locked("description", "the auction is archived").into());
        }
        if conditions != before.conditions {
            if !matches!(auction.status, AuctionStatus::Draft | AuctionStatus::Preview) || auction.was_live {
                return Err(locked("conditions", "the auction was LIVE, and bids are made under its conditions").into());
            }
            if let Some(number) = conditions
                && self.store().conditions(auction.customer, number).await?.is_none()
            {
                return Err(PlatformError::invalid("/conditions", "is no version of the house's conditions"));
            }
        }
        // A film whose origin is not listed any more stays until it is changed. The pages do not show it.
        if film != before.film
            && let Some(film) = &film
            && let Some(problem) = self.film_problem(auction.kind, film).await?
        {
            return Err(PlatformError::invalid("/film", problem));
        }
        let after = SaleFacts { description, viewing, conditions, film, ..before.clone() };
        if after == before {
            return Ok(before);
        }
        self.write_facts(caller, after).await
    }

    /// Gives a copied sale the description of its original and the latest conditions of the house, if the original has any.
    /// Viewing times and film are those of the original alone.
    pub(crate) async fn copy_facts(&self, caller: &Caller, source: &Auction, copy: &Auction) -> PlatformResult<()> {
        let Some(original) = self.store().sale_facts(source.uuid).await? else { return Ok(()) };
        if self.store().sale_facts(copy.uuid).await?.is_some() {
            return Ok(());
        }
        let conditions = match original.conditions {
            None => None,
            Some(_) => self.latest_conditions(source.customer).await?,
        };
        let empty = self.facts_of(copy).await?;
        let facts = SaleFacts { description: original.description, conditions, ..empty };
        self.write_facts(caller, facts).await.map(drop)
    }

    /// The number of the latest version of a house's conditions.
    async fn latest_conditions(&self, customer: Uuid) -> PlatformResult<Option<u32>> {
        let latest = self.store().conditions_list(customer, Page { after: None, limit: 1 }).await?.pop();
        Ok(latest.map(|latest| latest.number))
    }

    async fn facts_of(&self, auction: &Auction) -> PlatformResult<SaleFacts> {
        let empty = || SaleFacts {
            auction: auction.uuid,
            description: String::new(),
            viewing: String::new(),
            conditions: None,
            film: None,
            actor: String::new(),
            version: 0,
            updated_at: auction.created_at,
        };
        Ok(self.store().sale_facts(auction.uuid).await?.unwrap_or_else(empty))
    }

    /// Writes the next state of facts that were loaded.
    async fn write_facts(&self, caller: &Caller, before: SaleFacts) -> PlatformResult<SaleFacts> {
        let (expected_version, actor) = (before.version, caller.actor.clone());
        let state = SaleFacts { actor, version: expected_version + 1, updated_at: self.now(), ..before };
        match self.store().put_sale_facts(Versioned { expected_version, state: state.clone() }).await {
            Ok(()) => Ok(state),
            Err(StoreError::Conflict) => Err(PlatformError::Busy),
            Err(error) => Err(error.into()),
        }
    }
}
