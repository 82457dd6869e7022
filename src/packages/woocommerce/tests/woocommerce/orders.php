<?php

declare(strict_types=1);

// Orders and refunds, in tables of their own, as WooCommerce's HPOS has them.

function wc_stand_in_tables(): void
{
    global $wpdb;
    $wpdb->query("CREATE TABLE {$wpdb->prefix}wc_orders (id BIGINT PRIMARY KEY AUTO_INCREMENT, parent BIGINT, payments INT "
        . 'DEFAULT 0, fields LONGTEXT)');
    $wpdb->query("CREATE TABLE {$wpdb->prefix}wc_orders_meta (id BIGINT PRIMARY KEY AUTO_INCREMENT, order_id BIGINT, name "
        . 'VARCHAR(200), value LONGTEXT, UNIQUE (order_id, name))');
    $wpdb->query("CREATE TABLE {$wpdb->prefix}wc_notes (id BIGINT PRIMARY KEY AUTO_INCREMENT, order_id BIGINT, text LONGTEXT)");
}

/** What orders and refunds have in common: fields, and meta data that is written by `save`. */
abstract class WC_Abstract_Order
{
    protected int $id = 0;
    protected int $parent = 0;
    /** @var array<string, mixed> */
    protected array $fields = [];
    /** @var array<string, mixed> */
    private array $meta = [];
    /** @var array<string, true> names of changed meta data */
    private array $changed = [];

    public static function load(int $id): ?self
    {
        global $wpdb;
        $row = $wpdb->get_row($wpdb->prepare("SELECT * FROM {$wpdb->prefix}wc_orders WHERE id = %d", $id));
        if ($row === null) {
            return null;
        }
        $order = $row->parent > 0 ? new WC_Order_Refund() : new WC_Order();
        $order->id = (int) $row->id;
        $order->parent = (int) $row->parent;
        $order->fields = unserialize($row->fields) + $order->fields;
        $order->read_meta_data(true);
        return $order;
    }

    public function get_id(): int
    {
        return $this->id;
    }

    public function read_meta_data(bool $force_read = false): void
    {
        global $wpdb;
        $query = $wpdb->prepare("SELECT name, value FROM {$wpdb->prefix}wc_orders_meta WHERE order_id = %d", $this->id);
        $this->meta = array_map('maybe_unserialize', array_column($wpdb->get_results($query), 'value', 'name'));
    }

    public function get_meta(string $key): mixed
    {
        return $this->meta[$key] ?? '';
    }

    public function update_meta_data(string $key, mixed $value): void
    {
        $this->meta[$key] = $value;
        $this->changed[$key] = true;
    }

    public function save(): int
    {
        global $wpdb;
        $row = ['parent' => $this->parent, 'fields' => serialize($this->fields)];
        if ($this->id === 0) {
            $wpdb->insert("{$wpdb->prefix}wc_orders", $row);
            $this->id = (int) $wpdb->insert_id;
        } else {
            $wpdb->update("{$wpdb->prefix}wc_orders", $row, ['id' => $this->id]);
        }
        foreach ($this->changed as $name => $_) {
            $value = maybe_serialize($this->meta[$name]);
            $wpdb->replace("{$wpdb->prefix}wc_orders_meta", ['order_id' => $this->id, 'name' => $name, 'value' => $value]);
        }
        $this->changed = [];
        return $this->id;
    }
}

final class WC_Order_Refund extends WC_Abstract_Order
{
    protected array $fields = ['amount' => '', 'reason' => ''];

    /** @param array<string, mixed> $args */
    public static function of(array $args): self
    {
        $refund = new self();
        $refund->parent = (int) $args['order_id'];
        $refund->fields = ['amount' => (string) $args['amount'], 'reason' => (string) $args['reason']];
        return $refund;
    }

    public function get_amount(): string
    {
        return $this->fields['amount'];
    }

    public function get_reason(): string
    {
        return $this->fields['reason'];
    }
}

final class WC_Order extends WC_Abstract_Order
{
    protected array $fields = [
        'status' => 'pending', 'total' => '0', 'currency' => 'EUR', 'order_key' => '', 'payment_method' => '',
        'transaction_id' => '', 'date_paid' => null,
    ];

    public function __construct()
    {
        $this->fields['order_key'] = 'wc_order_' . wp_generate_password(13, false);
    }

    /** Sets fields without any check, as an administrator or another plugin would. @param array<string, mixed> $fields */
    public function set_fields(array $fields): void
    {
        $this->fields = array_intersect_key($fields, $this->fields) + $this->fields;
    }

    /** @return array<string, mixed> */
    public function get_fields(): array
    {
        return ['id' => $this->id] + $this->fields;
    }

    public function get_order_number(): string
    {
        return (string) $this->id;
    }

    public function get_status(): string
    {
        return $this->fields['status'];
    }

    public function get_total(): string
    {
        return $this->fields['total'];
    }

    public function get_currency(): string
    {
        return $this->fields['currency'];
    }

    public function get_order_key(): string
    {
        return $this->fields['order_key'];
    }

    public function get_payment_method(): string
    {
        return $this->fields['payment_method'];
    }

    public function get_transaction_id(): string
    {
        return $this->fields['transaction_id'];
    }

    /** @param string|list<string> $status */
    public function has_status(string|array $status): bool
    {
        return in_array($this->get_status(), (array) $status, true);
    }

    public function is_paid(): bool
    {
        return $this->has_status(['processing', 'completed']);
    }

    public function needs_payment(): bool
    {
        return $this->has_status(['pending', 'failed']);
    }

    public function update_status(string $new_status, string $note = ''): bool
    {
        $old = $this->get_status();
        $this->fields['status'] = $new_status;
        $this->save();
        if ($old !== $new_status) {
            $this->add_order_note(trim("$note Order status changed from $old to $new_status."));
            do_action("woocommerce_order_status_$new_status", $this->id, $this);
        } elseif ($note !== '') {
            $this->add_order_note($note);
        }
        return true;
    }

    public function payment_complete(string $transaction_id = ''): bool
    {
        if (!$this->has_status(['on-hold', 'pending', 'failed', 'cancelled'])) {
            return true;
        }
        $this->fields['transaction_id'] = $transaction_id;
        $this->fields['date_paid'] ??= time();
        // Counted in the database, so that payments at the same time are counted too.
        global $wpdb;
        $wpdb->query($wpdb->prepare("UPDATE {$wpdb->prefix}wc_orders SET payments = payments + 1 WHERE id = %d", $this->id));
        return $this->update_status('processing');
    }

    public function add_order_note(string $note): int
    {
        global $wpdb;
        $wpdb->insert("{$wpdb->prefix}wc_notes", ['order_id' => $this->id, 'text' => $note]);
        return (int) $wpdb->insert_id;
    }

    /** Returns how often its payment was completed. */
    public function payments(): int
    {
        global $wpdb;
        return (int) $wpdb->get_var($wpdb->prepare("SELECT payments FROM {$wpdb->prefix}wc_orders WHERE id = %d", $this->id));
    }

    /** @return list<string> */
    public function notes(): array
    {
        global $wpdb;
        $query = "SELECT text FROM {$wpdb->prefix}wc_notes WHERE order_id = %d ORDER BY id";
        return $wpdb->get_col($wpdb->prepare($query, $this->id));
    }

    /** @return list<WC_Order_Refund> */
    public function get_refunds(): array
    {
        global $wpdb;
        $query = $wpdb->prepare("SELECT id FROM {$wpdb->prefix}wc_orders WHERE parent = %d ORDER BY id", $this->id);
        return array_map(static fn ($id) => self::load((int) $id), $wpdb->get_col($query));
    }

    public function get_checkout_order_received_url(): string
    {
        return add_query_arg(['order-received' => $this->id, 'key' => $this->get_order_key()], home_url('/'));
    }

    public function get_checkout_payment_url(): string
    {
        return add_query_arg(['order-pay' => $this->id, 'key' => $this->get_order_key()], home_url('/'));
    }
}

function wc_get_order(int $id): WC_Order|WC_Order_Refund|false
{
    return WC_Abstract_Order::load($id) ?? false;
}

/** @param array<string, mixed> $args */
function wc_create_refund(array $args): WC_Order_Refund|WP_Error
{
    $order = wc_get_order($args['order_id']);
    if (!$order instanceof WC_Order) {
        return new WP_Error('error', 'Invalid order ID.');
    }
    $cents = static fn (string $amount): int => (int) str_replace('.', '', $amount);
    $refunded = array_sum(array_map(static fn ($refund) => $cents($refund->get_amount()), $order->get_refunds()));
    $remaining = $cents($order->get_total()) - $refunded;
    if ($cents($args['amount']) > $remaining || $cents($args['amount']) <= 0) {
        return new WP_Error('error', 'Invalid refund amount.');
    }
    $refund = WC_Order_Refund::of($args);
    $refund->save();
    if ($cents($args['amount']) === $remaining) {
        $order->update_status('refunded');
    }
    return $refund;
}
