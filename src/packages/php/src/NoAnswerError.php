<?php

declare(strict_types=1);

namespace Coffer;

/**
 * There was no usable answer, after all attempts. The request may have been carried out: send it again with the same
 * idempotency key, or read the object.
 */
final class NoAnswerError extends CofferError
{
}
