//! Wallets in the operator interface: extended public keys that live addresses are derived from.

use crate::domain::refusal::Refusal;
use crate::domain::wallet;
use crate::http::auth::Operator;
use crate::http::long_reads;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{
    Answer, Body, Content, Handler, PRIVATE, RecentPassword, Resource, Route, Tag,
};
use crate::http::stream::{Outgoing, Pieces};
use crate::service::operator::wallet_addresses::ADDRESSES_HEADER;
use crate::service::{Error, Service};
use hyper::header::CONTENT_DISPOSITION;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listWallets",
            tag: Some(Tag::OperatorService),
            path: "/dashboard/api/wallets",
            summary: "Lists the wallets, retired ones too, oldest first, each with the gap limit to set in its owner's wallet.",
            answers: &[Answer::json(200, "The wallets.", "WalletList")],
            handler: Handler::Operator(|call, operator| Box::pin(list(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "addWallet",
            tag: Some(Tag::OperatorService),
            method: "POST",
            path: "/dashboard/api/wallets",
            summary: "Adds a wallet: an extended public key. One that is known, however it is spelt, goes on from where it was or from next.",
            body: Some(Body::required("AddWallet")),
            answers: &[Answer::json(201, "The wallet.", "Wallet")],
            recent_password: RecentPassword::Always,
            handler: Handler::Operator(|call, operator| Box::pin(add(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "checkWallet",
            tag: Some(Tag::OperatorService),
            method: "POST",
            path: "/dashboard/api/wallets/check",
            summary: "Reads a key and answers its first three addresses, to compare with the owner's wallet; adds nothing.",
            body: Some(Body::required("AddWallet")),
            answers: &[Answer::json(200, "What it would be.", "WalletCheck")],
            handler: Handler::Operator(|call, operator| Box::pin(check(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "retireWallet",
            tag: Some(Tag::OperatorService),
            method: "POST",
            path: "/dashboard/api/wallets/{id}/retire",
            summary: "Lets a wallet hand out nothing more; it stays watched. Adding it again lets it go on.",
            answers: &[Answer::json(200, "The wallet.", "Wallet")],
            recent_password: RecentPassword::Always,
            handler: Handler::Operator(|call, operator| Box::pin(retire(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "exportWalletAddresses",
            tag: Some(Tag::OperatorService),
            path: "/dashboard/api/wallets/{id}/addresses.csv",
            summary: "Sends the addresses that a wallet has handed out: path, address, coin, amount received, wallet.",
            query: &[FUNDED],
            answers: &[Answer {
                status: 200,
                about: "The rows, as CSV with a line of names.",
                content: Content::Csv,
            }],
            handler: Handler::Operator(|call, operator| Box::pin(addresses(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "listOwnAddresses",
            tag: Some(Tag::OperatorService),
            path: "/dashboard/api/own-addresses",
            summary: "Lists the addresses declared as our own: what they send is no payment.",
            answers: &[Answer::json(200, "The addresses.", "OwnAddressList")],
            handler: Handler::Operator(|call, operator| Box::pin(list_own(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "addOwnAddress",
            tag: Some(Tag::OperatorService),
            method: "POST",
            path: "/dashboard/api/own-addresses",
            summary: "Declares an address as our own, say one that sends gas for a sweep.",
            body: Some(Body::required("AddOwnAddress")),
            answers: &[Answer::json(201, "The address.", "OwnAddress")],
            recent_password: RecentPassword::Always,
            handler: Handler::Operator(|call, operator| Box::pin(add_own(call, operator))),
            ..PRIVATE
        },
    ],
};

/// `funded` of an export.
const FUNDED: Param = Param {
    name: "funded",
    about: "Only addresses that something came to; all where it is left out.",
    kind: ParamKind::OneOf(&["true", "false"]),
};

/// The body, unless it holds something private.
fn body(call: &Call) -> Result<Map<String, Value>, Refusal> {
    let body = call.object()?;
    wallet::refuse_secrets_in(&body)?;
    Ok(body)
}

/// GET /dashboard/api/wallets
async fn list(call: Call, operator: Operator) -> Result<Reply, Error> {
    let service = Arc::clone(&call.front.service);
    let all = call.long_read(&operator, move || service.wallets()).await?;
    Reply::list(&all)
}

/// POST /dashboard/api/wallets
async fn add(call: Call, operator: Operator) -> Result<Reply, Error> {
    let service = &call.front.service;
    let added = service
        .add_wallet(call.now, &operator, &body(&call)?)
        .await?;
    Ok(Reply::created(added))
}

/// POST /dashboard/api/wallets/check
async fn check(call: Call, _: Operator) -> Result<Reply, Error> {
    let service = &call.front.service;
    service.check_wallet(&body(&call)?).map(Reply::ok)
}

/// POST /dashboard/api/wallets/{id}/retire
async fn retire(call: Call, operator: Operator) -> Result<Reply, Error> {
    let (service, id) = (&call.front.service, call.uuid("wallet")?);
    let retired = service.retire_wallet(call.now, &operator, id).await?;
    Ok(Reply::ok(retired))
}

/// GET /dashboard/api/own-addresses
async fn list_own(call: Call, _: Operator) -> Result<Reply, Error> {
    Reply::list(&call.front.service.own_addresses()?)
}

/// POST /dashboard/api/own-addresses
async fn add_own(call: Call, operator: Operator) -> Result<Reply, Error> {
    let service = &call.front.service;
    let added = service
        .own_an_address(call.now, &operator, body(&call)?)
        .await?;
    Ok(Reply::created(added))
}

/// GET /dashboard/api/wallets/{id}/addresses.csv
async fn addresses(call: Call, operator: Operator) -> Result<Reply, Error> {
    let id = call.uuid("wallet")?;
    let funded = call.query.text("funded") == Some("true");
    let service = Arc::clone(&call.front.service);
    let place = call.front.long_reads.export(operator.asker())?;
    // Whether the wallet is there is told by a status, not by a stream that ends.
    let (place, first) = {
        let (service, id) = (Arc::clone(&service), id.clone());
        place
            .piece(move || service.wallet_addresses(&id, funded, 0))
            .await?
    };
    let file = format!("attachment; filename=addresses-{id}.csv");
    let body = Outgoing::stream(move |pieces| send(service, place, id, funded, first, pieces));
    Ok(Reply::stream("text/csv; charset=utf-8", body).with(CONTENT_DISPOSITION, &file))
}

/// Sends the addresses to their end, or until nobody takes them any more.
async fn send(
    service: Arc<Service>,
    mut place: long_reads::Export,
    id: String,
    funded: bool,
    mut next: Option<(String, u32)>,
    pieces: Pieces,
) -> Result<(), Error> {
    let mut taken = pieces.send(ADDRESSES_HEADER.to_owned()).await;
    while let Some((lines, from)) = next.take().filter(|_| taken) {
        taken = pieces.send(lines).await;
        let (service, id) = (Arc::clone(&service), id.clone());
        let read = move || service.wallet_addresses(&id, funded, from);
        (place, next) = place.piece(read).await?;
    }
    Ok(())
}
