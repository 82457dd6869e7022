<?php

declare(strict_types=1);

namespace Coffer;

/**
 * Base of the errors of this package. No message contains a key, a secret or the body of a request.
 */
abstract class CofferError extends \RuntimeException
{
}
