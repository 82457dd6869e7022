<?php

declare(strict_types=1);

// Runs the cases that all clients share: cases.php FILE. The list "about" in the file says what a case means.

require __DIR__ . '/support.php';
require __DIR__ . '/scripted.php';

use Coffer\ApiError;
use Coffer\Client;
use Coffer\CofferError;
use Coffer\NoAnswerError;
use Coffer\SignatureError;
use Coffer\Webhook;

/**
 * Calls an operation and reads a list to its end.
 *
 * @param list<mixed> $arguments
 */
function called(Client $coffer, string $operation, array $arguments, ?string $idempotencyKey): mixed
{
    $named = $idempotencyKey === null ? [] : ['idempotencyKey' => $idempotencyKey];
    $answer = $coffer->$operation(...$arguments, ...$named);
    return $answer instanceof Generator ? iterator_to_array($answer, false) : $answer;
}

/** Checks that the value has all that is wanted: objects by field, lists element by element. */
function includes(mixed $wanted, mixed $given, string $of): void
{
    if (!is_array($wanted)) {
        same($wanted, $given, $of);
        return;
    }
    foreach ($wanted as $name => $value) {
        if (!is_array($given) || !array_key_exists($name, $given)) {
            throw new RuntimeException("$of has no $name");
        }
        includes($value, $given[$name], "$of.$name");
    }
}

/**
 * Checks an error.
 *
 * @param array<string, mixed> $wanted type, and fields
 */
function isError(array $wanted, Throwable $error): void
{
    $types = [
        'ApiError' => ApiError::class,
        'NoAnswerError' => NoAnswerError::class,
        'SignatureError' => SignatureError::class,
    ];
    $isType = $wanted['type'] === 'argument'
        ? $error instanceof TypeError || $error instanceof ValueError || $error instanceof InvalidArgumentException
        : get_class($error) === $types[$wanted['type']];
    if (!$isType) {
        throw $error;
    }
    same($wanted['type'] !== 'argument', $error instanceof CofferError, 'is a CofferError');
    foreach (array_diff_key($wanted, ['type' => 1]) as $field => $value) {
        same($value, $field === 'message' ? $error->getMessage() : $error->$field, $field);
    }
}

/**
 * Runs the call of a case, and checks its result or error, and how long it took.
 *
 * @param list<string> $hidden
 */
function runCall(array $case, callable $call, array $hidden): void
{
    $begun = microtime(true);
    try {
        $result = $call();
        $error = null;
    } catch (Throwable $thrown) {
        $result = null;
        $error = $thrown;
    }
    $took = microtime(true) - $begun;
    if (isset($case['error'])) {
        isError($case['error'], $error ?? throw new RuntimeException('there is no error'));
        foreach ($hidden as $secret) {
            same(false, $secret !== '' && str_contains((string) $error, $secret), 'the secret is in the error');
        }
    } elseif ($error !== null) {
        throw $error;
    }
    includes($case['result'] ?? [], $result, 'result');
    if (isset($case['length'])) {
        same($case['length'], count($result), 'length');
    }
    if ($took < ($case['seconds']['min'] ?? 0) || $took > ($case['seconds']['max'] ?? INF)) {
        throw new RuntimeException("it took $took seconds");
    }
}

/** Runs a case with a call against the sandbox that all cases share, or against a server that gives its answers. */
function runOperation(array $case, Sandbox $sandbox): void
{
    $sandbox->control('POST', '/reset');
    $answers = [];
    foreach ($case['setup'] ?? [] as $step) {
        $arguments = filled($step['arguments'], $answers);
        for ($times = $step['times'] ?? 1; $times > 0; $times--) {
            $answer = called($sandbox->client(), $step['call'], $arguments, $step['idempotencyKey'] ?? null);
        }
        $answers[] = $answer;
    }
    foreach ($case['faults'] ?? [] as $fault) {
        $sandbox->control('POST', '/faults', $fault);
    }
    $server = isset($case['answers']) ? new Scripted($case['answers']) : null;
    $key = $case['key'] ?? $sandbox->key;
    $before = $sandbox->requested();
    runCall($case, static function () use ($case, $server, $sandbox, $key, $answers): mixed {
        $url = str_replace('$url', $sandbox->url, $case['url'] ?? $server?->url ?? $sandbox->url);
        $coffer = new Client($url, $key, ...$case['options'] ?? []);
        $arguments = filled($case['arguments'], $answers);
        return called($coffer, $case['call'], $arguments, $case['idempotencyKey'] ?? null);
    }, [$key]);
    if (isset($case['requests'])) {
        same($case['requests'], $server?->requested() ?? $sandbox->requested($before), 'requests');
    }
    if (isset($case['after'])) {
        includes($case['after'], $sandbox->control('GET', '')['counts'], 'counts');
    }
}

/**
 * Replaces "$0" and "$0.id" among arguments.
 *
 * @param list<mixed> $arguments
 * @param list<mixed> $answers
 */
function filled(array $arguments, array $answers): array
{
    return array_map(static function (mixed $argument) use ($answers): mixed {
        if (!is_string($argument) || preg_match('/\A\$([0-9]+)(\.id)?\z/', $argument, $found) !== 1) {
            return $argument;
        }
        $answer = $answers[(int) $found[1]];
        return isset($found[2]) ? $answer['id'] : $answer;
    }, $arguments);
}

$cases = json_decode((string) file_get_contents($argv[1]), true, 512, JSON_THROW_ON_ERROR)['cases'];
$sandbox = new Sandbox();
$checks = new Checks('cases');
foreach ($cases as $case) {
    $checks->run($case['name'], static function () use ($case, $sandbox): void {
        if (isset($case['verify'])) {
            $verify = static fn (): array => Webhook::verify(...$case['verify']);
            runCall($case, $verify, $case['verify']['secret']);
        } else {
            runOperation($case, $sandbox);
        }
    });
}
$checks->end();
