<?php

declare(strict_types=1);

// Removes the plugin as WordPress does, and checks that it leaves no secret.

$_SERVER += ['HTTP_HOST' => '127.0.0.1', 'SERVER_PROTOCOL' => 'HTTP/1.1', 'REQUEST_METHOD' => 'GET'];
require_once ABSPATH . 'wp-load.php';
require_once ABSPATH . 'wp-admin/includes/plugin.php';

$stored = static fn (): string => implode(' ', $GLOBALS['wpdb']->get_col(
    "SELECT option_value FROM {$GLOBALS['wpdb']->options} WHERE option_name LIKE '%coffer%'",
));
if (!str_contains($stored(), 'sk_live_')) {
    exit("there is no secret before it is removed\n");
}
deactivate_plugins('coffer-woocommerce/coffer-woocommerce.php');
uninstall_plugin('coffer-woocommerce/coffer-woocommerce.php');
echo $stored() === '' ? "nothing is left\n" : "settings are left\n";
