//! JSON of wallets, and of addresses that belong to the operator.
//!
//! No response contains the key of a wallet, since anybody with this key can see every payment.

use crate::domain::fields::rule::{OrNull, choice};
use crate::domain::fields::{Schema, schema, view};
use crate::domain::{ScriptType, Time, WalletNetwork};

view! {
    /// A wallet: an extended public key for deriving live addresses. The key is not returned.
    pub WalletView<'a> as "Wallet", object "wallet" {
        /// Wallet id.
        id: &'a str [Schema::UUID] = "01a1fd55-7a80-7af2-9132-9b2fc82e5efe";
        /// Name that the owner chose.
        name: Option<&'a str> = "Till";
        /// Chain or chain family: bitcoin, litecoin, dogecoin, evm or tron. evm stands for all EVM chains.
        chain: &'static str [POOL] = "bitcoin";
        /// Type of the output script; null on EVM and Tron.
        script: Option<ScriptType> [SCRIPT] = "wpkh";
        /// Network of the addresses; any if they are the same on all networks.
        network: WalletNetwork = "main";
        /// First index.
        first_index: u32 [INDEX] = 0;
        /// Next index.
        next_index: u32 [INDEX] = 12;
        /// Gap limit for the owner's wallet, with which it finds every payment.
        gap_limit: u32 [schema!({ "type": "integer", "minimum": 20 })] = 20;
        /// First three addresses, m/0/0 to m/0/2.
        addresses: Vec<String> [FIRST_ADDRESSES] = ["bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g", "bc1qp59yckz4ae5c4efgw2s5wfyvrz0ala7rgvuz8z"];
        /// Whether new addresses come from it: the last added wallet of the chain that is not retired.
        hands_out: bool = true;
        /// Time at which it was first added.
        created_at: Time = "2026-11-21T09:30:00.000Z";
        /// Time at which it was last added.
        added_at: Time = "2026-11-21T09:30:00.000Z";
        /// Time at which it was retired.
        retired_at: Option<Time> = null;
        /// Time of a payment to an index that was not assigned. The wallet then assigns no address until it is added
        /// again with next above stoppedIndex.
        stopped_at: Option<Time> = null;
        /// Highest index of such a payment.
        stopped_index: Option<u32> [schema!({ "type": ["integer", "null"], "minimum": 0, "maximum": 2147483647 })] = null;
        /// Reason why the wallet is stopped; null if it is not stopped.
        problem: Option<String> = null;
    }
}

view! {
    /// A key as it would be as a wallet.
    pub WalletCheckView<'a> as "WalletCheck", object "wallet_check" {
        /// Chain or chain family: bitcoin, litecoin, dogecoin, evm or tron. evm stands for all EVM chains.
        chain: &'static str [POOL] = "bitcoin";
        /// Type of the output script; null on EVM and Tron.
        script: Option<ScriptType> [SCRIPT] = "wpkh";
        /// Network of the addresses; any if they are the same on all networks.
        network: WalletNetwork = "main";
        /// First three addresses, m/0/0 to m/0/2.
        addresses: Vec<String> [FIRST_ADDRESSES] = ["bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g", "bc1qp59yckz4ae5c4efgw2s5wfyvrz0ala7rgvuz8z"];
        /// Id of the wallet that already has this key.
        wallet: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = null;
        /// Next index that it would assign.
        next_index: u32 [INDEX] = 0;
    }
}

view! {
    /// An own address. Money that it sends is not a payment.
    pub OwnAddressView<'a> as "OwnAddress", object "own_address" {
        /// Chain or chain family: bitcoin, litecoin, dogecoin, evm, tron or solana. evm stands for all EVM chains.
        chain: &'a str [POOL] = "evm";
        /// The address.
        address: &'a str = "0x9858EfFD232B4033E47d90003D41EC34EcaEda94";
        /// Time of the declaration.
        created_at: Time = "2026-11-21T09:30:00.000Z";
    }
}

const POOL: Schema = schema!({ "type": "string", "examples": ["bitcoin"] });
const INDEX: Schema = schema!({ "type": "integer", "minimum": 0, "maximum": 2147483648 });
const SCRIPT: Schema = Schema::Rule(&OrNull(choice::<ScriptType>()));
const FIRST_ADDRESSES: Schema =
    schema!({ "type": "array", "minItems": 3, "maxItems": 3, "items": { "type": "string" } });
