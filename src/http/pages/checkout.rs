//! The checkout page: first a choice of coins, then the amount and the address, then the result.

use super::form::Form;
use super::{moment, of_shop, reply, said, see_other, way_out};
use crate::domain::confirmations::OnChain;
use crate::domain::invoice::{Coin, Invoice};
use crate::domain::money::coin::Units;
use crate::domain::payment::Payment;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::status::InvoiceStatus;
use crate::domain::url::Site;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{FRAMED_PAGE, Handler, PAGE, Resource, Route};
use crate::service::Error;
use crate::service::checkout::Checkout;
use crate::web::templates::{self, Choose, Coins, Frame, Pay, State, Unconfirmed, WayOut};
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
    let title = format!(
        "{} {} to {}",
        invoice.amount, invoice.currency, checkout.account.name
    );
    let frame = |refresh_seconds| Frame {
        refresh_seconds,
        ..of_shop(&checkout.account, checkout.is_for_tests, title)
    };
    let policy = call.policy.framed_by(&checkout.account.allowed_origins);
    let ok = StatusCode::OK;
    match (invoice.status, &invoice.coin) {
        (InvoiceStatus::Created | InvoiceStatus::AwaitingPayment, None) => {
            let choose = choose(&checkout, token);
            reply(ok, policy, frame(Some(CHOOSING_SECONDS)), choose)
        }
        (InvoiceStatus::Created | InvoiceStatus::AwaitingPayment, Some(coin)) => {
            let pay = pay(&checkout, coin, token);
            reply(ok, policy, frame(Some(WAITING_SECONDS)), pay)
        }
        (InvoiceStatus::Underpaid, Some(coin)) if let Some(rest) = checkout.rest => {
            let top_up = top_up(invoice, coin, rest);
            reply(ok, policy, frame(Some(WAITING_SECONDS)), top_up)
        }
        (InvoiceStatus::Detected, _) => {
            reply(ok, policy, frame(Some(WAITING_SECONDS)), state(&checkout))
        }
        (
            InvoiceStatus::Underpaid
            | InvoiceStatus::Confirmed
            | InvoiceStatus::Overpaid
            | InvoiceStatus::PaidLate
            | InvoiceStatus::Expired
            | InvoiceStatus::Cancelled
            | InvoiceStatus::Failed,
            _,
        ) => {
            let waits = !checkout.unconfirmed.is_empty();
            let again = waits.then_some(WAITING_SECONDS);
            reply(ok, policy, frame(again), state(&checkout))
        }
    }
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
fn choose<'a>(checkout: &'a Checkout, token: &'a str) -> Choose<'a> {
    let invoice = &checkout.invoice;
    Choose {
        amount: invoice.amount.to_string(),
        currency: invoice.currency.as_str(),
        description: said(invoice.description.as_deref()),
        until: moment(invoice.expires_at),
        coins: coins(checkout, token, None),
        way_out: back(invoice),
    }
}

/// The coins to pick one of, all but `picked`.
fn coins<'a>(checkout: &'a Checkout, token: &'a str, picked: Option<&Coin>) -> Coins<'a> {
    let others = checkout.coins.iter();
    let others = others.filter(|due| picked.is_none_or(|coin| coin.asset != due.asset));
    let coins = others.map(|due| templates::Coin {
        id: due.asset.id,
        name: due.asset.name,
        is_for_tests: due.is_on_test_network,
        due: due.asset.text(due.amount),
        symbol: due.asset.symbol,
    });
    Coins {
        invoice_id: &checkout.invoice.id,
        token,
        coins: coins.collect(),
    }
}

/// A coin is picked, nothing was seen.
fn pay<'a>(checkout: &'a Checkout, coin: &'a Coin, token: &'a str) -> Pay<'a> {
    Pay {
        other_coins: Some(coins(checkout, token, Some(coin))),
        ..send(&checkout.invoice, coin, coin.amount_expected)
    }
}

/// Less has come than was due, and there is time for the rest.
fn top_up<'a>(invoice: &'a Invoice, coin: &'a Coin, rest: Units) -> Pay<'a> {
    let received = invoice.amount_received.unwrap_or(Units::ZERO);
    Pay {
        received: Some(coin.asset.text(received)),
        ..send(invoice, coin, rest)
    }
}

/// How much of the coin is to be sent, where to and until when.
fn send<'a>(invoice: &'a Invoice, coin: &'a Coin, due: Units) -> Pay<'a> {
    Pay {
        amount: invoice.amount.to_string(),
        currency: invoice.currency.as_str(),
        description: said(invoice.description.as_deref()),
        until: moment(invoice.expires_at),
        due: coin.asset.text(due),
        symbol: coin.asset.symbol,
        chain: coin.asset.chain.as_str(),
        address: &coin.address,
        rate: coin.rate.to_string(),
        received: None,
        other_coins: None,
        way_out: back(invoice),
    }
}

/// Something came, or nothing will.
fn state(checkout: &Checkout) -> State<'_> {
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
    State {
        heading,
        message,
        description: said(invoice.description.as_deref()),
        facts: facts
            .into_iter()
            .filter_map(|(term, text)| Some((term, text?)))
            .collect(),
        unconfirmed: checkout
            .unconfirmed
            .iter()
            .filter_map(unconfirmed)
            .collect(),
        way_out: if invoice.status.is_paid() {
            way_out(invoice.redirect_url.as_deref(), "Go back to the shop", "go")
        } else {
            back(invoice)
        },
    }
}

/// A payment that is not confirmed, where it is known how deep it is.
fn unconfirmed((payment, on_chain): &(Payment, OnChain)) -> Option<Unconfirmed<'_>> {
    let asset = payment.asset;
    let explorer = on_chain.explorer_url.as_deref();
    Some(Unconfirmed {
        amount: format!("{} {}", asset.text(payment.amount), asset.symbol),
        depth: on_chain.text()?,
        txid: &payment.txid,
        explorer: explorer.and_then(|url| Site::parse(url).ok()),
    })
}

/// The way back for who does not pay.
fn back(invoice: &Invoice) -> Option<WayOut<'_>> {
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
            "Your payment arrived after the time to pay was over. Ask the shop how to go on.",
        ),
        InvoiceStatus::Expired => (
            "The time to pay is over",
            "Nothing was paid in time. Do not send anything to the address that was shown here.",
        ),
        InvoiceStatus::Cancelled => (
            "Cancelled",
            "The shop has cancelled this invoice. Do not send anything to the address that was shown here.",
        ),
        InvoiceStatus::Failed => (
            "The payment did not go through",
            "A payment was seen and has vanished from its chain. Ask the shop how to go on.",
        ),
    }
}
