//! The content of the checkout page in each state.
//!
//! Invariant: all texts are in the customer's language. Amounts that the customer copies have a decimal point in
//! every language.

mod coins;
mod exits;
mod receipt;

use super::phrases::{
    clock_time, confirmations_text, describe_status, network_name, seconds_between, wait_text,
};
use crate::domain::confirmations::OnChain;
use crate::domain::payment_uri::payment_uri;
use crate::domain::qr::Qr;
use crate::domain::{
    Asset, Depth, Invoice, InvoiceCoin, InvoiceStatus, Mode, Payment, SiteUrl, Time, Units,
};
use crate::http::pages::{CustomerLanguage, format_moment, non_empty};

use crate::service::checkout::Checkout;
use crate::web::templates::{
    CoinChoicePage, HiddenFields, OutcomePage, PageUpdates, PaymentPage, ProgressLine,
    SimulationButtons, Step, StepState, TimeLeft, UnconfirmedPayment,
};
use crate::web::words::{Words, fill};
use std::cmp::Ordering;

/// View of an invoice for its customer, at the time `now`.
pub(super) struct CheckoutView<'a> {
    pub(super) checkout: &'a Checkout,
    pub(super) token: &'a str,
    pub(super) speech: CustomerLanguage,
    /// Origin of the embedding page, which receives messages from the checkout.
    pub(super) parent: Option<String>,
    now: Time,
    /// `true` in a sandbox, whose clock the customer may move.
    has_controls: bool,
}

impl<'a> CheckoutView<'a> {
    pub(super) fn new(
        checkout: &'a Checkout,
        token: &'a str,
        speech: CustomerLanguage,
        now: Time,
        has_controls: bool,
    ) -> CheckoutView<'a> {
        CheckoutView { checkout, token, speech, parent: None, now, has_controls }
    }

    fn words(&self) -> &'static Words {
        self.speech.words
    }

    fn invoice(&self) -> &'a Invoice {
        &self.checkout.invoice
    }

    /// Returns the title of the page: the price and the shop.
    pub(super) fn title(&self) -> String {
        let (amount, shop) = (self.format_price(), &self.checkout.account.name);
        let title = self.words().page_title;
        fill(title, &[("amount", &amount), ("shop", shop)])
    }

    fn format_price(&self) -> String {
        let invoice = self.invoice();
        let (amount, currency) = (invoice.amount.to_string(), invoice.currency.as_str());
        self.words().format_amount(&amount, currency)
    }

    fn format_amount(&self, asset: &Asset, amount: Units) -> String {
        self.words().format_amount(&asset.format_units(amount), asset.symbol)
    }

    /// Formats the exchange rate of a coin, for example `1 BTC = 60000 EUR`.
    fn format_rate(&self, coin: &InvoiceCoin) -> String {
        let rate = self.words().format_number(&coin.rate.to_string());
        format!("1 {} = {rate} {}", coin.asset.symbol, self.invoice().currency)
    }

    fn progress_line(&self, completed: usize) -> ProgressLine {
        let words = self.words();
        let names = [words.coin, words.step_seen, words.step_confirming, words.step_paid];
        let mut place = 0_usize;
        names.map(|name| {
            let state = match place.cmp(&completed) {
                Ordering::Less => StepState::Done,
                Ordering::Equal => StepState::Current,
                Ordering::Greater => StepState::Ahead,
            };
            place = place.saturating_add(1);
            Step { name, state }
        })
    }

    pub(super) fn hidden_fields(&self) -> HiddenFields {
        HiddenFields {
            token: self.token.to_owned(),
            lang: self.speech.picked,
            parent: self.parent.clone(),
        }
    }

    /// Returns the polling interval and the event stream of the page. The page of a paid invoice opens no event
    /// stream, because a paid invoice rarely changes.
    pub(super) fn page_updates(&self, poll_seconds: u32) -> PageUpdates {
        let (id, token, version) = (&self.invoice().id, self.token, &self.checkout.version);
        let events = format!("../v1/public/checkouts/{id}/events?token={token}&since={version}");
        PageUpdates {
            poll_seconds,
            events: (self.is_pending() || !self.invoice().status.is_paid()).then_some(events),
        }
    }

    /// Returns `true` if a payment was seen and is not final yet.
    pub(super) fn is_pending(&self) -> bool {
        let (invoice, is_seen) = (self.invoice(), !self.checkout.unconfirmed.is_empty());
        is_seen
            || match invoice.status {
                InvoiceStatus::Detected => true,
                InvoiceStatus::Expired | InvoiceStatus::Cancelled | InvoiceStatus::Failed => {
                    invoice.amount_received.is_some()
                }
                InvoiceStatus::Created
                | InvoiceStatus::AwaitingPayment
                | InvoiceStatus::Underpaid
                | InvoiceStatus::Confirmed
                | InvoiceStatus::Overpaid
                | InvoiceStatus::PaidLate => false,
            }
    }

    /// Returns the buttons that simulate payments of a test invoice. Returns `None` for a live invoice, and for an
    /// invoice that needs no payment or offers no coin.
    pub(super) fn simulation_buttons(&self) -> Option<SimulationButtons> {
        let (invoice, words) = (self.invoice(), self.words());
        let payable = match invoice.status {
            InvoiceStatus::Created
            | InvoiceStatus::AwaitingPayment
            | InvoiceStatus::Underpaid
            | InvoiceStatus::Expired
            | InvoiceStatus::Cancelled => invoice.coin.is_some() || !self.checkout.coins.is_empty(),
            InvoiceStatus::Detected
            | InvoiceStatus::Confirmed
            | InvoiceStatus::Overpaid
            | InvoiceStatus::PaidLate
            | InvoiceStatus::Failed => false,
        };
        if invoice.mode != Mode::Test || !payable {
            return None;
        }
        let mut cases = if self.is_past_deadline() {
            vec![("late", words.try_late)]
        } else {
            vec![("exact", words.try_exact), ("under", words.try_under), ("over", words.try_over)]
        };
        if self.has_controls && !self.is_past_deadline() {
            cases.push(("clock", words.try_clock));
        }
        Some(SimulationButtons { invoice_id: invoice.id.clone(), cases })
    }

    /// Returns the time left to pay, `None` after the deadline.
    fn time_left(&self) -> Option<TimeLeft> {
        let seconds = seconds_between(self.now, self.invoice().terms().deadline());
        (seconds > 0).then(|| TimeLeft {
            seconds,
            text: fill(self.words().time_left, &[("time", &clock_time(seconds))]),
        })
    }

    pub(super) fn coin_choice_page(&self) -> CoinChoicePage<'a> {
        let invoice = self.invoice();
        CoinChoicePage {
            words: self.words(),
            heading: fill(self.words().pay_title, &[("amount", &self.format_price())]),
            description: non_empty(invoice.description.as_deref()),
            progress: Some(self.progress_line(0)),
            left: self.time_left(),
            coins: self.coin_options(None),
            way_out: self.back_link(),
        }
    }

    pub(super) fn page_before_payment(&self, coin: &'a InvoiceCoin) -> PaymentPage<'a> {
        let others = self.coin_options(Some(coin));
        PaymentPage {
            other_coins: Some(others).filter(|others| !others.entries.is_empty()),
            ..self.payment_page(coin, coin.amount_expected, self.words().send_title)
        }
    }

    /// Returns the page that asks for the missing amount of an underpaid invoice.
    pub(super) fn top_up_page(&self, coin: &'a InvoiceCoin, rest: Units) -> PaymentPage<'a> {
        let (invoice, words) = (self.invoice(), self.words());
        let received = invoice.amount_received.unwrap_or(Units::ZERO);
        let received = self.format_amount(coin.asset, received);
        let note = if invoice.status == InvoiceStatus::Detected {
            words.part_note
        } else {
            words.under_note
        };
        PaymentPage {
            received: Some(fill(note, &[("received", &received)])),
            unconfirmed: self.unconfirmed_payments(),
            ..self.payment_page(coin, rest, self.words().more_title)
        }
    }

    /// Returns the page with amount, address and deadline of a payment. `title` is the text of the heading, which
    /// contains the amount.
    fn payment_page(&self, coin: &'a InvoiceCoin, due: Units, title: &str) -> PaymentPage<'a> {
        let (invoice, words, asset) = (self.invoice(), self.words(), coin.asset);
        let network = network_name(asset.chain);
        let named = [("symbol", asset.symbol), ("network", &*network)];
        let uri = self.checkout.network.as_deref();
        let uri = uri.and_then(|network| payment_uri(asset, network, &coin.address, due));
        let amount = self.format_amount(asset, due);
        let (read, label) = if self.checkout.is_simulated {
            (&*self.checkout.url, words.qr_page.to_owned())
        } else {
            let label = fill(words.qr_pay, &[("amount", &amount)]);
            (uri.as_deref().unwrap_or(&coin.address), label)
        };
        PaymentPage {
            words,
            invoice_id: &invoice.id,
            price: self.format_price(),
            description: non_empty(invoice.description.as_deref()),
            progress: Some(self.progress_line(1)),
            heading: fill(title, &[("amount", &amount)]),
            left: self.time_left(),
            received: None,
            unconfirmed: Vec::new(),
            mark: coins::token_mark(asset),
            coin_name: coins::coin_name(asset),
            network_text: fill(words.network, &[("network", &network)]),
            qr: Qr::encode(read),
            qr_label: label,
            // Many wallets take only the recipient from a payment URI, or refuse the URI. In simulated mode, the address
            // must not be paid.
            address_qr: uri
                .as_deref()
                .filter(|_| !self.checkout.is_simulated)
                .and_then(|_| Qr::encode(&coin.address)),
            scan: if self.checkout.is_simulated { words.scan_test } else { words.scan },
            uri,
            due: words.format_number(&asset.format_units(due)),
            exact: asset.format_units(due),
            symbol: asset.symbol,
            address: &coin.address,
            only_network: fill(words.only_network, &named),
            steps: [words.help_open, words.help_scan, words.help_check]
                .map(|step| fill(step, &named)),
            rate: self.format_rate(coin),
            until: format_moment(invoice.expires_at),
            other_coins: None,
            way_out: self.back_link(),
        }
    }

    pub(super) fn outcome_page(&self) -> OutcomePage<'a> {
        let (invoice, words) = (self.invoice(), self.words());
        let (kind, heading, message) =
            describe_status(invoice.status, invoice.amount_received.is_some(), words);
        let coin = invoice.coin.as_ref();
        let due = coin.map(|coin| self.format_amount(coin.asset, coin.amount_expected));
        let received = coin.zip(invoice.amount_received);
        let received = received.map(|(coin, amount)| self.format_amount(coin.asset, amount));
        let unconfirmed = self.unconfirmed_payments();
        // The amount of a payment that the page lists is not repeated.
        let facts = [(words.due, due), (words.received, received)].into_iter();
        let facts = facts.filter_map(|(term, text)| Some((term, text?)));
        let facts = facts.filter(|(_, text)| unconfirmed.iter().all(|one| one.amount != *text));
        let facts = facts.collect();
        let reached = match invoice.status {
            InvoiceStatus::Detected => Some(2),
            InvoiceStatus::Confirmed | InvoiceStatus::Overpaid => Some(4),
            InvoiceStatus::Created
            | InvoiceStatus::AwaitingPayment
            | InvoiceStatus::Underpaid
            | InvoiceStatus::PaidLate
            | InvoiceStatus::Expired
            | InvoiceStatus::Cancelled
            | InvoiceStatus::Failed => None,
        };
        OutcomePage {
            words,
            invoice_id: &invoice.id,
            price: self.format_price(),
            progress: reached.map(|reached| self.progress_line(reached)),
            kind,
            heading,
            message,
            description: non_empty(invoice.description.as_deref()),
            receipt: self.receipt(),
            facts,
            asks_for_sent: unconfirmed.is_empty()
                && matches!(
                    invoice.status,
                    InvoiceStatus::Expired | InvoiceStatus::Cancelled | InvoiceStatus::Failed
                ),
            unconfirmed,
            way_out: self.back_link(),
        }
    }

    /// Returns the page after the deadline, which tells the customer to send nothing more. Payments sent before the
    /// deadline may still be found.
    pub(super) fn expired_page(&self) -> OutcomePage<'a> {
        let words = self.words();
        let mut state = self.outcome_page();
        state.facts.retain(|(term, _)| *term != words.due);
        OutcomePage { heading: words.expired_title, message: words.reading_note, ..state }
    }

    pub(super) fn is_past_deadline(&self) -> bool {
        self.now >= self.invoice().terms().deadline()
    }

    fn unconfirmed_payments(&self) -> Vec<UnconfirmedPayment<'a>> {
        let all = self.checkout.unconfirmed.iter();
        all.map(|(payment, on_chain)| self.unconfirmed_payment(payment, on_chain)).collect()
    }

    fn unconfirmed_payment(
        &self,
        payment: &'a Payment,
        on_chain: &'a OnChain,
    ) -> UnconfirmedPayment<'a> {
        let (asset, words) = (payment.asset, self.words());
        let wait = on_chain.wait_range(asset.chain);
        UnconfirmedPayment {
            amount: self.format_amount(asset, payment.amount),
            depth: confirmations_text(on_chain, words),
            progress: match (on_chain.confirmations, on_chain.confirmations_needed) {
                (Some(count), Some(Depth::Blocks(needed))) => Some((count.min(needed), needed)),
                _ => None,
            },
            wait: wait.map(|wait| wait_text(wait, words)),
            txid: &payment.txid,
            explorer: explorer_link(on_chain),
        }
    }
}

fn explorer_link(on_chain: &OnChain) -> Option<SiteUrl<'_>> {
    on_chain.explorer_url.as_deref().and_then(|url| SiteUrl::parse(url).ok())
}
