"""The page of settings: what it accepts, tests and never shows."""

import json
import re
from pathlib import Path
from typing import Callable, Optional

from world import SECRET, Shop, Visitor, has, lacks, same

# The last one is in Coffer's sandbox only.
SECRETS = [SECRET, "sk_test_mistaken_000"]


def is_write_only(shop: Shop) -> None:
    has(shop.settings(), 'placeholder="not set"')
    shop.connect()
    page = shop.settings()
    has(page, 'placeholder="set. Enter another one to replace it"')
    options = shop.admin.get(f"{shop.url}/wp-admin/options.php").text
    stored = shop.admin.call("POST", f"{shop.url}/?rest_route=/stand-in/options", b"{}", {"Content-Type": "application/json"})
    export = shop.admin.get(f"{shop.url}/wp-admin/export.php?download=true").text
    same(stored.json["settings"]["url"], shop.coffer.url, "address")
    same(stored.json["features"], {"custom_order_tables": True, "cart_checkout_blocks": False}, "features")
    for secret in [*shop.coffer.keys.values(), *SECRETS]:
        for text in [page, options, stored.text, export]:
            lacks(text, secret)
    # Saving without them keeps them.
    shop.save(title="Coins")
    has(shop.settings(), 'placeholder="set. Enter another one to replace it"')
    has(call_test(shop), "Live mode. Shop:")
    shop.save(title="")


def call_test(shop: Shop, visitor: Optional[Visitor] = None) -> str:
    found = re.search(r'data-call="([^"]+)"', shop.settings())
    assert found, "the page has no button"
    call = found[1].replace("&#038;", "&").replace("&amp;", "&")
    return (visitor or shop.admin).call("POST", shop.url + call, b"").text


def tests_the_connection(shop: Shop) -> None:
    answer = json.loads(call_test(shop))
    assert answer["success"], answer
    same(answer["data"], "Live mode. Shop: Sandbox Shop.", "answer")
    shop.connect(live=False)
    has(call_test(shop), "Test mode: no real money. Shop:")
    shop.save(key="sk_test_mistaken_000")
    has(call_test(shop), "Coffer refused the key")
    shop.connect()
    # Other users may not.
    reader = Visitor()
    shop.sign_in(reader, "reader")
    for visitor in [reader, Visitor()]:
        lacks(call_test(shop, visitor), "mode")
    ajax = f"{shop.url}/wp-admin/admin-ajax.php?action="
    nonce = reader.get(f"{ajax}stand_in_nonce&of=coffer_test_connection").json["data"]
    same(reader.post(f"{ajax}coffer_test_connection&nonce={nonce}", {}).status, 403, "status without the capability")
    forged = shop.admin.post(f"{shop.url}/wp-admin/admin-ajax.php", {"action": "coffer_test_connection", "nonce": "0"})
    same(forged.status, 403, "status without a nonce")


def sends_no_key_to_another_address(shop: Shop) -> None:
    shop.save(url="http://127.0.0.1:1")
    has(shop.settings(), 'placeholder="not set"')
    _, answer = shop.checkout()
    same(answer["result"], "failure")
    shop.connect()
    for wrong in ["http://pay.example.com", "javascript:alert(1)", "https://a@b.example.com", "https://pay.example.com/?x"]:
        has(shop.save(url=wrong), "must begin with https://")
    has(shop.save(key="pk_live_public"), "must begin with sk_test_ or sk_live_")
    has(call_test(shop), "Live mode. Shop:")


def speaks_twelve_languages(shop: Shop) -> None:
    order, _ = shop.begin()
    seen = set()
    locales = ["en_US", "de_DE", "es_ES", "fr_FR", "it_IT", "pt_PT", "nl_NL", "pl_PL", "tr_TR", "ja", "zh_CN", "ar"]
    for locale in locales:
        set_option(shop, WPLANG=locale)
        seen.add(shop.told(order).split("</p>")[0].split("<p")[1])
        seen.add(shop.customer.get(shop.pay_url(order)).text.split("</label>")[0].split("<label>")[1])
    set_option(shop, WPLANG="de_AT")
    has(shop.told(order), "Ihre Zahlung wurde noch nicht gesehen")
    has(shop.customer.get(shop.pay_url(order)).text, "Kryptowährung")
    set_option(shop, WPLANG="sv_SE")
    has(shop.told(order), "Your payment was not seen yet")
    set_option(shop, WPLANG="")
    same(len(seen), 2 * len(locales), "different texts")
    # Each file has all texts of the program, and no other.
    package = Path(__file__).parent.parent
    program = "".join(file.read_text() for file in package.glob("src/*.php"))
    wanted = sorted(set(re.findall(r"__\(\s*'([^'\\]+)',\s*'coffer-woocommerce'", program)))
    same((len(wanted), program.count("__(")), (15, 15), "texts")
    for file in package.glob("languages/*.po"):
        same(sorted(re.findall(r'^msgid "(.+)"$', file.read_text(), re.M)), wanted, file.name)


def is_offered_for_its_currencies(shop: Shop) -> None:
    set_option(shop, woocommerce_currency="GBP")
    _, answer = shop.checkout()
    same(answer["result"], "failure")
    set_option(shop, woocommerce_currency="USD")
    _, invoice = shop.begin("5.1")
    same((invoice["amount"], invoice["currency"]), ("5.10", "USD"), "price")
    set_option(shop, woocommerce_currency="EUR")


def set_option(shop: Shop, **options: str) -> None:
    body = json.dumps(options).encode()
    answer = shop.admin.call("POST", f"{shop.url}/?rest_route=/stand-in/options", body, {"Content-Type": "application/json"})
    same(answer.status, 200, "status")


STORIES: list[Callable[[Shop], None]] = [
    is_write_only,
    tests_the_connection,
    sends_no_key_to_another_address,
    speaks_twelve_languages,
    is_offered_for_its_currencies,
]
