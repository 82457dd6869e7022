#!/usr/bin/env python3
"""A signer for Ethereum: `coffer serve` runs it for every approved payout and refund. Copy it and read it first.

    signer-ethereum.py SETTINGS

It reads the order from standard input, signs one transaction, sends it to a node and answers. It needs
Python 3 and eth-account (`pip install eth-account`), which does all cryptography.

Invariants:
- the signed transaction is stored on the disk, under the order's id, before it is sent. A repeated order sends the same
  transaction again, which a chain accepts once. So no payment is made twice;
- the answer `{"sent": false, "reason"}` means that nothing was signed and that this order will never be signed;
- the answer `{"sent": false, "retry": true, "reason"}` means that nothing was signed and that the cause may be temporary:
  the node cannot be reached, fees are high, funds are low, or the node does not know an earlier transaction of this
  signer. Nothing is recorded, and Coffer sends the same order again;
- the limits of the settings apply to every order;
- every other failure has exit code 1 and needs a person.

SETTINGS is a JSON file that only the user of Coffer may read (mode 0600):

    {
      "rpc": "https://a.node.of.yours",     the node; what its address holds is a secret too
      "chainId": 1,
      "address": "0x...",                   who pays, and whose key this must be
      "key": "0x...",
      "records": "/var/lib/coffer/signer",  a folder that is there, mode 0700: in your backups, and never emptied
      "maxFeePerGasGwei": 100,              above this nothing is sent
      "limits": {                           most of each coin in one transfer, and in any 24 hours
        "ETH": {"transfer": "0.5", "day": "2"},
        "USDC-ERC20": {"transfer": "1000", "day": "3000"}
      },
      "tokens": {
        "USDT-ERC20": "0xdAC17F958D2ee523a2206206994597C13D831ec7",
        "USDC-ERC20": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
      }
    }
"""

import fcntl
import json
import os
import re
import stat
import sys
import time
import urllib.request
from decimal import Decimal
from pathlib import Path

from eth_account import Account
from eth_utils import is_checksum_address, to_checksum_address

CHAIN = "ethereum"
NATIVE = "ETH"
NATIVE_DECIMALS = 18
GWEI = 10**9
# Timeout of one request to the node. There are about ten, and Coffer waits five minutes in total.
SECONDS_MAX = 15
DAY_SECONDS = 24 * 60 * 60
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


class NotSent(Exception):
    """Nothing was signed, and nothing will be. The merchant sees the reason: it contains no secrets."""


class Retry(Exception):
    """Nothing was signed, and the order may be sent again. The reason contains no secrets."""


class Unknown(Exception):
    """It is unknown whether the transaction was sent."""


class NodeRefused(Exception):
    """An error response of the node."""


class NodeUnreachable(Exception):
    """The node did not respond, or not with JSON."""


def is_address(text):
    """Returns True for an address whose checksum, if it has one, is right."""
    one_case = text[2:] in (text[2:].lower(), text[2:].upper())
    return ADDRESS.fullmatch(text) is not None and (one_case or is_checksum_address(text))


def read_settings(path):
    """Reads the settings. Fails if other users may read the file."""
    with open(path, encoding="utf-8") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_mode & 0o077 or about.st_uid != os.geteuid():
            raise Unknown(f"{path} must be a file of the user that runs this, of mode 0600")
        settings = json.load(file)
    if not re.match("https?://", settings["rpc"]):
        raise Unknown("rpc must begin with http:// or https://")
    return settings


class Node:
    """Client of an Ethereum node over JSON-RPC."""

    def __init__(self, url):
        self.url = url

    def ask(self, method, *params):
        """Returns the result. Raises NodeRefused for an error of the node, NodeUnreachable if it does not respond."""
        question = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {"Content-Type": "application/json", "User-Agent": "coffer-signer"}
        request = urllib.request.Request(self.url, json.dumps(question).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS_MAX) as answer:
                answer = json.load(answer)
            if "error" not in answer:
                return answer["result"]
            message = str(answer["error"]["message"])[:200]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NodeUnreachable(f"{type(error).__name__}: {error}") from error
        raise NodeRefused(message)

    def number(self, method, *params):
        """Returns the result of a call as a number."""
        return int(self.ask(method, *params), 16)

    def knows(self, txid):
        """Returns True if the node has this transaction, mined or pending."""
        found = self.ask("eth_getTransactionByHash", txid)
        return found is not None and found["hash"] == txid


class Records:
    """Records of orders, one file each, which is never changed."""

    def __init__(self, folder):
        self.folder = Path(folder)
        # Held until this process exits: one order at a time, so that no two use the same nonce.
        self.lock = open(self.folder / "lock", "a", encoding="utf-8")
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def find(self, order_id):
        """Returns the record of an order."""
        path = self.folder / f"{order_id}.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def add(self, order_id, record):
        """Writes a record and syncs it to the disk."""
        new = self.folder / "new"
        with open(new, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.link(new, self.folder / f"{order_id}.json")
        os.unlink(new)
        folder = os.open(self.folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def each(self):
        """Yields each record with the time of its file."""
        for path in self.folder.glob("*.json"):
            record = json.loads(path.read_text(encoding="utf-8"))
            yield record, path.stat().st_mtime

    def signed_since(self, since, asset):
        """Returns the sum of a coin signed since this time, in coins."""
        amounts = (
            Decimal(record["order"]["amount"])
            for record, at in self.each()
            if "raw" in record and record["order"]["asset"] == asset and at > since
        )
        return sum(amounts, Decimal(0))

    def with_nonce_from(self, nonce, chain_id, sender):
        """Yields the records whose transactions have this nonce or a higher one."""
        for record, _ in self.each():
            is_ours = record.get("chainId") == chain_id and record.get("from") == sender
            if is_ours and record["nonce"] >= nonce:
                yield record


def word(number):
    """Encodes a parameter of a contract call as 32 bytes in hexadecimal."""
    return f"{number:064x}"


def what_is_paid(order, settings, node, sender):
    """Returns `to`, `value` and `data` of the transaction, after checking that the sender can pay it."""
    if order["chain"] != CHAIN:
        raise NotSent(f"this signer sends on {CHAIN} only")
    to, amount = order["toAddress"], int(order["amountBaseUnits"])
    if not is_address(to) or amount <= 0:
        raise NotSent("the order's address or amount is not right")
    if order["asset"] == NATIVE:
        paid, decimals = {"to": to_checksum_address(to), "value": amount, "data": "0x"}, NATIVE_DECIMALS
        has = node.number("eth_getBalance", sender, "latest")
    else:
        token = settings.get("tokens", {}).get(order["asset"])
        if token is None or not is_address(token):
            raise NotSent(f"this signer is not told which contract {order['asset']} is")

        def call(data):
            return node.ask("eth_call", {"from": sender, "to": token, "data": data}, "latest")

        # decimals(), balanceOf(address), transfer(address, uint256)
        decimals = int(call("0x313ce567"), 16)
        has = int(call("0x70a08231" + word(int(sender, 16))), 16)
        data = "0xa9059cbb" + word(int(to, 16)) + word(amount)
        paid = {"to": to_checksum_address(token), "value": 0, "data": data}
    if Decimal(order["amount"]).scaleb(decimals) != amount:
        raise NotSent(f"{order['amount']} {order['asset']} is not {amount} of its base units")
    if has < amount:
        raise Retry(f"there is not enough {order['asset']} to pay from")
    # Some tokens return false if they do not pay, and others return nothing if they do.
    if paid["value"] == 0 and (said := call(paid["data"])) != "0x" and int(said, 16) != 1:
        raise NotSent(f"the contract of {order['asset']} refuses to pay")
    return paid


def fees(settings, node):
    """Returns the fees per gas: the base fee may double, within the limit of the settings."""
    most = int(Decimal(settings["maxFeePerGasGwei"]) * GWEI)
    base = int(node.ask("eth_getBlockByNumber", "latest", False)["baseFeePerGas"], 16)
    tip = node.number("eth_maxPriorityFeePerGas")
    if base + tip > most:
        raise Retry("the chain's fees are above the limit of this signer")
    return {"maxFeePerGas": min(2 * base + tip, most), "maxPriorityFeePerGas": tip}


def transaction(order, settings, node, records, sender):
    """Returns the unsigned transaction of an order."""
    chain_id = node.number("eth_chainId")
    if chain_id != settings["chainId"]:
        raise NotSent("the node is of another chain than the settings")
    nonce = node.number("eth_getTransactionCount", sender, "pending")
    for earlier in records.with_nonce_from(nonce, chain_id, sender):
        if not node.knows(earlier["txid"]):
            # This transaction would replace one that may have been sent.
            print(f"the node does not know {earlier['txid']}, of the order {earlier['order']['id']}", file=sys.stderr)
            raise Retry("the node does not know an earlier transaction of this signer: a person has to look at that one")
        nonce = max(nonce, earlier["nonce"] + 1)
    paid = what_is_paid(order, settings, node, sender)
    offered = fees(settings, node)
    asked = {"from": sender, "to": paid["to"], "value": hex(paid["value"]), "data": paid["data"]}
    gas = node.number("eth_estimateGas", asked) * 5 // 4
    if node.number("eth_getBalance", sender, "latest") < paid["value"] + gas * offered["maxFeePerGas"]:
        raise Retry("there is not enough ETH to pay the network fee from")
    return {"type": 2, "chainId": chain_id, "nonce": nonce, "gas": gas, **paid, **offered}


def check_limits(order, settings, records):
    """Rejects an order above the limits of its coin, or of a coin without limits."""
    asset, amount = order["asset"], Decimal(order["amount"])
    limits = settings.get("limits", {}).get(asset)
    if limits is None:
        raise NotSent(f"this signer has no limits for {asset}, so it sends none")
    if amount > Decimal(limits["transfer"]):
        raise NotSent(f"{amount} {asset} is above this signer's limit for one transfer, {limits['transfer']}")
    signed = records.signed_since(time.time() - DAY_SECONDS, asset)
    if signed + amount > Decimal(limits["day"]):
        raise NotSent(f"{amount} {asset} more would pass this signer's limit for 24 hours, {limits['day']}")


def sign(order, settings, node, records):
    """Signs a new order and returns its record."""
    check_limits(order, settings, records)
    try:
        account = Account.from_key(settings["key"])
    except Exception as error:
        # The error message may contain the key.
        raise NotSent("the signer's key is no private key") from error
    if account.address.lower() != settings["address"].lower():
        raise NotSent("the signer's key is not the key of its address")
    try:
        unsigned = transaction(order, settings, node, records, account.address)
    except NodeRefused as error:
        # A call that reverts now also reverts later. Any other failure may be temporary.
        refused = NotSent if "revert" in str(error) else Retry
        raise refused(f"the node refuses: {error}") from error
    except NodeUnreachable as error:
        print(f"the node: {error}", file=sys.stderr)
        raise Retry("the node cannot be reached") from error
    signed = account.sign_transaction(unsigned)
    return {
        "order": order,
        "from": account.address,
        "chainId": unsigned["chainId"],
        "nonce": unsigned["nonce"],
        "txid": "0x" + bytes(signed.hash).hex(),
        "raw": "0x" + bytes(signed.raw_transaction).hex(),
    }


def broadcast(record, node):
    """Sends a signed transaction to the node, unless the node has it already."""
    txid = record["txid"]
    if node.knows(txid):
        return
    try:
        node.ask("eth_sendRawTransaction", record["raw"])
    except (NodeRefused, NodeUnreachable) as error:
        # The node may have accepted it, and only the response was lost.
        if not node.knows(txid):
            raise Unknown(f"the node did not take {txid}: {error}") from error


def answer_to(order, settings):
    """Executes an order and returns the answer to Coffer."""
    if not ID.fullmatch(order["id"]):
        raise Unknown("the order has no id")
    node, records = Node(settings["rpc"]), Records(settings["records"])
    record = records.find(order["id"])
    if record is None:
        try:
            record = sign(order, settings, node, records)
        except Retry as later:
            return {"sent": False, "retry": True, "reason": str(later)[:500]}
        except NotSent as refused:
            record = {"order": order, "refused": str(refused)}
        records.add(order["id"], record)
    if record["order"] != order:
        raise Unknown(f"{order['id']} was another order before")
    if "refused" in record:
        return {"sent": False, "reason": record["refused"][:500]}
    if record["chainId"] != settings["chainId"]:
        raise Unknown(f"{order['id']} was signed for another chain")
    broadcast(record, node)
    return {"txid": record["txid"]}


def main():
    os.umask(0o077)
    try:
        answer = answer_to(json.load(sys.stdin), read_settings(sys.argv[1]))
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
