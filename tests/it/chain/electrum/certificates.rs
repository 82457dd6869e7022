//! Certificates of Electrum servers: pinned, or signed by an authority that the system trusts.

use super::{doctor_args, electrum_client, start_electrumx};
use crate::chain::till::TestnetShop;
use crate::support::scratch::Scratch;
use coffer::chain::Node;
use std::process::Command;

/// Creates a key and a certificate with openssl, and returns their paths.
#[track_caller]
fn create_certificate(folder: &Scratch, name: &str, more: &[&str]) -> [String; 2] {
    let path = |kind: &str| {
        let path = folder.path(&format!("{name}.{kind}"));
        path.to_str().unwrap().to_owned()
    };
    let (key, certificate) = (path("key"), path("crt"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30"])
        .args(["-subj", &format!("/CN={name}"), "-keyout", &key])
        .args(["-out", &certificate])
        .args(more)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    [key, certificate]
}

#[test]
fn electrum_certificate_must_be_pinned_or_signed_by_a_trusted_authority() {
    let folder = Scratch::new();
    let [ca_key, ca] = create_certificate(&folder, "authority", &[]);
    let host = "subjectAltName=IP:127.0.0.1";
    let signed = ["-CA", &ca, "-CAkey", &ca_key, "-addext", host];
    let plain = ["-addext", "basicConstraints=critical,CA:FALSE"];
    let [key, certificate] = create_certificate(&folder, "server", &[&signed[..], &plain].concat());
    let settings = [("SSL_KEYFILE", key.as_str()), ("SSL_CERTFILE", certificate.as_str())];
    let Some((_node, server)) = start_electrumx(&settings) else {
        return;
    };
    let url = format!("electrums://127.0.0.1:{}", server.tls_port);
    let unknown = electrum_client(&[&url]).network().unwrap_err().to_string();
    let (_, pin) = unknown.split_once("#sha256=").unwrap();
    assert!(unknown.contains("no authority vouches"), "{unknown}");
    let other = format!("{url}#sha256={}", "0a".repeat(32));
    let refused = electrum_client(&[&other]).network().unwrap_err().to_string();
    assert!(refused.contains(pin) && refused.contains(&"0a".repeat(32)), "{refused}");
    let mut pinned = electrum_client(&[&format!("{url}#sha256={pin}")]);
    assert_eq!(pinned.network().unwrap(), "regtest");
    assert!(pinned.head().unwrap().block.height > 200);
    let remarks = pinned.operator_remarks().join("; ");
    assert!(remarks.contains(&format!("certificate sha256={pin}")), "{remarks}");
    assert!(remarks.contains("ElectrumX"), "{remarks}");
    // Without a configured certificate, Coffer trusts the certificate authorities of the operating system.
    let till = TestnetShop::with_utxo_chain("litecoin", &url);
    for (authority, is_trusted) in [(&ca, true), (&certificate, false)] {
        let said = till.run_coffer_with_env(&doctor_args(&till), &[("SSL_CERT_FILE", authority)]);
        assert_eq!(said.contains("ok: node of litecoin"), is_trusted, "{said}");
        assert_eq!(said.contains("no authority vouches"), !is_trusted, "{said}");
        assert!(said.contains(pin), "{said}");
    }
}
