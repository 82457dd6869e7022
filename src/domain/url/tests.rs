//! Tests of unusual spellings of a URL, an origin or a host.

use super::{Authority, Host, NEVER_AN_APP, SiteOrAppUrl, SiteUrl, UrlProblem};

fn is_site_url(text: &str) -> bool {
    SiteUrl::parse(text).is_ok()
}

fn is_site_or_app_url(text: &str) -> bool {
    SiteOrAppUrl::parse(text).is_some()
}

fn url_problem(text: &str) -> Option<UrlProblem> {
    SiteUrl::parse(text).err()
}

#[test]
fn scheme_is_http_or_https_in_upper_or_lower_case() {
    for url in ["https://shop.example", "HTTPS://Shop.example/a?b#c", "hTTp://127.0.0.1:8080/"] {
        assert!(is_site_url(url) && is_site_or_app_url(url), "{url}");
    }
    for url in [
        "https:shop.example",
        "https:/shop.example",
        "https:///shop",
        "HTTPS://",
        "https://?",
        "http://:80",
        "//shop.example",
        "ſhttps://shop.example",
        "httpſ://shop.example",
        "https://sh\u{f6}p.example",
    ] {
        assert!(!is_site_url(url) && !is_site_or_app_url(url), "{url}");
    }
}

#[test]
fn app_url_has_its_own_scheme() {
    for url in [
        "myshop://paid",
        "MyShop://",
        "com.shop.app:///thanks?id=1#x",
        "a1+b-c.d://x",
        "javascripts://x",
        "x-data://x",
    ] {
        assert!(is_site_or_app_url(url) && !is_site_url(url), "{url}");
    }
    for url in [
        "myshop:paid",
        "myshop:/paid",
        "://paid",
        "1shop://paid",
        "my_shop://paid",
        "my shop://paid",
        "myshop://pa id",
        "myshop://pa\"id",
        "myshop://pa<id",
        "myshop://pa\\id",
        "",
    ] {
        assert!(!is_site_or_app_url(url), "{url}");
    }
}

#[test]
fn disguised_script_is_never_an_app_url() {
    for never in NEVER_AN_APP {
        let (first, rest) = never.split_at(1);
        let upper = never.to_ascii_uppercase();
        for url in [
            format!("{never}:x"),
            format!("{never}://x"),
            format!("{upper}://x"),
            format!("{}{rest}://%0aalert(1)", first.to_ascii_uppercase()),
            format!("{first}\t{rest}://x"),
            format!("{first}\n{rest}://x"),
            format!("{first}\r{rest}://x"),
            format!("{first}\0{rest}://x"),
            format!("{first}\u{200b}{rest}://x"),
            format!("{first}%09{rest}://x"),
            format!(" {never}://x"),
            format!("\u{1}{never}://x"),
            format!("{never} ://x"),
            format!("{never}:\t//x"),
            format!("{never}:x://x"),
            format!("feed:{never}://x"),
            format!("view-source:{never}://x"),
            format!("&#106;{rest}://x"),
            format!("{never}&colon;//x"),
        ] {
            assert!(!is_site_or_app_url(&url), "{url:?}");
        }
    }
}

/// Unusual hosts and ports, each with the problem of the URL.
const ODD: &[(&str, UrlProblem)] = &[
    ("user@shop.example", UrlProblem::Credentials),
    ("user:pass@shop.example", UrlProblem::Credentials),
    ("@shop.example", UrlProblem::Credentials),
    ("shop.example@10.0.0.1", UrlProblem::Credentials),
    ("shop.example\\@10.0.0.1", UrlProblem::Shape),
    ("shop.example\\", UrlProblem::Shape),
    ("shop.ex\tample", UrlProblem::NotPlain),
    ("shop.ex\nample", UrlProblem::NotPlain),
    ("shop.ex\rample", UrlProblem::NotPlain),
    ("shop.ex\0ample", UrlProblem::NotPlain),
    ("shop.ex ample", UrlProblem::NotPlain),
    ("sh\u{f6}p.example", UrlProblem::NotPlain),
    ("\u{ff11}27.0.0.1", UrlProblem::NotPlain),
    ("shop\u{3002}example", UrlProblem::NotPlain),
    ("", UrlProblem::Shape),
    ("[::1", UrlProblem::Shape),
    ("[::1]x", UrlProblem::Host),
    ("[fe80::1%25eth0]", UrlProblem::Host),
    ("[fe80::1%eth0]", UrlProblem::Host),
    ("[127.0.0.1]", UrlProblem::Host),
    ("[shop.example]", UrlProblem::Host),
    ("[]", UrlProblem::Host),
    ("[[::1]]", UrlProblem::Host),
    ("::1", UrlProblem::Host),
    (":80", UrlProblem::Host),
    (".", UrlProblem::Host),
    ("..", UrlProblem::Host),
    ("shop..example", UrlProblem::Host),
    (".shop.example", UrlProblem::Host),
    ("shop.example..", UrlProblem::Host),
    ("%31%32%37.0.0.1", UrlProblem::Host),
    ("shop%2eexample", UrlProblem::Host),
    ("*.shop.example", UrlProblem::Host),
    ("shop;example", UrlProblem::Host),
    ("shop,example", UrlProblem::Host),
    ("2130706433", UrlProblem::Host),
    ("0x7f.1", UrlProblem::Host),
    ("0X7F.1", UrlProblem::Host),
    ("127.1", UrlProblem::Host),
    ("0177.0.0.1", UrlProblem::Host),
    ("256.0.0.1", UrlProblem::Host),
    ("1.2.3.4.5", UrlProblem::Host),
    ("shop.example:", UrlProblem::Port),
    ("shop.example:0", UrlProblem::Port),
    ("shop.example:00", UrlProblem::Port),
    ("shop.example:65536", UrlProblem::Port),
    ("shop.example:99999999999999999999", UrlProblem::Port),
    ("shop.example:+80", UrlProblem::Port),
    ("shop.example:-1", UrlProblem::Port),
    ("shop.example:8x", UrlProblem::Port),
    ("shop.example:80:80", UrlProblem::Port),
    ("[::1]:0", UrlProblem::Port),
];

#[test]
fn unusual_host_is_refused_or_unambiguous() {
    let long = format!("{}a", "a.".repeat(127));
    for (authority, fault) in ODD.iter().copied().chain([(long.as_str(), UrlProblem::Host)]) {
        for end in ["", "/", "/a", "?b", "#c"] {
            let url = format!("https://{authority}{end}");
            assert_eq!(url_problem(&url), Some(fault), "{url:?}");
            assert!(!is_site_or_app_url(&url), "{url:?}");
        }
    }
    for url in ["https:/x", "//x", "https:x", "/x", "x", "", "://x", "https//x"] {
        assert_eq!(url_problem(url), Some(UrlProblem::Shape), "{url}");
    }
    for url in ["ftp://x", "javascript://x", "httpss://x", "myshop://x"] {
        assert_eq!(url_problem(url), Some(UrlProblem::Scheme), "{url}");
    }
    let path = format!("https://shop.example/{}", "a".repeat(1_000_000));
    assert!(is_site_url(&path), "how long a field may be, the field says");
}

#[test]
fn origin_matches_what_browsers_send() {
    for (url, origin) in [
        ("https://Shop.example/hook?x=1", "https://shop.example"),
        ("HTTPS://shop.example:443#f", "https://shop.example"),
        ("https://shop.example:80", "https://shop.example:80"),
        ("http://127.0.0.1:80#f", "http://127.0.0.1"),
        ("http://localhost:03000/", "http://localhost:3000"),
        ("https://[::1]:8443/a/b", "https://[::1]:8443"),
        ("https://shop.example./a", "https://shop.example."),
        ("https://my_shop.example?a@b:c", "https://my_shop.example"),
    ] {
        let site = SiteUrl::parse(url);
        assert_eq!(site.map(|site| site.origin()), Ok(origin.to_owned()));
        let again = SiteUrl::parse(origin);
        assert!(site.is_ok_and(|site| again.is_ok_and(|again| site.is_same_origin(&again))));
    }
    let same = |one: &str, other: &str| {
        SiteUrl::parse(one)
            .is_ok_and(|one| SiteUrl::parse(other).is_ok_and(|two| one.is_same_origin(&two)))
    };
    assert!(same("https://a.example.", "https://A.example:443/x"));
    assert!(!same("https://a.example", "http://a.example"));
    assert!(!same("https://a.example", "https://a.example:80"));
    assert!(!same("https://a.example", "https://a.example.evil"));
    assert!(!same("http://127.0.0.1", "http://localhost"));
}

#[test]
fn host_header_is_compared_with_the_origin() {
    let is_at = |url: &str, header: &str| {
        SiteUrl::parse(url).is_ok_and(|site| site.matches_host_header(header))
    };
    for (url, header) in [
        ("https://pay.example", "Pay.Example"),
        ("https://pay.example", "pay.example:443"),
        ("https://pay.example", "pay.example:"),
        ("http://localhost:8080", "localhost:8080"),
        ("http://[::1]:8080", "[::1]:8080"),
    ] {
        assert!(is_at(url, header), "{url} {header}");
    }
    for (url, header) in [
        ("http://localhost:8080", "localhost"),
        ("http://localhost:8080", "localhost:8081"),
        ("http://pay.example", "pay.example:443"),
        ("https://pay.example", "evil@pay.example"),
        ("https://pay.example", "pay.example::"),
        ("https://pay.example", ""),
    ] {
        assert!(!is_at(url, header), "{url} {header}");
    }
    let at = Authority::parse("[::ffff:7f00:1]:65535");
    assert!(at.is_ok_and(|at| at.port == Some(65_535) && matches!(at.host, Host::Address(_))));
}
