#!/usr/bin/env python3
"""Derives Solana addresses for Coffer's pool. Copy it, read it, and run it on your own machine without a network.

    solana-addresses.py [--count 1000] [--from 0] [--passphrase] >pool.txt

It reads a BIP-39 phrase from the terminal without echo, or one line from standard input. It prints one address a line,
at m/44'/501'/i'/0' (SLIP-0010, ed25519), as Phantom, Solflare and `solana-keygen` derive them. The phrase and the keys
are neither printed nor written anywhere. Then run, on the machine with Coffer: `coffer pool import solana pool.txt`.

It needs Python 3 and slip10 (`pip install slip10==1.1.0`), which does all cryptography. With the package mnemonic
(`pip install mnemonic==0.21`) it checks the words of the phrase and their checksum, too. Without it, it says that it did not.

Compare the first addresses with your wallet: a wrong word results in a different wallet.
"""

import argparse
import getpass
import hashlib
import sys
import unicodedata

from slip10 import SLIP10

try:
    from mnemonic import Mnemonic
except ImportError:
    Mnemonic = None

LENGTHS = (12, 15, 18, 21, 24)
# Highest index of a hardened key.
INDEX_MAX = 2**31 - 1
DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
# First address of the well-known test phrase, as Phantom shows it.
KNOWN = ("abandon " * 11 + "about", "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk")


def normal(text):
    return unicodedata.normalize("NFKD", text)


def root_of(phrase, passphrase):
    salt = b"mnemonic" + normal(passphrase).encode()
    seed = hashlib.pbkdf2_hmac("sha512", normal(phrase).encode(), salt, 2048)
    return SLIP10.from_seed(seed, curve_name="ed25519")


def address(root, index):
    # Public keys of this curve have a leading zero byte.
    key = root.get_pubkey_from_path(f"m/44'/501'/{index}'/0'")[-32:]
    number, text = int.from_bytes(key, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = DIGITS[digit] + text
    zeros = len(key) - len(key.lstrip(b"\0"))
    return DIGITS[0] * zeros + text


def read_phrase():
    if sys.stdin.isatty():
        text = getpass.getpass("phrase: ")
    else:
        text = sys.stdin.readline()
    words = text.split()
    if len(words) not in LENGTHS:
        sys.exit(f"a phrase has {', '.join(map(str, LENGTHS))} words; this one has {len(words)}")
    phrase = " ".join(words)
    if Mnemonic is None:
        print("not checked: the words and their checksum; the package mnemonic is not installed", file=sys.stderr)
    elif not Mnemonic("english").check(phrase):
        sys.exit("a word of the phrase is wrong or in another place: its checksum does not fit")
    return phrase


def read_arguments():
    parser = argparse.ArgumentParser(description="Prints addresses of Solana, one a line.")
    parser.add_argument("--count", type=int, default=1000, help="how many; 1000 if not given")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first index; 0 if not given")
    parser.add_argument("--passphrase", action="store_true", help="ask for the passphrase of the phrase, too")
    arguments = parser.parse_args()
    if arguments.count < 1 or arguments.first < 0 or arguments.first + arguments.count - 1 > INDEX_MAX:
        parser.error(f"indexes go from 0 to {INDEX_MAX}")
    return arguments


def main():
    arguments = read_arguments()
    phrase, expected = KNOWN
    if address(root_of(phrase, ""), 0) != expected:
        sys.exit("this slip10 derives other addresses than wallets do: install slip10==1.1.0")
    phrase = read_phrase()
    passphrase = ""
    if arguments.passphrase:
        passphrase = getpass.getpass("passphrase: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    root = root_of(phrase, passphrase)
    for index in range(arguments.first, arguments.first + arguments.count):
        print(address(root, index))


if __name__ == "__main__":
    main()
