<?php

declare(strict_types=1);

namespace CofferWooCommerce;

use Coffer\ApiError;
use Coffer\CofferError;

/** What the people of the shop see: the test of the connection, and the invoices of an order. */
final class Admin
{
    private const TEST = 'coffer_test_connection';
    private const READ = 'coffer_read';

    public static function start(): void
    {
        add_action('wp_ajax_' . self::TEST, [self::class, 'testConnection']);
        add_action('woocommerce_admin_order_data_after_order_details', [self::class, 'showAttempts']);
        add_filter('woocommerce_order_actions', static fn (array $all): array => $all + [
            self::READ => 'Read the payment from Coffer',
        ]);
        add_action('woocommerce_order_action_' . self::READ, [self::class, 'readAttempts']);
    }

    public static function connectionButton(string $id): string
    {
        $call = add_query_arg(
            ['action' => self::TEST, 'nonce' => wp_create_nonce(self::TEST)],
            admin_url('admin-ajax.php', 'relative'),
        );
        return sprintf(
            '<button type="button" class="button" id="%1$s" data-call="%2$s">Test connection</button> <output></output>'
                . '<p class="description">Tests the address and the key that are saved.</p>'
                . '<script>document.getElementById("%1$s").onclick = async ({ currentTarget: button }) => {'
                . ' const output = button.nextElementSibling; output.textContent = "…";'
                . ' try { output.textContent = (await (await fetch(button.dataset.call, { method: "POST" })).json()).data; }'
                . ' catch { output.textContent = "The shop did not answer. Reload this page."; } };</script>',
            esc_attr($id),
            esc_attr($call),
        );
    }

    /** Says mode and shop of the key. */
    public static function testConnection(): void
    {
        check_ajax_referer(self::TEST, 'nonce');
        if (!current_user_can('manage_woocommerce')) {
            wp_send_json_error('You may not change settings of the shop.', 403);
        }
        try {
            $merchant = Settings::client()->getMerchant();
            $mode = $merchant['livemode'] ? 'Live mode' : 'Test mode: no real money';
            $state = $merchant['status'] === 'active' ? '' : " The account is $merchant[status].";
            $wanted = WC()->api_request_url('coffer');
            // Others of its endpoints are not told.
            $hook = match ($merchant['webhookUrl']) {
                null => " It has no webhook endpoint. Create one for $wanted.",
                $wanted => '',
                default => " Its first webhook endpoint is $merchant[webhookUrl]. There must be one for $wanted too.",
            };
            wp_send_json_success("$mode. Shop: $merchant[name].$state$hook");
        } catch (ApiError $error) {
            wp_send_json_error("Coffer refused the key: {$error->getMessage()} ($error->code)");
        } catch (CofferError | \ValueError $error) {
            wp_send_json_error("No connection: {$error->getMessage()}");
        }
    }

    /** Shows each invoice of an order, with links to it and to its refund. */
    public static function showAttempts(\WC_Order $order): void
    {
        $attempts = Attempt::all($order);
        if ($attempts === []) {
            return;
        }
        echo '<div class="form-field form-field-wide coffer-attempts"><h3>Coffer</h3>';
        foreach (array_reverse($attempts) as $attempt) {
            $text = "Attempt $attempt->number: $attempt->amount $attempt->currency, "
                . ($attempt->status === '' ? 'not created' : strtr($attempt->status, '_', ' '))
                . ($attempt->livemode ? '' : ', test mode')
                . ($attempt->received === null ? '' : ", received $attempt->received");
            echo '<p>', esc_html($text);
            if ($attempt->invoice !== null) {
                self::link(self::invoiceUrl($attempt), 'Open invoice');
            }
            if ($attempt->invoice !== null && $attempt->hasMoney()) {
                self::link(self::refundUrl($attempt), 'Refund invoice');
            }
            echo '</p>';
        }
        echo '</div>';
    }

    private static function link(string $url, string $text): void
    {
        printf(' <a href="%s" target="_blank" rel="noopener">%s</a>', esc_url($url), esc_html($text));
    }

    private static function invoiceUrl(Attempt $attempt): string
    {
        $mode = $attempt->livemode ? 'live' : 'test';
        return Settings::url() . '/dashboard#/invoices/' . rawurlencode((string) $attempt->invoice) . "?mode=$mode";
    }

    /** Returns the address of Coffer's form for a refund, filled in. Somebody signs in there: the shop cannot send money. */
    private static function refundUrl(Attempt $attempt): string
    {
        return self::invoiceUrl($attempt) . '&refund=' . rawurlencode($attempt->amount);
    }

    /** Reads all invoices of an order, for a shop that has missed webhooks. */
    public static function readAttempts(\WC_Order $order): void
    {
        foreach (Attempt::all($order) as $attempt) {
            try {
                Update::read($order->get_id(), $attempt->orderId);
            } catch (CofferError | \RuntimeException | \ValueError $error) {
                $order->add_order_note("Coffer: {$error->getMessage()}");
            }
        }
    }
}
