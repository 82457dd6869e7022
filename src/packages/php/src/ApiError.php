<?php

declare(strict_types=1);

namespace Coffer;

/**
 * An error response. `getMessage()` is the service's message for people.
 */
final class ApiError extends CofferError
{
    /** @var string Error code, for programs: `amount_too_large`. `unknown` if there is none, as from a proxy. */
    public $code = 'unknown';

    /**
     * @param int $status HTTP status
     * @param string|null $field field or parameter at fault: `amount`
     * @param string|null $requestId id of the request, which is also in the server's log
     * @param int|null $retryAfter seconds to wait before another try
     */
    public function __construct(
        string $message,
        public readonly int $status,
        string $code,
        public readonly ?string $field,
        public readonly ?string $requestId,
        public readonly ?int $retryAfter,
    ) {
        parent::__construct($message);
        $this->code = $code;
    }
}
