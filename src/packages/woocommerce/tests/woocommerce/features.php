<?php

declare(strict_types=1);

namespace Automattic\WooCommerce\Utilities;

/** What plugins say about features of WooCommerce. */
final class FeaturesUtil
{
    /** @var array<string, bool> */
    public static array $declared = [];

    public static function declare_compatibility(string $feature, string $file, bool $positive = true): bool
    {
        self::$declared[$feature] = $positive;
        return true;
    }
}
