<?php

declare(strict_types=1);

// The base classes of gateways, and their settings.

abstract class WC_Settings_API
{
    public $id = '';
    public $settings = [];
    public $form_fields = [];

    public function get_option_key()
    {
        return "woocommerce_{$this->id}_settings";
    }

    public function init_settings()
    {
        $this->settings = get_option($this->get_option_key(), null);
        if (!is_array($this->settings)) {
            $this->settings = array_map(static fn (array $field) => $field['default'] ?? '', $this->form_fields);
        }
    }

    public function get_option($key, $empty_value = null)
    {
        if (!isset($this->settings[$key])) {
            $this->settings[$key] = $this->form_fields[$key]['default'] ?? '';
        }
        return $this->settings[$key] === '' && $empty_value !== null ? $empty_value : $this->settings[$key];
    }

    public function get_field_key($key)
    {
        return "woocommerce_{$this->id}_$key";
    }

    public function process_admin_options()
    {
        foreach ($this->form_fields as $key => $field) {
            $value = $_POST[$this->get_field_key($key)] ?? null;
            foreach (["validate_{$key}_field", "validate_$field[type]_field", 'validate_text_field'] as $method) {
                if (method_exists($this, $method)) {
                    $this->settings[$key] = $this->$method($key, $value);
                    break;
                }
            }
        }
        return update_option($this->get_option_key(), $this->settings, 'yes');
    }

    public function validate_text_field($key, $value)
    {
        return wp_kses_post(trim(stripslashes((string) $value)));
    }

    public function validate_checkbox_field($key, $value)
    {
        return $value === null ? 'no' : 'yes';
    }

    public function generate_settings_html()
    {
        foreach ($this->form_fields as $key => $field) {
            $method = "generate_$field[type]_html";
            echo method_exists($this, $method) ? $this->$method($key, $field) : $this->generate_text_html($key, $field);
        }
    }

    public function generate_text_html($key, $field)
    {
        $name = esc_attr($this->get_field_key($key));
        $value = esc_attr($this->get_option($key));
        return "<tr><th>$field[title]</th><td><input name='$name' value='$value'></td></tr>";
    }
}

abstract class WC_Payment_Gateway extends WC_Settings_API
{
    public $enabled = 'yes';
    public $title;
    public $description;
    public $method_title = '';
    public $method_description = '';
    public $has_fields;
    public $supports = ['products'];

    public function is_available()
    {
        return $this->enabled === 'yes';
    }

    public function get_title()
    {
        return apply_filters('woocommerce_gateway_title', $this->title, $this->id);
    }

    public function get_description()
    {
        return apply_filters('woocommerce_gateway_description', $this->description, $this->id);
    }

    public function process_payment($order_id)
    {
        return [];
    }
}

final class WC_Admin_Settings
{
    /** @var list<string> */
    public static array $errors = [];

    public static function add_error(string $text): void
    {
        self::$errors[] = $text;
    }
}
