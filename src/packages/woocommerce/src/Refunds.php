<?php

declare(strict_types=1);

namespace CofferWooCommerce;

use Coffer\CofferError;

/** Refunds that were paid in Coffer, booked in WooCommerce. */
final class Refunds
{
    /** Reason of WooCommerce's refunds, before the id of Coffer's. It is saved with the refund itself, so it is not lost. */
    private const REASON = 'Coffer: refund ';
    /** Ids of refunds that were only noted, at the order. */
    private const NOTED = '_coffer_refunds_noted';

    /**
     * Reads a refund, and books it once if it is paid.
     *
     * @return string what was done, for the answer to a webhook
     * @throws CofferError|\RuntimeException|\ValueError if it has to be tried again
     */
    public static function read(string $id): string
    {
        $refund = Settings::client()->getRefund($id);
        if ($refund['status'] !== 'paid' || $refund['livemode'] !== Settings::isLive()) {
            return 'ignored: not paid in this mode';
        }
        $number = Attempt::orderNumber(Settings::client()->getInvoice($refund['invoiceId'])['orderId']);
        if ($number === null) {
            return 'ignored: no order of this shop';
        }
        return Lock::order($number, static function () use ($number, $refund): string {
            $order = wc_get_order($number);
            $invoice = Settings::client()->getInvoice($refund['invoiceId']);
            $attempt = $order instanceof \WC_Order ? Attempt::find($order, $invoice['orderId']) : null;
            if ($attempt === null || $attempt->difference($order, $invoice) !== null) {
                return 'ignored: no order of this shop';
            }
            // The webhook of the payment may come after that of the refund.
            Update::apply($order, $attempt, $invoice);
            return self::isDone($order, $refund['id']) ? 'done before' : self::book($order, $invoice, $refund);
        });
    }

    private static function isDone(\WC_Order $order, string $id): bool
    {
        foreach ($order->get_refunds() as $refund) {
            if ($refund->get_reason() === self::REASON . $id) {
                return true;
            }
        }
        return in_array($id, (array) $order->get_meta(self::NOTED), true);
    }

    /**
     * @param array<string, mixed> $invoice
     * @param array<string, mixed> $refund
     */
    private static function book(\WC_Order $order, array $invoice, array $refund): string
    {
        $text = "Coffer: refund $refund[id] of $refund[amount] $refund[currency] for invoice $invoice[id] is paid";
        $reason = self::reasonNotToBook($order, $invoice, $refund);
        if ($reason === null) {
            $booked = wc_create_refund([
                'order_id' => $order->get_id(),
                'amount' => $refund['amount'],
                'reason' => self::REASON . $refund['id'],
                'refund_payment' => false,
                'restock_items' => false,
            ]);
            if (!is_wp_error($booked)) {
                $order->add_order_note("$text.");
                return "booked for order {$order->get_id()}";
            }
            $reason = $booked->get_error_message();
        }
        $noted = array_filter((array) $order->get_meta(self::NOTED));
        $order->update_meta_data(self::NOTED, [...$noted, $refund['id']]);
        $order->save();
        $order->add_order_note("$text. It is not booked here: $reason.");
        return "noted at order {$order->get_id()}";
    }

    /**
     * Returns why a refund takes nothing from what the order was paid with, null if it does.
     *
     * @param array<string, mixed> $invoice
     * @param array<string, mixed> $refund
     */
    private static function reasonNotToBook(\WC_Order $order, array $invoice, array $refund): ?string
    {
        if ($order->get_transaction_id() !== $invoice['id']) {
            return 'the order was not paid by this invoice';
        }
        if ($order->get_currency() !== $refund['currency']) {
            return 'the order has another currency';
        }
        if ($invoice['status'] === 'overpaid') {
            return 'more was paid than was due. Book here what is more than that';
        }
        return null;
    }
}
