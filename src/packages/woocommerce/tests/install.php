<?php

declare(strict_types=1);

// Installs WordPress in the database of wp-config.php, with the stand-in and the plugin: install.php URL.

[, $url] = $argv;
$_SERVER['HTTP_HOST'] = parse_url($url, PHP_URL_HOST) . ':' . parse_url($url, PHP_URL_PORT);
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
$_SERVER['REQUEST_METHOD'] = 'GET';
define('WP_INSTALLING', true);
require_once ABSPATH . 'wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
require_once ABSPATH . 'wp-admin/includes/plugin.php';

/** WordPress would send a mail about the new site. */
function wp_new_blog_notification(): void
{
}

wp_install('Shop', 'admin', 'admin@shop.test', false, '', 'correct horse battery');
update_option('siteurl', $url);
update_option('home', $url);
get_role('administrator')->add_cap('manage_woocommerce');
wp_insert_user(['user_login' => 'reader', 'user_pass' => 'correct horse battery', 'role' => 'subscriber']);
foreach (['woocommerce/woocommerce.php', 'coffer-woocommerce/coffer-woocommerce.php'] as $plugin) {
    $error = activate_plugin($plugin);
    if (is_wp_error($error)) {
        fwrite(STDERR, "$plugin: {$error->get_error_message()}\n");
        exit(1);
    }
}
