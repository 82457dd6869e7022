//! Wallets and addresses declared as our own, as they are answered.
//!
//! A wallet's key is in no answer: whoever has it sees every payment.

use crate::domain::fields::rule::{OrNull, choice};
use crate::domain::fields::{Schema, schema, view};
use crate::domain::time::Time;
use crate::domain::wallet::{Script, WalletNetwork};

view! {
    /// A wallet: an extended public key that live addresses are derived from. The key itself is not answered.
    pub WalletView<'a> as "Wallet", object "wallet" {
        /// The wallet's id.
        id: &'a str [Schema::UUID] = "01a1fd55-7a80-7af2-9132-9b2fc82e5efe";
        /// What its owner calls it.
        name: Option<&'a str> = "Till";
        /// Which chains: bitcoin, litecoin, dogecoin, evm, tron; evm is all EVM chains.
        chain: &'static str [POOL] = "bitcoin";
        /// What its outputs hold; null on EVM and Tron.
        script: Option<Script> [SCRIPT] = "wpkh";
        /// The network of its addresses; any where they are the same on all.
        network: WalletNetwork = "main";
        /// The index that it began with.
        first_index: u32 [INDEX] = 0;
        /// The index that is handed out next.
        next_index: u32 [INDEX] = 12;
        /// The gap limit to set in its owner's wallet, so that it finds every payment.
        gap_limit: u32 [schema!({ "type": "integer", "minimum": 20 })] = 20;
        /// Its first three addresses, m/0/0 to m/0/2.
        addresses: Vec<String> [FIRST_ADDRESSES] = ["bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g", "bc1qp59yckz4ae5c4efgw2s5wfyvrz0ala7rgvuz8z"];
        /// Whether it is the one that hands out: the last added of its chain that is not retired.
        hands_out: bool = true;
        /// When it was first added.
        created_at: Time = "2026-11-21T09:30:00.000Z";
        /// When it was last added.
        added_at: Time = "2026-11-21T09:30:00.000Z";
        /// When it was retired.
        retired_at: Option<Time> = null;
        /// When something came to an index that it had not handed out. Since then it hands out nothing, until it is
        /// added again with a next above stoppedIndex.
        stopped_at: Option<Time> = null;
        /// The highest such index.
        stopped_index: Option<u32> [schema!({ "type": ["integer", "null"], "minimum": 0, "maximum": 2147483647 })] = null;
        /// Why it is stopped; null while it is not.
        problem: Option<String> = null;
    }
}

view! {
    /// What a key would be as a wallet.
    pub WalletCheckView<'a> as "WalletCheck", object "wallet_check" {
        /// Which chains: bitcoin, litecoin, dogecoin, evm, tron; evm is all EVM chains.
        chain: &'static str [POOL] = "bitcoin";
        /// What its outputs hold; null on EVM and Tron.
        script: Option<Script> [SCRIPT] = "wpkh";
        /// The network of its addresses; any where they are the same on all.
        network: WalletNetwork = "main";
        /// Its first three addresses, m/0/0 to m/0/2.
        addresses: Vec<String> [FIRST_ADDRESSES] = ["bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g", "bc1qp59yckz4ae5c4efgw2s5wfyvrz0ala7rgvuz8z"];
        /// The wallet that has this key already.
        wallet: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = null;
        /// The index that it would hand out next.
        next_index: u32 [INDEX] = 0;
    }
}

view! {
    /// An address declared as our own: what it sends is no payment.
    pub OwnAddressView<'a> as "OwnAddress", object "own_address" {
        /// Which chains: bitcoin, litecoin, dogecoin, evm, tron, solana; evm is all EVM chains.
        chain: &'a str [POOL] = "evm";
        /// The address.
        address: &'a str = "0x9858EfFD232B4033E47d90003D41EC34EcaEda94";
        /// When it was declared.
        created_at: Time = "2026-11-21T09:30:00.000Z";
    }
}

const POOL: Schema = schema!({ "type": "string", "examples": ["bitcoin"] });
const INDEX: Schema = schema!({ "type": "integer", "minimum": 0, "maximum": 2147483648 });
const SCRIPT: Schema = Schema::Rule(&OrNull(choice::<Script>()));
const FIRST_ADDRESSES: Schema =
    schema!({ "type": "array", "minItems": 3, "maxItems": 3, "items": { "type": "string" } });
