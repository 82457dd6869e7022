//! Foreign destinations on each chain, and whether transactions of a chain have nonces.

use crate::domain::Network;
use crate::domain::address::parse;
use crate::domain::chain::Chain;

/// Returns `true` if transactions on the chain have nonces. Of two transactions with one nonce, the later can replace
/// the earlier.
pub(super) fn has_nonces(chain: Chain) -> bool {
    chain.address_pool() == Chain::Ethereum.address_pool()
}

/// Returns three addresses that are not ours.
pub(super) fn foreign_addresses(chain: Chain) -> [String; 3] {
    let all = if chain.has_outputs() {
        [
            "1BoatSLRHtKNngkdXEeobR76b53LETtpyT",
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
            "1dice8EMZmqKvrGE4Qc9bUFf9PX3xaYDp",
        ]
    } else if has_nonces(chain) {
        [
            "0x1111111111111111111111111111111111111111",
            "0x2222222222222222222222222222222222222222",
            "0x3333333333333333333333333333333333333333",
        ]
    } else if chain == Chain::Solana {
        [
            "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk",
            "mvines9iiHiQTysrwkJjGf2gb9Ex9jXJX8ns3qwf2kN",
            "So11111111111111111111111111111111111111112",
        ]
    } else {
        [
            "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH",
            "TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK",
            "TYJPRrdB5APNeRs4R7fYZSwW3TcrTKw2gx",
        ]
    };
    assert!(all.iter().all(|to| parse(chain, Network::Main, to).is_ok()));
    all.map(str::to_owned)
}
