<?php

declare(strict_types=1);

namespace Coffer;

/**
 * A webhook is not signed with this secret, is too old, or is not an event. Answer it with 400 and do nothing else.
 */
final class SignatureError extends CofferError
{
}
