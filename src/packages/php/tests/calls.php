<?php

declare(strict_types=1);

// The client against a sandbox: every operation, pages, errors, retries, and arguments that cannot be sent.

require __DIR__ . '/support.php';

use Coffer\ApiError;
use Coffer\Client;
use Coffer\CofferError;
use Coffer\NoAnswerError;

$sandbox = new Sandbox();
$coffer = $sandbox->client();
$live = new Client($sandbox->url, $sandbox->ready['keys']['secretLive']);
$checks = new Checks('calls');
$order = ['amount' => '20.00', 'currency' => 'EUR'];

$checks->run('an invoice is created, read, selected, paid and listed', static function () use ($coffer, $order): void {
    $invoice = $coffer->createInvoice($order + ['orderId' => 'a/b?c#ü', 'metadata' => []]);
    same('20.00', $invoice['amount']);
    same($invoice['id'], $coffer->createInvoice($order + ['orderId' => 'a/b?c#ü'])['id']);
    same('LTC', $coffer->selectCoin($invoice, ['asset' => 'LTC'])['asset']);
    same('underpaid', $coffer->simulatePayment($invoice['id'], ['case' => 'under'])['status']);
    same(true, $coffer->simulatePayment($invoice)['paid']);
    same(true, $coffer->getInvoice($invoice)['paid']);
    same([$invoice['id']], array_column([...$coffer->listInvoices(['orderId' => 'a/b?c#ü'])], 'id'));
    $events = [...$coffer->listEvents(['object' => $invoice['id'], 'type' => 'invoice.confirmed'])];
    same($events[0], $coffer->getEvent($events[0]));
    same(['fee', 'sale'], array_slice(array_column([...$coffer->listLedger(['currency' => 'EUR'])], 'kind'), 0, 2));
    same('19.80', [...$coffer->listBalances()][0]['available']);
    same('Sandbox Shop', $coffer->getMerchant()['name']);
    same(true, in_array('LTC', array_column([...$coffer->listCurrencies()], 'id'), true));
});

$checks->run('an invoice is cancelled, also if the answer is lost', static function () use (
    $sandbox,
    $coffer,
    $order,
): void {
    $invoice = $coffer->createInvoice($order);
    $route = 'POST /v1/invoices/{id}/cancel';
    $sandbox->control('POST', '/faults', ['route' => $route, 'dropAnswer' => true, 'times' => 1]);
    same('cancelled', $coffer->cancelInvoice($invoice)['status']);
    $paid = $coffer->createInvoice($order + ['asset' => 'LTC']);
    $coffer->simulatePayment($paid);
    same('invoice_not_cancellable', thrown(ApiError::class, fn () => $coffer->cancelInvoice($paid))->code);
});

$checks->run('customers have addresses and deposits', static function () use ($coffer): void {
    $addresses = $coffer->makeCustomerAddresses('user-7:a_b.c');
    same($addresses, $coffer->getCustomerAddresses(['id' => 'user-7:a_b.c']));
    $deposit = $coffer->simulateDeposit('user-7:a_b.c', ['asset' => 'SOL', 'amount' => '0.5']);
    same('0.5', $coffer->getDeposit($deposit)['amountCrypto']);
    same([$deposit['id']], array_column([...$coffer->listDeposits(['customer' => 'user-7:a_b.c'])], 'id'));
});

$checks->run('payouts and refunds are listed and read', static function () use ($sandbox, $live, $order): void {
    $invoice = $live->createInvoice(['amount' => '100.00'] + $order);
    $seen = $sandbox->control('POST', '/payments', ['invoice' => $invoice['id'], 'asset' => 'LTC']);
    $sandbox->control('POST', "/payments/$seen[id]", ['state' => 'confirmed']);
    $payout = $live->createPayout(['amount' => '25.00', 'currency' => 'EUR'], idempotencyKey: 'payout-1');
    same($payout['id'], $live->createPayout(['amount' => '25.00', 'currency' => 'EUR'], 'payout-1')['id']);
    same('requested', $live->getPayout($payout)['status']);
    same([$payout['id']], array_column([...$live->listPayouts()], 'id'));
    $refund = $sandbox->control('POST', '/refunds', ['invoice' => $invoice['id'], 'amount' => '10.00']);
    same('10.00', $live->getRefund($refund['id'])['amount']);
    same([$refund['id']], array_column([...$live->listRefunds(['invoiceId' => $invoice['id']])], 'id'));
    $other = ['amount' => '26.00', 'currency' => 'EUR'];
    $error = thrown(ApiError::class, fn () => $live->createPayout($other, 'payout-1'));
    same([409, 'idempotency_conflict'], [$error->status, $error->code]);
});

$checks->run('a list reads page after page', static function () use ($coffer): void {
    $all = array_column([...$coffer->listEvents()], 'id');
    same($all, array_column(iterator_to_array($coffer->listEvents(['limit' => 1]), false), 'id'));
    same(true, count($all) > 3 && count(array_unique($all)) === count($all));
    same(array_slice($all, 1), array_column([...$coffer->listEvents(['before' => $all[0], 'limit' => 2])], 'id'));
    $first = $coffer->listEvents(['limit' => 1])->current();
    same($all[0], $first['id'], 'the first of a generator');
});

$checks->run('an error has its fields', static function () use ($coffer, $order): void {
    $error = thrown(ApiError::class, fn () => $coffer->createInvoice(['amount' => '20.001'] + $order));
    same([400, 'invalid_request', 'amount', null], [$error->status, $error->code, $error->field, $error->retryAfter]);
    same(1, preg_match('/^req_[0-9a-f]{16}$/', (string) $error->requestId));
    same('invalid_request', $error->getCode());
    same(404, thrown(CofferError::class, fn () => $coffer->getInvoice('none'))->status);
});

$checks->run('a storm is waited out, and told when it lasts', static function () use ($sandbox, $order): void {
    $fault = ['route' => 'POST /v1/invoices', 'status' => 429];
    $sandbox->control('POST', '/faults', $fault + ['times' => 1]);
    $begun = microtime(true);
    $sandbox->client()->createInvoice($order);
    same(true, microtime(true) - $begun >= 1.0, 'waited for Retry-After');
    $sandbox->control('POST', '/faults', $fault + ['times' => 2]);
    $error = thrown(ApiError::class, fn () => $sandbox->client(['attempts' => 2])->createInvoice($order));
    same([429, 'rate_limited', null, 1], [$error->status, $error->code, $error->field, $error->retryAfter]);
});

$checks->run('a lost answer is asked for again', static function () use ($sandbox, $coffer, $order): void {
    $before = $sandbox->invoices();
    $sandbox->control('POST', '/faults', ['route' => 'POST /v1/invoices', 'dropAnswer' => true, 'times' => 3]);
    $coffer->createInvoice($order);
    same($before + 1, $sandbox->invoices(), 'invoices');
    $sandbox->control('POST', '/faults', ['route' => 'POST /v1/invoices', 'dropAnswer' => true, 'times' => 4]);
    $error = thrown(NoAnswerError::class, fn () => $coffer->createInvoice($order, 'mine'));
    same(true, str_starts_with($error->getMessage(), 'POST /v1/invoices: no answer: '), $error->getMessage());
    $coffer->createInvoice($order, 'mine');
    same($before + 2, $sandbox->invoices(), 'invoices');
});

$checks->run('other methods than GET and POST are not repeated', static function () use ($sandbox, $coffer): void {
    $fault = ['route' => 'DELETE /reseller/servers/{id}', 'dropAnswer' => true, 'times' => 1];
    $sandbox->control('POST', '/faults', $fault);
    thrown(NoAnswerError::class, fn () => $coffer->request('DELETE', '/reseller/servers/none'));
});

$checks->run('a slow answer is given up after the timeout', static function () use ($sandbox, $order): void {
    $before = $sandbox->invoices();
    $sandbox->control('POST', '/faults', ['route' => 'POST /v1/invoices', 'delayMs' => 5000, 'times' => 1]);
    $begun = microtime(true);
    $sandbox->client(['timeout' => 0.3])->createInvoice($order);
    same(true, microtime(true) - $begun < 4.0, 'did not wait');
    $sandbox->control('DELETE', '/faults');
    $sandbox->control('POST', '/clock', ['advance' => '0s']);
    same($before + 1, $sandbox->invoices(), 'invoices');
});

$checks->run('nothing listens', static function (): void {
    $nowhere = new Client('http://127.0.0.1:1', 'sk_test_hidden', attempts: 2);
    $begun = microtime(true);
    $error = thrown(NoAnswerError::class, fn () => $nowhere->getMerchant());
    same(true, microtime(true) - $begun > 0.18, 'tried twice');
    same(false, str_contains((string) $error, 'sk_test_hidden'), 'the key is in the error');
});

$checks->run('any other call', static function () use ($coffer): void {
    same(1, count($coffer->request('GET', '/v1/invoices', query: ['limit' => 1, 'before' => null])['data']));
    same(true, is_string($coffer->request('GET', '/metrics')));
    same('method_not_allowed', thrown(ApiError::class, fn () => $coffer->request('DELETE', '/v1/merchant'))->code);
});

$checks->end();
