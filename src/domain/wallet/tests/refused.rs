//! Tests of refused keys: private keys by their kind, and keys that contradict the request.

use super::{Chain, WalletHints, WalletSecret, XPUB, ZPUB, find_wallet_chain, hints, read};
use bitcoin::bip32::Xpriv;
use bitcoin::{NetworkKind, base58};

const PHRASE: &str =
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
/// Private key below m/84'/0'/0' of the well-known phrase. Everybody knows this key, so it protects no money.
const WIF: &str = "L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1";

/// Returns the text of an extended private key with these first four bytes.
fn extended_private_key(version: [u8; 4]) -> String {
    let key = Xpriv::new_master(NetworkKind::Main, &[7; 32]).unwrap();
    let mut bytes = key.encode();
    bytes[..4].copy_from_slice(&version);
    base58::encode_check(&bytes)
}

/// Returns texts with secrets, each with its kind.
fn texts_with_secrets() -> Vec<(String, WalletSecret)> {
    let uncompressed = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ";
    let mistyped = WIF.replace("Dt", "tD");
    let xprv = extended_private_key([0x04, 0x88, 0xad, 0xe4]);
    let hex = "0C28FCA386C7A227600B2FE50B7CAE11EC86D3BF1FBE471BE89827E19D72AA1D";
    let mut kinds = vec![
        (xprv.clone(), WalletSecret::Extended),
        (xprv[..60].to_owned(), WalletSecret::Extended),
        (extended_private_key([0x12, 0x34, 0x56, 0x78]), WalletSecret::Extended),
        (PHRASE.to_owned(), WalletSecret::Phrase),
        (PHRASE.to_uppercase(), WalletSecret::Phrase),
        (PHRASE.replace(' ', "\n"), WalletSecret::Phrase),
        (PHRASE.replace(' ', ", 7. "), WalletSecret::Phrase),
        (["wort"; 24].join(" "), WalletSecret::Phrase),
        (["żółw"; 15].join(" "), WalletSecret::Phrase),
        (WIF.to_owned(), WalletSecret::Wif),
        (mistyped, WalletSecret::Wif),
        (uncompressed.to_owned(), WalletSecret::Wif),
        (
            "6PRVWUbkzzsbcVac2qwfssoUJAN1Xhrg6bNk8J7Nzm5H7kxEbn2Nh2ZoGg".to_owned(),
            WalletSecret::Encrypted,
        ),
        (hex.to_owned(), WalletSecret::Hex),
        (format!("0x{}", hex.to_lowercase()), WalletSecret::Hex),
    ];
    for version in [
        0x0488_ade4_u32,
        0x049d_7878,
        0x0295_b005,
        0x04b2_430c,
        0x02aa_7a99,
        0x0435_8394,
        0x044a_4e28,
        0x0242_85b5,
        0x045f_18bc,
        0x0257_5048,
        0x019d_9cfe,
        0x01b2_6792,
        0x0436_ef7d,
        0x02fa_c398,
        0x0432_a243,
    ] {
        kinds.push((extended_private_key(version.to_be_bytes()), WalletSecret::Extended));
    }
    for count in [12, 15, 18, 21, 24] {
        kinds.push((["zoo"; 24][..count].join(" "), WalletSecret::Phrase));
    }
    kinds
}

#[test]
fn text_with_a_secret_is_refused_and_not_repeated() {
    let kinds = texts_with_secrets();
    for (secret, kind) in &kinds {
        for text in [
            secret.clone(),
            format!("  {secret}\n"),
            format!("wpkh([73c5da0a/84h/0h/0h]{secret}/0/*)#abcdefgh"),
            format!("{ZPUB}\n{secret}"),
            format!("{{\"key\":\"{secret}\"}}"),
        ] {
            for chain in [Chain::Bitcoin, Chain::Dogecoin, Chain::Ethereum, Chain::Tron] {
                let refused = read(chain, &text, &WalletHints::default()).unwrap_err();
                assert!(refused.message.contains(kind.as_str()), "{text}: {}", refused.message);
                assert_eq!(refused.param.as_deref(), Some("key"));
                assert!(!refused.message.contains(secret.trim()), "{}", refused.message);
            }
        }
        assert!(WalletSecret::find_in_argument(secret).is_some(), "{secret}");
    }
}

#[test]
fn public_text_is_not_detected_as_a_secret() {
    for text in [
        XPUB,
        ZPUB,
        "wpkh([73c5da0a/84h/0h/0h]xpub/0/*)#abcdefgh",
        "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
        "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
        "the name of a wallet that has only eleven words",
    ] {
        assert_eq!(WalletSecret::find_in_text(text), None, "{text}");
    }
    // A file path may contain a hexadecimal number.
    let path =
        "/var/lib/0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d/coffer.db";
    assert_eq!(WalletSecret::find_in_argument(path), None);
    let path = "/home/ada/shop/data/of/the/till/in/the/old/town/coffer.db";
    assert_eq!(WalletSecret::find_in_argument(path), None);
    assert!(!super::super::contains_seed_phrase(["coffer", "wallet", "add", "--file", "x"]));
}

/// Columns: chain, key, script and network of a request; refused field, and its problem.
///
/// Z and X stand for the same key, D for a Dogecoin key and V for a key of test networks.
const WRONG: &str = "
bitcoin | X | | | script | must be given
litecoin | X | | | script | must be given
bitcoin | Z | pkh | | script | is pkh by one and wpkh
bitcoin | pkh(Z/0/*) | | | script | is pkh by one and wpkh
dogecoin | X | wpkh | | script | must be pkh
bitcoin | D | | | key | another chain than bitcoin
evm | Z | | | key | another chain than evm
evm | X | pkh | | script | must be left out
tron | X | | main | network | must be left out
evm | pkh(X/0/*) | | | key | give the key alone
bitcoin | Z | | test | network | must be main
bitcoin | V | | main | network | must be test or regtest
bitcoin | V | | any | network | must be main, test or regtest
bitcoin | Z2 | | | key | is no extended public key
bitcoin | | | | key | no extended public key
bitcoin | zpüb | | | key | no extended public key
bitcoin | wpkh(X) | | | key | ends with /0/*
bitcoin | wpkh(X/1/*) | | | key | ends with /0/*
bitcoin | wpkh(X/0/*h) | | | key | ends with /0/*
bitcoin | wpkh(X/5/0/*) | | | key | nothing else
bitcoin | wpkh([zz]X/0/*) | | | key | origin
bitcoin | wpkh([73c5da0a/x]X/0/*) | | | key | origin
bitcoin | wpkh([73c5da0aX/0/*) | | | key | origin
bitcoin | wsh(multi(1,X/0/*)) | | | key | one key
bitcoin | sh(X/0/*) | | | key | one key
bitcoin | tr(X/0/*,pk(X/0/*)) | | | key | ends with /0/*
bitcoin | wpkh(X/0/*)#qqqqqqqq | | | key | checksum
bitcoin | wpkh(X/0/*)# | | | key | checksum
";

#[test]
fn key_that_contradicts_its_hints_is_refused() {
    let dgub = "dgub8rUhDtD3YFGZTUphBfpBbzvFxSMKQXYLzg87Me2ta78r2SdVLmypBUkkxrrn9RTnchsyiJSkHZyLWxD13ibBiXtuFWktBoDaGaZjQUBLNLs";
    let vpub = "vpub5Y6cjg78GGuNLsaPhmYsiw4gYX3HoQiRBiSwDaBXKUafCt9bNwWQiitDk5VZ5BVxYnQdwoTyXSs2JHRPAgjAvtbBrf8ZhDYe2jWAqvZVnsc";
    let key = |name: char| match name {
        'X' => XPUB.to_owned(),
        'Z' => ZPUB.to_owned(),
        'D' => dgub.to_owned(),
        'V' => vpub.to_owned(),
        other => other.to_string(),
    };
    for row in WRONG.trim().lines() {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [chain, text, script, network, param, says] = cells[..] else {
            panic!("{row}");
        };
        let text: String = text.chars().map(key).collect();
        let given = |text: &'static str| Some(text).filter(|text| !text.is_empty());
        let besides = hints(given(script), given(network));
        let refused = read(find_wallet_chain(chain).unwrap(), &text, &besides).unwrap_err();
        let message = &refused.message;
        assert_eq!(refused.param.as_deref(), Some(param), "{row}: {message}");
        assert!(message.contains(says), "{row}: {message}");
        assert!(text.len() < 8 || !message.contains(&text), "{message}");
    }
    for text in ["x".repeat(5000), ZPUB.replace("Q2", "2Q")] {
        assert!(read(Chain::Bitcoin, &text, &WalletHints::default()).is_err());
    }
}

#[test]
fn invalid_keys_of_bip_32_are_refused() {
    // These are the invalid public keys of BIP 32, test vector 5. Private keys of this vector are refused as secrets.
    for text in [
        "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6LBpB85b3D2yc8sfvZU521AAwdZafEz7mnzBBsz4wKY5fTtTQBm",
        "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6Txnt3siSujt9RCVYsx4qHZGc62TG4McvMGcAUjeuwZdduYEvFn",
        "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6N8ZMMXctdiCjxTNq964yKkwrkBJJwpzZS4HS2fxvyYUA4q2Xe4",
        "xpub661no6RGEX3uJkY4bNnPcw4URcQTrSibUZ4NqJEw5eBkv7ovTwgiT91XX27VbEXGENhYRCf7hyEbWrR3FewATdCEebj6znwMfQkhRYHRLpJ",
        "xpub661MyMwAuDcm6CRQ5N4qiHKrJ39Xe1R1NyfouMKTTWcguwVcfrZJaNvhpebzGerh7gucBvzEQWRugZDuDXjNDRmXzSZe4c7mnTK97pTvGS8",
        "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6Q5JXayek4PRsn35jii4veMimro1xefsM58PgBMrvdYre8QyULY",
    ] {
        let refused = read(Chain::Bitcoin, text, &hints(Some("wpkh"), None));
        assert!(refused.is_err(), "{text}");
    }
    // This key is below the account level. Its addresses would be two levels too deep.
    let below = "xpub6H1LXWLaKsWFhvm6RVpEL9P4KfRZSW7abD2ttkWP3SSQvnyA8FSVqNTEcYFgJS2UaFcxupHiYkro49S8yGasTvXEYBVPamhGW6cFJodrTHy";
    let refused = read(Chain::Bitcoin, below, &hints(Some("wpkh"), None)).unwrap_err();
    assert!(refused.message.contains("below the account"), "{}", refused.message);
    let descriptor = format!("wpkh({below}/0/*)");
    assert!(read(Chain::Bitcoin, &descriptor, &WalletHints::default()).is_ok());
}
