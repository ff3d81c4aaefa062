//! Asks on a form about an amount that is far from the known amounts of a lot, with both amounts written out.

use kit_design::fields::FormFields;
use kit_design::form_field::FormField;
use platform_core::PlatformError;
use platform_rules::Rejection;

use platform_words::Currency;

/// The field of a form that confirms one amount: its value is the amount in minor units, so that another amount is asked
/// about again.
const FIELD: &str = "unusual";

/// An amount to confirm.
pub(crate) struct UnusualAmount {
    amount: i64,
    /// The amount and the known one, as people write them.
    shown: [String; 2],
    /// Why it is asked about.
    words: String,
}

impl UnusualAmount {
    /// The question about this amount; none when it was refused for another reason.
    pub(crate) fn of(error: &PlatformError, amount: i64, money: &Currency) -> Option<Self> {
        let PlatformError::Rejected(rejection) = error else { return None };
        let words = words(rejection, amount, money)?;
        let Rejection::UnusualAmount { of, .. } = rejection else { return None };
        Some(Self { amount, shown: [amount, *of].map(|minor| money.exact(minor)), words })
    }

    /// The message beside the amount.
    pub(crate) fn fault(&self) -> String {
        format!("{} Correct it, or confirm it below.", self.words)
    }

    /// The tick that confirms the price of a correction.
    pub(crate) fn field_of_price(&self) -> FormField {
        let [amount, known] = &self.shown;
        self.field(format!("{amount} instead of {known} is right"))
    }

    /// The tick that confirms an offer.
    pub(crate) fn field_of_offer(&self) -> FormField {
        self.field(format!("An offer of {} is right", self.shown[0]))
    }

    fn field(&self, label: String) -> FormField {
        FormField::tick(FIELD, label, self.amount.to_string())
    }
}

/// True when the form confirms this amount.
pub(crate) fn is_confirmed(form: &FormFields, amount: i64) -> bool {
    form.text(FIELD) == amount.to_string()
}

/// Such as "£7.50 is less than a fifth of the price, £7,650,000.00."; none for another rejection.
pub(crate) fn words(rejection: &Rejection, amount: i64, money: &Currency) -> Option<String> {
    let Rejection::UnusualAmount { known, of, is_above } = rejection else { return None };
    let far = known.comparison(*is_above);
    Some(format!("{} is {far} the {}, {}.", money.exact(amount), known.words(), money.exact(*of)))
}
