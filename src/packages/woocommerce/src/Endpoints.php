<?php

declare(strict_types=1);

namespace CofferWooCommerce;

use Coffer\ApiError;
use Coffer\CofferError;
use Coffer\SignatureError;
use Coffer\Webhook;

/** Addresses of the shop that Coffer and customers open: `?wc-api=coffer` and its like. None needs a cookie. */
final class Endpoints
{
    private const BODY_MAX = 1_000_000;

    /** Takes a webhook. Every answer but 2xx lets Coffer send it again. */
    public static function webhook(): never
    {
        if (($_SERVER['REQUEST_METHOD'] ?? '') !== 'POST') {
            self::answer(405, 'webhooks come by POST');
        }
        try {
            $payload = (string) file_get_contents('php://input', length: self::BODY_MAX);
            $event = Webhook::verify($payload, $_SERVER, Settings::secret('webhook'));
        } catch (SignatureError | \ValueError $error) {
            Settings::log('warning', "webhook refused: {$error->getMessage()}");
            self::answer(400, $error->getMessage());
        }
        try {
            self::answer(200, self::take($event));
        } catch (ApiError $error) {
            Settings::log('error', "webhook: $error->code, request $error->requestId: {$error->getMessage()}");
            // The object is of another mode or another account.
            self::answer($error->status === 404 ? 200 : 503, $error->code);
        } catch (CofferError | \RuntimeException | \ValueError | \DomainException $error) {
            Settings::log('error', "webhook: {$error->getMessage()}");
            self::answer(503, 'try again later');
        }
    }

    /** @param array<string, mixed> $event a verified one */
    private static function take(array $event): string
    {
        $type = $event['type'] ?? null;
        $object = $event['data']['object'] ?? null;
        if (!is_string($type) || !is_array($object) || !is_string($object['id'] ?? null)) {
            return 'ignored: not in the format "event"';
        }
        if (($event['livemode'] ?? null) !== Settings::isLive()) {
            return 'ignored: of another mode';
        }
        if ($type === 'refund.paid') {
            return Refunds::read($object['id']);
        }
        $number = Attempt::orderNumber($object['orderId'] ?? null);
        $isOurs = str_starts_with($type, 'invoice.') && $number !== null;
        return $isOurs ? Update::read($number, $object['orderId']) : 'ignored: not about an order';
    }

    /** Takes a customer who comes back from the checkout: reads the invoice, and shows the order. */
    public static function back(): never
    {
        self::visit(static function (\WC_Order $order): string {
            $attempts = Attempt::all($order);
            if ($attempts !== []) {
                Update::readAttempt($order, end($attempts));
            }
            return $order->get_checkout_order_received_url();
        });
    }

    /** Takes a customer back to the checkout of the newest invoice. */
    public static function pay(): never
    {
        self::visit(static function (\WC_Order $order): string {
            $attempts = Attempt::all($order);
            $last = end($attempts) ?: null;
            if ($last?->invoice === null || $last->livemode !== Settings::isLive()) {
                return $order->get_checkout_payment_url();
            }
            $invoice = Settings::client()->getInvoice($last->invoice);
            $difference = $last->difference($order, $invoice);
            $isSame = $difference === null && Price::of($order)->is($last->amount, $last->currency);
            return $isSame ? Payment::checkout($invoice) : $order->get_checkout_payment_url();
        });
    }

    /** @param callable(\WC_Order): string $work returns the url to go on to */
    private static function visit(callable $work): never
    {
        // A repeated parameter, or an array, is no key.
        $number = is_string($_GET['order'] ?? null) ? absint($_GET['order']) : 0;
        $key = is_string($_GET['key'] ?? null) ? wp_unslash($_GET['key']) : '';
        try {
            $url = Lock::order($number, static function () use ($number, $key, $work): string {
                $order = $number > 0 ? wc_get_order($number) : null;
                if (!$order instanceof \WC_Order || !hash_equals($order->get_order_key(), $key)) {
                    return home_url('/');
                }
                try {
                    return $work($order);
                } catch (CofferError | \ValueError | \DomainException $error) {
                    // The page tells what is known, and a webhook will tell the rest.
                    Settings::log('error', "order $number: {$error->getMessage()}");
                    return $order->get_checkout_order_received_url();
                }
            });
        } catch (\RuntimeException $error) {
            Settings::log('error', $error->getMessage());
            self::answer(503, 'Try again in a minute.');
        }
        nocache_headers();
        // The checkout is on another site.
        wp_redirect($url, 303);
        exit;
    }

    private static function answer(int $status, string $text): never
    {
        nocache_headers();
        status_header($status);
        header('Content-Type: text/plain; charset=utf-8');
        echo $text, "\n";
        exit;
    }
}
