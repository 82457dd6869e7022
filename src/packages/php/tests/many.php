<?php

declare(strict_types=1);

// 200 invoices are created while every other answer is lost. There are exactly 200 in the end.

require __DIR__ . '/support.php';

$sandbox = new Sandbox();
$coffer = $sandbox->client();
$checks = new Checks('lost answers');
$checks->run('200 creates', static function () use ($sandbox, $coffer): void {
    $created = [];
    for ($number = 1; $number <= 200; $number++) {
        if ($number % 2 === 0) {
            $sandbox->control('POST', '/faults', ['route' => 'POST /v1/invoices', 'dropAnswer' => true, 'times' => 1]);
        }
        $created[] = $coffer->createInvoice(['amount' => '20.00', 'currency' => 'EUR'])['id'];
    }
    same(['createInvoice' => 300], $sandbox->requested(), 'requests');
    same(200, $sandbox->invoices(), 'invoices');
    same(array_reverse($created), array_column(iterator_to_array($coffer->listInvoices(), false), 'id'), 'the list');
});
$checks->end();
