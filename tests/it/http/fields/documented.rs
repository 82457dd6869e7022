//! The documented fields of every resource, one per line, in order. See `ResourceShape`.

pub const INVOICE: &str = "
    id uuid
    object =invoice
    orderId text or null
    status created|awaiting_payment|detected|confirmed|overpaid|underpaid|expired|paid_late|cancelled|failed
    paid flag
    livemode flag
    amount money
    currency EUR|USD
    description text or null
    asset text or null
    assetSymbol text or null
    amountExpected coin or null
    amountReceived coin or null
    rate coin or null
    depositAddress text or null
    checkoutUrl uri
    customerEmail text or null
    metadata object
    paymentLinkId uuid or null
    refundedAmount money or null
    createdAt time
    expiresAt time
    confirmedAt time or null";

pub const PAYOUT: &str = "
    id uuid
    status requested|approved|processing|paid|failed|rejected|cancelled
    currency EUR|USD
    amount money
    asset text
    assetSymbol text
    chain text
    toAddress text
    amountCrypto coin or null
    networkFeeCrypto coin or null
    rate coin or null
    txid text or null
    failureReason text or null
    requestedAt time
    approvedAt time or null
    finalizedAt time or null";

pub const REFUND: &str = "
    object =refund
    id uuid
    invoiceId uuid
    status requested|approved|processing|paid|failed|rejected|cancelled
    livemode flag
    currency EUR|USD
    amount money
    asset text
    assetSymbol text
    chain text
    toAddress text
    amountCrypto coin or null
    networkFeeCrypto coin or null
    rate coin or null
    txid text or null
    reason text or null
    failureReason text or null
    requestedAt time
    approvedAt time or null
    finalizedAt time or null";

pub const MERCHANT: &str = "
    id uuid
    name text
    status pending|active|suspended|rejected
    feeBps number
    feePercent text
    settlementEnabled flag
    customersEnabled flag
    webhookUrl uri or null
    payoutAsset text
    livemode flag
    balances list
    createdAt time";

pub const BALANCE: &str = "
    currency EUR|USD
    available money
    pending money
    reserved money
    sales money
    fees money
    payouts money
    refunds money";

pub const LEDGER_ENTRY: &str = "
    id uuid
    currency EUR|USD
    amount money
    kind sale|fee|payout|payout_reversal|refund|refund_reversal|adjustment
    refType invoice|deposit|payout|refund|admin
    refId uuid or null
    feeBps number or null
    memo text or null
    livemode flag
    createdAt time";

pub const CURRENCY: &str = "
    id text
    symbol text
    name text
    chain text
    kind native|spl|erc20|trc20
    decimals number
    minAmount coin";

pub const EVENT: &str = "
    id event
    object =event
    type invoice.created|invoice.detected|invoice.confirmed|invoice.overpaid|invoice.underpaid|invoice.expired|invoice.paid_late|invoice.cancelled|invoice.failed|deposit.confirmed|payout.paid|payout.failed|refund.paid|refund.failed|account.approved|account.suspended
    livemode flag
    created time
    data object";
