//! Proxies between a shop and the nodes of its chains. Their faults start and end at random.

use crate::support::dice::Dice;
use crate::support::electrum_proxy::{ElectrumFault, ElectrumProxy};
use crate::support::electrumx::Electrumx;
use crate::support::rpc_proxy::{RpcFault, RpcProxy};
use crate::support::tron::{self, Fault};

/// A proxy between the shop and a node.
pub(super) enum FaultyProxy {
    /// A proxy that changes the responses to these methods.
    RpcProxy(RpcProxy, &'static [&'static str]),
    /// A simulated node that changes the responses to some paths.
    Tron(tron::Node),
    /// A proxy that changes all responses of the Electrum server.
    Electrum { liar: ElectrumProxy, _server: Electrumx },
    /// A proxy without faults.
    Honest(RpcProxy),
}

/// RPC methods of UTXO nodes. The proxy may change their responses.
pub(super) const UTXO_METHODS: &[&str] =
    &["getblock", "getblockhash", "getblockchaininfo", "getrawmempool"];
/// RPC methods of EVM nodes. The proxy may change their responses.
pub(super) const EVM_METHODS: &[&str] = &["eth_getBlockByNumber", "eth_getLogs", "eth_chainId"];
/// RPC methods of Solana nodes. The proxy may change their responses.
pub(super) const SOLANA_METHODS: &[&str] =
    &["getSlot", "getBlock", "getMultipleAccounts", "getSignaturesForAddress", "getTransaction"];
/// Paths of Tron nodes whose responses may be changed.
const TRON_PATHS: [&str; 3] =
    ["/wallet/getnowblock", "/wallet/getblockbylimitnext", "/wallet/gettransactioninfobyblocknum"];

impl FaultyProxy {
    pub(super) fn url(&self) -> String {
        match self {
            FaultyProxy::RpcProxy(liar, _) | FaultyProxy::Honest(liar) => liar.url(),
            FaultyProxy::Tron(node) => node.url(),
            FaultyProxy::Electrum { liar, .. } => liar.url(),
        }
    }

    /// Starts a random fault.
    pub(super) fn start_fault(&self, dice: &mut Dice) {
        let kind = dice.roll(4);
        match self {
            FaultyProxy::RpcProxy(liar, methods) => {
                let lie = match kind {
                    0 => RpcFault::Hang,
                    1 => RpcFault::Status(500),
                    2 => RpcFault::Truncated(dice.roll(400)),
                    _ => RpcFault::error(-32_000, "no"),
                };
                liar.inject(methods[dice.roll(methods.len())], lie);
            }
            FaultyProxy::Tron(node) => {
                let fault = match kind {
                    0 => Fault::Hang,
                    1 => Fault::Status(500, String::new()),
                    2 => Fault::Truncated(dice.roll(400)),
                    _ => Fault::Status(200, "{\"Error\": \"no\"}".to_owned()),
                };
                node.inject(TRON_PATHS[dice.roll(TRON_PATHS.len())], fault);
            }
            FaultyProxy::Electrum { liar, .. } => liar.inject(match kind {
                0 => ElectrumFault::FalseProof,
                1 => ElectrumFault::FalseHeader,
                2 => ElectrumFault::Excessive,
                _ => ElectrumFault::UnknownScripts,
            }),
            FaultyProxy::Honest(_) => {}
        }
    }

    pub(super) fn clear_faults(&self) {
        match self {
            FaultyProxy::RpcProxy(liar, _) => liar.clear_faults(),
            FaultyProxy::Tron(node) => node.clear_faults(),
            FaultyProxy::Electrum { liar, .. } => liar.inject(ElectrumFault::None),
            FaultyProxy::Honest(_) => {}
        }
    }
}
