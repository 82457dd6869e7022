"""Coffer's responses as objects: names in Python's style, money as Decimal, times with their zone."""

import functools
import typing
from dataclasses import dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from typing import Any, Dict, Hashable, List, Mapping, Optional, Type, TypeVar, Union

from ._http import plain
from .errors import CofferError

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

M = TypeVar("M", bound="Model")
Amount = Union[str, int, Decimal]
"""An amount of money: text, Decimal or a whole number. A float is not exact and is refused."""


def to_amount(name: str, amount: Amount) -> str:
    """Returns an amount in Coffer's format. Raises TypeError for a float."""
    if isinstance(amount, bool) or not isinstance(amount, (str, int, Decimal)):
        raise TypeError(f'{name} must be str or Decimal, like "19.99", not {type(amount).__name__}')
    return plain(amount) if isinstance(amount, Decimal) else str(amount)


def to_time(text: str) -> datetime:
    """Parses a time of Coffer, which is in UTC."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def camel(name: str) -> str:
    """Returns the JSON form of a name: `order_id` becomes `orderId`."""
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


@dataclass(frozen=True)
class Model:
    """An object from a response. It does not change: read it again for its current state."""

    raw: Dict[str, Any] = field(repr=False, compare=False)
    """The received JSON, including fields that this version of the package does not know."""

    @classmethod
    def read(cls: Type[M], json: Mapping[str, Any]) -> M:
        """Creates the object from its JSON. Raises CofferError if a field is missing."""
        values: Dict[str, Any] = {"raw": dict(json)}
        kinds = _kinds(typing.cast(Hashable, cls))
        for each in fields(cls):
            name = camel(each.name)
            if each.name == "raw" or (name == "warnings" and name not in json):
                continue
            if name not in json:
                raise CofferError(f"an answer has no {name}: this is not the {cls.__name__} of this version")
            values[each.name] = _convert(json[name], kinds[each.name])
        return cls(**values)


@functools.lru_cache(maxsize=None)
def _kinds(model: Any) -> Dict[str, Any]:
    return typing.get_type_hints(model)


def _convert(value: Any, kind: Any) -> Any:
    if value is None:
        return None
    if kind in (Decimal, Optional[Decimal]):
        return Decimal(value)
    if kind in (datetime, Optional[datetime]):
        return to_time(value)
    return value


@dataclass(frozen=True)
class Invoice(Model):
    """A price that a customer pays in a coin."""

    id: str
    order_id: Optional[str]
    status: str
    paid: bool
    livemode: bool
    amount: Decimal
    currency: str
    description: Optional[str]
    asset: Optional[str]
    asset_symbol: Optional[str]
    amount_expected: Optional[Decimal]
    amount_received: Optional[Decimal]
    rate: Optional[Decimal]
    deposit_address: Optional[str]
    checkout_url: str
    customer_email: Optional[str]
    metadata: Dict[str, Any]
    payment_link_id: Optional[str]
    refunded_amount: Optional[Decimal]
    created_at: datetime
    expires_at: datetime
    confirmed_at: Optional[datetime]
    warnings: List[str] = field(default_factory=list)


@dataclass(frozen=True)
class Balance(Model):
    """The amount owed to the merchant in one currency."""

    currency: str
    available: Decimal
    pending: Decimal
    reserved: Decimal
    sales: Decimal
    fees: Decimal
    payouts: Decimal
    refunds: Decimal


@dataclass(frozen=True)
class LedgerEntry(Model):
    """One ledger entry."""

    id: str
    currency: str
    amount: Decimal
    kind: str
    ref_type: str
    ref_id: Optional[str]
    fee_bps: Optional[int]
    memo: Optional[str]
    livemode: bool
    created_at: datetime


@dataclass(frozen=True)
class Payout(Model):
    """A part of the balance, sent to the merchant's own wallet."""

    id: str
    status: str
    currency: str
    amount: Decimal
    asset: str
    asset_symbol: str
    chain: str
    to_address: str
    amount_crypto: Optional[Decimal]
    network_fee_crypto: Optional[Decimal]
    rate: Optional[Decimal]
    txid: Optional[str]
    failure_reason: Optional[str]
    requested_at: datetime
    approved_at: Optional[datetime]
    finalized_at: Optional[datetime]


@dataclass(frozen=True)
class Refund(Model):
    """A part of a paid invoice, sent back to the customer."""

    id: str
    invoice_id: str
    status: str
    livemode: bool
    currency: str
    amount: Decimal
    asset: str
    asset_symbol: str
    chain: str
    to_address: str
    amount_crypto: Optional[Decimal]
    network_fee_crypto: Optional[Decimal]
    rate: Optional[Decimal]
    txid: Optional[str]
    reason: Optional[str]
    failure_reason: Optional[str]
    requested_at: datetime
    approved_at: Optional[datetime]
    finalized_at: Optional[datetime]


@dataclass(frozen=True)
class Deposit(Model):
    """A payment to a customer's static address."""

    id: str
    customer: str
    livemode: bool
    status: str
    family: str
    chain: str
    asset: str
    asset_symbol: str
    address: str
    txid: str
    amount_crypto: Decimal
    rate: Decimal
    currency: str
    gross_eur: Decimal
    fee_eur: Decimal
    net_eur: Decimal
    created_at: datetime
    confirmed_at: Optional[datetime]


@dataclass(frozen=True)
class Event(Model):
    """An event, as in the body of webhooks."""

    id: str
    type: str
    livemode: bool
    created: datetime
    data: Dict[str, Any]

    @property
    def object(self) -> Dict[str, Any]:
        """The JSON of the event's object at that time."""
        return dict(self.data["object"])

    @property
    def invoice(self) -> Invoice:
        """The invoice of the event. Raises CofferError if the event has another object."""
        return Invoice.read(self.object)
