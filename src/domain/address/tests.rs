//! Tests of addresses that other libraries generated (`vectors`), and of texts that are not addresses.

mod simulated;
mod vectors;

use super::Chain::{self, Base, Bitcoin, Dogecoin, Litecoin, Solana, Tron};
use super::Network::{self, Main, Test};
use super::{parse, test_mode_address};
use vectors::{
    ChainNetwork, EIP_55, EVM, SEGWIT, SEGWIT_INVALID, SEGWIT_UNUSED, SOLANA, UTXO,
    all_chain_networks, valid_addresses,
};

#[track_caller]
fn assert_accepted(home: ChainNetwork, text: &str, canonical: &str) {
    let (chain, network) = home;
    assert_eq!(
        parse(chain, network, text).as_deref(),
        Ok(canonical),
        "{text} on {chain:?} {network:?}"
    );
}

#[track_caller]
fn assert_refused(home: ChainNetwork, text: &str) {
    let (chain, network) = home;
    assert!(parse(chain, network, text).is_err(), "{text:?} on {chain:?} {network:?}");
}

/// Asserts that the text is refused with an error that ends in `reason`.
#[track_caller]
fn assert_refused_with(home: ChainNetwork, text: &str, reason: &str) {
    let (chain, network) = home;
    let said = parse(chain, network, text).map_err(|error| error.to_string());
    assert_eq!(
        said,
        Err(format!("not an address on {}: {reason}", chain.as_str())),
        "{text:?} on {network:?}"
    );
}

#[test]
fn address_is_valid_only_on_its_own_networks() {
    for (homes, text) in valid_addresses() {
        homes.first().into_iter().for_each(|home| assert_accepted(*home, text, text));
        for (chain, network) in homes {
            assert!(parse(*chain, *network, text).is_ok(), "{text} on {chain:?} {network:?}");
        }
        all_chain_networks()
            .filter(|home| !homes.contains(home))
            .for_each(|home| assert_refused(home, text));
    }
}

/// Replaces each character of an address by every other printable character. Solana addresses have no checksum and
/// are left out.
#[test]
fn one_wrong_character_is_refused() {
    for (homes, text) in valid_addresses().filter(|(homes, _)| *homes != SOLANA) {
        for (place, right) in text.char_indices() {
            for wrong in (' '..='~').filter(|wrong| *wrong != right) {
                homes.iter().for_each(|home| {
                    assert_refused(*home, &with_character_replaced(text, place, wrong))
                });
            }
        }
    }
}

fn with_character_replaced(text: &str, place: usize, by: char) -> String {
    text.char_indices().map(|(at, kept)| if at == place { by } else { kept }).collect()
}

#[test]
fn one_missing_or_doubled_character_is_refused() {
    for (homes, text) in valid_addresses().filter(|(homes, _)| *homes != SOLANA) {
        for (place, _) in text.char_indices() {
            let (before, after) = text.split_at(place);
            let missing: String = before.chars().chain(after.chars().skip(1)).collect();
            let doubled: String =
                before.chars().chain(after.chars().take(1)).chain(after.chars()).collect();
            homes.iter().for_each(|home| assert_refused(*home, &missing));
            homes.iter().for_each(|home| assert_refused(*home, &doubled));
        }
    }
}

/// The addresses contain the same hash, and differ in the base58check version byte.
#[test]
fn base58check_version_decides_the_chain() {
    assert_accepted(
        (Bitcoin, Main),
        "1DnxTASQ1i2LHLBK5wD94XF8Aq6xw7GqEd",
        "1DnxTASQ1i2LHLBK5wD94XF8Aq6xw7GqEd",
    );
    assert_accepted(
        (Bitcoin, Test),
        "2N63BSSrsB4r4aHWHtAVc76bKXhbrFCmUsd",
        "2N63BSSrsB4r4aHWHtAVc76bKXhbrFCmUsd",
    );
    assert_accepted(
        (Litecoin, Main),
        "MLh7gbLoWjC9B19eJus5JnrTe3z8YkMsNd",
        "MLh7gbLoWjC9B19eJus5JnrTe3z8YkMsNd",
    );
    assert_accepted(
        (Dogecoin, Main),
        "A5EE7YzjdgDcGsFDdAY9jHES1vmidfFW6W",
        "A5EE7YzjdgDcGsFDdAY9jHES1vmidfFW6W",
    );
    assert_accepted(
        (Dogecoin, Test),
        "ngz7iS7xF6PLhJw6rLr9rh12HqDZGtDcyV",
        "ngz7iS7xF6PLhJw6rLr9rh12HqDZGtDcyV",
    );
    assert_accepted(
        (Dogecoin, Test),
        "2N63BSSrsB4r4aHWHtAVc76bKXhbrFCmUsd",
        "2N63BSSrsB4r4aHWHtAVc76bKXhbrFCmUsd",
    );
    for hash_of_19_or_21_bytes in
        ["13u6mShePN5P3Lka6ef6TB2PU9dg4LpPm", "1yTqkUf6a84t75eWpnGaaYVLePKKhMcW7ZV"]
    {
        assert_refused_with((Bitcoin, Main), hash_of_19_or_21_bytes, EXPECTED_BITCOIN);
    }
}

#[test]
fn old_litecoin_p2sh_address_is_converted_to_the_new_form() {
    assert_accepted(
        (Litecoin, Main),
        "3EUyNhvqZcLiNVskD2sjV9c4KMPgUsMve6",
        "MLh7gbLoWjC9B19eJus5JnrTe3z8YkMsNd",
    );
    assert_accepted(
        (Litecoin, Test),
        "2N63BSSrsB4r4aHWHtAVc76bKXhbrFCmUsd",
        "QZPwZTj7CAu9iUGLWGXdBo2kg63gBauR6x",
    );
}

#[test]
fn base58_address_may_start_like_a_segwit_address() {
    assert_accepted(
        (Litecoin, Main),
        "LTC1zzzzzzzzzzzzzzzzzzzzzzzzygL7Yj",
        "LTC1zzzzzzzzzzzzzzzzzzzzzzzzygL7Yj",
    );
}

#[test]
fn extension_block_addresses_are_refused() {
    let bytes_66 = "qqqqsyqcyq5rqwzqfpg9scrgwpugpzysnzs23v9ccrydpk8qarc0jqgfzyvjz2f389q5j52ev95hz7vp3xgengdfkxuurjw3m8s7nu06qgy";
    for (prefix, checksum) in [("ltcmweb", "jmln03"), ("tmweb", "nj7ynx")] {
        all_chain_networks()
            .for_each(|home| assert_refused(home, &format!("{prefix}1{bytes_66}{checksum}")));
    }
}

#[test]
fn segwit_address_may_be_upper_case_but_not_mixed() {
    let small = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
    let capitals = "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4";
    assert_accepted((Bitcoin, Main), capitals, small);
    let mixed = "its letters must be all lower case or all upper case";
    assert_refused_with((Bitcoin, Main), &capitals.replace("BC1Q", "bc1q"), mixed);
    assert_refused_with((Bitcoin, Main), &small.replace("bc1q", "BC1Q"), mixed);
}

#[test]
fn segwit_vectors_are_accepted_or_refused() {
    for text in SEGWIT.split_whitespace() {
        assert_accepted((Bitcoin, Test), text, text);
    }
    for text in SEGWIT_UNUSED.split_whitespace() {
        assert_refused_with((Bitcoin, Main), text, EXPECTED_BITCOIN);
    }
    for text in SEGWIT_INVALID.split_whitespace() {
        UTXO.iter().for_each(|home| assert_refused(*home, text));
    }
}

#[test]
fn evm_address_is_returned_with_its_checksum() {
    for text in EIP_55.split_whitespace() {
        let digits = text.trim_start_matches("0x");
        for same in
            [text, &format!("0x{}", digits.to_lowercase()), &format!("0x{}", digits.to_uppercase())]
        {
            EVM.iter().for_each(|home| assert_accepted(*home, same, text));
        }
        for wrong in
            [digits, &format!("0X{digits}"), &format!("0x0{digits}"), &format!("0x0x{digits}")]
        {
            EVM.iter().for_each(|home| {
                assert_refused_with(*home, wrong, "expected 0x and 40 hexadecimal digits")
            });
        }
    }
    assert_refused_with((Base, Main), "0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed", MISTYPED);
}

#[test]
fn solana_address_is_32_bytes_of_base58() {
    for (_, text) in valid_addresses().filter(|(homes, _)| *homes == SOLANA) {
        for (place, _) in text.char_indices() {
            let wrong = ['0', 'O', 'I', 'l', ' ', '+', '_']
                .map(|wrong| with_character_replaced(text, place, wrong));
            wrong.iter().for_each(|wrong| assert_refused((Solana, Main), wrong));
        }
    }
    let two_zero_bytes_first = "11V7mwrcLREDs9YfrfrhuhJe4WcP4FkjMBgZYSKW7pN";
    assert_accepted((Solana, Main), two_zero_bytes_first, two_zero_bytes_first);
    let bytes_31 = "396uP7xxhwMnLinWEWPZatraVhAMN81v69cdkkfX647";
    let bytes_33 = "ighT8MAnSjE8v5ifQ8eYH6wL9hUR76EMFeUectgSXPLAU";
    for wrong_length in ["1", &"1".repeat(31), &"1".repeat(33), bytes_31, bytes_33] {
        assert_refused_with(
            (Solana, Main),
            wrong_length,
            "expected 32 to 44 base58 characters that hold 32 bytes",
        );
    }
}

#[test]
fn all_zero_address_is_refused() {
    EVM.iter()
        .for_each(|home| assert_refused_with(*home, &format!("0x{}", "0".repeat(40)), NOBODY));
    assert_refused_with((Tron, Main), "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb", NOBODY);
    let program = "that is the system program's; expected an account's own address";
    assert_refused_with((Solana, Main), &"1".repeat(32), program);
}

const NOBODY: &str = "the all-zero address belongs to nobody";
const TOO_MUCH: &str = "expected at most 128 plain letters and digits";
const MISTYPED: &str = "its checksum does not match; copy it again";
const EXPECTED_TRON: &str = "expected a complete address of 34 characters that starts with T";
const EXPECTED_BITCOIN: &str = "expected a complete address that starts with 1, 3, bc1q or bc1p";

#[test]
fn error_names_the_expected_form() {
    assert_refused_with((Bitcoin, Main), "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabB", MISTYPED);
    assert_refused_with((Bitcoin, Main), "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", MISTYPED);
    for other in [
        "",
        "bc1q",
        "tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl",
        "mtJukDXNpjTb4SevoWBWtSTT2phfs822sT",
    ] {
        assert_refused_with((Bitcoin, Main), other, EXPECTED_BITCOIN);
    }
    assert_refused_with((Tron, Main), "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA", EXPECTED_TRON);
    all_chain_networks().for_each(|home| assert_refused_with(home, &"1".repeat(129), TOO_MUCH));
}

#[test]
fn addresses_with_spaces_or_lookalike_letters_are_refused() {
    for (homes, text) in valid_addresses() {
        for space in [" ", "\n", "\t", "\0", "\u{200b}", "\u{feff}", "\u{301}"] {
            homes.iter().for_each(|home| assert_refused(*home, &format!("{text}{space}")));
            homes.iter().for_each(|home| assert_refused(*home, &format!("{space}{text}")));
        }
        for (plain, lookalike) in
            [('a', '\u{430}'), ('k', '\u{212a}'), ('1', '\u{ff11}'), ('0', '\u{660}')]
        {
            let disguised = text.replace(plain, &lookalike.to_string());
            homes
                .iter()
                .filter(|_| disguised != text)
                .for_each(|home| assert_refused_with(*home, &disguised, TOO_MUCH));
        }
    }
}

/// Parses random texts over several alphabets, some longer than any accepted text. Nothing panics, and each accepted
/// text is canonical.
#[test]
fn random_texts_never_panic() {
    let alphabets =
        ["1", "0x", "01bcqp", "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefgh", "0x\u{e9}1\0 \u{1f600}"];
    let starts = ["", "1", "0x", "bc1", "BC1Q", "ltc1p", "tb11", "T"];
    let mut seed = 0_u64;
    for (alphabet, start) in
        alphabets.iter().flat_map(|alphabet| starts.map(|start| (alphabet, start)))
    {
        for length in 0..140 {
            let noise: String =
                alphabet.chars().cycle().filter(|_| random_bool(&mut seed)).take(length).collect();
            all_chain_networks()
                .for_each(|home| assert_canonical_if_accepted(home, &format!("{start}{noise}")));
        }
    }
}

fn random_bool(seed: &mut u64) -> bool {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 63 == 1
}

fn assert_canonical_if_accepted(home: ChainNetwork, text: &str) {
    let (chain, network) = home;
    if let Ok(canonical) = parse(chain, network, text) {
        assert_accepted((chain, network), &canonical, &canonical);
    }
}
