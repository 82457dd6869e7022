<?php

declare(strict_types=1);

namespace CofferWooCommerce;

use Coffer\Client;

/** Settings of the plugin. The secrets have an option of their own, as WooCommerce's REST interface reads all others. */
final class Settings
{
    public const NAME = 'woocommerce_coffer_settings';
    /** An array: WordPress's page of all options shows the value of a plain text, and not of an array. */
    private const SECRETS = 'coffer_woocommerce_secrets';

    /** Returns a setting, empty if it is not set. */
    public static function get(string $name): string
    {
        $all = get_option(self::NAME, []);
        $value = is_array($all) ? $all[$name] ?? '' : '';
        return is_string($value) ? trim($value) : '';
    }

    /** Returns the address of Coffer. */
    public static function url(): string
    {
        return self::base(self::get('url'));
    }

    /** Returns an address without `/v1` and slashes at its end. A host may be named v1. */
    public static function base(string $url): string
    {
        return (string) preg_replace('~(?<=[^/])(/v1)?/*\z~', '', $url);
    }

    /** @param 'key'|'webhook' $name */
    public static function secret(string $name): string
    {
        $all = get_option(self::SECRETS, []);
        $value = is_array($all) ? $all[$name] ?? '' : '';
        return is_string($value) ? $value : '';
    }

    /** @param 'key'|'webhook' $name */
    public static function storeSecret(string $name, #[\SensitiveParameter] string $value): void
    {
        $all = get_option(self::SECRETS, []);
        update_option(self::SECRETS, [$name => $value] + (is_array($all) ? $all : []), false);
    }

    /** Returns true for live mode, which is the mode of the key. */
    public static function isLive(): bool
    {
        return str_starts_with(self::secret('key'), 'sk_live_');
    }

    /** Returns the shop's part of each `orderId`: by default the site's address. */
    public static function shop(): string
    {
        $name = self::get('shop') ?: preg_replace('~\A\w+://~', '', home_url());
        return trim(substr(preg_replace('/[^a-z0-9]+/', '-', strtolower((string) $name)), 0, 60), '-') ?: 'shop';
    }

    /** Returns true if invoices can be created. */
    public static function isComplete(): bool
    {
        return self::url() !== '' && self::secret('key') !== '' && self::secret('webhook') !== '';
    }

    /** @throws \ValueError if the address or the key is missing or malformed */
    public static function client(): Client
    {
        // A customer waits for most calls.
        return new Client(self::url(), self::secret('key'), timeout: 8.0, attempts: 2);
    }

    /** Logs a message. None has a key, a secret or a body. */
    public static function log(string $level, string $message): void
    {
        wc_get_logger()->log($level, $message, ['source' => 'coffer']);
    }
}
