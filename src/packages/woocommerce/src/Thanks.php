<?php

declare(strict_types=1);

namespace CofferWooCommerce;

/** What a customer is told about the payment, above the order. */
final class Thanks
{
    public static function show(int|string $orderNumber): void
    {
        $order = wc_get_order((int) $orderNumber);
        if (!$order instanceof \WC_Order || $order->get_payment_method() !== Gateway::ID) {
            return;
        }
        $attempts = Attempt::all($order);
        $last = end($attempts);
        if ($last === false || $order->has_status(['cancelled', 'refunded'])) {
            return;
        }
        [$text, $link] = self::text($order, $last);
        echo '<p class="coffer-status">', esc_html($text), '</p>';
        if ($link !== null) {
            printf('<p><a class="button" href="%s">%s</a></p>', esc_url($link[0]), esc_html($link[1]));
        }
    }

    /** @return array{string, array{string, string}|null} a text, and a link with its text */
    private static function text(\WC_Order $order, Attempt $attempt): array
    {
        $on = add_query_arg(
            ['order' => $order->get_id(), 'key' => $order->get_order_key()],
            WC()->api_request_url('coffer_pay'),
        );
        $again = [$order->get_checkout_payment_url(), __('Pay again', 'coffer-woocommerce')];
        return match (true) {
            $order->is_paid() && $attempt->status === 'overpaid' => [__(
                'Your payment has arrived, and it was more than was due. Ask us about the rest.',
                'coffer-woocommerce',
            ), null],
            $order->is_paid() => [__('Your payment has arrived. Thank you.', 'coffer-woocommerce'), null],
            $attempt->status === 'detected', $attempt->paid => [__(
                'Your payment was seen and is being confirmed. You do not need to do anything.',
                'coffer-woocommerce',
            ), null],
            $attempt->status === 'underpaid' => [
                __('Less has arrived than was due.', 'coffer-woocommerce'),
                [$on, __('Pay the rest', 'coffer-woocommerce')],
            ],
            $attempt->status === 'paid_late' => [self::late(), null],
            $attempt->status === 'failed' => [__(
                'The payment did not go through: it has vanished from its network.',
                'coffer-woocommerce',
            ), $order->needs_payment() ? $again : null],
            in_array($attempt->status, ['expired', 'cancelled'], true) => [
                __('The time to pay is over, and nothing was paid.', 'coffer-woocommerce'),
                $order->needs_payment() ? $again : null,
            ],
            default => [
                __('Your payment was not seen yet. Have you sent it already? Then wait a few minutes.', 'coffer-woocommerce'),
                [$on, __('Go on to payment', 'coffer-woocommerce')],
            ],
        };
    }

    private static function late(): string
    {
        return __(
            'Your payment arrived after the time to pay was over. Do not pay again: we will contact you.',
            'coffer-woocommerce',
        );
    }
}
