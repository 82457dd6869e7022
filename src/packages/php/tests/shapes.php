<?php

declare(strict_types=1);

// The package against the OpenAPI document of the program: a method for each operation, and the fields of the schemas
// in the shapes.

require __DIR__ . '/support.php';

use Coffer\Client;
use Coffer\NoAnswerError;
use Coffer\Shapes;

$checks = new Checks('shapes');
$text = shell_exec(escapeshellarg(getenv('COFFER_BINARY') ?: 'coffer') . ' openapi --merchant');
$document = json_decode((string) $text, true, 512, JSON_THROW_ON_ERROR);

$checks->run('each operation has a method', static function () use ($document): void {
    foreach ($document['paths'] as $path => $operations) {
        foreach ($operations as $operation) {
            $name = $operation['operationId'] ?? null;
            same(true, $name === null || method_exists(Client::class, $name), "$path: $name");
        }
    }
});

// Fields of the first level: what remains when nested braces are removed.
$comment = preg_replace('/^ \* ?/m', '', (string) (new ReflectionClass(Shapes::class))->getDocComment());
$shapes = [];
foreach (preg_split('/^@phpstan-type /m', $comment) as $type) {
    if (preg_match('/\A(\w+) array(\{.*\})/s', $type, $found) === 1) {
        $inner = substr($found[2], 1, -1);
        do {
            $inner = preg_replace('/\{[^{}]*\}/', '', $inner, -1, $count);
        } while ($count > 0);
        preg_match_all('/(\w+\??): /', $inner, $fields);
        $shapes[$found[1]] = $fields[1];
    }
}
$checks->run('the shapes are found', static fn () => same(true, count($shapes) >= 14));
foreach ($shapes as $name => $fields) {
    $checks->run("$name has the fields of the document", static function () use ($document, $name, $fields): void {
        $schema = $document['components']['schemas'][$name];
        $mark = static fn (string $field): string => in_array($field, $schema['required'], true) ? $field : "$field?";
        $wanted = array_map($mark, array_keys($schema['properties']));
        sort($wanted);
        sort($fields);
        same($wanted, $fields, 'fields');
    });
}
$checks->run('each status is in the document', static function () use ($document, $comment): void {
    foreach (['InvoiceStatus' => 'Invoice', 'TransferStatus' => 'Payout'] as $alias => $schema) {
        $text = explode('@phpstan-type', explode("@phpstan-type $alias", $comment)[1])[0];
        preg_match_all("/'(\w+)'/", $text, $found);
        same($document['components']['schemas'][$schema]['properties']['status']['enum'], $found[1], $alias);
    }
});

$checks->run('a list takes the parameters of the document, and no other', static function () use ($document): void {
    // Nobody listens there.
    $coffer = new Client('http://127.0.0.1:3', 'k', attempts: 1);
    $lists = 0;
    foreach ($document['paths'] as $path => $operations) {
        $operation = $operations['get'] ?? [];
        $query = array_filter($operation['parameters'] ?? [], static fn (array $each): bool => $each['in'] === 'query');
        $names = array_column($query, 'name');
        if ($names === []) {
            continue;
        }
        $list = $operation['operationId'];
        $error = thrown(InvalidArgumentException::class, fn () => $coffer->$list(['statuus' => null]));
        same("GET $path: unknown name \"statuus\". It takes " . implode(', ', $names), $error->getMessage(), 'message');
        thrown(NoAnswerError::class, fn () => $coffer->$list(array_fill_keys($names, null))->current());
        $lists++;
    }
    same(true, $lists >= 6, 'lists');
});

$checks->end();
