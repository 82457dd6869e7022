//! What an address is, shown on addresses that other people's libraries made.
//!
//! The vectors are those of the well-known test mnemonic (bip_utils, checked against bitcoinlib, eth-account, ethers,
//! tronpy, solders and litecoind), and those of BIP-173, BIP-350 and EIP-55.

use std::collections::HashSet;

use super::Chain::{self, Base, Bitcoin, Dogecoin, Ethereum, Litecoin, Polygon, Solana, Tron};
use super::Network::{self, Main, Test};
use super::{parse, test_address};

type Home = (Chain, Network);

const EVM: &[Home] = &[
    (Ethereum, Main),
    (Ethereum, Test),
    (Base, Main),
    (Base, Test),
    (Polygon, Main),
    (Polygon, Test),
];
const TRON: &[Home] = &[(Tron, Main), (Tron, Test)];
const SOLANA: &[Home] = &[(Solana, Main), (Solana, Test)];
const UTXO: &[Home] = &[
    (Bitcoin, Main),
    (Bitcoin, Test),
    (Litecoin, Main),
    (Litecoin, Test),
    (Dogecoin, Main),
    (Dogecoin, Test),
];

/// Addresses, and everywhere they are addresses; in the first of these places they are canonical.
#[rustfmt::skip]
const VECTORS: &[(&[Home], &str)] = &[
    // Bitcoin: P2PKH (BIP-44).
    (&[(Bitcoin, Main)], "
        1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA 1Ak8PffB2meyfYnbXZR9EGfLfFZVpzJvQP 1MNF5RSaabFwcbtJirJwKnDytsXXEsVsNb
        1J3J6EvPrv8q6AC3VCjWV45Uf3nssNMRtH
    "),
    // P2SH (BIP-49), which litecoin once wrote the same way.
    (&[(Bitcoin, Main), (Litecoin, Main)], "
        37VucYSaXLCAsxYyAPfbSi9eh4iEcbShgf 3LtMnn87fqUeHBUG414p9CWwnoV6E2pNKS 3B4cvWGR8X6Xs8nvTxVUoMJV77E4f7oaia
        34K56kSjgUCUSD8GTtuF7c9Zzwokbs6uZ7
    "),
    // P2WPKH (BIP-84).
    (&[(Bitcoin, Main)], "
        bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g
        bc1qp59yckz4ae5c4efgw2s5wfyvrz0ala7rgvuz8z bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el
    "),
    // P2TR (BIP-86).
    (&[(Bitcoin, Main)], "
        bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr
        bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh
        bc1p0d0rhyynq0awa9m8cqrcr8f5nxqx3aw29w4ru5u9my3h0sfygnzs9khxz8
    "),
    // Testnet and regtest.
    (&[(Bitcoin, Test)], "
        tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl tb1qd7spv5q28348xl4myc8zmh983w5jx32cjhkn97
        tb1qxdyjf6h5d6qxap4n2dap97q4j5ps6ua8sll0ct tb1q9u62588spffmq4dzjxsr5l297znf3z6j5p2688
        bcrt1q6rz28mcfaxtmd6v789l9rrlrusdprr9pz3cppk bcrt1qd7spv5q28348xl4myc8zmh983w5jx32cs707jh
        bcrt1qxdyjf6h5d6qxap4n2dap97q4j5ps6ua8jkxz0z bcrt1q9u62588spffmq4dzjxsr5l297znf3z6jkgnhsw
        bcrt1p8wpt9v4frpf3tkn0srd97pksgsxc5hs52lafxwru9kgeephvs7rqjeprhg
        bcrt1p90h6z3p36n9hrzy7580h5l429uwchyg8uc9sz4jwzhdtuhqdl5eqkcyx0f
        bcrt1p40qqa84kpphe5vtcwd8zv7v6w7p62cmupf6f60mf8pxdkcv2455qgtw98j
    "),
    // Litecoin: P2PKH, P2SH and P2WPKH; P2WSH and P2TR by the reference code of BIP-350.
    (&[(Litecoin, Main)], "
        LUWPbpM43E2p7ZSh8cyTBEkvpHmr3cB8Ez Ldatw8ZjgMGNUo5HMN6RgCrjmh7q494Si3 LX4YojYdeBk3TtUcryCcgAqYxjicKfK7AD
        LPCewns5E4BFTQ8NirD7sJZYFguXEJTxbL M7wtsL7wSHDBJVMWWhtQfTMSYYkyooAAXM M92zAbFXY2J7NJXdFpJTe3a5PrsyZQhKZK
        MJfELhwt9S6Sr9hadHGsnTELZzFUVjMrFc MKM96scwusdaN84dfbQrFDxocYFnoBuc4Z
        ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh ltc1qwlezpr3890hcp6vva9twqh27mr6edadreqvhnn
        ltc1qc6aucuznvhh9uvux246x24vf9y9ncfk729m92s ltc1qyeljcy9v88jg8sqvnqh0m5q390xruc5r98q9yy
        ltc1q33fggyev8st5a7yfdgkwqfsww53vmrm9q7e5etc5rjp0eeymrzjqkuyxw8
        ltc1p33fggyev8st5a7yfdgkwqfsww53vmrm9q7e5etc5rjp0eeymrzjquty0km
    "),
    // Its testnet and regtest.
    (&[(Litecoin, Test)], "
        tltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9pesrjxk tltc1qd7spv5q28348xl4myc8zmh983w5jx32ctl5d4h
        tltc1qxdyjf6h5d6qxap4n2dap97q4j5ps6ua8fha3gz tltc1q9u62588spffmq4dzjxsr5l297znf3z6jdfgyhw
        rltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9puuzgkg rltc1qd7spv5q28348xl4myc8zmh983w5jx32cwn4h9f
        rltc1qxdyjf6h5d6qxap4n2dap97q4j5ps6ua8vmutcu QeUq3JyfqViWTmAdp5PVPm4VJB8TvCpz3h
        QjaGCvuXNyU3f6B2aCWsnT52BqMTgAxvGA QaWpDSKMs5gbrH6HtS8eMw8ZSaxhNbS3ag
    "),
    // P2PKH there, which bitcoin's testnet writes the same way.
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
    // Bitcoin cash is none of our chains.
    (&[], "bitcoincash:qqyx49mu0kkn9ftfj6hje6g2wfer34yfnq5tahq3q6"),
];

/// Of BIP-173 and BIP-350: valid, and of an output type in use.
const SEGWIT: &str = "
    tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7
    tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy
    tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c
";

/// Valid by the letter of BIP-350, but no output type in use has this version or length. The last two are our own.
const SEGWIT_UNUSED: &str = "
    bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y
    BC1SW50QGDZ25J
    bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs
    bc1z33fggyev8st5a7yfdgkwqfsww53vmrm9q7e5etc5rjp0eeymrzjqhjnsz4
    bc1p33fggyev8st5a7yfdgkwqfsww53vmrm9mnv8zk
";

/// Invalid by BIP-173 and by BIP-350. The last two are our own: valid checksums under prefixes of no chain.
const SEGWIT_INVALID: &str = "
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

/// Of EIP-55; the first two lines are all capitals and all small.
const EIP_55: &str = "
    0x52908400098527886E0F7030069857D2E4169EE7 0x8617E340B3D01FA5F11F306F4090FD50E238070D
    0xde709f2102306220921060314715629080e2fb77 0x27b1fdb04752bbc536007a920d24acb045561c26
    0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed 0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359
    0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB 0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb
";

fn vectors() -> impl Iterator<Item = (&'static [Home], &'static str)> {
    VECTORS
        .iter()
        .flat_map(|(homes, texts)| texts.split_whitespace().map(|text| (*homes, text)))
}

fn everywhere() -> impl Iterator<Item = Home> {
    [UTXO, EVM, TRON, SOLANA].into_iter().flatten().copied()
}

#[track_caller]
fn accepts((chain, network): Home, text: &str, canonical: &str) {
    assert_eq!(
        parse(chain, network, text).as_deref(),
        Ok(canonical),
        "{text} on {chain:?} {network:?}"
    );
}

#[track_caller]
fn refuses((chain, network): Home, text: &str) {
    assert!(
        parse(chain, network, text).is_err(),
        "{text:?} on {chain:?} {network:?}"
    );
}

/// The text is refused, and the message ends like this.
#[track_caller]
fn says((chain, network): Home, text: &str, reason: &str) {
    let said = parse(chain, network, text).map_err(|error| error.to_string());
    assert_eq!(
        said,
        Err(format!("not an address on {}: {reason}", chain.as_str())),
        "{text:?} on {network:?}"
    );
}

#[test]
fn an_address_is_one_at_home_and_nowhere_else() {
    for (homes, text) in vectors() {
        homes
            .first()
            .into_iter()
            .for_each(|home| accepts(*home, text, text));
        for (chain, network) in homes {
            assert!(
                parse(*chain, *network, text).is_ok(),
                "{text} on {chain:?} {network:?}"
            );
        }
        everywhere()
            .filter(|home| !homes.contains(home))
            .for_each(|home| refuses(home, text));
    }
}

/// Every other printable character in every place; all but solana's addresses carry a checksum.
#[test]
fn one_wrong_character_is_refused() {
    for (homes, text) in vectors().filter(|(homes, _)| *homes != SOLANA) {
        for (place, right) in text.char_indices() {
            for wrong in (' '..='~').filter(|wrong| *wrong != right) {
                homes
                    .iter()
                    .for_each(|home| refuses(*home, &replaced(text, place, wrong)));
            }
        }
    }
}

fn replaced(text: &str, place: usize, by: char) -> String {
    text.char_indices()
        .map(|(at, kept)| if at == place { by } else { kept })
        .collect()
}

#[test]
fn one_missing_or_doubled_character_is_refused() {
    for (homes, text) in vectors().filter(|(homes, _)| *homes != SOLANA) {
        for (place, _) in text.char_indices() {
            let (before, after) = text.split_at(place);
            let missing: String = before.chars().chain(after.chars().skip(1)).collect();
            let doubled: String = before
                .chars()
                .chain(after.chars().take(1))
                .chain(after.chars())
                .collect();
            homes.iter().for_each(|home| refuses(*home, &missing));
            homes.iter().for_each(|home| refuses(*home, &doubled));
        }
    }
}

/// One hash under the version of every chain's keys, and of every chain's scripts.
#[test]
fn the_version_of_a_base58check_address_decides() {
    accepts(
        (Bitcoin, Main),
        "1DnxTASQ1i2LHLBK5wD94XF8Aq6xw7GqEd",
        "1DnxTASQ1i2LHLBK5wD94XF8Aq6xw7GqEd",
    );
    accepts(
        (Bitcoin, Test),
        "2N63BSSrsB4r4aHWHtAVc76bKXhbrFCmUsd",
        "2N63BSSrsB4r4aHWHtAVc76bKXhbrFCmUsd",
    );
    accepts(
        (Litecoin, Main),
        "MLh7gbLoWjC9B19eJus5JnrTe3z8YkMsNd",
        "MLh7gbLoWjC9B19eJus5JnrTe3z8YkMsNd",
    );
    accepts(
        (Dogecoin, Main),
        "A5EE7YzjdgDcGsFDdAY9jHES1vmidfFW6W",
        "A5EE7YzjdgDcGsFDdAY9jHES1vmidfFW6W",
    );
    accepts(
        (Dogecoin, Test),
        "ngz7iS7xF6PLhJw6rLr9rh12HqDZGtDcyV",
        "ngz7iS7xF6PLhJw6rLr9rh12HqDZGtDcyV",
    );
    accepts(
        (Dogecoin, Test),
        "2N63BSSrsB4r4aHWHtAVc76bKXhbrFCmUsd",
        "2N63BSSrsB4r4aHWHtAVc76bKXhbrFCmUsd",
    );
    for hash_of_19_or_21_bytes in [
        "13u6mShePN5P3Lka6ef6TB2PU9dg4LpPm",
        "1yTqkUf6a84t75eWpnGaaYVLePKKhMcW7ZV",
    ] {
        says((Bitcoin, Main), hash_of_19_or_21_bytes, EXPECTED_BITCOIN);
    }
}

#[test]
fn litecoins_old_script_addresses_are_written_in_the_new_way() {
    accepts(
        (Litecoin, Main),
        "3EUyNhvqZcLiNVskD2sjV9c4KMPgUsMve6",
        "MLh7gbLoWjC9B19eJus5JnrTe3z8YkMsNd",
    );
    accepts(
        (Litecoin, Test),
        "2N63BSSrsB4r4aHWHtAVc76bKXhbrFCmUsd",
        "QZPwZTj7CAu9iUGLWGXdBo2kg63gBauR6x",
    );
}

#[test]
fn a_base58_address_may_start_like_a_segwit_one() {
    accepts(
        (Litecoin, Main),
        "LTC1zzzzzzzzzzzzzzzzzzzzzzzzygL7Yj",
        "LTC1zzzzzzzzzzzzzzzzzzzzzzzzygL7Yj",
    );
}

#[test]
fn extension_block_addresses_are_refused() {
    let bytes_66 = "qqqqsyqcyq5rqwzqfpg9scrgwpugpzysnzs23v9ccrydpk8qarc0jqgfzyvjz2f389q5j52ev95hz7vp3xgengdfkxuurjw3m8s7nu06qgy";
    for (prefix, checksum) in [("ltcmweb", "jmln03"), ("tmweb", "nj7ynx")] {
        everywhere().for_each(|home| refuses(home, &format!("{prefix}1{bytes_66}{checksum}")));
    }
}

#[test]
fn segwit_addresses_may_be_all_capitals_and_never_mixed() {
    let small = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
    let capitals = "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4";
    accepts((Bitcoin, Main), capitals, small);
    let mixed = "its letters must be all small or all capital";
    says((Bitcoin, Main), &capitals.replace("BC1Q", "bc1q"), mixed);
    says((Bitcoin, Main), &small.replace("bc1q", "BC1Q"), mixed);
}

#[test]
fn segwit_vectors_are_told_apart() {
    for text in SEGWIT.split_whitespace() {
        accepts((Bitcoin, Test), text, text);
    }
    for text in SEGWIT_UNUSED.split_whitespace() {
        says((Bitcoin, Main), text, EXPECTED_BITCOIN);
    }
    for text in SEGWIT_INVALID.split_whitespace() {
        UTXO.iter().for_each(|home| refuses(*home, text));
    }
}

#[test]
fn evm_addresses_are_answered_with_their_checksum() {
    for text in EIP_55.split_whitespace() {
        let digits = text.trim_start_matches("0x");
        for same in [
            text,
            &format!("0x{}", digits.to_lowercase()),
            &format!("0x{}", digits.to_uppercase()),
        ] {
            EVM.iter().for_each(|home| accepts(*home, same, text));
        }
        for wrong in [
            digits,
            &format!("0X{digits}"),
            &format!("0x0{digits}"),
            &format!("0x0x{digits}"),
        ] {
            EVM.iter()
                .for_each(|home| says(*home, wrong, "expected 0x and 40 hexadecimal digits"));
        }
    }
    says(
        (Base, Main),
        "0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        MISTYPED,
    );
}

#[test]
fn solana_addresses_hold_32_bytes_of_base58() {
    for (_, text) in vectors().filter(|(homes, _)| *homes == SOLANA) {
        for (place, _) in text.char_indices() {
            let wrong =
                ['0', 'O', 'I', 'l', ' ', '+', '_'].map(|wrong| replaced(text, place, wrong));
            wrong
                .iter()
                .for_each(|wrong| refuses((Solana, Main), wrong));
        }
    }
    let two_zero_bytes_first = "11V7mwrcLREDs9YfrfrhuhJe4WcP4FkjMBgZYSKW7pN";
    accepts((Solana, Main), two_zero_bytes_first, two_zero_bytes_first);
    let bytes_31 = "396uP7xxhwMnLinWEWPZatraVhAMN81v69cdkkfX647";
    let bytes_33 = "ighT8MAnSjE8v5ifQ8eYH6wL9hUR76EMFeUectgSXPLAU";
    for wrong_length in ["1", &"1".repeat(31), &"1".repeat(33), bytes_31, bytes_33] {
        says(
            (Solana, Main),
            wrong_length,
            "expected 32 to 44 base58 characters that hold 32 bytes",
        );
    }
}

#[test]
fn the_address_of_nobody_is_refused() {
    EVM.iter()
        .for_each(|home| says(*home, &format!("0x{}", "0".repeat(40)), NOBODY));
    says((Tron, Main), "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb", NOBODY);
    let program = "that is the system program's; expected an account's own address";
    says((Solana, Main), &"1".repeat(32), program);
}

const NOBODY: &str = "the all-zero address belongs to nobody";
const TOO_MUCH: &str = "expected at most 128 plain letters and digits";
const MISTYPED: &str = "its checksum does not match; copy it again";
const EXPECTED_TRON: &str = "expected a complete address of 34 characters that starts with T";
const EXPECTED_BITCOIN: &str = "expected a complete address that starts with 1, 3, bc1q or bc1p";

#[test]
fn the_message_says_what_would_be_right() {
    says(
        (Bitcoin, Main),
        "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabB",
        MISTYPED,
    );
    says(
        (Bitcoin, Main),
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
        MISTYPED,
    );
    for other in [
        "",
        "bc1q",
        "tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl",
        "mtJukDXNpjTb4SevoWBWtSTT2phfs822sT",
    ] {
        says((Bitcoin, Main), other, EXPECTED_BITCOIN);
    }
    says(
        (Tron, Main),
        "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA",
        EXPECTED_TRON,
    );
    everywhere().for_each(|home| says(home, &"1".repeat(129), TOO_MUCH));
}

#[test]
fn spaces_and_lookalikes_are_refused() {
    for (homes, text) in vectors() {
        for space in [" ", "\n", "\t", "\0", "\u{200b}", "\u{feff}", "\u{301}"] {
            homes
                .iter()
                .for_each(|home| refuses(*home, &format!("{text}{space}")));
            homes
                .iter()
                .for_each(|home| refuses(*home, &format!("{space}{text}")));
        }
        for (plain, lookalike) in [
            ('a', '\u{430}'),
            ('k', '\u{212a}'),
            ('1', '\u{ff11}'),
            ('0', '\u{660}'),
        ] {
            let disguised = text.replace(plain, &lookalike.to_string());
            homes
                .iter()
                .filter(|_| disguised != text)
                .for_each(|home| says(*home, &disguised, TOO_MUCH));
        }
    }
}

/// Noise of several alphabets, in all lengths to beyond the limit: nothing panics, and what is accepted is canonical.
#[test]
fn noise_is_answered_calmly() {
    let alphabets = [
        "1",
        "0x",
        "01bcqp",
        "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefgh",
        "0x\u{e9}1\0 \u{1f600}",
    ];
    let starts = ["", "1", "0x", "bc1", "BC1Q", "ltc1p", "tb11", "T"];
    let mut seed = 0_u64;
    for (alphabet, start) in alphabets
        .iter()
        .flat_map(|alphabet| starts.map(|start| (alphabet, start)))
    {
        for length in 0..140 {
            let noise: String = alphabet
                .chars()
                .cycle()
                .filter(|_| coin(&mut seed))
                .take(length)
                .collect();
            everywhere().for_each(|home| settled(home, &format!("{start}{noise}")));
        }
    }
}

fn coin(seed: &mut u64) -> bool {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *seed >> 63 == 1
}

fn settled((chain, network): Home, text: &str) {
    if let Ok(canonical) = parse(chain, network, text) {
        accepts((chain, network), &canonical, &canonical);
    }
}

#[test]
fn test_addresses_are_canonical_and_distinct() {
    for (chain, network) in everywhere().filter(|(_, network)| *network == Test) {
        let mut seen = HashSet::new();
        for label in ["", "a", "a1", "invoice", "\u{5ba2}"] {
            for index in [0, 1, 2, 10, 255, 256, u64::MAX] {
                let text = test_address(chain, label, index);
                accepts((chain, network), &text, &text);
                assert!(seen.insert(text), "{chain:?} {label} {index}");
            }
        }
    }
}

/// What a label and an index give may never change. The texts were computed apart from this code, in Python.
#[test]
fn test_addresses_stay_the_same() {
    let evm = "0x8C5284132c3C174Ef8896A2Ce0260E7522cD8f65";
    assert_eq!(
        test_address(Bitcoin, "label", 7),
        "tb1q33fggyev8st5a7yfdgkwqfsww53vmrm90hsn3v"
    );
    assert_eq!(
        test_address(Litecoin, "label", 7),
        "tltc1q33fggyev8st5a7yfdgkwqfsww53vmrm9kljdp9"
    );
    assert_eq!(
        test_address(Dogecoin, "label", 7),
        "ngz7iS7xF6PLhJw6rLr9rh12HqDZGtDcyV"
    );
    assert_eq!(
        [Ethereum, Base, Polygon].map(|chain| test_address(chain, "label", 7)),
        [evm; 3]
    );
    assert_eq!(
        test_address(Tron, "label", 7),
        "TNmATDp8AS9HSWEwgCrrafwG5crHCXdTCG"
    );
    assert_eq!(
        test_address(Solana, "label", 7),
        "ASm4Cdjzsgvj83Rr2ciapbspqeGGtDy3Kj2HE7j1oJkK"
    );
}

#[test]
fn test_addresses_of_utxo_chains_are_refused_on_their_main_networks() {
    for chain in [Bitcoin, Litecoin, Dogecoin] {
        refuses((chain, Main), &test_address(chain, "label", 7));
    }
}
