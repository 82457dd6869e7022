//! Messages to the team: English plain text.

use super::MailText;
use super::alarm::{AlarmKind, AlarmNews};
use super::plain::{line_without_links, single_line};
use crate::domain::money::{Cents, Currency};
use crate::domain::status::InvoiceStatus;
use crate::domain::time::Time;

/// Longest name of an account in a message, in characters.
const NAME_CHARS_MAX: usize = 80;
/// Longest reference of an order in a message, in characters.
const ORDER_CHARS_MAX: usize = 80;
/// Longest explanation in a message, in characters.
const DETAIL_CHARS_MAX: usize = 300;
/// Length of the date at the start of a time's text.
const DATE_CHARS: usize = 10;

/// Last lines of every message to the team.
const FOOTER: &str = "You get this because it is switched on for you under Your account, E-mail.";

/// An invoice for a message.
#[derive(Clone, Copy, Debug)]
pub struct InvoiceFacts<'a> {
    /// Name of the account.
    pub shop: &'a str,
    /// Price of the invoice.
    pub amount: Cents,
    /// Currency of the price.
    pub currency: Currency,
    /// The merchant's reference.
    pub order_id: Option<&'a str>,
    /// Id of the invoice.
    pub invoice_id: &'a str,
    /// Amount and symbol of the coin that was received.
    pub received: Option<&'a str>,
    /// `true` for a test invoice.
    pub is_test: bool,
}

/// Sales of an account in one currency on one day.
#[derive(Clone, Debug)]
pub struct DaySales {
    /// Name of the account.
    pub shop: String,
    /// Currency of the sales.
    pub currency: Currency,
    /// Number of sales.
    pub count: i64,
    /// Sum of the sales.
    pub amount: Cents,
}

/// Returns the date of a time, in UTC.
pub fn date_text(at: Time) -> String {
    at.to_string().chars().take(DATE_CHARS).collect()
}

/// Returns the message about a sale.
pub fn sale(facts: &InvoiceFacts<'_>, at: Time, dashboard_url: &str) -> MailText {
    invoice_message("Sale", "A payment was confirmed.", facts, at, dashboard_url)
}

/// Returns the message about an invoice that a person has to look at, `None` if its status needs none.
pub fn invoice_task(
    status: InvoiceStatus,
    facts: &InvoiceFacts<'_>,
    at: Time,
    dashboard_url: &str,
) -> Option<MailText> {
    let (title, text) = match status {
        InvoiceStatus::Overpaid => (
            "Overpaid",
            "More was paid than was due. The invoice counts as paid. Refund the rest, or agree with the customer.",
        ),
        InvoiceStatus::Underpaid => (
            "Underpaid",
            "Less was paid than was due. The invoice does not count as paid. The customer may send the rest, or you \
             refund the payment.",
        ),
        InvoiceStatus::PaidLate => (
            "Paid late",
            "The payment came after the deadline. The invoice does not count as paid. Deliver or refund.",
        ),
        InvoiceStatus::Created
        | InvoiceStatus::AwaitingPayment
        | InvoiceStatus::Detected
        | InvoiceStatus::Confirmed
        | InvoiceStatus::Expired
        | InvoiceStatus::Cancelled
        | InvoiceStatus::Failed => return None,
    };
    Some(invoice_message(title, text, facts, at, dashboard_url))
}

fn invoice_message(
    title: &str,
    text: &str,
    facts: &InvoiceFacts<'_>,
    at: Time,
    dashboard_url: &str,
) -> MailText {
    let InvoiceFacts { shop, amount, currency, order_id, invoice_id, received, is_test } = *facts;
    let shop = line_without_links(shop, NAME_CHARS_MAX);
    let order = order_id.map(|order| line_without_links(order, ORDER_CHARS_MAX));
    let test = if is_test { "Test: " } else { "" };
    let about = order.as_ref().map_or(String::new(), |order| format!(", order {order}"));
    let mut lines = vec![text.to_owned(), String::new()];
    lines.push(format!("Account: {shop}"));
    lines.push(format!("Amount: {amount} {currency}"));
    lines.extend(received.map(|received| format!("Received: {received}")));
    lines.extend(order.map(|order| format!("Order: {order}")));
    lines.push(format!("Invoice: {invoice_id}"));
    lines.push(format!("Time: {at}"));
    let subject = format!("{test}{title}: {amount} {currency}{about} ({shop})");
    with_footer(subject, lines, dashboard_url)
}

/// Returns the message about the sales of a day.
pub fn day_summary(day: &str, sales: &[DaySales], dashboard_url: &str) -> MailText {
    let count = sales.iter().fold(0_i64, |sum, one| sum.saturating_add(one.count));
    let noun = if count == 1 { "sale" } else { "sales" };
    let mut lines = vec![format!("Sales on {day} (UTC):"), String::new()];
    lines.extend(sales.iter().map(|one| {
        let shop = line_without_links(&one.shop, NAME_CHARS_MAX);
        let noun = if one.count == 1 { "sale" } else { "sales" };
        format!("{shop}: {} {noun}, {} {}", one.count, one.amount, one.currency)
    }));
    with_footer(format!("{count} {noun} on {day}"), lines, dashboard_url)
}

/// An alarm for a message.
#[derive(Clone, Copy, Debug)]
pub struct AlarmFacts<'a> {
    /// Kind of the alarm.
    pub kind: AlarmKind,
    /// Short name, for example the URL of an endpoint.
    pub about: &'a str,
    /// Number of waiting objects.
    pub count: i64,
    /// Further explanation; empty if there is none.
    pub detail: &'a str,
    /// Time at which it was noticed.
    pub since: Time,
}

/// Returns the message about an alarm, or about work that waits.
pub fn alarm(news: AlarmNews, facts: &AlarmFacts<'_>, now: Time, dashboard_url: &str) -> MailText {
    let (what, over) = alarm_words(facts);
    let (subject, first) = match news {
        AlarmNews::Begins => (what.clone(), format!("{what}.")),
        AlarmNews::Grows => (what.clone(), format!("{what}. There are more than before.")),
        AlarmNews::GoesOn => (format!("Still: {what}"), format!("{what}, for a day or longer.")),
        AlarmNews::Ends => (format!("Over: {over}"), format!("It is over: {over}.")),
    };
    let mut lines = vec![first, String::new()];
    let detail = line_without_links(facts.detail, DETAIL_CHARS_MAX);
    if news != AlarmNews::Ends && !detail.is_empty() {
        lines.push(detail);
    }
    lines.push(format!("Noticed: {}", facts.since));
    if news == AlarmNews::Ends {
        lines.push(format!("Ended: {now}"));
    }
    with_footer(subject, lines, dashboard_url)
}

/// Returns what an alarm is, and what is said when it has ended.
fn alarm_words(facts: &AlarmFacts<'_>) -> (String, String) {
    let about = line_without_links(facts.about, DETAIL_CHARS_MAX);
    let [one, several, over] = match facts.kind {
        AlarmKind::Endpoint => {
            let over = format!("the endpoint {about} accepts webhooks, or is not used any more");
            return (format!("The endpoint {about} has failed for an hour"), over);
        }
        AlarmKind::Chain => {
            return (
                format!("The chain {about} lags"),
                format!("the chain {about} is read up to now"),
            );
        }
        AlarmKind::Certificate => {
            let over = "the certificate is valid".to_owned();
            return ("The certificate needs attention".to_owned(), over);
        }
        AlarmKind::FileDamaged => {
            return ("The file is damaged".to_owned(), "the file is whole".to_owned());
        }
        AlarmKind::Rates => ["rate is missing", "rates are missing", "every rate is known"],
        AlarmKind::PayoutsToApprove => [
            "payout waits for approval",
            "payouts wait for approval",
            "no payout waits for approval",
        ],
        AlarmKind::RefundsToApprove => [
            "refund waits for approval",
            "refunds wait for approval",
            "no refund waits for approval",
        ],
        AlarmKind::TransfersToReview => [
            "payout or refund needs a review",
            "payouts and refunds need a review",
            "no payout or refund needs a review",
        ],
        AlarmKind::TransfersUnknown => [
            "payout or refund was sent or not, which is not known",
            "payouts and refunds were sent or not, which is not known",
            "the outcome of every payout and refund is known",
        ],
        AlarmKind::TransfersWithoutSigner => [
            "approved transfer waits, and no signer is set",
            "approved transfers wait, and no signer is set",
            "no approved transfer waits for a signer",
        ],
        AlarmKind::UnmatchedPayments => {
            ["payment matched nothing", "payments matched nothing", "every payment is assigned"]
        }
        AlarmKind::AccountsPending => [
            "account waits for approval",
            "accounts wait for approval",
            "no account waits for approval",
        ],
        AlarmKind::ServersWaiting => {
            ["server order waits", "server orders wait", "no server order waits"]
        }
        AlarmKind::ServersUnknown => [
            "server was created or removed or not, which is not known",
            "servers were created or removed or not, which is not known",
            "the outcome of every server order is known",
        ],
    };
    let what = match facts.count {
        1 => format!("1 {one}"),
        count => format!("{count} {several}"),
    };
    (what, over.to_owned())
}

/// Adds the link and the last line. The subject becomes one line.
fn with_footer(subject: String, mut lines: Vec<String>, dashboard_url: &str) -> MailText {
    lines.push(String::new());
    lines.push(dashboard_url.to_owned());
    lines.push(String::new());
    lines.push(FOOTER.to_owned());
    let subject = single_line(&subject, super::SUBJECT_CHARS_MAX);
    MailText { subject, body: format!("{}\n", lines.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::{
        AlarmFacts, AlarmKind, AlarmNews, DaySales, InvoiceFacts, alarm, date_text, day_summary,
        invoice_task, sale,
    };
    use crate::domain::money::{Cents, Currency};
    use crate::domain::status::InvoiceStatus;
    use crate::domain::time::Time;

    const AT: Time = Time(1_795_253_400_007);
    const URL: &str = "https://pay.example/dashboard";

    fn facts<'a>(shop: &'a str, order_id: Option<&'a str>) -> InvoiceFacts<'a> {
        InvoiceFacts {
            shop,
            amount: Cents(2000),
            currency: Currency::Eur,
            order_id,
            invoice_id: "i",
            received: Some("0.25 LTC"),
            is_test: false,
        }
    }

    #[test]
    fn sale_names_amount_order_and_account() {
        let text = sale(&facts("Corner Shop", Some("order-1001")), AT, URL);
        assert_eq!(text.subject, "Sale: 20.00 EUR, order order-1001 (Corner Shop)");
        assert_eq!(
            text.body,
            "A payment was confirmed.\n\nAccount: Corner Shop\nAmount: 20.00 EUR\nReceived: 0.25 LTC\n\
             Order: order-1001\nInvoice: i\nTime: 2026-11-21T09:30:00.007Z\n\nhttps://pay.example/dashboard\n\n\
             You get this because it is switched on for you under Your account, E-mail.\n"
        );
        let bare = sale(&facts("Corner Shop", None), AT, URL);
        assert_eq!(bare.subject, "Sale: 20.00 EUR (Corner Shop)");
    }

    #[test]
    fn texts_of_shops_add_no_line_and_no_link() {
        let hostile = "x\r\nBcc: eve@evil.example\r\n\r\nhttps://evil.example/";
        for text in [
            Some(sale(&facts(hostile, Some(hostile)), AT, URL)),
            invoice_task(InvoiceStatus::PaidLate, &facts(hostile, Some(hostile)), AT, URL),
        ] {
            let text = text.unwrap_or_else(|| unreachable!("every case has a message"));
            assert!(!text.subject.contains(['\r', '\n']), "{}", text.subject);
            assert!(text.subject.chars().count() <= 150);
            assert!(!text.body.contains('\r'));
            assert!(!text.body.lines().any(|line| line.starts_with("Bcc")), "{}", text.body);
            assert_eq!(text.body.matches("://").count(), 1, "{}", text.body);
            assert!(!text.body.contains("evil.example"), "{}", text.body);
        }
    }

    #[test]
    fn only_some_statuses_need_a_person() {
        let needs = |status: &&InvoiceStatus| {
            invoice_task(**status, &facts("Shop", None), AT, URL).is_some()
        };
        let found: Vec<_> = InvoiceStatus::ALL.iter().filter(needs).collect();
        let expected = [InvoiceStatus::Overpaid, InvoiceStatus::Underpaid, InvoiceStatus::PaidLate];
        assert_eq!(found, expected.iter().collect::<Vec<_>>());
    }

    #[test]
    fn alarm_tells_that_it_begins_goes_on_and_ends() {
        let of = |kind, about, count| AlarmFacts { kind, about, count, detail: "why", since: AT };
        let subject = |news, facts: &AlarmFacts<'_>| alarm(news, facts, AT, URL).subject;
        let chain = of(AlarmKind::Chain, "litecoin", 1);
        assert_eq!(subject(AlarmNews::Begins, &chain), "The chain litecoin lags");
        assert_eq!(subject(AlarmNews::GoesOn, &chain), "Still: The chain litecoin lags");
        assert_eq!(subject(AlarmNews::Ends, &chain), "Over: the chain litecoin is read up to now");
        for (count, expected) in
            [(1, "1 payout waits for approval"), (3, "3 payouts wait for approval")]
        {
            let payouts = of(AlarmKind::PayoutsToApprove, "", count);
            assert_eq!(subject(AlarmNews::Grows, &payouts), expected);
        }
        let begins = alarm(AlarmNews::Begins, &chain, AT, URL).body;
        assert!(
            begins.starts_with("The chain litecoin lags.\n\nwhy\nNoticed: 2026-11-21T"),
            "{begins}"
        );
        for kind in AlarmKind::ALL {
            for news in [AlarmNews::Begins, AlarmNews::Ends] {
                let text = alarm(news, &of(*kind, "x", 2), AT, URL);
                assert!(!text.subject.is_empty() && text.body.contains(URL), "{kind}");
            }
        }
    }

    #[test]
    fn summary_lists_each_account_and_currency() {
        let row = |shop: &str, currency, count, amount| DaySales {
            shop: shop.to_owned(),
            currency,
            count,
            amount: Cents(amount),
        };
        let rows = [row("A", Currency::Eur, 1, 2000), row("B", Currency::Usd, 2, 4550)];
        let text = day_summary(&date_text(AT), &rows, URL);
        assert_eq!(text.subject, "3 sales on 2026-11-21");
        assert!(
            text.body.contains("\nA: 1 sale, 20.00 EUR\nB: 2 sales, 45.50 USD\n"),
            "{}",
            text.body
        );
    }
}
