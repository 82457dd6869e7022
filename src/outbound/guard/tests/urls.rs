//! Tests the guard with valid and malformed urls.

use super::guard;

#[test]
fn valid_url_is_accepted() {
    let production = guard(false, &[]);
    for url in [
        "https://shop.example/webhooks",
        "HTTPS://Shop.Example/webhooks",
        "https://shop.example",
        "https://shop.example.:8443/a?b=c&d=%20e",
        "https://shop.example/hook#not-sent",
        "https://my_shop.example/",
        "https://xn--bcher-kva.example/",
        "https://8.8.8.8:65535/",
        "https://[2606:4700:4700::1111]:443/",
    ] {
        assert_eq!(production.check_url(url), Ok(()), "{url}");
    }
}

#[test]
fn malformed_url_is_rejected_with_the_valid_form() {
    let every = [guard(false, &[]), guard(true, &[]), guard(false, &["0.0.0.0/0", "::/0"])];
    for (url, text) in [
        ("", "must be like https://shop.example/webhooks"),
        ("/webhooks", "must be like"),
        ("shop.example", "must be like"),
        ("shop.example/webhooks", "must be like"),
        ("https:", "must be like"),
        ("https://", "must be like"),
        ("https:///webhooks", "must be like"),
        ("https://shop.example\\@10.0.0.1/", "must be like"),
        ("https://[::1/", "must be like"),
        ("https://[fe80::1%25eth0]/", "must name a host"),
        ("javascript:alert(1)", "must be like"),
        ("ftp://shop.example/", "must start with https://"),
        ("file:///etc/passwd", "must start with https://"),
        ("unix://shop.example/", "must start with https://"),
        ("https://user:pass@shop.example/", "must not carry a user name or password"),
        ("https://user@10.0.0.1/", "must not carry a user name or password"),
        ("https://shop.example@10.0.0.1/", "must not carry a user name or password"),
        ("https://shop.example/a b", "without spaces"),
        (" https://shop.example/", "without spaces"),
        ("https://shop.example/\r\nX-Evil:1", "without spaces"),
        ("https://shop.example/\u{0}", "without spaces"),
        ("https://shop.example/\u{7f}", "without spaces"),
        ("https://b\u{fc}cher.example/", "punycode"),
        ("https://\u{ff11}\u{ff12}\u{ff17}.0.0.1/", "punycode"),
        ("https://:443/", "must name a host"),
        ("https://*.shop.example/", "must name a host"),
        ("https://%31%32%37.0.0.1/", "must name a host"),
        // The system resolver reads the next three hosts as 127.0.0.1.
        ("https://2130706433/", "must name a host"),
        ("https://0x7f.1/", "must name a host"),
        ("https://127.1/", "must name a host"),
        ("https://[shop.example]/", "must name a host"),
        ("https://[127.0.0.1]/", "must name a host"),
        ("https://shop.example:0/", "number from 1 to 65535"),
        ("https://shop.example:/", "number from 1 to 65535"),
        ("https://shop.example:65536/", "number from 1 to 65535"),
        ("https://shop.example:x/", "number from 1 to 65535"),
    ] {
        for guard in &every {
            let error = guard.check_url(url).unwrap_err();
            assert!(error.contains(text), "{url:?}: {error}");
        }
    }
}

#[test]
fn address_in_a_url_is_checked_without_lookup() {
    let production = guard(false, &[]);
    for host in [
        "10.0.0.1",
        "10.0.0.1.",
        "127.0.0.1:8080",
        "localhost",
        "LocalHost.",
        "0.0.0.0",
        "169.254.169.254",
        "[::1]",
        "[::]",
        "[::ffff:7f00:1]",
        "[::ffff:10.0.0.1]:443",
        "[64:ff9b::a00:1]",
        "[fd00:ec2::254]",
    ] {
        let error = production.check_url(&format!("https://{host}/")).unwrap_err();
        assert!(error.contains("is not a public address"), "{host}: {error}");
        let error = production.check_url(&format!("http://{host}/")).unwrap_err();
        assert!(error.starts_with("The url must start with https://."), "{host}: {error}");
    }
}

#[test]
fn http_requires_the_sandbox_or_an_allowed_range() {
    let production = guard(false, &[]);
    for url in ["http://shop.example/", "http://8.8.8.8/", "http://localhost/", "http://10.0.0.1/"]
    {
        let error = production.check_url(url).unwrap_err();
        assert!(error.starts_with("The url must start with https://."), "{url}: {error}");
    }

    let sandbox = guard(true, &[]);
    for url in [
        "http://localhost:3000/",
        "http://127.0.0.1:3000/",
        "http://[::1]:3000/",
        "https://localhost/",
    ] {
        assert_eq!(sandbox.check_url(url), Ok(()), "{url}");
    }
    for url in [
        "http://shop.example/",
        "http://8.8.8.8/",
        "http://10.0.0.1/",
        "http://localhost.shop.example/",
    ] {
        let error = sandbox.check_url(url).unwrap_err();
        assert!(error.contains("http:// may go to localhost"), "{url}: {error}");
    }

    let opened = guard(false, &["10.0.0.0/8"]);
    for url in [
        "http://shop.lan/",
        "http://10.0.0.1:3000/",
        "http://[::ffff:10.0.0.1]/",
        "https://10.0.0.1/",
    ] {
        assert_eq!(opened.check_url(url), Ok(()), "{url}");
    }
    for url in ["http://8.8.8.8/", "http://192.168.0.1/", "http://localhost/"] {
        let error = opened.check_url(url).unwrap_err();
        assert!(error.contains("that the operator has opened"), "{url}: {error}");
    }
}

#[test]
fn refused_http_url_names_the_setting_and_what_to_type() {
    for (guard, command) in
        [(guard(true, &[]), "coffer sandbox"), (guard(false, &["10.0.0.0/8"]), "coffer serve")]
    {
        for (url, range) in [
            ("http://192.168.7.2:8000/h", "--webhook-allow 192.168.7.2"),
            ("https://[fd00::7]/h", "--webhook-allow fd00::7"),
            ("https://192.168.7.2/h", "--webhook-allow 192.168.7.2"),
        ] {
            let error = guard.check_url(url).unwrap_err();
            assert!(error.contains(&format!("{command} {range}")), "{url}: {error}");
        }
        // A public address needs https, and one of the machine or its provider is not to be opened.
        for url in [
            "http://8.8.8.8/h",
            "http://169.254.169.254/h",
            "http://[fe80::1]/h",
            "http://[fd00:ec2::254]/h",
        ] {
            let error = guard.check_url(url).unwrap_err();
            assert!(!error.contains("--webhook-allow"), "{url}: {error}");
        }
    }
    for url in ["http://web:8000/h", "http://WEB/", "http://web.internal/h"] {
        let error = guard(true, &[]).check_url(url).unwrap_err();
        assert!(error.contains("coffer sandbox --webhook-allow "), "{url}: {error}");
        assert!(error.contains(url.split([':', '/']).nth(3).unwrap()), "{url}: {error}");
    }
    let error = guard(false, &[]).check_url("http://web:8000/h").unwrap_err();
    assert!(error.contains("coffer serve --webhook-allow "), "{error}");
    let error = guard(false, &[]).check_url("http://shop.example/h").unwrap_err();
    assert!(!error.contains("--webhook-allow"), "{error}");
}
