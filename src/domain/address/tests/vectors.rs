//! Addresses that other libraries generated, and the networks on which each is valid.
//!
//! Sources: BIP-173, BIP-350, EIP-55, and the well-known test mnemonic. The mnemonic's addresses come from bip_utils,
//! and were checked against bitcoinlib, eth-account, ethers, tronpy, solders and litecoind.

use super::Chain::{self, Base, Bitcoin, Dogecoin, Ethereum, Litecoin, Polygon, Solana, Tron};
use super::Network::{self, Main, Test};

pub(super) type ChainNetwork = (Chain, Network);

pub(super) const EVM: &[ChainNetwork] = &[
    (Ethereum, Main),
    (Ethereum, Test),
    (Base, Main),
    (Base, Test),
    (Polygon, Main),
    (Polygon, Test),
];
pub(super) const TRON: &[ChainNetwork] = &[(Tron, Main), (Tron, Test)];
pub(super) const SOLANA: &[ChainNetwork] = &[(Solana, Main), (Solana, Test)];
pub(super) const UTXO: &[ChainNetwork] = &[
    (Bitcoin, Main),
    (Bitcoin, Test),
    (Litecoin, Main),
    (Litecoin, Test),
    (Dogecoin, Main),
    (Dogecoin, Test),
];

/// Networks with the addresses that are valid on all of them. The addresses are canonical on the first network.
#[rustfmt::skip]
pub(super) const VECTORS: &[(&[ChainNetwork], &str)] = &[
    // P2PKH of Bitcoin (BIP-44).
    (&[(Bitcoin, Main)], "
        1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA 1Ak8PffB2meyfYnbXZR9EGfLfFZVpzJvQP 1MNF5RSaabFwcbtJirJwKnDytsXXEsVsNb
        1J3J6EvPrv8q6AC3VCjWV45Uf3nssNMRtH
    "),
    // P2SH of Bitcoin (BIP-49). Older P2SH addresses of Litecoin have the same version byte.
    (&[(Bitcoin, Main), (Litecoin, Main)], "
        37VucYSaXLCAsxYyAPfbSi9eh4iEcbShgf 3LtMnn87fqUeHBUG414p9CWwnoV6E2pNKS 3B4cvWGR8X6Xs8nvTxVUoMJV77E4f7oaia
        34K56kSjgUCUSD8GTtuF7c9Zzwokbs6uZ7
    "),
    // P2WPKH of Bitcoin (BIP-84).
    (&[(Bitcoin, Main)], "
        bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g
        bc1qp59yckz4ae5c4efgw2s5wfyvrz0ala7rgvuz8z bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el
    "),
    // P2TR of Bitcoin (BIP-86).
    (&[(Bitcoin, Main)], "
        bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr
        bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh
        bc1p0d0rhyynq0awa9m8cqrcr8f5nxqx3aw29w4ru5u9my3h0sfygnzs9khxz8
    "),
    // Addresses of Bitcoin's testnet and regtest.
    (&[(Bitcoin, Test)], "
        tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl tb1qd7spv5q28348xl4myc8zmh983w5jx32cjhkn97
        tb1qxdyjf6h5d6qxap4n2dap97q4j5ps6ua8sll0ct tb1q9u62588spffmq4dzjxsr5l297znf3z6j5p2688
        bcrt1q6rz28mcfaxtmd6v789l9rrlrusdprr9pz3cppk bcrt1qd7spv5q28348xl4myc8zmh983w5jx32cs707jh
        bcrt1qxdyjf6h5d6qxap4n2dap97q4j5ps6ua8jkxz0z bcrt1q9u62588spffmq4dzjxsr5l297znf3z6jkgnhsw
        bcrt1p8wpt9v4frpf3tkn0srd97pksgsxc5hs52lafxwru9kgeephvs7rqjeprhg
        bcrt1p90h6z3p36n9hrzy7580h5l429uwchyg8uc9sz4jwzhdtuhqdl5eqkcyx0f
        bcrt1p40qqa84kpphe5vtcwd8zv7v6w7p62cmupf6f60mf8pxdkcv2455qgtw98j
    "),
    // P2PKH, P2SH and P2WPKH of Litecoin; P2WSH and P2TR by the reference code of BIP-350.
    (&[(Litecoin, Main)], "
        LUWPbpM43E2p7ZSh8cyTBEkvpHmr3cB8Ez Ldatw8ZjgMGNUo5HMN6RgCrjmh7q494Si3 LX4YojYdeBk3TtUcryCcgAqYxjicKfK7AD
        LPCewns5E4BFTQ8NirD7sJZYFguXEJTxbL M7wtsL7wSHDBJVMWWhtQfTMSYYkyooAAXM M92zAbFXY2J7NJXdFpJTe3a5PrsyZQhKZK
        MJfELhwt9S6Sr9hadHGsnTELZzFUVjMrFc MKM96scwusdaN84dfbQrFDxocYFnoBuc4Z
        ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh ltc1qwlezpr3890hcp6vva9twqh27mr6edadreqvhnn
        ltc1qc6aucuznvhh9uvux246x24vf9y9ncfk729m92s ltc1qyeljcy9v88jg8sqvnqh0m5q390xruc5r98q9yy
        ltc1q33fggyev8st5a7yfdgkwqfsww53vmrm9q7e5etc5rjp0eeymrzjqkuyxw8
        ltc1p33fggyev8st5a7yfdgkwqfsww53vmrm9q7e5etc5rjp0eeymrzjquty0km
    "),
    // Addresses of Litecoin's testnet and regtest.
    (&[(Litecoin, Test)], "
        tltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9pesrjxk tltc1qd7spv5q28348xl4myc8zmh983w5jx32ctl5d4h
        tltc1qxdyjf6h5d6qxap4n2dap97q4j5ps6ua8fha3gz tltc1q9u62588spffmq4dzjxsr5l297znf3z6jdfgyhw
        rltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9puuzgkg rltc1qd7spv5q28348xl4myc8zmh983w5jx32cwn4h9f
        rltc1qxdyjf6h5d6qxap4n2dap97q4j5ps6ua8vmutcu QeUq3JyfqViWTmAdp5PVPm4VJB8TvCpz3h
        QjaGCvuXNyU3f6B2aCWsnT52BqMTgAxvGA QaWpDSKMs5gbrH6HtS8eMw8ZSaxhNbS3ag
    "),
    // P2PKH of Litecoin's testnet. P2PKH addresses of Bitcoin's testnet have the same version byte.
    (&[(Litecoin, Test), (Bitcoin, Test)], "
        mzYpQmSAGYWWyTLiLGbGaG8T3rHdjNcV11 mqhB5Q36hdgWv2hLhyDk79zzi7MxjRYfHn mkC8Nz9nnBc8RpgeKDMZLHavrHsTG3EhMA
    "),
    (&[(Dogecoin, Main)], "
        DBus3bamQjgJULBJtYXpEzDWQRwF5iwxgC DAcDAtJRztxBHyA6D6h8du1HguyTR43Mas D8K3KyDQ9FXeC3ADCuWW7cnWC7RvjHjV8H
        D7ReBLrRv12mi9pYh5HtfFLTt1PSoeAa7e
    "),
    (EVM, "
        0x9858EfFD232B4033E47d90003D41EC34EcaEda94 0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0
        0xb6716976A3ebe8D39aCEB04372f22Ff8e6802D7A 0x399Db6Ed32539fbDF44c3e7678b5b428e378F666
    "),
    (TRON, "
        TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK TYJPRrdB5APNeRs4R7fYZSwW3TcrTKw2gx
        THLNguYKN3S8RUzVyi9ErynW4YmXLU5c8n
    "),
    (SOLANA, "
        HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk Hh8QwFUA6MtVu1qAoq12ucvFHNwCcVTV7hpWjeY1Hztb
        7WktogJEd2wQ9eH2oWusmcoFTgeYi6rS632UviTBJ2jm GjJyeC1r2RgkuoCWMyPYkCWSGSGLcz266EaAkLA27AhL
        ANf3TEKFL6jPWjzkndo4CbnNdUNkBk4KHPggJs2nu8Xi Ag74i82rUZBTgMGLacCA1ZLnotvAca8CLscXcrG6Nwem
    "),
    // An address of Bitcoin Cash, which is not supported.
    (&[], "bitcoincash:qqyx49mu0kkn9ftfj6hje6g2wfer34yfnq5tahq3q6"),
];

/// Valid test vectors of BIP-173 and BIP-350 with an output type that is in use.
pub(super) const SEGWIT: &str = "
    tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7
    tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy
    tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c
";

/// Test vectors that BIP-350 calls valid, with a version or length that no output type in use has. The last two are
/// our own.
pub(super) const SEGWIT_UNUSED: &str = "
    bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y
    BC1SW50QGDZ25J
    bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs
    bc1z33fggyev8st5a7yfdgkwqfsww53vmrm9q7e5etc5rjp0eeymrzjqhjnsz4
    bc1p33fggyev8st5a7yfdgkwqfsww53vmrm9mnv8zk
";

/// Test vectors that BIP-173 or BIP-350 calls invalid. The last two are our own: valid checksums with unknown
/// prefixes.
pub(super) const SEGWIT_INVALID: &str = "
    tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty
    bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5
    BC13W508D6QEJXTDG4Y5R3ZARVARY0C5XW7KN40WF2
    bc1rw5uspcuh
    bc10w508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kw5rljs90
    BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P
    tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sL5k7
    bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du
    tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3pjxtptv
    bc1gmk9yu
    tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut
    bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd
    tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf
    BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL
    bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh
    tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47
    bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4
    BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R
    bc1pw5dgrnzv
    bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav
    tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq
    bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf
    tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j
    bc11q33fggyev8st5a7yfdgkwqfsww53vmrm959g2ak
    doge1q33fggyev8st5a7yfdgkwqfsww53vmrm9xtyfp6
";

/// Test vectors of EIP-55. The first line is all upper case, and the second line is all lower case.
pub(super) const EIP_55: &str = "
    0x52908400098527886E0F7030069857D2E4169EE7 0x8617E340B3D01FA5F11F306F4090FD50E238070D
    0xde709f2102306220921060314715629080e2fb77 0x27b1fdb04752bbc536007a920d24acb045561c26
    0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed 0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359
    0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB 0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb
";

pub(super) fn valid_addresses() -> impl Iterator<Item = (&'static [ChainNetwork], &'static str)> {
    VECTORS.iter().flat_map(|(homes, texts)| texts.split_whitespace().map(|text| (*homes, text)))
}

pub(super) fn all_chain_networks() -> impl Iterator<Item = ChainNetwork> {
    [UTXO, EVM, TRON, SOLANA].into_iter().flatten().copied()
}
