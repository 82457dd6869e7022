//! Addresses that were declared as our own, in the operator interface and on the command line.
//!
//! What does not live here: wallets (`wallets`). What always holds: what is private is refused before anything else is
//! looked at.

use super::wallets::{WORD_CHARS_MAX, record};
use crate::domain::address::{self, Network};
use crate::domain::asset::{Chain, Mode};
use crate::domain::fields::Fields;
use crate::domain::refusal::Refusal;
use crate::domain::render::wallets::own_address;
use crate::domain::time::Time;
use crate::domain::wallet;
use crate::service::{Error, Json, Member, Service};
use crate::store::Tx;
use crate::store::own_transfers::{declare, declared};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The longest address, in characters.
const ADDRESS_CHARS_MAX: usize = 128;

impl Service {
    /// Declares an address as our own: what it sends is no payment.
    ///
    /// # Errors
    /// As [`own`].
    pub async fn own_an_address(
        self: &Arc<Self>,
        now: Time,
        member: &Member,
        body: Map<String, Value>,
    ) -> Result<Json, Error> {
        let actor = member.actor();
        self.write(move |_, tx| own(tx, &actor, &body, now)).await
    }

    /// Every address that was declared as our own in live mode.
    pub fn own_addresses(&self) -> Result<Vec<Json>, Error> {
        self.read(|db| {
            let all = declared(db, Mode::Live)?.into_iter();
            all.map(|(chain, address, at)| Ok(own_address(&chain, &address, at)?))
                .collect()
        })
    }
}

/// Declares an address of `chain`, by its name or that of its pool, as our own: `address`, of whatever network.
///
/// # Errors
/// `invalid_request` that names the field.
pub fn own(tx: &Tx<'_>, actor: &str, body: &Map<String, Value>, now: Time) -> Result<Json, Error> {
    wallet::refuse_secrets_in(body)?;
    let fields = Fields::of(body);
    fields.only(&["chain", "address"])?;
    let given = |name: &'static str, chars_max: usize| {
        let text = fields.text(name, 1..=chars_max)?;
        text.ok_or_else(|| Refusal::field(name, "must be given"))
    };
    let name = given("chain", WORD_CHARS_MAX)?;
    let chain = Chain::of_each_pool().find(|chain| chain.address_pool() == name);
    let chain = chain.or_else(|| name.parse().ok()).ok_or_else(|| {
        let names: Vec<_> = Chain::of_each_pool().map(Chain::address_pool).collect();
        Refusal::field("chain", format!("must be one of {}", names.join(", ")))
    })?;
    let text = given("address", ADDRESS_CHARS_MAX)?;
    let (_, address) = address::parse_on(chain, &Network::BOTH, text)
        .map_err(|problem| Refusal::field("address", format!("is {problem}")))?;
    if declare(tx, Mode::Live, chain, &address, now)? {
        let detail = json!({ "chain": chain.address_pool() });
        record(tx, now, actor, "own_address.add", &address, &detail)?;
    }
    Ok(own_address(chain.address_pool(), &address, now)?)
}
