<?php

declare(strict_types=1);

defined('WP_UNINSTALL_PLUGIN') || exit;

delete_option('coffer_woocommerce_secrets');
delete_option('woocommerce_coffer_settings');
