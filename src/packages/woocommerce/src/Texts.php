<?php

declare(strict_types=1);

namespace CofferWooCommerce;

/** Translations of what customers read. */
final class Texts
{
    /**
     * Loads the texts of the page's language. All variants of a language have the same texts: `de.mo` is for `de_DE`,
     * `de_AT` and `de_CH_informal`.
     */
    public static function load(): void
    {
        $language = substr(determine_locale(), 0, 2);
        $file = dirname(__DIR__) . "/languages/$language.mo";
        if (preg_match('/\A[a-z]{2}\z/', $language) === 1 && is_file($file)) {
            load_textdomain('coffer-woocommerce', $file);
        }
    }
}
