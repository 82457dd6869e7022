//! Tests of host names and orders that are accepted or refused.

use super::{ServerLimits, ServerOrder, check_hostname};
use serde_json::{Value, json};

#[test]
fn hostname_follows_rfc_1123() {
    let (label, long) = ("x".repeat(63), "x".repeat(64));
    let longest = [label.as_str(), &label, &label, &label[..61]].join(".");
    assert_eq!(longest.len(), 253);
    for good in [
        "a",
        "web-1",
        "web-1.example.com",
        "3com.example",
        "WEB.Example",
        "xn--bcher-kva.example",
        "1.2.3.4.example",
        "a--b",
        "42",
        &label,
        &longest,
    ] {
        assert_eq!(check_hostname(good), Ok(()), "{good}");
    }
    let too_long = format!("{longest}x");
    for bad in [
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "-a",
        "a-",
        "a.-b",
        "a-.b",
        "a_b",
        "a b",
        "a\n",
        "bücher",
        "10.0.0.1",
        "a/b",
        "$(reboot)",
        &long,
        &too_long,
    ] {
        assert!(check_hostname(bad).is_err(), "{bad}");
    }
}

#[test]
fn refused_order_names_its_first_wrong_field() {
    let limits = ServerLimits::default();
    let whole =
        json!({ "type": "kvm", "hostname": "Web-1", "cpu": 2, "ramMb": 2048, "diskGb": 40 });
    let with = |name: &str, value: Value| {
        let mut body = whole.as_object().cloned().unwrap_or_default();
        body.insert(name.to_owned(), value);
        body
    };
    let order = ServerOrder::parse(&with("cpu", json!(32)), limits);
    let order = order.map(|order| (order.hostname, order.cpu));
    assert_eq!(order, Ok(("Web-1".to_owned(), 32)));
    for (name, wrong) in [
        ("type", json!("lxc")),
        ("type", json!("KVM")),
        ("type", json!(null)),
        ("hostname", json!("-")),
        ("hostname", json!(null)),
        ("hostname", json!(7)),
        ("cpu", json!(0)),
        ("cpu", json!(33)),
        ("cpu", json!(1.5)),
        ("cpu", json!("2")),
        ("cpu", json!(null)),
        ("ramMb", json!(255)),
        ("ramMb", json!(131_073)),
        ("diskGb", json!(0)),
        ("diskGb", json!(2_049)),
        ("diskGb", json!(-1)),
        ("image", json!("debian")),
    ] {
        let refusal = ServerOrder::parse(&with(name, wrong.clone()), limits).err();
        let param = refusal.and_then(|refusal| refusal.param);
        assert_eq!(param.as_deref(), Some(name), "{wrong}");
    }
}
