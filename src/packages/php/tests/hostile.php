<?php

declare(strict_types=1);

// Arguments and answers that try to break the client: a sandbox, and a server that answers nonsense.

require __DIR__ . '/support.php';

use Coffer\ApiError;
use Coffer\Client;
use Coffer\NoAnswerError;

$sandbox = new Sandbox();
$coffer = $sandbox->client();
$checks = new Checks('hostile');
$order = ['amount' => '20.00', 'currency' => 'EUR'];

foreach ([20, 20.5, true, [], NAN] as $number => $amount) {
    $checks->run("amount $number is not sent", static function () use ($coffer, $amount): void {
        $error = thrown(TypeError::class, fn () => $coffer->createInvoice(['amount' => $amount, 'currency' => 'EUR']));
        same(true, str_contains($error->getMessage(), 'money is never a number'), $error->getMessage());
        thrown(TypeError::class, fn () => $coffer->createPayout(['amount' => $amount]));
        thrown(TypeError::class, fn () => $coffer->simulateDeposit('a', ['asset' => 'LTC', 'amount' => $amount]));
        thrown(TypeError::class, fn () => $coffer->request('POST', '/v1/invoices', ['amount' => $amount]));
    });
}
$checks->run('an amount that is missing or empty is refused by Coffer', static function () use ($coffer): void {
    foreach ([[], ['amount' => null], ['amount' => ''], ['amount' => '1e3'], ['amount' => '-1']] as $body) {
        $error = thrown(ApiError::class, fn () => $coffer->createInvoice($body + ['currency' => 'EUR']));
        same('amount', $error->field, json_encode($body));
    }
});

foreach (['', '.', '..'] as $id) {
    $checks->run("id '$id' is not sent", static function () use ($coffer, $id): void {
        thrown(ValueError::class, fn () => $coffer->getInvoice($id));
        thrown(ValueError::class, fn () => $coffer->selectCoin(['id' => $id], ['asset' => 'LTC']));
    });
}
foreach ([[], ['id' => 7], ['id' => null], ['id' => ['a']]] as $number => $object) {
    $checks->run("object $number has no id", static function () use ($coffer, $object): void {
        thrown(TypeError::class, fn () => $coffer->getInvoice($object));
    });
}
$ids = ['../balances', '%2e%2e/balances', "a\r\nX: y", "a\0b", 'a?b#c', '🂡', str_repeat('x', 9000)];
foreach ($ids as $number => $id) {
    $checks->run("id $number is not found", static function () use ($coffer, $id): void {
        same('not_found', thrown(ApiError::class, fn () => $coffer->getInvoice($id))->code);
    });
}

$texts = ["\u{202e}\u{0}<script>'\"\\", '💶 ünï', str_repeat('ä', 200)];
foreach ($texts as $number => $text) {
    $checks->run("text $number comes back as it was sent", static function () use ($coffer, $order, $text): void {
        $metadata = ['text' => $text, 'deep' => ['list' => [1, 1.5, true, null], 'big' => PHP_INT_MAX]];
        $invoice = $coffer->createInvoice($order + ['orderId' => $text, 'metadata' => $metadata]);
        same([$text, $metadata], [$invoice['orderId'], $invoice['metadata']]);
        same([$invoice['id']], array_column([...$coffer->listInvoices(['orderId' => $text])], 'id'));
    });
}
$checks->run('too much is refused', static function () use ($coffer, $order): void {
    $long = ['description' => str_repeat('x', 70_000)];
    $error = thrown(ApiError::class, fn () => $coffer->createInvoice($order + $long));
    same(413, $error->status);
    thrown(ValueError::class, fn () => $coffer->createInvoice($order + ['description' => "\xff"]));
    thrown(ValueError::class, fn () => $coffer->createInvoice($order + ['metadata' => ['a' => NAN]]));
});

foreach (['', ' ', "a\nb", "a\r\nX-API-Key: b", 'ä', str_repeat('a', 201), ' a'] as $number => $text) {
    $checks->run("header text $number is not sent", static function () use ($sandbox, $coffer, $order, $text): void {
        thrown(ValueError::class, fn () => $coffer->createInvoice($order, $text));
        $error = thrown(ValueError::class, fn () => new Client($sandbox->url, $text));
        same(true, str_starts_with($error->getMessage(), 'key must be'), $error->getMessage());
    });
}
$urls = ['', 'pay.example.com', 'ftp://a', 'file:///etc/passwd', 'http://', 'http://a b', 'http://u:p@a', 'http://a?b',
    'http://a#b', "http://a\n", 'http://a\\b'];
foreach ($urls as $url) {
    $checks->run("url '$url' is refused", static fn () => thrown(ValueError::class, fn () => new Client($url, 'k')));
}
$checks->run('options out of range', static function () use ($sandbox): void {
    foreach ([0.0, -1.0, NAN, INF] as $timeout) {
        thrown(ValueError::class, fn () => $sandbox->client(['timeout' => $timeout]));
    }
    foreach ([0, -1, 11] as $attempts) {
        thrown(ValueError::class, fn () => $sandbox->client(['attempts' => $attempts]));
    }
});
$checks->run('paths and methods', static function () use ($coffer): void {
    foreach (['', 'v1', '/v1/a b', '/v1?a=b', '/v1#a', "/v1\n", '/ä', '/\\a'] as $path) {
        thrown(ValueError::class, fn () => $coffer->request('GET', $path));
    }
    thrown(ValueError::class, fn () => $coffer->request("GET / HTTP/1.1\r\nX: y", '/v1'));
    thrown(ApiError::class, fn () => $coffer->request('GET', '//127.0.0.2/v1/merchant'));
});
$checks->run('the key is not shown', static function () use ($sandbox, $coffer): void {
    ob_start();
    var_dump($coffer);
    print_r($coffer);
    same(false, str_contains((string) ob_get_clean(), $sandbox->key), 'shown');
});

// A server that answers the bytes it was given, once for each connection.
$answer = static function (string $bytes, callable $call) use (&$answered): void {
    $server = stream_socket_server('tcp://127.0.0.1:0');
    $url = 'http://' . stream_socket_get_name($server, false);
    $child = pcntl_fork();
    if ($child === 0) {
        while ($connection = @stream_socket_accept($server, 10)) {
            fread($connection, 65536);
            fwrite($connection, $bytes);
            fclose($connection);
        }
        posix_kill(posix_getpid(), SIGKILL);
    }
    fclose($server);
    try {
        $call(new Client($url, 'k', timeout: 10, attempts: 2));
    } finally {
        posix_kill($child, SIGKILL);
        pcntl_waitpid($child, $status);
    }
};
$reply = static fn (string $status, string $headers, string $body): string =>
    "HTTP/1.1 $status\r\n{$headers}Content-Length: " . strlen($body) . "\r\nConnection: close\r\n\r\n$body";
$json = "Content-Type: application/json\r\n";
$unusable = [
    'closed' => '',
    'no HTTP' => "SSH-2.0-OpenSSH\r\n",
    'cut short' => "HTTP/1.1 200 OK\r\n{$json}Content-Length: 99\r\n\r\n{\"id\"",
    'a page' => $reply('200 OK', "Content-Type: text/html\r\n", '<html>sign in</html>'),
    'no JSON' => $reply('200 OK', $json, '{"id":'),
    'a text' => $reply('200 OK', $json, '"text"'),
    'nothing' => $reply('204 No Content', '', ''),
];
foreach ($unusable as $name => $bytes) {
    $isLost = in_array($name, ['closed', 'cut short'], true);
    $checks->run("answer: $name", static fn () => $answer($bytes, static function (Client $coffer) use ($isLost): void {
        $begun = microtime(true);
        thrown(NoAnswerError::class, fn () => $coffer->getMerchant());
        same(true, !$isLost || microtime(true) - $begun > 0.18, 'tried twice');
        thrown(NoAnswerError::class, fn () => [...$coffer->listInvoices()]);
    }));
}
$long = "{$json}Retry-After: 31\r\n";
$refusals = [
    'redirect' => [$reply('302 Found', "Location: http://127.0.0.1:1/\r\n", ''), 302, 'unknown', null],
    'a page' => [$reply('502 Bad Gateway', "Content-Type: text/html\r\n", '<b>key</b>'), 502, 'unknown', null],
    'wrong types' => [$reply('400 Bad', $json, '{"error":7,"message":[],"param":{}}'), 400, 'unknown', null],
    'a list' => [$reply('400 Bad', $json, '["error"]'), 400, 'unknown', null],
    'a long wait' => [$reply('503 Busy', $long, '{"error":"overloaded"}'), 503, 'overloaded', 31],
    'a wait that is no number' => [$reply('429 No', "Retry-After: soon\r\n", ''), 429, 'unknown', null],
];
foreach ($refusals as $name => [$bytes, $status, $code, $after]) {
    $wanted = [$status, $code, null, $after];
    $check = static function (Client $coffer) use ($wanted): void {
        $error = thrown(ApiError::class, fn () => $coffer->getMerchant());
        same($wanted, [$error->status, $error->code, $error->field, $error->retryAfter]);
        same(false, str_contains($error->getMessage(), '<b>'), $error->getMessage());
    };
    $checks->run("answer: $name", static fn () => $answer($bytes, $check));
}
$checks->run('answer: unknown fields are kept, and a page that has no end ends', static fn () => $answer(
    $reply('200 OK', $json, '{"data":[{"new":"field"}],"hasMore":true,"nextBefore":"x","more":1}'),
    static function (Client $coffer): void {
        same(1, $coffer->getMerchant()['more']);
        same(2, count(iterator_to_array($coffer->listInvoices(), false)));
    },
));

$checks->end();
