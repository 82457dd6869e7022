<?php

declare(strict_types=1);

namespace CofferWooCommerce;

/** A lock of an order over all PHP processes. It ends with its database connection, also where PHP is killed. */
final class Lock
{
    private const WAIT_SECONDS = 20;

    /**
     * Runs the work while no other process works on the order.
     *
     * Invariant: the order is loaded inside the work, so that it is as the process before has left it.
     *
     * @template Result
     * @param callable(): Result $work
     * @return Result
     * @throws \RuntimeException if another process has held the order for too long
     */
    public static function order(int $id, callable $work): mixed
    {
        global $wpdb;
        // A lock's name is one of the whole database server.
        $name = 'coffer-' . substr(hash('sha256', DB_NAME . $wpdb->prefix), 0, 16) . "-$id";
        $got = $wpdb->get_var($wpdb->prepare('SELECT GET_LOCK(%s, %d)', $name, self::WAIT_SECONDS));
        if ((string) $got !== '1') {
            throw new \RuntimeException("order $id is in use by another process");
        }
        try {
            return $work();
        } finally {
            $wpdb->query($wpdb->prepare('SELECT RELEASE_LOCK(%s)', $name));
        }
    }
}
