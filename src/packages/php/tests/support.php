<?php

declare(strict_types=1);

// Shared by the tests: a sandbox of their own, and checks that count failures. COFFER_AUTOLOAD names the autoloader of
// the installed package, COFFER_BINARY the program.

require getenv('COFFER_AUTOLOAD') ?: __DIR__ . '/../autoload.php';

use Coffer\Client;

error_reporting(E_ALL);
// A warning or a notice of PHP is a failure.
set_error_handler(static function (int $level, string $message, string $file, int $line): never {
    throw new ErrorException($message, 0, $level, $file, $line);
});

/** A running sandbox, which ends with this process. */
final class Sandbox
{
    /** @var array<string, mixed> the ready line */
    public readonly array $ready;
    public readonly string $url;
    public readonly string $key;
    private readonly string $log;
    /** @var resource */
    private $process;
    /** @var array<int, resource> */
    private array $pipes = [];

    public function __construct()
    {
        $this->log = (string) tempnam(sys_get_temp_dir(), 'coffer-log');
        $options = ['--listen', '127.0.0.1:0', '--json', '--exit-with-parent'];
        $command = [getenv('COFFER_BINARY') ?: 'coffer', 'sandbox', ...$options];
        $streams = [['pipe', 'r'], ['pipe', 'w'], ['file', $this->log, 'w']];
        $this->process = proc_open($command, $streams, $this->pipes);
        $line = fgets($this->pipes[1]);
        if ($line === false) {
            throw new RuntimeException('the sandbox did not start: ' . file_get_contents($this->log));
        }
        $this->ready = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
        $this->url = $this->ready['url'];
        $this->key = $this->ready['keys']['secretTest'];
    }

    public function __destruct()
    {
        fclose($this->pipes[0]);
        proc_close($this->process);
        unlink($this->log);
    }

    /** @param array<string, mixed> $options timeout, attempts */
    public function client(array $options = []): Client
    {
        return new Client($this->url, $this->key, ...$options);
    }

    /**
     * Sends a control.
     *
     * @param array<string, mixed>|null $body
     * @return array<string, mixed>
     */
    public function control(string $method, string $path, ?array $body = null): array
    {
        return (array) $this->client()->request($method, "/sandbox$path", $body);
    }

    /** @return int number of invoices */
    public function invoices(): int
    {
        return $this->control('GET', '')['counts']['invoices'];
    }

    /**
     * Returns the number of requests that each operation of the interface got since then. Those with none are left out.
     *
     * @param array<string, int> $since
     * @return array<string, int>
     */
    public function requested(array $since = []): array
    {
        $metrics = (string) $this->client()->request('GET', '/metrics');
        $pattern = '~^coffer_requests_total\{operation="((?!sandbox|inbox|metrics)\w+)",[^}]*\} ([0-9]+)$~m';
        preg_match_all($pattern, $metrics, $found, PREG_SET_ORDER);
        $counts = array_map(static fn (int $count): int => -$count, $since);
        foreach ($found as [, $operation, $count]) {
            $counts[$operation] = ($counts[$operation] ?? 0) + (int) $count;
        }
        return array_filter($counts);
    }
}

/** Names each failure, and ends the process with 1 if there is one. */
final class Checks
{
    private int $passed = 0;
    private int $failed = 0;

    public function __construct(private readonly string $of)
    {
    }

    /** @param callable(): void $check throws if it fails */
    public function run(string $name, callable $check): void
    {
        try {
            $check();
            $this->passed++;
        } catch (Throwable $error) {
            $this->failed++;
            echo "php: FAILED: $this->of: $name: ", get_class($error), ": {$error->getMessage()}\n";
        }
    }

    public function end(): never
    {
        echo "php: $this->of: $this->passed passed, $this->failed failed\n";
        exit($this->failed === 0 && $this->passed > 0 ? 0 : 1);
    }
}

function same(mixed $wanted, mixed $given, string $of = 'value'): void
{
    if ($wanted !== $given) {
        $show = static fn (mixed $value): string => substr((string) json_encode($value), 0, 300);
        throw new RuntimeException("$of is {$show($given)}, not {$show($wanted)}");
    }
}

/**
 * Returns what the call throws.
 *
 * @template Error of Throwable
 * @param class-string<Error> $class
 * @return Error
 */
function thrown(string $class, callable $call): Throwable
{
    try {
        $call();
    } catch (Throwable $error) {
        if ($error instanceof $class) {
            return $error;
        }
        throw $error;
    }
    throw new RuntimeException("$class was not thrown");
}
