<?php

declare(strict_types=1);

// The pages of the shop and of its administration, and a REST route by which the tests read and change orders.

add_action('template_redirect', static function (): void {
    if (($_GET['wc-ajax'] ?? '') === 'checkout') {
        $order = new WC_Order();
        $order->set_fields(['total' => $_POST['total'], 'currency' => get_woocommerce_currency()]);
        $order->save();
        wp_send_json(wc_stand_in_pay($order) + ['order_id' => $order->get_id()]);
    }
    foreach (['order-pay', 'order-received'] as $page) {
        if (isset($_GET[$page])) {
            wc_stand_in_page($page, (int) $_GET[$page]);
        }
    }
});

/** @return array<string, mixed> */
function wc_stand_in_pay(WC_Order $order): array
{
    $gateway = WC()->gateways()[$_POST['payment_method']] ?? null;
    if ($gateway === null || !$gateway->is_available()) {
        return ['result' => 'failure', 'messages' => [['error', 'Invalid payment method.']]];
    }
    $order->set_fields(['payment_method' => $gateway->id]);
    $order->save();
    return $gateway->process_payment($order->get_id()) + ['messages' => Notices::$all];
}

function wc_stand_in_page(string $page, int $id): never
{
    $order = wc_get_order($id);
    if (!$order instanceof WC_Order || !hash_equals($order->get_order_key(), $_GET['key'] ?? '')) {
        wp_die('Invalid order.', '', 403);
    }
    if ($page === 'order-pay' && !$order->needs_payment()) {
        wp_die("This order's status is {$order->get_status()}, so it cannot be paid.", '', 400);
    }
    if ($page === 'order-pay' && $_SERVER['REQUEST_METHOD'] === 'POST') {
        wp_send_json(wc_stand_in_pay($order));
    }
    $language = get_bloginfo('language');
    echo "<!doctype html><html lang='$language'><meta charset='utf-8'>";
    if ($page === 'order-pay') {
        foreach (WC()->gateways() as $gateway) {
            echo '<label>', esc_html($gateway->get_title()), '</label><p>', esc_html($gateway->get_description()), '</p>';
        }
    } else {
        do_action("woocommerce_thankyou_{$order->get_payment_method()}", $id);
    }
    exit;
}

add_action('admin_menu', static function (): void {
    add_menu_page('Settings', 'Settings', 'manage_woocommerce', 'wc-settings', static function (): void {
        $gateway = WC()->gateways()['coffer'];
        if ($_SERVER['REQUEST_METHOD'] === 'POST') {
            check_admin_referer('woocommerce-settings');
            do_action('woocommerce_update_options_payment_gateways_coffer');
        }
        foreach (WC_Admin_Settings::$errors as $error) {
            echo '<div class="error">', esc_html($error), '</div>';
        }
        echo '<form method="post"><table>';
        $gateway->generate_settings_html();
        echo '</table>';
        wp_nonce_field('woocommerce-settings');
        echo '</form>';
    });
    add_menu_page('Orders', 'Orders', 'manage_woocommerce', 'wc-orders', static function (): void {
        $order = wc_get_order((int) $_GET['id']);
        $actions = apply_filters('woocommerce_order_actions', [], $order);
        if (isset($_POST['wc_order_action'], $actions[$_POST['wc_order_action']])) {
            check_admin_referer('woocommerce-order');
            do_action("woocommerce_order_action_$_POST[wc_order_action]", $order);
            $order = wc_get_order($order->get_id());
        }
        wp_nonce_field('woocommerce-order');
        do_action('woocommerce_admin_order_data_after_order_details', $order);
    });
});

// Gives everybody who is signed in a nonce, so that the tests see that a nonce alone opens nothing.
add_action('wp_ajax_stand_in_nonce', static fn () => wp_send_json_success(wp_create_nonce($_GET['of'])));

add_action('rest_api_init', static function (): void {
    register_rest_route('stand-in', '/orders/(?P<id>\d+)', [
        'methods' => ['GET', 'POST'],
        'permission_callback' => '__return_true',
        'callback' => static function (WP_REST_Request $request): array {
            $order = wc_get_order((int) $request['id']);
            $fields = $request->get_json_params() ?? [];
            if ($fields !== []) {
                $order->set_fields(array_diff_key($fields, ['status' => 0]));
                $order->save();
            }
            if (isset($fields['status'])) {
                $order->update_status($fields['status']);
            }
            $refund = static fn ($one) => ['amount' => $one->get_amount(), 'reason' => $one->get_reason()];
            return $order->get_fields() + [
                'payments' => $order->payments(),
                'notes' => $order->notes(),
                'attempts' => array_values((array) ($order->get_meta('_coffer_attempts') ?: [])),
                'refunds' => array_map($refund, $order->get_refunds()),
            ];
        },
    ]);
    register_rest_route('stand-in', '/options', [
        'methods' => ['POST'],
        'permission_callback' => '__return_true',
        'callback' => static function (WP_REST_Request $request): array {
            foreach ($request->get_json_params() as $name => $value) {
                update_option($name, $value);
            }
            return [
                'settings' => get_option('woocommerce_coffer_settings', []),
                'features' => Automattic\WooCommerce\Utilities\FeaturesUtil::$declared,
            ];
        },
    ]);
});
