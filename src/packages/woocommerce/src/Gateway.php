<?php

declare(strict_types=1);

namespace CofferWooCommerce;

use Coffer\CofferError;

/** The way to pay in the classic checkout, and its page of settings. */
final class Gateway extends \WC_Payment_Gateway
{
    public const ID = 'coffer';

    public function __construct()
    {
        $this->id = self::ID;
        $this->method_title = 'Coffer';
        $this->method_description = 'Payments in coins by your own Coffer server. Customers pay on its checkout.';
        $this->has_fields = false;
        $this->supports = ['products'];
        $this->init_form_fields();
        $this->init_settings();
        $this->enabled = $this->get_option('enabled', 'no');
        $this->title = $this->get_option('title') ?: __('Cryptocurrency', 'coffer-woocommerce');
        $this->description = $this->get_option('description') ?: __(
            'You choose a coin on the next page, and pay from your own wallet.',
            'coffer-woocommerce',
        );
        add_action("woocommerce_update_options_payment_gateways_$this->id", [$this, 'process_admin_options']);
    }

    public function init_form_fields(): void
    {
        $text = ['type' => 'text', 'default' => '', 'desc_tip' => false];
        $this->form_fields = [
            'enabled' => ['title' => 'Coffer', 'type' => 'checkbox', 'label' => 'Take payments', 'default' => 'no'],
            'url' => [
                'title' => 'Address of Coffer',
                'placeholder' => 'https://pay.example.com',
                'description' => 'Another address asks for the key again.',
            ] + $text,
            // WooCommerce's REST interface reads fields that have a title. These have none.
            'key' => [
                'type' => 'secret',
                'label' => 'Secret key',
                'description' => 'sk_test_… or sk_live_…, of Developers, API keys in Coffer. It decides the mode.',
            ],
            'webhook' => [
                'type' => 'secret',
                'label' => 'Webhook secret',
                'description' => 'In Coffer, create a webhook endpoint for ' . WC()->api_request_url('coffer')
                    . ' and copy its secret.',
            ],
            'connection' => ['type' => 'connection', 'label' => 'Connection'],
            'title' => ['title' => 'Title', 'description' => 'Empty: a text in the language of the customer.'] + $text,
            'description' => ['title' => 'Description', 'description' => 'Empty: the same.'] + $text,
            'shop' => [
                'title' => 'Name of the shop',
                'placeholder' => Settings::shop(),
                'description' => 'Begins each orderId in Coffer. Two shops of one account need different names.',
            ] + $text,
        ];
    }

    public function is_available(): bool
    {
        return parent::is_available()
            && Settings::isComplete()
            && in_array(get_woocommerce_currency(), Price::CURRENCIES, true);
    }

    /**
     * @param int $order_id
     * @return array{result: string, redirect?: string}
     */
    public function process_payment($order_id): array
    {
        try {
            return ['result' => 'success', 'redirect' => Payment::start((int) $order_id)];
        } catch (CofferError | \RuntimeException | \DomainException | \ValueError $error) {
            Settings::log('error', "order $order_id: {$error->getMessage()}");
            wc_add_notice(__(
                'The payment cannot be started just now. Try again in a few minutes, or choose another way to pay.',
                'coffer-woocommerce',
            ), 'error');
            return ['result' => 'failure'];
        }
    }

    /**
     * Checks the address of Coffer. A key is sent to no other address than the one it was entered for.
     *
     * @param string $name
     * @param string|null $value
     */
    public function validate_url_field($name, $value): string
    {
        $url = Settings::base(trim(wp_unslash((string) $value)));
        $isLocal = preg_match('~\Ahttp://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?\z~i', $url) === 1;
        if ($url !== '' && !$isLocal && preg_match('~\Ahttps://[^\s/?#@\\\\]+(/[^\s?#@\\\\]*)?\z~i', $url) !== 1) {
            \WC_Admin_Settings::add_error('The address of Coffer must begin with https://. The old one was kept.');
            return Settings::url();
        }
        if ($url !== Settings::url()) {
            Settings::storeSecret('key', '');
        }
        return $url;
    }

    /**
     * Stores a secret apart from the settings, if one was entered.
     *
     * @param 'key'|'webhook' $name
     * @param string|null $value
     */
    public function validate_secret_field($name, #[\SensitiveParameter] $value): string
    {
        $secret = trim(wp_unslash((string) $value));
        if ($secret === '') {
            return '';
        }
        if ($name === 'key' && preg_match('/\Ask_(test|live)_[!-~]{1,190}\z/', $secret) !== 1) {
            \WC_Admin_Settings::add_error('The secret key must begin with sk_test_ or sk_live_. The old one was kept.');
            return '';
        }
        Settings::storeSecret($name, $secret);
        return '';
    }

    /** @param string $name */
    public function validate_connection_field($name): string
    {
        return '';
    }

    /**
     * A field for a secret. The page never has the secret itself.
     *
     * @param 'key'|'webhook' $name
     * @param array<string, string> $field
     */
    public function generate_secret_html($name, $field): string
    {
        return $this->row($name, $field, sprintf(
            '<input type="password" class="input-text regular-input" name="%1$s" id="%1$s" value="" placeholder="%2$s" '
                . 'autocomplete="new-password"><p class="description">%3$s</p>',
            esc_attr($this->get_field_key($name)),
            Settings::secret($name) === '' ? 'not set' : 'set. Enter another one to replace it',
            esc_html($field['description']),
        ));
    }

    /**
     * @param string $name
     * @param array<string, string> $field
     */
    public function generate_connection_html($name, $field): string
    {
        return $this->row($name, $field, Admin::connectionButton($this->get_field_key($name)));
    }

    /** @param array<string, string> $field */
    private function row(string $name, array $field, string $html): string
    {
        return sprintf(
            '<tr valign="top"><th scope="row" class="titledesc"><label for="%s">%s</label></th>'
                . '<td class="forminp">%s</td></tr>',
            esc_attr($this->get_field_key($name)),
            esc_html($field['label']),
            $html,
        );
    }
}
