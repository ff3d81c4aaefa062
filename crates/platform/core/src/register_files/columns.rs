//! The columns of a register file, and the headers that houses are known to use.

use crate::catalogue::normalised;

/// A column of a register file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartyColumn {
    /// UUID of the record, which an export has, so that a later import finds the record.
    Record,
    Name,
    Role,
    Reference,
    Email,
    Phone,
    VatNumber,
    AddressLine1,
    AddressLine2,
    AddressLine3,
    AddressLine4,
    City,
    County,
    Postcode,
    Country,
    /// The further addresses, as a JSON list.
    MoreAddresses,
    /// The currency of deposit and limit.
    Currency,
    Deposit,
    DepositCurrency,
    Limit,
    LimitCurrency,
    Note,
    /// Only exports have it.
    ProofOfIdentity,
    /// Only exports have it: the reason of a block.
    Blocked,
}

use PartyColumn as C;

/// The columns of an export, in order.
pub(super) const EXPORTED: [PartyColumn; 23] = [
    C::Record,
    C::Name,
    C::Role,
    C::Reference,
    C::Email,
    C::Phone,
    C::VatNumber,
    C::AddressLine1,
    C::AddressLine2,
    C::AddressLine3,
    C::AddressLine4,
    C::City,
    C::County,
    C::Postcode,
    C::Country,
    C::MoreAddresses,
    C::Deposit,
    C::DepositCurrency,
    C::Limit,
    C::LimitCurrency,
    C::Note,
    C::ProofOfIdentity,
    C::Blocked,
];

impl PartyColumn {
    /// The columns that an import reads.
    pub(super) fn read() -> impl Iterator<Item = Self> {
        EXPORTED.into_iter().filter(|column| !matches!(column, C::ProofOfIdentity | C::Blocked)).chain([C::Currency])
    }

    /// The names of the fields that a column of a file can be mapped to.
    pub(super) fn fields() -> Vec<&'static str> {
        Self::read().map(Self::name).collect()
    }

    /// The column of a field that a mapping names.
    pub(super) fn mapped(field: &str) -> Option<Self> {
        Self::read().find(|column| column.name() == field)
    }

    /// True for a header that an export writes.
    pub(super) fn is_exported(header: &str) -> bool {
        EXPORTED.iter().any(|column| column.name() == header)
    }

    /// The name in the header of an export, and in a mapping.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Name => "name",
            Self::Role => "role",
            Self::Reference => "reference",
            Self::Email => "email",
            Self::Phone => "phone",
            Self::VatNumber => "vat_number",
            Self::AddressLine1 => "address_line_1",
            Self::AddressLine2 => "address_line_2",
            Self::AddressLine3 => "address_line_3",
            Self::AddressLine4 => "address_line_4",
            Self::City => "city",
            Self::County => "county",
            Self::Postcode => "postcode",
            Self::Country => "country",
            Self::MoreAddresses => "more_addresses",
            Self::Currency => "currency",
            Self::Deposit => "deposit",
            Self::DepositCurrency => "deposit_currency",
            Self::Limit => "limit",
            Self::LimitCurrency => "limit_currency",
            Self::Note => "note",
            Self::ProofOfIdentity => "proof_of_identity",
            Self::Blocked => "blocked",
        }
    }

    /// The column that an error of this pointer is about.
    pub(super) fn of_pointer(pointer: &str) -> Option<Self> {
        Some(match pointer {
            "/name" => Self::Name,
            "/isBidder" => Self::Role,
            "/reference" => Self::Reference,
            "/email" => Self::Email,
            "/phone" => Self::Phone,
            "/vatNumber" => Self::VatNumber,
            "/deposit" => Self::Deposit,
            "/limit" => Self::Limit,
            "/note" => Self::Note,
            "/addresses/0/addressLine1" => Self::AddressLine1,
            "/addresses/0/addressLine2" => Self::AddressLine2,
            "/addresses/0/addressLine3" => Self::AddressLine3,
            "/addresses/0/addressLine4" => Self::AddressLine4,
            "/addresses/0/city" => Self::City,
            "/addresses/0/county" => Self::County,
            "/addresses/0/postcode" => Self::Postcode,
            "/addresses/0/countryCode" => Self::Country,
            other if other.starts_with("/addresses") => Self::MoreAddresses,
            _ => return None,
        })
    }
}

/// The column that houses name with this header.
pub(super) fn known_column(header: &str) -> Option<PartyColumn> {
    let header = normalised(header);
    let is_own = |column: &PartyColumn| normalised(column.name()) == header;
    let known = || HEADERS.iter().find(|(_, headers)| headers.contains(&header.as_str())).map(|(column, _)| *column);
    PartyColumn::read().find(is_own).or_else(known)
}

/// Headers of houses, normalised.
#[rustfmt::skip]
const HEADERS: &[(PartyColumn, &[&str])] = &[
    (C::Name, &[
        "fullname", "client", "clientname", "customer", "customername", "bidder", "biddername", "consignor", "consignorname",
        "company", "contact", "nameofbidder", "kunde", "kundenname", "firma", "nom", "nombre", "nome", "naam",
    ]),
    (C::Role, &["type", "roles", "kind", "rolle", "rôle", "tipo", "ruolo", "rol"]),
    (C::Reference, &[
        "ref", "id", "number", "no", "code", "clientno", "clientnumber", "clientid", "clientref", "customerno", "customernumber",
        "customerid", "bidderno", "biddernumber", "bidderid", "consignorno", "consignornumber", "consignorref",
        "consignorreference", "consignorcode", "consigncode", "vendorcode", "kundennr", "kundennummer", "nr", "référence",
        "referencia", "riferimento", "klantnummer",
    ]),
    (C::Email, &["emailaddress", "mail", "correo", "courriel", "emailadresse", "emailadres"]),
    (C::Phone, &[
        "telephone", "phonenumber", "telephonenumber", "tel", "mobile", "mobilephone", "cell", "telefon", "handy", "téléphone",
        "teléfono", "telefono", "telefoon",
    ]),
    (C::VatNumber, &["vat", "vatno", "vatid", "taxid", "ustid", "ustidnr", "tva", "numérotva", "partitaiva", "btwnummer"]),
    (C::AddressLine1, &[
        "address", "address1", "street", "streetaddress", "straße", "strasse", "anschrift", "adresse", "rue",
        "dirección", "direccion", "indirizzo", "adres", "straat",
    ]),
    (C::AddressLine2, &["address2", "adresse2"]),
    (C::AddressLine3, &["address3"]),
    (C::AddressLine4, &["address4"]),
    (C::City, &["town", "posttown", "ort", "stadt", "ville", "ciudad", "città", "citta", "plaats", "stad"]),
    (C::County, &["state", "province", "region", "bundesland", "provincia"]),
    (C::Postcode, &["postalcode", "zip", "zipcode", "plz", "postleitzahl", "codepostal", "códigopostal", "codigopostal", "cap"]),
    (C::Country, &["countrycode", "land", "pays", "país", "pais", "paese"]),
    (C::Currency, &["währung", "waehrung", "devise", "moneda", "valuta"]),
    (C::Deposit, &["depositheld", "kaution", "dépôt", "depósito", "deposito"]),
    (C::Limit, &["spendinglimit", "usuallimit", "creditlimit", "biddinglimit", "bidlimit"]),
    (C::Note, &["notes", "remark", "remarks", "comment", "comments", "notiz", "bemerkung", "remarque", "nota", "opmerking"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_known_as_one_column_only() {
        let all: Vec<&str> = HEADERS.iter().flat_map(|(_, headers)| headers.iter().copied()).collect();
        for (place, header) in all.iter().enumerate() {
            assert_eq!(normalised(header), *header);
            assert!(!all.get(place + 1..).unwrap().contains(header), "{header}");
            assert!(PartyColumn::read().all(|column| normalised(column.name()) != *header), "{header}");
        }
        for (header, column) in [("E-Mail", C::Email), ("VAT No.", C::VatNumber), ("Post code", C::Postcode)] {
            assert_eq!(known_column(header), Some(column), "{header}");
        }
        assert_eq!(known_column("blocked"), None, "an import reads no block");
    }
}
