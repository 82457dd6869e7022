<?php

/**
 * Plugin Name: Coffer for WooCommerce
 * Description: Takes payments in coins by your own Coffer server.
 * Version: 0.0.0
 * Requires at least: 6.1
 * Requires PHP: 8.1
 * Requires Plugins: woocommerce
 * WC requires at least: 8.2
 * License: MIT
 * Text Domain: coffer-woocommerce
 */

declare(strict_types=1);

namespace CofferWooCommerce;

defined('ABSPATH') || exit;

require_once __DIR__ . '/client/autoload.php';

spl_autoload_register(static function (string $class): void {
    if (preg_match('/\ACofferWooCommerce\\\\([A-Za-z]+)\z/', $class, $found) === 1) {
        $file = __DIR__ . "/src/$found[1].php";
        if (is_file($file)) {
            require $file;
        }
    }
});

// Orders are read and written by WooCommerce's own classes only, so both kinds of storage work.
add_action('before_woocommerce_init', static function (): void {
    $features = \Automattic\WooCommerce\Utilities\FeaturesUtil::class;
    if (class_exists($features)) {
        $features::declare_compatibility('custom_order_tables', __FILE__, true);
        $features::declare_compatibility('cart_checkout_blocks', __FILE__, false);
    }
});

add_action('plugins_loaded', static function (): void {
    if (!class_exists(\WC_Payment_Gateway::class)) {
        return;
    }
    if (!extension_loaded('curl')) {
        add_action('admin_notices', static function (): void {
            echo '<div class="notice notice-error"><p>Coffer needs the extension cURL of PHP.</p></div>';
        });
        return;
    }
    add_action('init', [Texts::class, 'load'], -1);
    add_filter('woocommerce_payment_gateways', static fn (array $all): array => [...$all, Gateway::class]);
    add_action('woocommerce_api_coffer', [Endpoints::class, 'webhook']);
    add_action('woocommerce_api_coffer_return', [Endpoints::class, 'back']);
    add_action('woocommerce_api_coffer_pay', [Endpoints::class, 'pay']);
    add_action('woocommerce_thankyou_coffer', [Thanks::class, 'show']);
    add_action('woocommerce_view_order', [Thanks::class, 'show'], 5);
    add_action('woocommerce_order_status_cancelled', [Payment::class, 'cancel']);
    Admin::start();
});
