<?php

declare(strict_types=1);

namespace CofferWooCommerce;

use Coffer\ApiError;
use Coffer\CofferError;

/** The beginning of a payment: the open invoice of an order, or a new one. */
final class Payment
{
    /** Attempts that are made at once. More than one is needed only where Coffer knows other invoices of their names. */
    private const TRIES = 20;
    /** Statuses that a customer cannot pay any more, without money. */
    private const ENDED = ['expired', 'cancelled', 'failed'];

    /**
     * Returns the url that the customer is sent to: the invoice's checkout, or the shop's page of an order with money.
     *
     * @throws CofferError|\Exception|\ValueError if there is none
     */
    public static function start(int $orderNumber): string
    {
        return Lock::order($orderNumber, static function () use ($orderNumber): string {
            $order = wc_get_order($orderNumber);
            if (!$order instanceof \WC_Order) {
                throw new \DomainException("there is no order $orderNumber");
            }
            // WooCommerce may have loaded the order before the lock.
            $order->read_meta_data(true);
            $invoice = self::invoice($order);
            $canPay = in_array($invoice['status'], ['created', 'awaiting_payment', 'underpaid'], true);
            return $canPay ? self::checkout($invoice) : $order->get_checkout_order_received_url();
        });
    }

    /** @param array<string, mixed> $invoice */
    public static function checkout(array $invoice): string
    {
        $url = $invoice['checkoutUrl'] ?? null;
        if (!is_string($url) || preg_match('~\Ahttps?://~i', $url) !== 1) {
            throw new \DomainException('the checkoutUrl of the invoice is no web address');
        }
        return $url;
    }

    /** @return array<string, mixed> the invoice, compared with the order */
    private static function invoice(\WC_Order $order): array
    {
        $price = Price::of($order);
        $attempts = Attempt::all($order);
        $last = end($attempts) ?: null;
        $isSame = $last?->livemode === Settings::isLive() && $price->is($last->amount, $last->currency);
        $number = $last === null ? 1 : $last->number + ($isSame ? 0 : 1);
        for ($end = $number + self::TRIES; $number < $end; $number++) {
            $attempt = $attempts[$number] ?? self::attempt($order, $number, $price);
            // It is kept before it is sent, as the answer may be lost.
            $attempt->save($order);
            $invoice = self::create($order, $attempt);
            $difference = $attempt->difference($order, $invoice);
            if ($difference !== null) {
                Settings::log('warning', "$attempt->orderId: Coffer has another invoice: its $difference differs");
                continue;
            }
            Update::apply($order, $attempt, $invoice);
            if (!in_array($invoice['status'], self::ENDED, true)) {
                self::cancelOthers($order, $attempt->number);
                return $invoice;
            }
        }
        throw new \DomainException("order {$order->get_id()}: no free orderId was found");
    }

    private static function attempt(\WC_Order $order, int $number, Price $price): Attempt
    {
        $orderId = Settings::shop() . "-{$order->get_id()}-$number";
        return new Attempt($number, $orderId, $price->amount, $price->currency, Settings::isLive());
    }

    /** @return array<string, mixed> the invoice of the attempt, which may exist already */
    private static function create(\WC_Order $order, Attempt $attempt): array
    {
        $back = add_query_arg(
            ['order' => $order->get_id(), 'key' => $order->get_order_key()],
            WC()->api_request_url('coffer_return'),
        );
        return Settings::client()->createInvoice([
            'amount' => $attempt->amount,
            'currency' => $attempt->currency,
            'orderId' => $attempt->orderId,
            /* translators: %s: number of the order */
            'description' => sprintf(__('Order %s', 'coffer-woocommerce'), $order->get_order_number()),
            'redirectUrl' => $back,
            'cancelUrl' => $order->get_checkout_payment_url(),
            'metadata' => ['order' => Attempt::mark($order)],
        ]);
    }

    /** Cancels the open invoices of other attempts, so that nobody pays an old price. */
    private static function cancelOthers(\WC_Order $order, int $number): void
    {
        foreach (Attempt::all($order) as $attempt) {
            if ($attempt->number !== $number && $attempt->isOpen()) {
                self::cancelInvoice($attempt);
            }
        }
    }

    /** Cancels the open invoices of an order that was cancelled in the shop. */
    public static function cancel(int $orderNumber): void
    {
        $order = wc_get_order($orderNumber);
        foreach ($order instanceof \WC_Order ? Attempt::all($order) : [] as $attempt) {
            if ($attempt->isOpen() && !self::cancelInvoice($attempt)) {
                $order->add_order_note(sprintf(
                    'Coffer: invoice %s could not be cancelled. It can still be paid until its time is over.',
                    $attempt->invoice,
                ));
            }
        }
    }

    /** Returns true if the invoice takes no payment any more. Its webhook tells the new status. */
    private static function cancelInvoice(Attempt $attempt): bool
    {
        if ($attempt->livemode !== Settings::isLive()) {
            return false;
        }
        try {
            Settings::client()->cancelInvoice((string) $attempt->invoice);
            return true;
        } catch (ApiError $error) {
            Settings::log('info', "$attempt->orderId: cancel: $error->code");
            // It has ended, or its first payment was just seen, which a webhook tells.
            return $error->code === 'invoice_not_cancellable';
        } catch (CofferError | \ValueError $error) {
            Settings::log('error', "$attempt->orderId: cancel: {$error->getMessage()}");
            return false;
        }
    }
}
