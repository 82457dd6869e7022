//! A node of an EVM chain with a token, the watched accounts, and a proxy that changes responses.

pub use crate::chain::watch::{WatchedAccounts, collect_payments};
use crate::support::anvil::Node as Anvil;
use crate::support::receiver::{Receiver, Reply};
use crate::support::{agent, send};
use coffer::chain::evm::Evm;
use coffer::chain::rpc::{Endpoint, Limits, Rpc};
use coffer::chain::tokens::Tokens;
use coffer::chain::{BlockRead, Node, ReceivedOutput};
use coffer::domain::InputSource;
use coffer::domain::address::account_bytes;
use coffer::domain::asset::Chain;
use serde_json::{Value, json};

/// Address of the shop, with checksum.
pub const ONE: &str = "0x52908400098527886E0F7030069857D2E4169EE7";
pub const TWO: &str = "0xde709f2102306220921060314715629080e2fb77";
/// An address that does not belong to the shop.
pub const OTHER: &str = "0x1111111111111111111111111111111111111111";
/// Each chain with the chain id of a test network and the id of the token.
pub const CHAINS: [(Chain, u64, &str); 3] = [
    (Chain::Ethereum, 11_155_111, "USDC-ERC20"),
    (Chain::Base, 84532, "USDC-BASE"),
    (Chain::Polygon, 80002, "USDC-POLYGON"),
];

impl WatchedAccounts {
    pub fn from_addresses(addresses: &[&str]) -> WatchedAccounts {
        WatchedAccounts(addresses.iter().map(|address| decode_account(address)).collect())
    }

    /// Returns a list of these addresses and `others` additional accounts, which can be too many for an address
    /// filter.
    pub fn with_extra_accounts(addresses: &[&str], others: u32) -> WatchedAccounts {
        let mut ours = WatchedAccounts::from_addresses(addresses);
        for other in 0..others {
            let mut account = [0xee; 20];
            account[..4].copy_from_slice(&other.to_be_bytes());
            ours.0.push(account);
        }
        ours
    }
}

/// A local chain with a token and two addresses of the shop.
pub struct EvmScene {
    pub anvil: Anvil,
    pub chain: Chain,
    pub asset: &'static str,
    pub token: String,
    pub ours: WatchedAccounts,
}

impl EvmScene {
    /// Opens the chain at this index of [`CHAINS`]; `None` where the machine has no anvil.
    #[track_caller]
    pub fn open(at: usize) -> Option<EvmScene> {
        let (chain, id, asset) = CHAINS[at];
        let anvil = Anvil::start(id, "payments on EVM chains")?;
        let token = anvil.deploy_token();
        Some(EvmScene {
            anvil,
            chain,
            asset,
            token,
            ours: WatchedAccounts::from_addresses(&[ONE, TWO]),
        })
    }

    /// Returns a client of the node.
    #[track_caller]
    pub fn client(&self) -> Evm {
        self.client_at(&self.anvil.url)
    }

    /// Returns a client of the node at this URL, which knows the token.
    #[track_caller]
    pub fn client_at(&self, url: &str) -> Evm {
        let tokens = Tokens::from([(self.asset, self.token.clone())]);
        evm_client(self.chain, url, tokens)
    }

    /// Reads the blocks from `from` to `to`.
    #[track_caller]
    pub fn read_blocks(&self, from: u32, to: u32) -> Vec<BlockRead> {
        self.client().blocks(from, to, &self.ours).unwrap()
    }

    /// Returns the payments in this block and all later blocks.
    #[track_caller]
    pub fn payments_from(&self, from: u32) -> Vec<ReceivedOutput> {
        collect_payments(self.read_blocks(from, self.anvil.height()))
    }
}

#[track_caller]
pub fn evm_client(chain: Chain, urls: &str, tokens: Tokens) -> Evm {
    let limits = Limits { timeout_ms: 20_000, ..Limits::default() };
    let endpoints = Endpoint::parse_list(urls).unwrap();
    Evm::new(chain, Rpc::new(endpoints, Vec::new(), limits), tokens)
}

/// Decodes an address into its account.
#[track_caller]
pub fn decode_account(address: &str) -> [u8; 20] {
    account_bytes(Chain::Base, address).unwrap()
}

/// Returns asset, transaction, position, address, amount and sender of a payment.
pub fn payment_summary(received: &ReceivedOutput) -> (&str, &str, u32, &str, u128, &str) {
    let from = match received.spends.as_slice() {
        [InputSource::Address(from)] => Some(from),
        _ => None,
    };
    assert_eq!(received.first_seen, None);
    (
        received.asset.id,
        &received.txid,
        received.position,
        &received.address,
        received.amount.0,
        from.unwrap(),
    )
}

/// Starts a proxy that passes each response of the node to the closure `change`, which returns the response to send.
/// A response is a `result` or an `error`.
#[track_caller]
pub fn start_changing_proxy(
    node: &Anvil,
    change: impl Fn(&str, &Value, Value) -> Value + Send + Sync + 'static,
) -> Receiver {
    let url = node.url.clone();
    Receiver::start_with_script(move |_, message| {
        let asked = message.json();
        let headers = [("content-type", "application/json")];
        let answer = send(&agent(), "POST", &url, &headers, &message.body).json();
        let one = |call: &Value, answer: Value| {
            let (method, id) = (call["method"].as_str().unwrap(), call["id"].clone());
            let mut changed = change(method, &call["params"], answer);
            changed["id"] = id;
            changed
        };
        let said = match (asked.as_array(), answer) {
            (Some(calls), Value::Array(answers)) => {
                let pairs = calls.iter().zip(answers);
                pairs.map(|(call, answer)| one(call, answer)).collect()
            }
            (_, answer) => one(&asked, answer),
        };
        Reply::Text(200, said.to_string())
    })
}

/// Returns a JSON-RPC error response.
pub fn error_response(code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "error": { "code": code, "message": message } })
}
