<?php

/**
 * Plugin Name: Stand-in for WooCommerce, for the tests of Coffer's plugin
 * Version: 0.0.0
 *
 * WooCommerce itself is in no package registry. This is the part of it that the plugin uses, written after its
 * documentation: orders in WordPress's database, the classic checkout, settings of gateways, and the pages around them.
 * It has no cart, no stock, no mail and no blocks.
 */

declare(strict_types=1);

defined('ABSPATH') || exit;

require __DIR__ . '/features.php';
require __DIR__ . '/orders.php';
require __DIR__ . '/gateways.php';
require __DIR__ . '/pages.php';

/** The object of `WC()`. */
final class WooCommerce
{
    /** @var array<string, WC_Payment_Gateway>|null */
    private ?array $gateways = null;

    /** @return array<string, WC_Payment_Gateway> */
    public function gateways(): array
    {
        if ($this->gateways === null) {
            $this->gateways = [];
            foreach (apply_filters('woocommerce_payment_gateways', []) as $class) {
                $gateway = new $class();
                $this->gateways[$gateway->id] = $gateway;
            }
        }
        return $this->gateways;
    }

    public function api_request_url(string $request): string
    {
        return add_query_arg('wc-api', $request, trailingslashit(home_url('/')));
    }
}

function WC(): WooCommerce
{
    static $instance = null;
    return $instance ??= new WooCommerce();
}

function get_woocommerce_currency(): string
{
    return get_option('woocommerce_currency', 'EUR');
}

/** Messages that the next page shows. The stand-in has no session: they end with the request. */
final class Notices
{
    /** @var list<array{string, string}> */
    public static array $all = [];
}

function wc_add_notice(string $message, string $notice_type = 'success'): void
{
    Notices::$all[] = [$notice_type, $message];
}

/** Logger of `wc_get_logger`: a line of the file WC_LOG for each message. */
final class WC_Logger
{
    /** @param array<string, mixed> $context */
    public function log(string $level, string $message, array $context = []): void
    {
        file_put_contents(WC_LOG, "$level {$context['source']} $message\n", FILE_APPEND | LOCK_EX);
    }
}

function wc_get_logger(): WC_Logger
{
    return new WC_Logger();
}

register_activation_hook(__FILE__, 'wc_stand_in_tables');
add_action('plugins_loaded', static fn () => do_action('before_woocommerce_init'), -1);
add_action('parse_request', static function (): void {
    if (!empty($_GET['wc-api'])) {
        ob_start();
        $request = strtolower(sanitize_key(wp_unslash($_GET['wc-api'])));
        status_header(has_action("woocommerce_api_$request") ? 200 : 400);
        do_action("woocommerce_api_$request");
        ob_end_clean();
        die('-1');
    }
}, 0);
