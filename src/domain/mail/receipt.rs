//! The receipt for a payer, in the payer's language: our text alone, with no link but the one to the invoice.

use super::plain::{line_without_links, single_line};
use super::receipt_words::ReceiptWords;
use super::{MailText, SUBJECT_CHARS_MAX};
use crate::domain::language::Language;
use crate::domain::money::{Cents, Currency};
use crate::domain::time::Time;

/// Longest description in a receipt, in characters.
pub const DESCRIPTION_CHARS_MAX: usize = 200;
/// Longest name of a shop in a receipt, in characters.
const SHOP_CHARS_MAX: usize = 80;
/// Largest number of receipts that an account sends in 24 hours.
pub const RECEIPTS_DAILY_MAX: i64 = 200;

/// Length of `2026-11-21T09:30` at the start of a time's text.
const MINUTE_CHARS: usize = 16;

/// Unicode isolate characters that make the text between them run from left to right.
const LEFT_TO_RIGHT: (char, char) = ('\u{2066}', '\u{2069}');

/// A paid invoice for a receipt.
#[derive(Clone, Copy, Debug)]
pub struct ReceiptFacts<'a> {
    /// Name of the shop.
    pub shop: &'a str,
    /// Price of the invoice.
    pub amount: Cents,
    /// Currency of the price.
    pub currency: Currency,
    /// Received amount of the coin, and its symbol.
    pub received: Option<(&'a str, &'a str)>,
    /// Time since which the invoice counts as paid.
    pub paid_at: Time,
    /// The shop's reference.
    pub order_id: Option<&'a str>,
    /// The shop's description.
    pub description: Option<&'a str>,
    /// Id of the invoice.
    pub invoice_id: &'a str,
    /// URL of the invoice's page, under the public URL.
    pub url: &'a str,
}

/// Returns the receipt of an invoice.
pub fn receipt(facts: &ReceiptFacts<'_>, language: Language) -> MailText {
    let words = ReceiptWords::for_language(language);
    let amount = |decimal: &str, unit: &str| {
        let sum = format!("{} {unit}", decimal.replace('.', words.decimal));
        match language {
            Language::Arabic => format!("{}{sum}{}", LEFT_TO_RIGHT.0, LEFT_TO_RIGHT.1),
            _ => sum,
        }
    };
    let price = amount(&facts.amount.to_string(), &facts.currency.to_string());
    let price = match facts.received {
        Some((units, symbol)) => (price.clone(), format!("{price} ({})", amount(units, symbol))),
        None => (price.clone(), price),
    };
    let shop = line_without_links(facts.shop, SHOP_CHARS_MAX);
    let at: String = facts.paid_at.to_string().chars().take(MINUTE_CHARS).collect();
    let order = facts.order_id.map(|order| line_without_links(order, DESCRIPTION_CHARS_MAX));
    let about = facts.description.map(|text| line_without_links(text, DESCRIPTION_CHARS_MAX));
    let rows = [
        (words.shop, Some(shop.clone())),
        (words.amount, Some(price.1)),
        (words.date, Some(format!("{} UTC", at.replace('T', " ")))),
        (words.order, order),
        (words.description, about),
        (words.invoice, Some(facts.invoice_id.to_owned())),
    ];
    let mut lines = vec![words.thanks.to_owned(), String::new()];
    let shown = rows.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let shown = shown.filter(|(_, value)| !value.is_empty());
    lines.extend(shown.map(|(name, value)| format!("{name}{}{value}", words.colon)));
    lines.extend([String::new(), words.page.to_owned(), facts.url.to_owned(), String::new()]);
    lines.push(words.footer.to_owned());
    let subject = words.subject.replace("{amount}", &price.0).replace("{shop}", &shop);
    MailText {
        // The isolates keep an amount readable in the text. A subject is shown with less care, and without them.
        subject: single_line(&subject, SUBJECT_CHARS_MAX),
        body: format!("{}\n", lines.join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::{DESCRIPTION_CHARS_MAX, ReceiptFacts, receipt};
    use crate::domain::language::Language;
    use crate::domain::money::{Cents, Currency};
    use crate::domain::time::Time;

    const URL: &str = "https://pay.example/checkout/i?token=t";

    fn facts<'a>(shop: &'a str, description: &'a str) -> ReceiptFacts<'a> {
        ReceiptFacts {
            shop,
            amount: Cents(2000),
            currency: Currency::Eur,
            received: Some(("0.25", "LTC")),
            paid_at: Time(1_795_253_400_007),
            order_id: Some("order-1001"),
            description: Some(description),
            invoice_id: "i",
            url: URL,
        }
    }

    #[test]
    fn receipt_is_in_the_language_of_the_payer() {
        let english = receipt(&facts("Corner Shop", "Two tickets"), Language::English);
        assert_eq!(english.subject, "Receipt from Corner Shop: 20.00 EUR");
        assert_eq!(
            english.body,
            "Your payment has arrived. Thank you.\n\nShop: Corner Shop\nAmount: 20.00 EUR (0.25 LTC)\n\
             Date: 2026-11-21 09:30 UTC\nOrder: order-1001\nDescription: Two tickets\nInvoice number: i\n\n\
             Your receipt to view or print:\nhttps://pay.example/checkout/i?token=t\n\n\
             This message was sent automatically. If you have a question about your order, ask the shop.\n"
        );
        let german = receipt(&facts("Corner Shop", "Two tickets"), Language::German);
        assert_eq!(german.subject, "Beleg von Corner Shop: 20,00 EUR");
        assert!(german.body.contains("20,00 EUR (0,25 LTC)"), "{}", german.body);
        let chinese = receipt(&facts("Corner Shop", "Two tickets"), Language::Chinese);
        assert!(chinese.body.contains("商店：Corner Shop\n"), "{}", chinese.body);
        let mut bodies: Vec<String> = Language::ALL
            .iter()
            .map(|language| receipt(&facts("Corner Shop", "Two tickets"), *language))
            .map(|text| {
                assert!(text.subject.contains("Corner Shop"), "{}", text.subject);
                assert!(text.body.contains(URL) && !text.body.contains('{'), "{}", text.body);
                text.body
            })
            .collect();
        bodies.sort_unstable();
        bodies.dedup();
        assert_eq!(bodies.len(), Language::ALL.len(), "each language has its own text");
    }

    #[test]
    fn hostile_shop_and_description_are_one_plain_line() {
        let hostile =
            "Won!\r\nBcc: eve@evil.example\r\n\r\nClick https://evil.example/ or www.evil.example";
        for language in Language::ALL {
            let text = receipt(&facts(hostile, hostile), *language);
            assert!(!text.subject.contains(['\r', '\n']) && !text.body.contains('\r'));
            assert!(!text.body.lines().any(|line| line.starts_with("Bcc")), "{}", text.body);
            assert_eq!(text.body.matches("://").count(), 1, "{}", text.body);
            assert!(!text.body.contains("evil.example"), "{}", text.body);
        }
        let long = "é".repeat(500);
        let text = receipt(&facts("Shop", &long), Language::English);
        let line = text.body.lines().find_map(|line| line.strip_prefix("Description: "));
        assert_eq!(line.map(|line| line.chars().count()), Some(DESCRIPTION_CHARS_MAX));
        let bare =
            ReceiptFacts { order_id: None, description: None, received: None, ..facts("S", "") };
        let text = receipt(&bare, Language::English);
        assert!(
            !text.body.contains("Order") && !text.body.contains("Description"),
            "{}",
            text.body
        );
    }
}
