<?php

declare(strict_types=1);

namespace Coffer;

/**
 * Client of the merchant interface: one method for each of its operations.
 *
 * Takes and returns the interface's own fields, as arrays. Amounts are decimal strings. An id may be given as text, or
 * as the object that has it. A list is a generator, which reads the next page when it gets there. Every POST has an
 * idempotency key, by default a new one, which its repetitions share.
 *
 * Each method throws ApiError for an error response and NoAnswerError if there is no answer; \TypeError for an amount
 * that is not a string, \ValueError for an argument that cannot be sent, and \InvalidArgumentException for an unknown
 * filter. A generator throws all but the last as it is read.
 *
 * @phpstan-import-type Balance from Shapes
 * @phpstan-import-type CreatedInvoice from Shapes
 * @phpstan-import-type Currency from Shapes
 * @phpstan-import-type CustomerAddresses from Shapes
 * @phpstan-import-type Deposit from Shapes
 * @phpstan-import-type Event from Shapes
 * @phpstan-import-type Invoice from Shapes
 * @phpstan-import-type LedgerEntry from Shapes
 * @phpstan-import-type Merchant from Shapes
 * @phpstan-import-type Payout from Shapes
 * @phpstan-import-type Refund from Shapes
 * @phpstan-type Id string|array{id: string, ...}
 */
final class Client
{
    /** Items of a page, where the interface has pages. */
    private const PAGE = ['limit' => 100];
    /** Filters of each list. A test compares them with the document. */
    private const FILTERS = [
        '/v1/invoices' => ['limit', 'before', 'status', 'orderId'],
        '/v1/ledger' => ['limit', 'before', 'currency'],
        '/v1/events' => ['limit', 'before', 'type', 'object'],
        '/v1/deposits' => ['limit', 'customer'],
        '/v1/payouts' => ['limit'],
        '/v1/refunds' => ['limit', 'invoiceId'],
    ];

    private readonly Transport $transport;

    /**
     * @param string $url address of Coffer, with or without `/v1`: `https://pay.example.com`
     * @param string $key secret key. Its mode, test or live, is that of all calls.
     * @param float $timeout maximum duration of an attempt, in seconds, 0.001 to 3600
     * @param int $attempts maximum number of attempts, 1 to 10. Those behind the first are for HTTP status 429 and 503
     *   and lost answers, after 0.25, 0.5 and 1 s, or after `Retry-After` up to 30 s.
     * @throws \ValueError
     */
    public function __construct(
        string $url,
        #[\SensitiveParameter] string $key,
        float $timeout = 30.0,
        int $attempts = 4,
    ) {
        $this->transport = new Transport(
            Request::base($url),
            Request::headerText($key, 'key'),
            Request::within($timeout, 0.001, 3600, 'timeout'),
            Request::within($attempts, 1, 10, 'attempts'),
        );
    }

    /**
     * Creates an invoice, or returns the existing one with its `orderId` or idempotency key.
     *
     * @param array{amount: string, currency: 'EUR'|'USD', orderId?: string|null, description?: string|null,
     *     asset?: string|null, redirectUrl?: string|null, cancelUrl?: string|null, webhookUrl?: string|null,
     *     metadata?: array<string, mixed>|null, ttlSeconds?: int|null, customerEmail?: string|null} $invoice
     *     `ttlSeconds`: 60 to 86 400
     * @return CreatedInvoice
     */
    public function createInvoice(array $invoice, ?string $idempotencyKey = null): array
    {
        return $this->post('/v1/invoices', $invoice, $idempotencyKey);
    }

    /**
     * @param array{status?: string, orderId?: string, limit?: int, before?: string} $filters
     * @return \Generator<int, Invoice> newest first
     */
    public function listInvoices(array $filters = []): \Generator
    {
        return $this->list('/v1/invoices', $filters);
    }

    /**
     * @param Id $invoice
     * @return Invoice
     */
    public function getInvoice(string|array $invoice): array
    {
        return $this->get(Request::path('/v1/invoices/%s', $invoice));
    }

    /**
     * Selects the coin, which fixes the rate and the deposit address.
     *
     * @param Id $invoice
     * @param array{asset: string} $choice
     * @return Invoice
     */
    public function selectCoin(string|array $invoice, array $choice, ?string $idempotencyKey = null): array
    {
        return $this->post(Request::path('/v1/invoices/%s/select', $invoice), $choice, $idempotencyKey);
    }

    /**
     * Cancels an invoice without a payment. ApiError with `invoice_not_cancellable` if it has one or has ended.
     *
     * @param Id $invoice
     * @return Invoice
     */
    public function cancelInvoice(string|array $invoice, ?string $idempotencyKey = null): array
    {
        return $this->post(Request::path('/v1/invoices/%s/cancel', $invoice), null, $idempotencyKey);
    }

    /**
     * Pays an invoice of test mode.
     *
     * @param Id $invoice
     * @param array{case?: 'exact'|'under'|'over'|null, asset?: string|null} $payment
     * @return Invoice
     */
    public function simulatePayment(string|array $invoice, array $payment = [], ?string $idempotencyKey = null): array
    {
        return $this->post(Request::path('/v1/invoices/%s/simulate', $invoice), $payment, $idempotencyKey);
    }

    /** @return \Generator<int, Currency> the coins on offer */
    public function listCurrencies(): \Generator
    {
        return $this->pages('/v1/currencies', []);
    }

    /** @return Merchant */
    public function getMerchant(): array
    {
        return $this->get('/v1/merchant');
    }

    /** @return \Generator<int, Balance> one for each currency */
    public function listBalances(): \Generator
    {
        return $this->pages('/v1/balances', []);
    }

    /**
     * @param array{currency?: 'EUR'|'USD', limit?: int, before?: string} $filters
     * @return \Generator<int, LedgerEntry> newest first
     */
    public function listLedger(array $filters = []): \Generator
    {
        return $this->list('/v1/ledger', $filters);
    }

    /**
     * @param array{type?: string, object?: string, limit?: int, before?: string} $filters `object`: id of an invoice,
     *     deposit, payout or refund
     * @return \Generator<int, Event> newest first
     */
    public function listEvents(array $filters = []): \Generator
    {
        return $this->list('/v1/events', $filters);
    }

    /**
     * @param Id $event
     * @return Event
     */
    public function getEvent(string|array $event): array
    {
        return $this->get(Request::path('/v1/events/%s', $event));
    }

    /**
     * Makes a customer's deposit addresses, or returns the existing ones.
     *
     * @param Id $customer the merchant's reference: up to 120 letters, digits, `.`, `_`, `:` and `-`
     * @return CustomerAddresses
     */
    public function makeCustomerAddresses(string|array $customer, ?string $idempotencyKey = null): array
    {
        return $this->post(Request::path('/v1/customers/%s/addresses', $customer), null, $idempotencyKey);
    }

    /**
     * @param Id $customer
     * @return CustomerAddresses
     */
    public function getCustomerAddresses(string|array $customer): array
    {
        return $this->get(Request::path('/v1/customers/%s/addresses', $customer));
    }

    /**
     * Simulates a customer's deposit in test mode.
     *
     * @param Id $customer
     * @param array{asset: string, amount: string} $deposit `amount`: in whole coins
     * @return Deposit
     */
    public function simulateDeposit(string|array $customer, array $deposit, ?string $idempotencyKey = null): array
    {
        return $this->post(Request::path('/v1/customers/%s/simulate', $customer), $deposit, $idempotencyKey);
    }

    /**
     * @param array{customer?: string, limit?: int} $filters
     * @return \Generator<int, Deposit> the newest 100, newest first
     */
    public function listDeposits(array $filters = []): \Generator
    {
        return $this->list('/v1/deposits', $filters);
    }

    /**
     * @param Id $deposit
     * @return Deposit
     */
    public function getDeposit(string|array $deposit): array
    {
        return $this->get(Request::path('/v1/deposits/%s', $deposit));
    }

    /**
     * Requests a payout, in live mode. An operator approves it.
     *
     * @param array{amount: string, currency?: 'EUR'|'USD'|null} $payout `amount`: may be `all`
     * @return Payout
     */
    public function createPayout(array $payout, ?string $idempotencyKey = null): array
    {
        return $this->post('/v1/payouts', $payout, $idempotencyKey);
    }

    /**
     * @param array{limit?: int} $filters
     * @return \Generator<int, Payout> the newest 100, newest first
     */
    public function listPayouts(array $filters = []): \Generator
    {
        return $this->list('/v1/payouts', $filters);
    }

    /**
     * @param Id $payout
     * @return Payout
     */
    public function getPayout(string|array $payout): array
    {
        return $this->get(Request::path('/v1/payouts/%s', $payout));
    }

    /**
     * @param array{invoiceId?: string, limit?: int} $filters
     * @return \Generator<int, Refund> the newest 100, newest first
     */
    public function listRefunds(array $filters = []): \Generator
    {
        return $this->list('/v1/refunds', $filters);
    }

    /**
     * @param Id $refund
     * @return Refund
     */
    public function getRefund(string|array $refund): array
    {
        return $this->get(Request::path('/v1/refunds/%s', $refund));
    }

    /**
     * Sends any other request.
     *
     * @param string $method `GET`, `POST`, `PUT`, `PATCH` or `DELETE`. Only the first two are repeated after a lost
     *   answer.
     * @param string $path `/v1/invoices`, without a query
     * @param array<string, mixed>|null $body
     * @param array<string, string|int|bool|null> $query
     * @param string|null $idempotencyKey 1 to 200 printable ASCII characters, for POST
     * @return array<array-key, mixed>|string|null parsed JSON, null for an empty answer, or the text of another type
     */
    public function request(
        string $method,
        string $path,
        ?array $body = null,
        array $query = [],
        ?string $idempotencyKey = null,
    ): array|string|null {
        $key = $idempotencyKey === null ? null : Request::headerText($idempotencyKey, 'idempotencyKey');
        $target = Request::target($path, $query);
        $json = $body === null ? null : Request::json($body);
        $response = $this->transport->send(Request::method($method), $target, $json, $key);
        return $response->content("$method $path");
    }

    /**
     * @param array<string, mixed> $query
     * @return array<string, mixed>
     */
    private function get(string $path, array $query = []): array
    {
        return self::object($this->request('GET', $path, query: $query), "GET $path");
    }

    /**
     * @param array<string, mixed>|null $body
     * @return array<string, mixed>
     */
    private function post(string $path, ?array $body, ?string $idempotencyKey): array
    {
        return self::object($this->request('POST', $path, $body, [], $idempotencyKey), "POST $path");
    }

    /** @return array<string, mixed> */
    private static function object(mixed $answer, string $call): array
    {
        if (is_array($answer) && !array_is_list($answer)) {
            return $answer;
        }
        throw new NoAnswerError("$call: the answer is not a JSON object. Is the url that of Coffer?");
    }

    /**
     * Reads a list with filters.
     *
     * @param array<string, mixed> $filters
     * @return \Generator<int, array<string, mixed>>
     * @throws \InvalidArgumentException for an unknown filter, which would have no effect
     */
    private function list(string $path, array $filters): \Generator
    {
        foreach (array_keys($filters) as $name) {
            if (!in_array($name, self::FILTERS[$path], true)) {
                $names = implode(', ', self::FILTERS[$path]);
                throw new \InvalidArgumentException("GET $path: unknown name \"$name\". It takes $names");
            }
        }
        return $this->pages($path, $filters + self::PAGE);
    }

    /**
     * Reads page after page, newest first.
     *
     * @param array<string, mixed> $query
     * @return \Generator<int, array<string, mixed>>
     */
    private function pages(string $path, array $query): \Generator
    {
        do {
            $page = $this->get($path, $query);
            $items = $page['data'] ?? null;
            if (!is_array($items) || !array_is_list($items)) {
                throw new NoAnswerError("GET $path: the answer has no data. Is the url that of Coffer?");
            }
            // Not `yield from`, which would give each page the same keys.
            foreach ($items as $item) {
                yield $item;
            }
            $before = $page['nextBefore'] ?? null;
            // The same page must not come again and again.
            $isNew = $before !== null && $before !== ($query['before'] ?? null);
            $query = ['before' => $before] + $query;
        } while ($isNew && ($page['hasMore'] ?? false) === true);
    }
}
