<?php

declare(strict_types=1);

// Loads the classes of this package without composer: require __DIR__ . '/autoload.php'.

spl_autoload_register(static function (string $class): void {
    if (preg_match('/\ACoffer\\\\([A-Za-z]+)\z/', $class, $found) === 1) {
        $file = __DIR__ . "/src/$found[1].php";
        if (is_file($file)) {
            require $file;
        }
    }
});
