<?php

declare(strict_types=1);

namespace Coffer;

/**
 * Sends requests with the key, each attempt on its own connection, and repeats those that may succeed later.
 *
 * @internal
 */
final class Transport
{
    /** Waits before the second, third and each further attempt, in milliseconds. Each varies by a quarter. */
    private const WAITS_MS = [250, 500, 1000];
    /** Longest `Retry-After` that is waited for, in seconds. */
    private const RETRY_AFTER_MAX = 30;
    /** Failures of a connection. Others, as a wrong certificate, would fail again. */
    private const LOST = [
        CURLE_COULDNT_RESOLVE_HOST,
        CURLE_COULDNT_CONNECT,
        CURLE_PARTIAL_FILE,
        CURLE_OPERATION_TIMEOUTED,
        CURLE_SSL_CONNECT_ERROR,
        CURLE_GOT_NOTHING,
        CURLE_SEND_ERROR,
        CURLE_RECV_ERROR,
        // HTTP/2: framing, stream. PHP has no constants for them.
        16,
        92,
    ];

    /**
     * @param string $url base URL, without a slash at its end
     * @param float $timeout maximum duration of an attempt, in seconds
     * @param int $attempts maximum number of attempts
     */
    public function __construct(
        private readonly string $url,
        #[\SensitiveParameter] private readonly string $key,
        private readonly float $timeout,
        private readonly int $attempts,
    ) {
    }

    /**
     * Hides the key from `var_dump` and `print_r`.
     *
     * @return array<string, mixed>
     */
    public function __debugInfo(): array
    {
        return ['url' => $this->url, 'timeout' => $this->timeout, 'attempts' => $this->attempts];
    }

    /**
     * @param string $target path with query
     * @param string|null $body JSON
     * @return Response of the last attempt
     */
    public function send(string $method, string $target, ?string $body, ?string $idempotencyKey): Response
    {
        $headers = ["X-API-Key: $this->key", 'Accept: application/json', 'Expect:'];
        if ($method === 'POST') {
            $headers[] = 'Idempotency-Key: ' . ($idempotencyKey ?? self::uuid());
        }
        if ($body !== null) {
            $headers[] = 'Content-Type: application/json';
        }
        $isSafe = $method === 'GET' || $method === 'POST';
        for ($attempt = 1;; $attempt++) {
            $response = $this->attempt($method, $target, $headers, $body);
            $wait = self::waitMs($response, $attempt);
            if ($wait === null || $attempt >= $this->attempts || $response->isLost && !$isSafe) {
                return $response;
            }
            usleep($wait * 1000);
        }
    }

    /** Returns the milliseconds to wait before the next attempt, or null if there must be none. */
    private static function waitMs(Response $response, int $attempt): ?int
    {
        if (!$response->isLost && $response->status !== 429 && $response->status !== 503) {
            return null;
        }
        $seconds = $response->retryAfter();
        if ($seconds !== null) {
            return $seconds <= self::RETRY_AFTER_MAX ? $seconds * 1000 : null;
        }
        $wait = self::WAITS_MS[min($attempt, count(self::WAITS_MS)) - 1];
        return intdiv($wait * random_int(75, 125), 100);
    }

    /** @param list<string> $headers */
    private function attempt(string $method, string $target, array $headers, ?string $body): Response
    {
        $received = [];
        // A new handle has no open connection. On a used one curl may repeat a request by itself.
        $handle = curl_init();
        curl_setopt_array($handle, [
            CURLOPT_URL => $this->url . $target,
            CURLOPT_PATH_AS_IS => true,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            // Another place must not get the key.
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_NOSIGNAL => true,
            CURLOPT_TIMEOUT_MS => (int) ceil($this->timeout * 1000),
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_USERAGENT => 'coffer-client-php',
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_HEADERFUNCTION => static function ($handle, string $line) use (&$received): int {
                [$name, $value] = explode(':', $line, 2) + [1 => ''];
                $received[strtolower(trim($name))] = trim($value);
                return strlen($line);
            },
        ]);
        if ($body !== null || $method !== 'GET') {
            curl_setopt($handle, CURLOPT_POSTFIELDS, $body ?? '');
        }
        $text = curl_exec($handle);
        if (!is_string($text)) {
            $isLost = in_array(curl_errno($handle), self::LOST, true);
            return new Response(0, [], '', curl_error($handle), $isLost);
        }
        return new Response(curl_getinfo($handle, CURLINFO_RESPONSE_CODE), $received, $text);
    }

    /** Returns a random UUID, version 4. */
    private static function uuid(): string
    {
        $bytes = random_bytes(16);
        $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
        $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }
}
