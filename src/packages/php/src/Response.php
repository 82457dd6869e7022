<?php

declare(strict_types=1);

namespace Coffer;

/**
 * Outcome of one attempt: an HTTP response, or why there is none.
 *
 * @internal
 */
final class Response
{
    /**
     * @param int $status HTTP status, 0 without a response
     * @param string|null $failure reason why there is no response
     * @param bool $isLost true if the connection failed, so that another attempt may succeed
     * @param array<string, string> $headers by lower-case names
     */
    public function __construct(
        public readonly int $status,
        public readonly array $headers,
        public readonly string $text,
        public readonly ?string $failure = null,
        public readonly bool $isLost = false,
    ) {
    }

    /** Returns the seconds of `Retry-After`, or null if it has none. */
    public function retryAfter(): ?int
    {
        $value = $this->headers['retry-after'] ?? '';
        return preg_match('/\A[0-9]{1,9}\z/', $value) === 1 ? (int) $value : null;
    }

    /**
     * Returns the parsed JSON, null for an empty body, or the text of any other type of content.
     *
     * @param string $call method and path, for messages
     * @return array<array-key, mixed>|string|null
     * @throws CofferError if this is an error response, or no response
     */
    public function content(string $call): array|string|null
    {
        if ($this->failure !== null) {
            throw new NoAnswerError("$call: no answer: $this->failure");
        }
        if ($this->status < 200 || $this->status > 299) {
            throw $this->error();
        }
        if ($this->text === '') {
            return null;
        }
        if (!str_starts_with($this->headers['content-type'] ?? '', 'application/json')) {
            return $this->text;
        }
        return $this->json() ?? throw new NoAnswerError("$call: the answer is not valid JSON");
    }

    private function error(): ApiError
    {
        $body = $this->json() ?? [];
        $text = static fn (string $name): ?string => is_string($body[$name] ?? null) ? $body[$name] : null;
        return new ApiError(
            $text('message') ?? "the answer has HTTP status $this->status and no message",
            $this->status,
            $text('error') ?? 'unknown',
            $text('param'),
            $text('requestId') ?? $this->headers['x-request-id'] ?? null,
            $this->retryAfter(),
        );
    }

    /** @return array<array-key, mixed>|null */
    private function json(): ?array
    {
        $parsed = json_decode($this->text, true, 512, JSON_BIGINT_AS_STRING);
        return is_array($parsed) ? $parsed : null;
    }
}
