//! New records of a file that are likely about a person whom the register has already, or about one person twice.

use std::collections::{BTreeSet, HashMap};

use uuid::Uuid;

use super::RegisterReport;
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{MatchReason, Party, PartyDetails, PartyWrite};

/// Rows with a warning that a report lists.
const LIKELY_MAX: usize = 1_000;

/// A row that adds a record, although another one is likely about the same person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikelyRow {
    /// Physical line of the file, from 1.
    pub line: u64,
    /// The new record's name, with its reference.
    pub label: String,
    /// The other record.
    pub other: LikelyOther,
    /// What they have in common.
    pub reasons: Vec<MatchReason>,
}

/// The record that a new one matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LikelyOther {
    /// A record of the register, with its label.
    Record(Uuid, String),
    /// A new record of an earlier line of the file.
    Line(u64),
}

impl Platform {
    /// Adds the new records that are likely duplicates to the report.
    pub(super) async fn note_likely(
        &self,
        customer: Uuid,
        writes: &[(u64, PartyWrite)],
        report: &mut RegisterReport,
    ) -> PlatformResult<()> {
        let new: Vec<(u64, &Party)> = writes
            .iter()
            .filter(|(_, write)| write.party.expected_version == 0)
            .map(|(line, write)| (*line, &write.party.state))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        self.refresh_match_keys(customer).await?;
        let details: Vec<&PartyDetails> = new.iter().map(|(_, party)| &party.details).collect();
        let known = self.matching(customer, &details).await?;
        let mut holders: HashMap<String, LikelyOther> = HashMap::new();
        for party in &known {
            let other = LikelyOther::Record(party.uuid, party.label());
            for key in party.match_keys() {
                holders.entry(key).or_insert_with(|| other.clone());
            }
        }
        for (line, party) in new {
            let keys = party.match_keys();
            let found = keys.iter().find_map(|key| holders.get(key)).cloned();
            if let Some(other) = found {
                let shared = keys.iter().filter(|key| holders.get(*key) == Some(&other));
                let reasons: BTreeSet<MatchReason> = shared.filter_map(|key| MatchReason::of_key(key)).collect();
                report.likely_count += 1;
                if report.likely.len() < LIKELY_MAX {
                    let (label, reasons) = (party.label(), reasons.into_iter().collect());
                    report.likely.push(LikelyRow { line, label, other, reasons });
                }
            }
            for key in keys {
                holders.entry(key).or_insert(LikelyOther::Line(line));
            }
        }
        Ok(())
    }
}
