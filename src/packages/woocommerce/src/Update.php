<?php

declare(strict_types=1);

namespace CofferWooCommerce;

use Coffer\CofferError;

/**
 * Changes of an order by what Coffer says about one of its invoices.
 *
 * Invariant: only an invoice that was just read from Coffer changes an order. Webhooks and visits only start the reading,
 * so it does not matter how often or in which order they come.
 */
final class Update
{
    private function __construct(
        private readonly \WC_Order $order,
        private readonly Attempt $attempt,
        private readonly ?Price $price,
    ) {
    }

    /**
     * Reads an invoice and changes its order.
     *
     * @return string what was done, for the answer to a webhook
     * @throws CofferError|\RuntimeException|\ValueError if it has to be tried again
     */
    public static function read(int $orderNumber, string $orderId): string
    {
        return Lock::order($orderNumber, static function () use ($orderNumber, $orderId): string {
            $order = wc_get_order($orderNumber);
            $attempt = $order instanceof \WC_Order ? Attempt::find($order, $orderId) : null;
            if ($attempt === null) {
                return 'ignored: no order of this shop';
            }
            return self::readAttempt($order, $attempt);
        });
    }

    /** Reads the invoice of an attempt. The order is locked, and was loaded under the lock. */
    public static function readAttempt(\WC_Order $order, Attempt $attempt): string
    {
        if ($attempt->livemode !== Settings::isLive()) {
            return 'ignored: of another mode';
        }
        $invoice = self::invoice($attempt);
        $difference = $invoice === null ? 'existence' : $attempt->difference($order, $invoice);
        if ($invoice === null || $difference !== null) {
            Settings::log('warning', "$attempt->orderId: the invoice in Coffer is another one: its $difference differs");
            return "ignored: $difference differs";
        }
        self::apply($order, $attempt, $invoice);
        return "order {$order->get_id()} is {$order->get_status()}";
    }

    /** @return array<string, mixed>|null null if Coffer has no invoice of the attempt */
    private static function invoice(Attempt $attempt): ?array
    {
        $coffer = Settings::client();
        if ($attempt->invoice !== null) {
            return $coffer->getInvoice($attempt->invoice);
        }
        // The answer to its creation was lost.
        foreach ($coffer->listInvoices(['orderId' => $attempt->orderId]) as $invoice) {
            return $invoice;
        }
        return null;
    }

    /**
     * Changes the order if the invoice has changed since it was last read.
     *
     * @param array<string, mixed> $invoice an invoice without a difference to its attempt
     */
    public static function apply(\WC_Order $order, Attempt $attempt, array $invoice): void
    {
        $before = clone $attempt;
        $attempt->take($invoice);
        if ($attempt == $before) {
            return;
        }
        $update = new self($order, $attempt, Price::find($order));
        $update->change($before);
        // It comes last: what fails before it is done again.
        $attempt->save($order);
    }

    private function change(Attempt $before): void
    {
        if ($before->paid && !$this->attempt->paid) {
            $this->unpay();
        }
        match ($this->attempt->status) {
            'confirmed', 'overpaid' => $this->pay(),
            'detected' => $this->hold('a payment was seen and is not confirmed yet', true),
            'underpaid' => $this->hold('less was paid than is due. The customer can pay the rest', false),
            'paid_late' => $this->hold('it was paid after its time was over. Decide whether the order is valid', false),
            'expired' => $this->release($before, 'nothing was paid in time'),
            'failed' => $this->release($before, 'its payment has vanished from the chain'),
            'cancelled' => $this->cancelled(),
            default => null,
        };
    }

    /** Completes the payment of the order, once. */
    private function pay(): void
    {
        $order = $this->order;
        $id = (string) $this->attempt->invoice;
        if ($this->price?->is($this->attempt->amount, $this->attempt->currency) !== true) {
            $this->hold("it is paid, but the order costs {$order->get_total()} {$order->get_currency()} now", false);
            return;
        }
        $isOver = $this->attempt->status === 'overpaid';
        if ($this->isSettled()) {
            $this->note(match (true) {
                !$this->isPayer() => 'it is paid, but the order was paid already. Refund one of the two payments',
                $isOver => 'more was paid than was due',
                default => 'it is paid',
            });
            return;
        }
        if ($order->has_status('cancelled')) {
            $this->note('it is paid, although the order was cancelled');
        }
        if (!$order->payment_complete($id)) {
            throw new \RuntimeException("order {$order->get_id()} could not be completed");
        }
        $this->note($isOver ? 'it is paid, with more than was due' : 'it is paid');
    }

    /** Stops an order whose payment is no longer confirmed. */
    private function unpay(): void
    {
        if (!$this->isPayer()) {
            return;
        }
        if ($this->order->has_status('processing')) {
            $this->order->update_status('on-hold', $this->text('its payment is not confirmed any more. Do not ship'));
        } else {
            $this->note('its payment is not confirmed any more');
        }
    }

    /**
     * Lets an unpaid order wait, so that WooCommerce does not cancel it.
     *
     * @param bool $isOnItsWay false for money that somebody has to look at, which is told of a settled order too
     */
    private function hold(string $reason, bool $isOnItsWay): void
    {
        if ($this->order->has_status(['pending', 'failed'])) {
            $this->order->update_status('on-hold', $this->text($reason));
        } elseif (!$isOnItsWay || $this->isSettled() || $this->order->has_status('cancelled')) {
            $this->note($reason);
        }
    }

    /** Lets an order that waited for this payment be paid again, unless another of its invoices has money. */
    private function release(Attempt $before, string $reason): void
    {
        $others = array_filter(
            Attempt::all($this->order),
            fn (Attempt $other): bool => $other->number !== $this->attempt->number && $other->hasMoney(),
        );
        $isWaiting = $before->hasMoney() && $this->order->has_status('on-hold');
        if ($isWaiting && $this->isOurs() && $others === []) {
            $this->order->update_status('pending', $this->text($reason));
        } else {
            $this->note($reason);
        }
    }

    /** Cancels the unpaid order of an invoice that was cancelled in Coffer. An older invoice cancels nothing. */
    private function cancelled(): void
    {
        $attempts = Attempt::all($this->order);
        $isNewest = array_key_last($attempts) === $this->attempt->number;
        if ($isNewest && $this->isOurs() && $this->order->has_status(['pending', 'failed', 'on-hold'])) {
            // The hook of the cancellation must not find the invoice open.
            $this->attempt->save($this->order);
            $this->order->update_status('cancelled', $this->text('it was cancelled'));
        } else {
            $this->note('it was cancelled');
        }
    }

    /** Returns true if this invoice has paid the order. */
    private function isPayer(): bool
    {
        return $this->order->get_transaction_id() === $this->attempt->invoice;
    }

    /** Returns true if the order is not to be paid any more. */
    private function isSettled(): bool
    {
        return $this->order->is_paid() || $this->order->has_status('refunded');
    }

    /** Returns true if the customer has not gone over to another way to pay. */
    private function isOurs(): bool
    {
        return $this->order->get_payment_method() === Gateway::ID;
    }

    private function note(string $reason): void
    {
        $this->order->add_order_note($this->text($reason));
    }

    private function text(string $reason): string
    {
        $attempt = $this->attempt;
        $money = $attempt->received === null ? '' : ", received $attempt->received";
        return "Coffer: invoice $attempt->invoice (attempt $attempt->number, $attempt->amount $attempt->currency$money): "
            . "$reason.";
    }
}
