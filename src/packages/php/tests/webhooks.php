<?php

declare(strict_types=1);

// The README's examples as they stand, in the folder of the first argument: pay.php pays an invoice, and webhook.php,
// served by `php -S`, takes the webhooks. Then signatures of every form.

require __DIR__ . '/support.php';

use Coffer\SignatureError;
use Coffer\Webhook;

$shop = $argv[1];
$sandbox = new Sandbox();
$checks = new Checks('webhooks');
$settings = [
    'COFFER_URL' => $sandbox->url,
    'COFFER_KEY' => $sandbox->key,
    'COFFER_WEBHOOK_SECRET' => $sandbox->ready['webhookSecret'],
] + getenv();

// Prints the port that it listens on in its first lines, and what the example logs.
$command = [PHP_BINARY, '-S', '127.0.0.1:0', 'webhook.php'];
$receiver = proc_open($command, [2 => ['pipe', 'w']], $pipes, $shop, $settings);
$read = static function (string $pattern) use ($pipes): array {
    do {
        $line = fgets($pipes[2]);
    } while ($line !== false && preg_match($pattern, $line, $found) !== 1);
    return $line === false ? throw new RuntimeException("the receiver ended before $pattern") : $found;
};
[, $url] = $read('~\((http://127\.0\.0\.1:[0-9]+)\) started~');

/** Sends a request to the receiver and returns the HTTP status of its answer. */
$send = static function (string $body, string $headers) use ($url): int {
    $headers = "Content-Type: application/json\r\n$headers";
    $options = ['method' => 'POST', 'header' => $headers, 'content' => $body, 'ignore_errors' => true];
    file_get_contents($url, false, stream_context_create(['http' => $options]));
    return (int) explode(' ', $http_response_header[0])[1];
};

$pay = static function () use ($shop, $settings): string {
    $process = proc_open([PHP_BINARY, 'pay.php'], [1 => ['pipe', 'w']], $pipes, $shop, $settings);
    $said = (string) stream_get_contents($pipes[1]);
    same(0, proc_close($process), 'exit code');
    return $said;
};
$checks->run('the examples pay an invoice and are told', static function () use ($sandbox, $pay, $url, $read): void {
    $sandbox->control('PATCH', '/account', ['endpoints' => [['url' => $url]]]);
    $said = $pay();
    same(1, preg_match("~\APay here: http://\S+\nconfirmed\n\z~", $said), $said);
    $read('~paid: order-1001, 20\.00 EUR~');
    $sandbox->control('POST', '/clock', ['advance' => '0s']);
    $statuses = [];
    foreach ($sandbox->control('GET', '/webhooks')['data'] as $delivery) {
        $statuses[] = $delivery['attempts'][0]['status'];
    }
    same([200, 200, 200], $statuses);
});

$checks->run('a forged webhook is refused', static function () use ($send, $read, $sandbox): void {
    $body = '{"id":"evt_1","type":"invoice.confirmed","livemode":false,"data":{"object":{"paid":true}}}';
    same(400, $send($body, ''));
    $read('~webhook refused: there is neither~');
    $forged = hash_hmac('sha256', time() . ".$body", 'another');
    same(400, $send($body, 'X-Service-Signature: t=' . time() . ",v1=$forged"));
    $read('~webhook refused: no signature is valid~');
    $old = time() - 301;
    $signed = hash_hmac('sha256', "$old.$body", $sandbox->ready['webhookSecret']);
    same(400, $send($body, "X-Service-Signature: t=$old,v1=$signed"));
    $read('~webhook refused: the signature is 30[0-9] s away~');
});
proc_terminate($receiver);
proc_close($receiver);

$now = 1_700_000_000;
$body = '{"id":"evt_1","type":"invoice.created","new":1}';
$secret = 'whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh';
$v1 = static fn (string $key = 'whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh', int $at = 1_700_000_000): string =>
    'v1=' . hash_hmac('sha256', "$at.$body", $key);
$standard = static fn (string $key): array => [
    'Webhook-Id' => 'evt_1',
    'Webhook-Timestamp' => (string) $now,
    'Webhook-Signature' => 'v1,bad v1,' . base64_encode(hash_hmac('sha256', "evt_1.$now.$body", $key, true)) . ' v1a,x',
];
$service = static fn (string ...$parts): array => ['X-Service-Signature' => implode(',', ["t=$now", ...$parts])];

$valid = [
    'the service form' => [$service($v1()), $secret],
    'names in small letters' => [array_change_key_case($service($v1())), $secret],
    'names of $_SERVER' => [['HTTP_X_SERVICE_SIGNATURE' => "t=$now,{$v1()}", 'argc' => 0], $secret],
    'names and lists of WordPress' => [['x_service_signature' => array_values($service($v1()))], $secret],
    'several signatures' => [$service('v1=00', $v1(), 'v2=x'), $secret],
    'several secrets' => [$service($v1('old')), ['new', 'old']],
    'the legacy secret' => [$service($v1('legacy_sandbox')), 'legacy_sandbox'],
    'Standard Webhooks' => [$standard('coffer sandbox endpoint!'), $secret],
    'Standard Webhooks with a secret of another form' => [$standard('whsec_###'), 'whsec_###'],
    'Standard Webhooks with base64 that is not canonical' => [$standard('whsec_YQ'), 'whsec_YQ'],
    'one of two forms' => [$service('v1=00') + $standard('coffer sandbox endpoint!'), $secret],
];
foreach ($valid as $name => [$headers, $secrets]) {
    $checks->run($name, static function () use ($body, $headers, $secrets, $now): void {
        foreach ([-300, 0, 300] as $skew) {
            same(1, Webhook::verify($body, $headers, $secrets, now: $now + $skew)['new']);
        }
        foreach ([-301, 301] as $skew) {
            thrown(SignatureError::class, fn () => Webhook::verify($body, $headers, $secrets, now: $now + $skew));
        }
        thrown(SignatureError::class, fn () => Webhook::verify("$body ", $headers, $secrets, now: $now));
        thrown(SignatureError::class, fn () => Webhook::verify($body, $headers, ['other', 'secret'], now: $now));
        thrown(SignatureError::class, fn () => Webhook::verify($body, $headers, $secrets));
    });
}

$signed = substr($v1(), 3);
$invalid = [
    [],
    ['X-Service-Signature' => ''],
    ['X-Service-Signature' => [7, null]],
    ['X-Service-Signature' => $v1()],
    ['X-Service-Signature' => "t=,{$v1()}"],
    ['X-Service-Signature' => "t=$now,t=$now,{$v1()}"],
    ['X-Service-Signature' => "t=+$now,{$v1()}"],
    ['X-Service-Signature' => "t=$now.0,{$v1()}"],
    ['X-Service-Signature' => 't=' . str_repeat('9', 30) . ",{$v1()}"],
    ['X-Service-Signature' => "t=١٧٠٠٠٠٠٠٠٠,{$v1()}"],
    ['X-Service-Signature' => "t=$now,v1="],
    ['X-Service-Signature' => "t=$now,v0=$signed"],
    ['X-Service-Signature' => "t=$now,$signed"],
    ['X-Service-Signature' => "t=$now,v1=" . strtoupper($signed)],
    ['X-Service-Signature' => "t=$now," . str_repeat('v1=00,', 5000)],
    ['Webhook-Signature' => 'v1,'],
    ['Webhook-Id' => 'evt_2'] + $standard('coffer sandbox endpoint!'),
    ['Webhook-Timestamp' => "$now "] + $standard('coffer sandbox endpoint!'),
    ['Webhook-Timestamp' => (string) ($now + 1)] + $standard('coffer sandbox endpoint!'),
    $standard($secret),
];
foreach ($invalid as $number => $headers) {
    $checks->run("header $number is refused", static function () use ($body, $headers, $secret, $now): void {
        $error = thrown(SignatureError::class, fn () => Webhook::verify($body, $headers, $secret, now: $now));
        same(false, str_contains((string) $error, 'whsec_'), 'the secret is in the error');
    });
}

$checks->run('an empty secret is an error of the program', static function () use ($body, $service, $v1, $now): void {
    foreach (['', 'whsec_', [], ['', 'a'], [null], [7]] as $empty) {
        thrown(ValueError::class, fn () => Webhook::verify($body, $service($v1('')), $empty, now: $now));
    }
});
$checks->run('a signed body that is no object is refused', static function () use ($now): void {
    foreach (['', 'null', '7', '"a"', '[]', '[{}]', '{"a":', '{}' . "\xff", str_repeat('[', 600)] as $body) {
        $headers = ['X-Service-Signature' => "t=$now,v1=" . hash_hmac('sha256', "$now.$body", 'secret')];
        thrown(SignatureError::class, fn () => Webhook::verify($body, $headers, 'secret', now: $now));
    }
});

$checks->end();
