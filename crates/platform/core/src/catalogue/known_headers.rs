//! Headers that houses are known to use, in English, German, French, Spanish, Italian and Dutch.

use super::columns::Column;
use super::propose_mapping::normalised;

/// The column that houses name with this header.
pub(super) fn known_column(header: &str) -> Option<Column> {
    let header = normalised(header);
    if let Some(column) = Column::fields().into_iter().find(|field| normalised(field) == header) {
        return Column::mapped(column);
    }
    let (column, _) = HEADERS.iter().find(|(_, headers)| headers.contains(&header.as_str()))?;
    Some(*column)
}

/// Headers of houses, normalised.
#[rustfmt::skip]
const HEADERS: &[(Column, &[&str])] = &[
    (Column::LotNumber, &[
        "lot", "lotnum", "lotnumber", "lotid", "lotno", "lotref", "number", "saleno", "catno", "cataloguenumber",
        "los", "losnr", "losnummer", "nr", "nummer", "katalognummer", "katalognr", "katnr", "posnr", "position",
        "numéro", "numero", "nº", "numérolot", "numérodelot", "numerodelot", "numlot", "nlot", "ndelot", "nºlot", "nºdelot",
        "lote", "númerodelote", "numerodelote", "númerolote", "nºlote", "nlote", "número",
        "lotto", "numerolotto", "numerodilotto", "nlotto", "nºlotto",
        "kavel", "kavelnr", "kavelnummer", "lotnummer", "lotnr", "catalogusnummer",
    ]),
    (Column::Title, &[
        "title", "lead", "lottitle", "lotname", "itemname", "shortdescription", "name", "heading",
        "titel", "bezeichnung", "kurzbeschreibung", "objekt", "überschrift",
        "titre", "désignation", "designation", "intitulé",
        "título", "titulo", "denominación", "objeto",
        "titolo", "oggetto", "denominazione",
        "naam", "kavelnaam", "kortebeschrijving", "korteomschrijving",
    ]),
    (Column::Description, &[
        "description", "fulldescription", "longdescription", "lotdescription", "details", "condition", "conditionreport",
        "body", "catnote", "catnotes", "cataloguenote", "cataloguenotes", "catalognote", "note", "footnote",
        "beschreibung", "katalogtext", "text", "zustand", "zustandsbericht", "beschrieb",
        "descriptif", "notice", "texte", "état", "étatdelot", "rapportdétat",
        "descripción", "descripcion", "texto", "estado", "condición",
        "descrizione", "testo", "stato", "condizioni", "condizione", "scheda",
        "beschrijving", "omschrijving", "tekst", "conditie", "toelichting",
    ]),
    (Column::LowEstimate, &[
        "lowest", "lowestimate", "estmin", "estmineach", "minimumestimateeach", "minimumestimate", "estimatelow", "estlow",
        "untereschätzung", "untererschätzpreis", "schätzpreisvon", "schätzungvon", "schätzpreismin", "schätzwertvon",
        "schätzwertmin", "taxeunten", "taxevon", "schaetzpreisvon", "schaetzungvon",
        "estimationbasse", "basseestimation", "estbasse", "estimationmin", "estimationminimale", "estimationminimum",
        "estimaciónbaja", "estimacionbaja", "estimaciónmínima", "estimaciónmin", "estimacionminima", "preciomínimo",
        "stimaminima", "stimabassa", "stimamin", "stimada", "valutazioneminima",
        "lageschatting", "schattinglaag", "schattingvan", "minimumschatting", "schattingmin", "taxatievan", "taxatielaag",
    ]),
    (Column::HighEstimate, &[
        "highest", "highestimate", "estmax", "estmaxeach", "maximumestimateeach", "maximumestimate", "estimatehigh", "esthigh",
        "obereschätzung", "obererschätzpreis", "schätzpreisbis", "schätzungbis", "schätzpreismax", "schätzwertbis",
        "schätzwertmax", "taxeoben", "taxebis", "schaetzpreisbis", "schaetzungbis",
        "estimationhaute", "hauteestimation", "esthaute", "estimationmax", "estimationmaximale", "estimationmaximum",
        "estimaciónalta", "estimacionalta", "estimaciónmáxima", "estimaciónmax", "estimacionmaxima", "preciomáximo",
        "stimamassima", "stimaalta", "stimamax", "stimaa", "valutazionemassima",
        "hogeschatting", "schattinghoog", "schattingtot", "maximumschatting", "schattingmax", "taxatietot", "taxatiehoog",
    ]),
    (Column::Estimate, &[
        "estimate", "estimates", "guideprice", "est",
        "schätzpreis", "schätzwert", "schätzung", "taxe", "schaetzpreis", "schaetzwert", "schaetzung",
        "estimation", "estimations", "estimación", "estimacion", "stima", "valutazione",
        "schatting", "taxatie", "richtprijs",
    ]),
    (Column::OpeningBid, &[
        "startprice", "startbid", "startingbid", "openingprice", "openingbid", "lotstartprice", "startingprice", "minimumbid",
        "start", "starting", "opening",
        "startpreis", "startgebot", "ausruf", "ausrufpreis", "ausrufspreis", "aufruf", "aufrufpreis", "mindestgebot", "erstgebot",
        "miseàprix", "miseaprix", "prixdedépart", "prixdedepart", "enchèrededépart", "départ",
        "preciodesalida", "preciosalida", "salida", "pujainicial", "pujadesalida", "precioinicial",
        "basedasta", "base", "prezzobase", "prezzodipartenza", "offertainiziale", "offertaminima", "partenza",
        "startbod", "startprijs", "openingsbod", "beginbod", "inzet", "inzetprijs",
    ]),
    (Column::Reserve, &[
        "reserve", "reserveprice", "totalreserve",
        "limit", "limitpreis", "mindestpreis", "mindestverkaufspreis", "reservepreis", "vorbehaltspreis",
        "réserve", "prixderéserve", "prixdereserve", "reserva", "preciodereserva", "precioreserva",
        "riserva", "prezzodiriserva", "reserveprijs", "limiet", "minimumprijs", "minimumverkoopprijs",
    ]),
    (Column::BuyNow, &[
        "buynow", "buynowprice", "buyitnow", "buyitnowprice",
        "sofortkauf", "sofortkaufpreis", "sofortkaufen", "achatimmédiat", "prixachatimmédiat", "comprarya", "compraya",
        "preciodecompra", "compralosubito", "compraora", "directkopen", "nukopen", "koopnu",
    ]),
    (Column::FixedIncrement, &[
        "increment", "bidincrement",
        "bietschritt", "steigerung", "steigerungsschritt", "palier", "pas", "pasdenchère", "incrément", "incremento",
        "rilancio", "rilanciominimo", "bodverhoging", "biedstap", "verhoging",
    ]),
    (Column::Vendor, &[
        "consignor", "consigner", "consignorreference", "consignorref", "consignorcode", "consigncode", "consignorno",
        "consignornumber", "consignorid", "consignorname", "vendorreference", "vendorref", "vendorcode", "vendorno",
        "vendornumber", "vendorid", "vendorname", "seller", "sellerreference", "sellername",
        "einlieferer", "einlieferernr", "einlieferernummer", "auftraggeber", "vendeur", "déposant", "deposant", "mandant",
        "commettant", "vendedor", "consignador", "cedente", "venditore", "conferente", "mandante", "committente", "inbrenger",
        "inbrengernummer", "verkoper",
    ]),
    (Column::Artist, &[
        "artist", "maker", "author", "künstler", "kuenstler", "autor", "urheber", "artiste", "auteur", "artista", "autore",
        "kunstenaar", "vervaardiger",
    ]),
    (Column::Medium, &[
        "medium", "material", "technik", "materialtechnik", "technique", "matériau", "matériaux", "matière", "técnica",
        "tecnica", "materiale", "materiali", "techniek", "materiaal",
    ]),
    (Column::Dimensions, &[
        "dimensions", "size", "maße", "masse", "maßangaben", "abmessungen", "größe", "format", "taille", "mesures", "medidas",
        "dimensiones", "misure", "dimensioni", "afmeting", "afmetingen", "maten", "formaat",
    ]),
    (Column::Date, &[
        "date", "period", "datierung", "datum", "jahr", "epoche", "époque", "datation", "année", "fecha", "época", "datación",
        "año", "data", "epoca", "datazione", "anno", "datering", "jaar", "periode",
    ]),
    (Column::Category, &[
        "category", "lotcategory", "department", "kategorie", "sachgebiet", "warengruppe", "sparte", "catégorie", "rubrique",
        "categoría", "categoria", "reparto", "categorie", "rubriek",
    ]),
    (Column::Credit, &[
        "credit", "provenance", "provenienz", "herkunft", "origine", "procedencia", "provenienza", "herkomst",
    ]),
    (Column::ImageUrl, &[
        "imageurl", "imageaddress", "photourl", "bildurl", "bildadresse", "urlimage", "urlphoto", "urlimagen", "urlimmagine",
        "afbeeldingurl", "fotourl",
    ]),
    (Column::EndTime, &[
        "endtime", "closingtime", "lotendtime", "endzeit", "auktionsende", "heuredefin", "horadefin", "horadecierre",
        "orafine", "eindtijd", "sluitingstijd",
    ]),
    (Column::Currency, &["currency", "währung", "waehrung", "devise", "monnaie", "moneda", "divisa", "valuta", "munt"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_six_languages_are_known() {
        for (column, headers) in [
            (Column::LotNumber, &["Lot #", "Los-Nr.", "N° de lot", "Nº lote", "N. lotto", "Kavelnummer"][..]),
            (Column::Title, &["Lead", "Bezeichnung", "Désignation", "Título", "Titolo", "Titel"]),
            (Column::Description, &["Body", "Cat. Note", "Beschreibung", "Descriptif", "Descripción", "Omschrijving"]),
            (
                Column::LowEstimate,
                &["LowEst", "Schätzpreis von", "Estimation basse", "Estimación mínima", "Stima min.", "Schatting van"],
            ),
            (
                Column::HighEstimate,
                &[
                    "Est. Max",
                    "Schätzpreis bis",
                    "Estimation haute",
                    "Estimación máxima",
                    "Stima max.",
                    "Schatting tot",
                ],
            ),
            (Column::Estimate, &["Estimate", "Schätzpreis", "Estimation", "Estimación", "Stima", "Schatting"]),
            (
                Column::OpeningBid,
                &["Start", "Startpreis", "Mise à prix", "Precio de salida", "Base d'asta", "Startbod"],
            ),
            (Column::Reserve, &["Reserve", "Limit", "Prix de réserve", "Reserva", "Riserva", "Limiet"]),
            (
                Column::Vendor,
                &["Consignor reference", "Einlieferer-Nr.", "Déposant", "Vendedor", "Venditore", "Inbrenger"],
            ),
            (Column::Artist, &["Maker", "Künstler", "Artiste", "Artista", "Autore", "Kunstenaar"]),
        ] {
            for header in headers {
                assert_eq!(known_column(header), Some(column), "{header}");
            }
        }
    }

    #[test]
    fn a_header_is_known_as_one_column_only() {
        let all: Vec<&str> = HEADERS.iter().flat_map(|(_, headers)| headers.iter().copied()).collect();
        for (place, header) in all.iter().enumerate() {
            assert_eq!(normalised(header), *header);
            assert!(!all.get(place + 1..).unwrap().contains(header), "{header}");
        }
    }
}
