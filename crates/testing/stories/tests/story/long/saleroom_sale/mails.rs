//! Each kind of mail in the language of its reader, and the webhooks of the sale.

use std::collections::BTreeMap;

use testkit::mail_server::ReceivedMail;

use super::Sale;
use super::cast::CAST;
use crate::open_saleroom::OpenHouse;
use crate::support::{WAIT_MAX, received};

const OLIVE: usize = 0;
const JOERG: usize = 1;
const AMELIE: usize = 2;
const CARMEN: usize = 3;
const LUCA: usize = 4;

/// Who reads a mail, its subject, and the line that matters. `{p}` and `{n}` are a blank and a narrow one that do not break; a subject
/// has plain ones. A bidder who never led reads of no higher bid in a mail.
const MAILS: &[(usize, &str, &str)] = &[
    (OLIVE, "Your registration for Clocks and silver: paddle 1", "Your paddle number is 1."),
    (JOERG, "Ihre Registrierung zur Auktion Clocks and silver: Bieternummer 2", "Ihre Bieternummer lautet 2."),
    (
        AMELIE,
        "Votre inscription à la vente Clocks and silver : numéro d'enchérisseur 3",
        "Votre numéro d'enchérisseur est le 3.",
    ),
    (CARMEN, "Su inscripción en la subasta Clocks and silver: número de paleta 4", "Su número de paleta es el 4."),
    (LUCA, "La Sua iscrizione all'asta Clocks and silver: paletta numero 5", "Il numero della Sua paletta è 5."),
    (OLIVE, "The sale has begun: Clocks and silver", "with paddle number 1."),
    (JOERG, "Die Auktion hat begonnen: Clocks and silver", "mit der Bieternummer 2 registriert."),
    (AMELIE, "La vente a commencé : Winter sale", "avec le numéro d'enchérisseur 3."),
    (CARMEN, "La subasta ha comenzado: Winter sale", "con el número de paleta 4."),
    (LUCA, "L'asta è iniziata: Clocks and silver", "con il numero di paletta 5."),
    (OLIVE, "Outbid on lot 1: Clocks and silver", "The price is now £550."),
    (JOERG, "Überboten bei Los 1: Clocks and silver", "Der Preis ist jetzt 850{p}£."),
    (LUCA, "Offerta superata per il lotto 1: Clocks and silver", "Il prezzo è ora di 1.100{p}£."),
    (LUCA, "Il Suo limite per Clocks and silver è ora di 1.500{p}£", "Il Suo limite è ora di 1.500{p}£."),
    (OLIVE, "Yours: lot 2 at £200", "Hammer price, before premium and taxes: £200"),
    (JOERG, "Zuschlag für Sie: Los 2 zu 650{p}£", "Zuschlagspreis, ohne Aufgeld und Steuern: 650{p}£"),
    (CARMEN, "Adjudicado a usted: lote 1 por 1.300{p}£", "Precio de remate, sin comisión ni impuestos: 1.300{p}£"),
    (LUCA, "Aggiudicato a Lei: lotto 4 a 300{p}£", "Prezzo di aggiudicazione, senza commissioni e imposte: 300{p}£"),
    (OLIVE, "Lot 1 has ended: Clocks and silver", "Hammer price: £1,300"),
    (JOERG, "Los 1 ist beendet: Clocks and silver", "Zuschlagspreis: 1.300{p}£"),
    (AMELIE, "Le lot 1 est terminé : Clocks and silver", "Prix d'adjudication : 1{n}300{p}£"),
    (CARMEN, "El lote 1 ha terminado: Winter sale", "Precio de remate: 750{p}£"),
    (LUCA, "Il lotto 1 è terminato: Clocks and silver", "Prezzo di aggiudicazione: 1.300{p}£"),
    (AMELIE, "Bientôt présenté : lot 4", "sera bientôt présenté dans la vente Winter sale."),
    (LUCA, "Tra poco in asta: lotto 3", "sarà presentato tra poco nell'asta Winter sale."),
    (AMELIE, "Proposition pour vous : lot 3 à 300{p}£", "Frais et taxes compris : 390{p}£"),
    (LUCA, "Proposta per Lei: lotto 3 a 400{p}£", "Con commissioni e imposte: 520{p}£"),
    (AMELIE, "Adjugé à vous : lot 3 à 300{p}£", "Prix d'adjudication, hors frais et taxes : 300{p}£"),
    (LUCA, "Aggiudicato a Lei: lotto 3 a 400{p}£", "Prezzo di aggiudicazione, senza commissioni e imposte: 400{p}£"),
];

/// The events of each lot in the order of the lots, without the two of an auction.
const TIMED: [&[&str]; 4] = [&["SOLD"], &["SOLD"], &["UNSOLD", "SOLD"], &["UNSOLD"]];
const WEBCAST: [&[&str]; 4] = [&["SOLD"], &["SOLD"], &["PASSED", "SOLD"], &["SOLD"]];

impl Sale {
    /// Reads each kind of mail.
    pub async fn reads_mails(&mut self) {
        let blanks = |text: &str| text.replace("{p}", "\u{a0}").replace("{n}", "\u{202f}");
        let place = |inbox: &[ReceivedMail], reader: usize, subject: &str| {
            let subject = subject.replace("{p}", " ");
            inbox.iter().position(|mail| mail.to == CAST[reader].email && mail.subject == subject)
        };
        let OpenHouse { inbox, mails, .. } = &mut self.house;
        let all_arrive = async {
            while MAILS.iter().any(|(reader, subject, _)| place(inbox, *reader, subject).is_none()) {
                inbox.push(mails.next().await.unwrap());
            }
        };
        let have_arrived = tokio::time::timeout(WAIT_MAX, all_arrive).await.is_ok();
        if let Some(folder) = &self.pictures {
            let text = |mail: &ReceivedMail| format!("To: {}\nSubject: {}\n\n{}\n", mail.to, mail.subject, mail.text);
            let texts: Vec<_> = self.house.inbox.iter().map(text).collect();
            std::fs::write(folder.join("mails.txt"), texts.join("\n----------\n")).unwrap();
        }
        let mut faults = Vec::new();
        for (reader, subject, line) in MAILS {
            let Some(place) = place(&self.house.inbox, *reader, subject) else {
                faults.push(format!("{} has no mail “{subject}”", CAST[*reader].name));
                continue;
            };
            let text = &self.house.inbox[place].text;
            for wanted in [&blanks(line), &self.url()] {
                if !text.contains(wanted) {
                    faults.push(format!("{subject}: no “{wanted}” in\n{text}"));
                }
            }
        }
        // No mail names another bidder.
        for mail in &self.house.inbox {
            let others = CAST.iter().filter(|role| role.email != mail.to && mail.text.contains(role.name));
            faults.extend(others.map(|role| format!("{} reads {}:\n{}", mail.to, role.name, mail.text)));
        }
        assert!(have_arrived && faults.is_empty(), "{}", faults.join("\n\n"));
    }

    /// The customer's systems got each result of a lot once.
    pub async fn assert_webhooks(&self) {
        let announced = self.house.site.announced_events().await.unwrap().len();
        let report = received(&self.house.site, announced).await;
        assert!(report.is_perfect(), "{report:?}");
        let mut of_subject: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        let arrivals = self.house.site.receiver.read(|record| record.arrivals().to_vec());
        for arrival in &arrivals {
            of_subject.entry(arrival.subject.to_string()).or_default().push(arrival.status);
        }
        for (auction, expected) in [(&self.timed, TIMED), (&self.webcast, WEBCAST)] {
            for (place, (lot, expected)) in auction.lots.iter().zip(expected).enumerate() {
                assert_eq!(of_subject.get(lot).map(Vec::as_slice), Some(expected), "lot {} of {arrivals:?}", place + 1);
            }
        }
    }
}
