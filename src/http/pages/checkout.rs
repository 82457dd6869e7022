//! The checkout: a coin to pick, then how much and where to, then what became of it.

use super::form::Form;
use super::{Page, readable, see_other, way_out};
use crate::domain::invoice::{Coin, Invoice};
use crate::domain::money::coin::Units;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::status::InvoiceStatus;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{FRAMED_PAGE, Handler, PAGE, Resource, Route};
use crate::service::Error;
use crate::service::checkout::Checkout;
use crate::web::{CHOOSE, COIN, COINS, FACT, Filling, Markup, OTHER_COIN, PARAGRAPH, PAY, STATE};
use hyper::StatusCode;

/// Seconds after which a page on which a coin is to be chosen looks whether there is still time.
const CHOOSING_SECONDS: u32 = 60;

/// Seconds after which a page that waits for a payment looks again.
const WAITING_SECONDS: u32 = 10;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "checkoutPage",
            path: "/checkout/{id}",
            summary: "The page on which an invoice is paid.",
            query: &[Param {
                name: "token",
                about: "What opens this invoice's checkout.",
                kind: ParamKind::Any,
            }],
            handler: Handler::Open(|call| Box::pin(show(call))),
            ..FRAMED_PAGE
        },
        Route {
            operation: "checkoutSelect",
            method: "POST",
            path: "/checkout/{id}/select",
            summary: "Picks the coin on that page.",
            handler: Handler::Open(|call| Box::pin(select(call))),
            ..PAGE
        },
    ],
    components: "{}",
};

/// GET /checkout/{id}
async fn show(call: Call) -> Result<Reply, Error> {
    let token = call.query.text("token").unwrap_or_default();
    let checkout = call.front.service.checkout(call.now, call.id(), token)?;
    let invoice = &checkout.invoice;
    let (body, refresh_seconds) = match invoice.status {
        InvoiceStatus::Created | InvoiceStatus::AwaitingPayment => match &invoice.coin {
            Some(coin) => (pay(&checkout, coin, token), Some(WAITING_SECONDS)),
            None => (choose(&checkout, token), Some(CHOOSING_SECONDS)),
        },
        InvoiceStatus::Detected => (state(&checkout), Some(WAITING_SECONDS)),
        InvoiceStatus::Underpaid => match invoice.coin.as_ref().zip(checkout.rest) {
            Some((coin, rest)) => (top_up(invoice, coin, rest), Some(WAITING_SECONDS)),
            None => (state(&checkout), None),
        },
        InvoiceStatus::Confirmed
        | InvoiceStatus::Overpaid
        | InvoiceStatus::PaidLate
        | InvoiceStatus::Expired
        | InvoiceStatus::Cancelled
        | InvoiceStatus::Failed => (state(&checkout), None),
    };
    let title = format!(
        "{} {} to {}",
        invoice.amount, invoice.currency, checkout.account.name
    );
    let page = Page {
        refresh_seconds,
        body,
        ..Page::of_shop(&checkout.account, checkout.is_simulated, "../", title)
    };
    Ok(page.reply(StatusCode::OK, call.policy))
}

/// POST /checkout/{id}/select
async fn select(call: Call) -> Result<Reply, Error> {
    let form = Form::parse(&call.body)?;
    let (token, asset) = (form.text("token")?, form.text("asset")?);
    let service = &call.front.service;
    let picked = service
        .select_at_checkout(call.now, call.id(), token, asset.to_owned())
        .await;
    let is_over =
        |refusal: &Refusal| matches!(refusal.code, Code::PaymentInFlight | Code::InvoiceClosed);
    match picked {
        Err(Error::Refused(refusal)) if is_over(&refusal) => {}
        picked => picked?,
    }
    // Where it is too late for a coin, the page says what became of the invoice.
    Ok(see_other(&format!("../{}?token={token}", call.id())))
}

/// No coin yet.
fn choose(checkout: &Checkout, token: &str) -> Markup {
    let invoice = &checkout.invoice;
    let coins = if checkout.coins.is_empty() {
        let message = "At the moment there is no coin that this can be paid with.";
        Filling::of(PARAGRAPH).text("text", message).done()
    } else {
        coins(checkout, token, None)
    };
    priced(CHOOSE, invoice)
        .text("moment", &invoice.expires_at.to_string())
        .text("until", &readable(invoice.expires_at))
        .part("coins", coins)
        .part("way_out", back(invoice))
        .done()
}

/// The form that picks a coin, any but `picked`.
fn coins(checkout: &Checkout, token: &str, picked: Option<&Coin>) -> Markup {
    let others = checkout.coins.iter();
    let others = others.filter(|(asset, _)| picked.is_none_or(|coin| coin.asset != *asset));
    let coins = others.map(|(asset, due)| {
        Filling::of(COIN)
            .text("id", asset.id)
            .text("name", asset.name)
            .text("due", &asset.text(*due))
            .text("symbol", asset.symbol)
            .done()
    });
    let action = format!("{}/select", checkout.invoice.id);
    Filling::of(COINS)
        .text("action", &action)
        .text("token", token)
        .part("coins", Markup::all(coins))
        .done()
}

/// A coin is picked, nothing was seen.
fn pay(checkout: &Checkout, coin: &Coin, token: &str) -> Markup {
    let other = Markup::all([
        Filling::of(OTHER_COIN).done(),
        coins(checkout, token, Some(coin)),
    ]);
    send(&checkout.invoice, coin, coin.amount_expected)
        .text("status", "Waiting for your payment.")
        .part("other", other)
        .done()
}

/// Less has come than was due, and there is time for the rest.
fn top_up(invoice: &Invoice, coin: &Coin, rest: Units) -> Markup {
    let received = coin
        .asset
        .text(invoice.amount_received.unwrap_or(Units::ZERO));
    let symbol = coin.asset.symbol;
    let status = format!("{received} {symbol} has arrived, less than was due. Send the rest.");
    send(invoice, coin, rest).text("status", &status).done()
}

/// How much of the coin is to be sent, where to and until when.
fn send(invoice: &Invoice, coin: &Coin, due: Units) -> Filling {
    priced(PAY, invoice)
        .text("due", &coin.asset.text(due))
        .text("symbol", coin.asset.symbol)
        .text("chain", coin.asset.chain.as_str())
        .text("address", &coin.address)
        .text("rate", &coin.rate.to_string())
        .text("moment", &invoice.expires_at.to_string())
        .text("until", &readable(invoice.expires_at))
        .part("way_out", back(invoice))
}

/// Something came, or nothing will.
fn state(checkout: &Checkout) -> Markup {
    let invoice = &checkout.invoice;
    let (heading, message) = told(invoice.status);
    let price = format!("{} {}", invoice.amount, invoice.currency);
    let of_coin =
        |coin: &Coin, amount| format!("{} {}", coin.asset.text(amount), coin.asset.symbol);
    let coin = invoice.coin.as_ref();
    let due = coin.map(|coin| of_coin(coin, coin.amount_expected));
    let received = coin.zip(invoice.amount_received);
    let received = received.map(|(coin, amount)| of_coin(coin, amount));
    let facts = [("Price", Some(price)), ("Due", due), ("Received", received)];
    let facts = facts.into_iter().filter_map(|(term, text)| {
        let fact = Filling::of(FACT).text("term", term).text("text", &text?);
        Some(fact.done())
    });
    let way_out = if invoice.status.is_paid() {
        way_out(invoice.redirect_url.as_deref(), "Go back to the shop", "go")
    } else {
        back(invoice)
    };
    priced(STATE, invoice)
        .text("heading", heading)
        .text("message", message)
        .part("facts", Markup::all(facts))
        .part("way_out", way_out)
        .done()
}

/// A part of the page with what all of them say of the invoice: never whose it is, never the shop's own data.
fn priced(template: &'static str, invoice: &Invoice) -> Filling {
    let description = invoice
        .description
        .as_deref()
        .filter(|text| !text.is_empty());
    let description = match description {
        Some(text) => Filling::of(PARAGRAPH).text("text", text).done(),
        None => Markup::none(),
    };
    Filling::of(template)
        .text("amount", &invoice.amount.to_string())
        .text("currency", invoice.currency.as_str())
        .part("description", description)
}

/// The way back for who does not pay.
fn back(invoice: &Invoice) -> Markup {
    let text = if invoice.status.is_open() {
        "Cancel and go back to the shop"
    } else {
        "Go back to the shop"
    };
    let url = invoice.cancel_url.as_deref();
    way_out(
        url.filter(|_| invoice.status != InvoiceStatus::Detected),
        text,
        "back",
    )
}

/// What a status means to who pays: a heading and a sentence.
const fn told(status: InvoiceStatus) -> (&'static str, &'static str) {
    match status {
        InvoiceStatus::Created | InvoiceStatus::AwaitingPayment => {
            ("Not paid yet", "Nothing was paid yet.")
        }
        InvoiceStatus::Detected => (
            "Your payment was seen",
            "It is on its way and not yet confirmed. You need not wait here. This page loads itself again.",
        ),
        InvoiceStatus::Confirmed => ("Paid", "Your payment has arrived. Thank you."),
        InvoiceStatus::Overpaid => (
            "Paid",
            "Your payment has arrived, and it was more than was due. Ask the shop about the rest.",
        ),
        InvoiceStatus::Underpaid => (
            "Not paid in full",
            "Less has arrived than was due. Ask the shop how to go on.",
        ),
        InvoiceStatus::PaidLate => (
            "Paid too late",
            "Your payment arrived after the time was over. Ask the shop how to go on.",
        ),
        InvoiceStatus::Expired => (
            "The time is over",
            "Nothing was paid in time. Do not send anything to the address that was shown here.",
        ),
        InvoiceStatus::Cancelled => (
            "Cancelled",
            "The shop has called this off. Do not send anything to the address that was shown here.",
        ),
        InvoiceStatus::Failed => (
            "The payment did not go through",
            "A payment was seen and has vanished from its chain. Ask the shop how to go on.",
        ),
    }
}
