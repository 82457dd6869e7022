<?php

declare(strict_types=1);

namespace CofferWooCommerce;

/** What is to be paid for an order, as Coffer writes it: `19.90` and `EUR`. */
final class Price
{
    public const CURRENCIES = ['EUR', 'USD'];

    private function __construct(public readonly string $amount, public readonly string $currency)
    {
    }

    /** @throws \DomainException if Coffer has no such price */
    public static function of(\WC_Order $order): self
    {
        $total = (string) $order->get_total();
        $currency = $order->get_currency();
        // More than two digits are refused, unless they are zeros: money is not rounded here.
        if (preg_match('/\A([0-9]+)(?:\.([0-9]{1,2})0*)?\z/', $total, $parts) !== 1) {
            throw new \DomainException("the total $total has no price with two decimals");
        }
        if (!in_array($currency, self::CURRENCIES, true)) {
            throw new \DomainException("the currency $currency is neither EUR nor USD");
        }
        $whole = ltrim($parts[1], '0');
        return new self(($whole === '' ? '0' : $whole) . '.' . str_pad($parts[2] ?? '', 2, '0'), $currency);
    }

    /** Returns the price, or null if Coffer has no such price. */
    public static function find(\WC_Order $order): ?self
    {
        try {
            return self::of($order);
        } catch (\DomainException) {
            return null;
        }
    }

    public function is(string $amount, string $currency): bool
    {
        return $this->amount === $amount && $this->currency === $currency;
    }
}
