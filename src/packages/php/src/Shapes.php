<?php

declare(strict_types=1);

namespace Coffer;

/**
 * Shapes of the answers, for editors and static analysis. A newer server may send more fields. Amounts are decimal
 * strings, times are texts like `2026-11-21T09:30:00.000Z` in UTC.
 *
 * @phpstan-type InvoiceStatus (
 *     'created'|'awaiting_payment'|'detected'|'confirmed'|'overpaid'|'underpaid'|'expired'|'paid_late'|'cancelled'|
 *     'failed')
 * @phpstan-type TransferStatus 'requested'|'approved'|'processing'|'paid'|'failed'|'rejected'|'cancelled'
 * @phpstan-type Invoice array{
 *     id: string, object: string, orderId: string|null, status: InvoiceStatus, paid: bool, livemode: bool,
 *     amount: string, currency: 'EUR'|'USD', description: string|null, asset: string|null, assetSymbol: string|null,
 *     amountExpected: string|null, amountReceived: string|null, rate: string|null, depositAddress: string|null,
 *     checkoutUrl: string, customerEmail: string|null, metadata: array<string, mixed>, paymentLinkId: string|null,
 *     refundedAmount: string|null, createdAt: string, expiresAt: string, confirmedAt: string|null, ...}
 * @phpstan-type CreatedInvoice array{
 *     id: string, object: string, orderId: string|null, status: InvoiceStatus, paid: bool, livemode: bool,
 *     amount: string, currency: 'EUR'|'USD', description: string|null, asset: string|null, assetSymbol: string|null,
 *     amountExpected: string|null, amountReceived: string|null, rate: string|null, depositAddress: string|null,
 *     checkoutUrl: string, customerEmail: string|null, metadata: array<string, mixed>, paymentLinkId: string|null,
 *     refundedAmount: string|null, createdAt: string, expiresAt: string, confirmedAt: string|null,
 *     warnings?: list<string>, ...}
 * @phpstan-type Refund array{
 *     object: string, id: string, invoiceId: string, status: TransferStatus, livemode: bool, currency: 'EUR'|'USD',
 *     amount: string, asset: string, assetSymbol: string, chain: string, toAddress: string,
 *     amountCrypto: string|null, networkFeeCrypto: string|null, rate: string|null, txid: string|null,
 *     reason: string|null, failureReason: string|null, requestedAt: string, approvedAt: string|null,
 *     finalizedAt: string|null, ...}
 * @phpstan-type Payout array{
 *     id: string, status: TransferStatus, currency: 'EUR'|'USD', amount: string, asset: string, assetSymbol: string,
 *     chain: string, toAddress: string, amountCrypto: string|null, networkFeeCrypto: string|null, rate: string|null,
 *     txid: string|null, failureReason: string|null, requestedAt: string, approvedAt: string|null,
 *     finalizedAt: string|null, ...}
 * @phpstan-type Deposit array{
 *     object: string, id: string, customer: string, livemode: bool, status: 'detected'|'confirmed'|'dropped',
 *     family: string, chain: string, asset: string, assetSymbol: string, address: string, txid: string,
 *     amountCrypto: string, rate: string, currency: string, grossEur: string, feeEur: string, netEur: string,
 *     createdAt: string, confirmedAt: string|null, confirmations: int|null, confirmationsNeeded: int|string|null,
 *     explorerUrl: string|null, ...}
 * @phpstan-type Balance array{
 *     currency: 'EUR'|'USD', available: string, pending: string, reserved: string, sales: string, fees: string,
 *     payouts: string, refunds: string, ...}
 * @phpstan-type LedgerEntry array{
 *     id: string, currency: 'EUR'|'USD', amount: string,
 *     kind: 'sale'|'fee'|'payout'|'payout_reversal'|'refund'|'refund_reversal'|'adjustment',
 *     refType: 'invoice'|'deposit'|'payout'|'refund'|'admin', refId: string|null, feeBps: int|null,
 *     memo: string|null, livemode: bool, createdAt: string, ...}
 * @phpstan-type Currency array{
 *     id: string, symbol: string, name: string, chain: string, kind: 'native'|'spl'|'erc20'|'trc20', decimals: int,
 *     minAmount: string, ...}
 * @phpstan-type Merchant array{
 *     id: string, name: string, status: 'pending'|'active'|'suspended'|'rejected', feeBps: int, feePercent: string,
 *     settlementEnabled: bool, customersEnabled: bool, webhookUrl: string|null, payoutAsset: string, livemode: bool,
 *     balances: list<Balance>, createdAt: string, ...}
 * @phpstan-type CustomerAddresses array{
 *     customer: string, conversion: array{provider: string, target: string, feesPaidBy: string, ...},
 *     addresses: list<array{
 *         family: string, chainIds: list<string>, address: string,
 *         assets: list<array{
 *             id: string, symbol: string, chainId: string, kind: 'native'|'spl'|'erc20'|'trc20', ...}>, ...}>, ...}
 * @phpstan-type Account array{
 *     id: string, object: string, name: string, status: 'pending'|'active'|'suspended'|'rejected', feeBps: int,
 *     feePercent: string, settlementEnabled: bool, customersEnabled: bool, webhookUrl: string|null,
 *     payoutAsset: string, livemode: bool, balances: list<Balance>, createdAt: string, ...}
 * @phpstan-type Event array{
 *     id: string, object: string, type: string, livemode: bool, created: string,
 *     data: array{object: Invoice|Deposit|Account|Payout|Refund, ...}, ...}
 * @phpstan-type LegacyInvoice array{
 *     id: string, object: string, orderId: string|null, status: InvoiceStatus, paid: bool, livemode: bool,
 *     amount: string, currency: 'EUR'|'USD', description: string|null, asset: string|null, assetSymbol: string|null,
 *     amountExpected: string|null, amountReceived: string|null, rate: string|null, depositAddress: string|null,
 *     checkoutUrl: string, customerEmail: string|null, metadata: array<string, mixed>, paymentLinkId: string|null,
 *     refundedAmount: string|null, createdAt: string, expiresAt: string, confirmedAt: string|null,
 *     priceAmount: string, priceCurrency: 'EUR'|'USD', overpaid: bool, underpaid: bool, ...}
 * @phpstan-type LegacyEvent array{
 *     id: string, event: string, livemode: bool, createdAt: string, invoice: LegacyInvoice|null,
 *     object?: Deposit|Payout|Refund, ...}
 *
 * @internal
 */
interface Shapes
{
}
