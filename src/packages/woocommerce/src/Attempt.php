<?php

declare(strict_types=1);

namespace CofferWooCommerce;

/** An attempt to pay an order: one invoice. All of them are kept with the order, by number. */
final class Attempt
{
    private const META = '_coffer_attempts';
    /** Statuses in which Coffer still waits for the first payment. */
    private const OPEN = ['created', 'awaiting_payment'];

    /**
     * @param int $number 1 for the first
     * @param string $orderId the invoice's `orderId`: `<shop>-<order>-<attempt>`
     * @param string|null $invoice id of the invoice, null until an answer has told it
     * @param string $status status of the invoice as it was last read, empty before
     * @param string|null $received `0.25 LTC`: the money that was seen or confirmed
     */
    public function __construct(
        public readonly int $number,
        public readonly string $orderId,
        public readonly string $amount,
        public readonly string $currency,
        public readonly bool $livemode,
        public ?string $invoice = null,
        public string $status = '',
        public bool $paid = false,
        public ?string $received = null,
    ) {
    }

    /** @return array<int, Attempt> by number, the first one first */
    public static function all(\WC_Order $order): array
    {
        $stored = $order->get_meta(self::META);
        $all = [];
        foreach (is_array($stored) ? $stored : [] as $number => $fields) {
            $all[$number] = new self(...$fields);
        }
        ksort($all);
        return $all;
    }

    public static function find(\WC_Order $order, string $orderId): ?self
    {
        foreach (self::all($order) as $attempt) {
            if ($attempt->orderId === $orderId) {
                return $attempt;
            }
        }
        return null;
    }

    /** Returns the number of the order in an `orderId`, null if it is not of a shop. */
    public static function orderNumber(mixed $orderId): ?int
    {
        $isOurs = is_string($orderId) && preg_match('/\A.+-([0-9]{1,18})-[0-9]{1,9}\z/', $orderId, $found) === 1;
        return $isOurs ? (int) $found[1] : null;
    }

    /** Keeps the attempt with its order, and saves the order. */
    public function save(\WC_Order $order): void
    {
        $stored = $order->get_meta(self::META);
        $stored = is_array($stored) ? $stored : [];
        $stored[$this->number] = get_object_vars($this);
        $order->update_meta_data(self::META, $stored);
        $order->save();
    }

    public function isOpen(): bool
    {
        return in_array($this->status, self::OPEN, true);
    }

    public function hasMoney(): bool
    {
        return $this->received !== null;
    }

    /** @param array<string, mixed> $invoice */
    public function take(array $invoice): void
    {
        $this->invoice = $invoice['id'];
        $this->status = $invoice['status'];
        $this->paid = $invoice['paid'] === true;
        $received = $invoice['amountReceived'] ?? null;
        $this->received = $received === null ? null : "$received {$invoice['assetSymbol']}";
    }

    /**
     * Returns why an invoice is not that of the attempt, null if it is.
     *
     * @param array<string, mixed> $invoice
     */
    public function difference(\WC_Order $order, array $invoice): ?string
    {
        $wanted = [
            'orderId' => $this->orderId,
            'amount' => $this->amount,
            'currency' => $this->currency,
            'livemode' => $this->livemode,
        ];
        foreach ($wanted as $field => $value) {
            if (($invoice[$field] ?? null) !== $value) {
                return $field;
            }
        }
        if ($this->invoice !== null && $this->invoice !== ($invoice['id'] ?? null)) {
            return 'id';
        }
        // An order that had this number before, as in a shop that was installed anew, has another key.
        return ($invoice['metadata']['order'] ?? null) === self::mark($order) ? null : 'metadata';
    }

    /** Returns what tells the order from others that had its number. */
    public static function mark(\WC_Order $order): string
    {
        return substr(hash('sha256', 'coffer ' . $order->get_order_key()), 0, 16);
    }
}
